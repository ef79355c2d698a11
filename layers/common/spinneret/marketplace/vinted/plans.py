"""What each action does on Vinted, step by step, in the seller's browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from spinneret.kernel import bounds
from spinneret.kernel.errors import MarketplaceRefused, MarketplaceUnavailable
from spinneret.marketplace.listings.models import ListingState
from spinneret.marketplace.publishing import common
from spinneret.marketplace.publishing.models import Step, Subject
from spinneret.marketplace.publishing.work import Work
from spinneret.marketplace.tasks.models import TaskType
from spinneret.marketplace.vinted import errors, rules
from spinneret.marketplace.vinted.models import PluginRequest
from spinneret.marketplace.vinted.transport import PluginTransport

_DRAFTS: Final = "/api/v2/item_upload/drafts"
_ITEMS: Final = "/api/v2/item_upload/items"
# Of the sending: its record, and what was sent before; the answer comes to another claim.
_SECONDS: Final = 3 * bounds.AWS_CALL_SECONDS
_LOOK: Final = "look whether Vinted shows the listing"


def publish(subject: Subject) -> Sequence[Step]:
    """Validate, photos one by one, draft, completion, record."""
    what = common.identity(subject)
    _, content = subject.sold
    total = len(content.images)
    photos = [
        _step(
            f"image-{number}",
            f"Upload image {number}/{total}",
            "POST",
            "/api/v2/photos",
            {"photo_url": url, "photo_order": number, "generation": what["generation"]},
            partial(_photo, url),
        )
        for number, url in enumerate(content.images, start=1)
    ]
    return [
        common.validate(rules.check)(subject),
        *photos,
        _step("draft", "Create draft", "POST", _DRAFTS, what, _draft),
        _step(
            "complete", "Create listing", "POST", f"{_DRAFTS}/{{id}}/completion", what, _complete
        ),
        common.save(subject, _external, "vinted_id"),
    ]


def update(subject: Subject) -> Sequence[Step]:
    """Change the item's fields; its photos stay."""
    what = common.identity(subject)
    return [
        common.validate(rules.check)(subject),
        _step("item", "Update listing", "PUT", f"{_ITEMS}/{{id}}", what, _change),
        common.save(subject, _known, "vinted_id"),
    ]


def delete(subject: Subject) -> Sequence[Step]:
    """Delete the item."""
    what = {"generation": subject.listing.generation if subject.listing else 1}
    return [
        _step("delete", "Delete listing", "DELETE", f"{_ITEMS}/{{id}}", what, _delete),
        common.forget(subject),
    ]


def sync(subject: Subject) -> Sequence[Step]:  # noqa: ARG001 - every plan takes its subject
    """Look whether the item is there, and what differs."""
    return [_step("look", "Look up the item", "GET", f"{_ITEMS}/{{id}}", {}, _sync)]


def link_product(subject: Subject) -> Sequence[Step]:
    """Take the item `external_id` for the product's; null says that there is none."""
    what = {"external_id": subject.given.get("external_id")}
    return [
        Step(
            key="link",
            type=TaskType.DB_OPERATION,
            description="Link the item",
            payload=what,
            run=_link,
        )
    ]


def _step(
    key: str, description: str, method: str, path: str, payload: Mapping[str, Any], run: Any
) -> Step:
    return Step(
        key=key,
        type=TaskType.PLUGIN_HTTP,
        description=description,
        method=method,
        path=path,
        payload=payload,
        run=run,
    )


def _photo(url: str, work: Work) -> Mapping[str, Any]:
    """A photo that is uploaded twice harms nobody: it belongs to nothing yet."""
    known = work.listing.images.get(url)
    if known is not None:
        return {"photo_id": known}
    request = PluginRequest(method="POST", path="/api/v2/photos", body={}, photo_url=url)
    body = _repeatable(work, request)
    photo_id = errors.id_of(body)
    work.record(images={**work.listing.images, url: photo_id})
    return {"photo_id": photo_id}


def _draft(work: Work) -> Mapping[str, Any]:
    product, content = work.subject.sold
    photos = [
        str(work.results[f"image-{number}"]["photo_id"])
        for number in range(1, len(content.images) + 1)
    ]
    work.intend()
    body = rules.draft_of(content, photos, product.sku)
    request = PluginRequest(method="POST", path=_DRAFTS, body=body)
    return _unrepeatable(work, "draft", request, _draft_made)


def _complete(work: Work) -> Mapping[str, Any]:
    """The one call that makes a listing."""
    draft_id = str(work.results["draft"]["draft_id"])
    request = PluginRequest(method="POST", path=f"{_DRAFTS}/{draft_id}/completion", body={})
    return _unrepeatable(work, "complete", request, _item_made)


def _draft_made(body: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"draft_id": errors.id_of(errors.part(body, "draft"))}


