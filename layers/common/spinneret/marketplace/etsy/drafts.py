"""The draft of a listing on Etsy: made once, or found again.

Etsy has no key for the call that makes it. What stands on record is taken first; what a call made
whose answer was lost is looked for among the listings made since, by the titles that were sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from spinneret.jobs.worker import Defer
from spinneret.kernel import bounds
from spinneret.kernel.errors import InputNeeded
from spinneret.marketplace.etsy import rules
from spinneret.marketplace.etsy.api import PAGE, EtsyApi
from spinneret.marketplace.listings.models import ENDED, Listing, ListingState
from spinneret.marketplace.publishing.work import StepContext

_STATES: Final = ("draft", "active", "inactive", "sold_out", "expired")
_PAGES: Final = 20  # of each state: 2,000 listings since one intent
_SETTLE: Final = timedelta(seconds=bounds.LISTING_SETTLE_SECONDS)
_SKEW: Final = timedelta(seconds=60)  # of two clocks, and the time of the call


def standing_id(listing: Listing) -> str | None:
    """The listing on record, a draft too."""
    return None if listing.state in ENDED else listing.external_id or listing.reference


def make(work: StepContext, api: EtsyApi, account: Mapping[str, Any]) -> str:
    """The id of the product's listing: the one on record, or the one that is made now.

    What isn't made in this moment is brought up to the product. Raises InputNeeded and Defer.
    """
    listing_id = standing_id(work.listing)
    if listing_id is not None:
        update_draft(work, api, listing_id)
        return listing_id
    _, content = work.subject.sold
    work.record_intent()
    made_now = []

    def perform() -> Mapping[str, Any]:
        work.attempt(content.title)
        made_now.append(api.create_draft(rules.draft_of(content, account)))
        return {"listing_id": made_now[0]}

    listing_id = str(work.once("draft", perform, partial(find, work, api))["listing_id"])
    work.record(reference=listing_id)
    if not made_now:
        update_draft(work, api, listing_id)
    return listing_id


def update_draft(work: StepContext, api: EtsyApi, listing_id: str) -> bool:
    """Change what differs from the product. Raises InputNeeded for a listing that is gone."""
    _, content = work.subject.sold
    standing, wanted = api.listing(listing_id), rules.changes_of(content)
    if standing is None:
        await_visible(work)
        raise InputNeeded("the listing is gone: sync the product")
    changed = any(standing.get(name) != value for name, value in wanted.items() if value)
    if changed:
        api.change(listing_id, wanted)
    return changed


def find(work: StepContext, api: EtsyApi) -> Mapping[str, Any] | None:
    """What an earlier call made.

    Raises Defer while a new listing may not be visible yet, and InputNeeded where several may be
    it, or where one was made at the time of the call that nothing explains: Etsy may have changed
    its title.
    """
    began, attempted = work.window()
    titles = {rules.same_title(title) for title in work.listing.attempted_titles}
    others = work.others()
    known = {name for each in others for name in (each.external_id, each.reference)}
    since = _made_since(api, began - _SKEW)
    made = [each for each in since if str(each["listing_id"]) not in known]
    found = [each for each in made if rules.same_title(str(each.get("title"))) in titles]
    if len(found) > 1:
        found = _told_apart(work, found) or found
    if len(found) > 1:
        raise _undecided("several listings may be the one that was made", found)
    if found:
        return {"listing_id": str(found[0]["listing_id"])}
    settled = attempted + _SETTLE
    if work.clock() < settled:
        raise Defer(settled, "what Etsy made of an earlier call")
    explained = {
        rules.same_title(title)
        for each in others
        if each.state is ListingState.CREATING
        for title in each.attempted_titles
    }
    strange = [
        each
        for each in made
        if rules.created_at(each) <= attempted + _SKEW
        and rules.same_title(str(each.get("title"))) not in explained
    ]
    if titles and strange:
        raise _undecided("a listing with another title was made at that time", strange)
    return None


def await_visible(work: StepContext) -> None:
    """Raises Defer while a listing that was just made may not be shown yet."""
    attempted = work.listing.attempted_at
    if attempted is not None and work.clock() < attempted + _SETTLE:
        raise Defer(attempted + _SETTLE, "Etsy to show a new listing")


def _made_since(api: EtsyApi, began: datetime) -> Iterator[Mapping[str, Any]]:
    """The shop's listings since a time. Raises InputNeeded for more than can be looked through."""
    for state in _STATES:
        for number in range(_PAGES):
            page = api.newest(state, number * PAGE)
            new = [each for each in page if rules.created_at(each) >= began]
            yield from new
            if len(new) < PAGE:
                break
        else:
            raise _undecided("too many listings were made since", ())


def _told_apart(work: StepContext, found: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those of the same title that have the product's description, too."""
    _, content = work.subject.sold
    wanted = rules.changes_of(content)["description"]
    return [each for each in found if each.get("description") == wanted]


def _undecided(what: str, listings: Any) -> InputNeeded:
    return InputNeeded(
        f"{what}: link_product says which it is",
        details={"external_ids": [str(each["listing_id"]) for each in listings]},
    )
