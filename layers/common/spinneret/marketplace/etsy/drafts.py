"""Draft of a listing on Etsy: created once, or found again.

Etsy has no idempotency key for the call that creates it. The listing on record comes first. If a
call's response was lost, its listing is searched for among those created since, by the titles that
were sent.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from spinneret.jobs.worker import Defer
from spinneret.kernel.errors import Conflict, InputNeeded, MarketplaceUnsettled
from spinneret.marketplace import limits
from spinneret.marketplace.etsy import rules
from spinneret.marketplace.etsy.answers import ShopListing
from spinneret.marketplace.etsy.api import PAGE, EtsyApi
from spinneret.marketplace.listings.models import ENDED, Listing, ListingState
from spinneret.marketplace.listings.rules import require_no_other
from spinneret.marketplace.publishing import common
from spinneret.marketplace.publishing.work import StepContext

ACCOUNT: Final = "account"
"""Key of the step that looks up the seller's shop."""
_STATES: Final = ("draft", "active", "inactive", "sold_out", "expired")
_PAGES: Final = 20  # per state: 2,000 listings since one intent
_SETTLE: Final = timedelta(seconds=limits.LISTING_SETTLE_SECONDS)
_SKEW: Final = timedelta(seconds=limits.MARKETPLACE_SKEW_SECONDS)


def api_of(work: StepContext) -> EtsyApi:
    """Return the client of the seller's shop, which the step ACCOUNT has found."""
    return EtsyApi(work.calls, str(work.results[ACCOUNT]["shop_id"]))


def standing_id(listing: Listing) -> str | None:
    """Return the id of the listing on record, also of a draft; None if it has ended."""
    return None if listing.state in ENDED else listing.external_id or listing.reference


def known(work: StepContext) -> Listing:
    """Return the record, after a look for a listing whose creation was begun; see `find`."""
    listing = work.listing
    if standing_id(listing) is None and listing.state is ListingState.CREATING and find(work):
        return work.listing
    return listing


def make(work: StepContext) -> str:
    """Return the id of the product's listing: the one on record, or a new one.

    A listing that isn't created just now is updated to the product. Raises InputNeeded and Defer.
    """
    listing_id = standing_id(work.record_intent())
    if listing_id is not None:
        update_draft(work, standing(work, listing_id))
        return listing_id
    _, content = work.subject.sold
    made_now = []

    def perform() -> Mapping[str, Any]:
        work.attempt(content.title, has_tags=bool(rules.tags_of(content)))
        made_now.append(api_of(work).create_draft(rules.draft_of(content, work.results[ACCOUNT])))
        return _taken(work, made_now[0])

    listing_id = str(work.once("draft", perform, partial(find, work))["listing_id"])
    if not made_now:
        update_draft(work, standing(work, listing_id))
    return listing_id


def standing(work: StepContext, listing_id: str) -> ShopListing:
    """Return the listing as Etsy has it. Raises Defer, and InputNeeded for one that is gone."""
    found = api_of(work).listing(listing_id)
    if found is None:
        common.await_visible(work)
        raise InputNeeded("the listing is gone: sync the product")
    return found


def update_draft(work: StepContext, shown: ShopListing) -> bool:
    """Update fields that differ from the product; return whether any did. Tags that aren't the
    product's stay."""
    _, content = work.subject.sold
    wanted = rules.changes_of(content)
    changed = any(shown.get(name) != value for name, value in wanted.items() if value)
    has_tags, had_tags = bool(wanted["tags"]), work.listing.has_tags
    if has_tags and not had_tags:
        work.record(has_tags=True)
    if had_tags and not has_tags and shown.get("tags"):
        wanted["tags"], changed = [], True
    if changed:
        api_of(work).change(shown["listing_id"], wanted)
    if had_tags and not has_tags:
        work.record(has_tags=False)
    return changed


def find(work: StepContext) -> Mapping[str, Any] | None:
    """Return the listing that an earlier call created, recorded as the product's, or None.

    Raises Defer while a new listing may not be visible yet. Raises InputNeeded if several listings
    match, or if an unexplained listing was created at the time of the call: Etsy may have changed
    its title.
    """
    began, attempted = work.window()
    titles = {rules.same_title(title) for title in work.listing.attempted_titles}
    others = work.others()
    known = {name for each in others for name in (each.external_id, each.reference)}
    since = _made_since(api_of(work), began - _SKEW)
    made = [each for each in since if each["listing_id"] not in known]
    found = [each for each in made if rules.same_title(str(each.get("title"))) in titles]
    if len(found) > 1:
        found = _told_apart(work, found) or found
    if len(found) > 1:
        raise _undecided("several listings may be the created one", found)
    if found:
        return _taken(work, found[0]["listing_id"])
    settled = attempted + _SETTLE
    if work.clock() < settled:
        raise Defer(settled, "the outcome of an earlier call to Etsy")
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
        raise _undecided("a listing with another title was created at that time", strange)
    return None


def _taken(work: StepContext, listing_id: str) -> Mapping[str, Any]:
    """Record the listing as the product's. Raises MarketplaceUnsettled if another product of the
    same title has taken it for its own, or if the product has another listing by now: the next look
    finds another, or none."""
    seen = work.listing
    try:
        require_no_other(standing_id(seen), listing_id)
        work.record_about(seen, reference=listing_id)
    except Conflict as taken:
        raise MarketplaceUnsettled(taken.message, otherwise=taken) from taken
    return {"listing_id": listing_id}


def _made_since(api: EtsyApi, began: datetime) -> Iterator[ShopListing]:
    """Yield the shop's listings created since a time. Raises InputNeeded if there are too many to
    search."""
    for state in _STATES:
        for number in range(_PAGES):
            page = api.newest(state, number * PAGE)
            new = [each for each in page if rules.created_at(each) >= began]
            yield from new
            if len(new) < PAGE:
                break
        else:
            raise _undecided("too many listings were created since", ())


def _told_apart(work: StepContext, found: list[ShopListing]) -> list[ShopListing]:
    """Return the listings that also have the product's description."""
    _, content = work.subject.sold
    wanted = rules.changes_of(content)["description"]
    return [each for each in found if each.get("description") == wanted]


def _undecided(what: str, listings: Sequence[ShopListing]) -> InputNeeded:
    return InputNeeded(
        f"{what}: select it with link_product",
        details={"external_ids": [each["listing_id"] for each in listings]},
    )