def _item_made(body: Mapping[str, Any]) -> Mapping[str, Any]:
    item = errors.part(body, "item")
    return {"item_id": errors.id_of(item), "url": item.get("url")}


def _external(work: Work) -> tuple[str, str | None]:
    made = work.results["complete"]
    return str(made["item_id"]), made.get("url")


def _known(work: Work) -> tuple[str, str | None]:
    listing = common.live(work)
    return str(listing.external_id), listing.url


def _change(work: Work) -> Mapping[str, Any]:
    product, content = work.subject.sold
    listing = common.live(work)
    item = rules.draft_of(content, list(listing.images.values()), product.sku)["draft"]
    path = f"{_ITEMS}/{listing.external_id}"
    _repeatable(work, PluginRequest(method="PUT", path=path, body={"item": item}))
    return {"item_id": listing.external_id}


def _delete(work: Work) -> Mapping[str, Any]:
    listing = work.listing
    if listing.external_id is None:
        if listing.state is ListingState.CREATING:
            raise errors.undecided("whether a listing was made isn't known")
        return {"deleted": False}
    request = PluginRequest(method="DELETE", path=f"{_ITEMS}/{listing.external_id}", body={})
    _repeatable(work, request, missing=True)
    work.record(images={})
    return {"deleted": True}


def _sync(work: Work) -> Mapping[str, Any]:
    _, content = work.subject.sold
    listing = work.listing
    if listing.external_id is None:
        if listing.state is ListingState.CREATING:
            raise errors.undecided("whether a listing was made isn't known")
        return {"state": "unknown"}
    request = PluginRequest(method="GET", path=f"{_ITEMS}/{listing.external_id}", body={})
    answer = _repeatable(work, request, missing=True)
    item = answer.get("item")
    if not isinstance(item, dict):
        common.ended(work, listing, ListingState.ENDED, images={})
        return {"state": "ended"}
    drift = common.drift_between({"title": content.title}, {"title": item.get("title")})
    work.record(drift=drift, last_sync_at=work.clock())
    return {"state": "active", "drift": [[each.field, each.ours, each.theirs] for each in drift]}


def _link(work: Work) -> Mapping[str, Any]:
    given = work.subject.given
    if "external_id" in given and given["external_id"] is None:
        common.ended(work, work.listing, ListingState.ENDED, images={})
        return {"linked": None}
    item_id = common.given_text(work.subject, "external_id")
    work.record(state=ListingState.ACTIVE, external_id=item_id, last_sync_at=work.clock())
    return {"linked": item_id}


def _repeatable(work: Work, request: PluginRequest, *, missing: bool = False) -> Mapping[str, Any]:
    """Ask for what may be done twice: after a time-out it is sent as a new request, and only one
    that a plug-in had accepted counts as failed."""
    browser: PluginTransport = work.services["browser"]
    assert work.task is not None
    marketplace = work.subject.marketplace
    try:
        answer = browser.ask(work.context, work.task, marketplace, request)
    except MarketplaceUnavailable as late:
        browser.begin_again(work.task, request)
        if late.details.get("accepted") is not False:
            raise
        # No plug-in said that it has it: its process may have died before it was sent.
        answer = browser.ask(work.context, work.task, marketplace, request)
    try:
        if missing and answer.status == 404:
            return {"item": None, "missing": True}
        return errors.success(answer)
    except (MarketplaceRefused, MarketplaceUnavailable):  # it didn't happen: the next run asks anew
        browser.begin_again(work.task, request)
        raise


def _unrepeatable(
    work: Work,
    what: str,
    request: PluginRequest,
    read: Callable[[Mapping[str, Any]], Mapping[str, Any]],
) -> Mapping[str, Any]:
    """Ask for what must not be done twice. The plug-in's answer is all that tells whether it was
    done: without one in time, and with one that proves neither, the seller decides."""
    browser: PluginTransport = work.services["browser"]
    task, listing = work.task, work.listing
    assert task is not None
    name = f"{work.subject.marketplace}/{listing.product_id}/{listing.generation}/{what}"
    request = replace(request, once=name)

    def perform() -> Mapping[str, Any]:
        answer = browser.ask(work.context, task, work.subject.marketplace, request)
        try:
            return read(errors.success(answer))
        except (MarketplaceRefused, MarketplaceUnavailable) as error:
            if not errors.is_refusal(answer):
                raise errors.undecided(f"{error.message}: {_LOOK}") from error
            browser.begin_again(task, request)
            raise

    def find() -> Mapping[str, Any] | None:
        if not browser.was_sent(task, request):
            return None  # no plug-in ever had it
        try:
            return perform()
        except MarketplaceUnavailable as late:
            if not browser.was_sent(task, request):
                raise
            raise errors.undecided(f"{late.message}: {_LOOK}") from late

    return work.once(what, perform, find, _SECONDS)
