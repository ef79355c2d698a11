"""Steps of each action on Vinted, in the seller's browser."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any, Final

from spinneret.kernel import bounds
from spinneret.kernel.errors import MarketplaceRefused, MarketplaceUnavailable
from spinneret.marketplace.listings.models import ListingState, drift_rows
from spinneret.marketplace.listings.rules import require_no_other
from spinneret.marketplace.plugins import asking
from spinneret.marketplace.plugins.models import PluginAnswer, PluginRequest
from spinneret.marketplace.publishing import common
from spinneret.marketplace.publishing.models import JobSubject
from spinneret.marketplace.publishing.plans import PlanStep, step
from spinneret.marketplace.publishing.work import StepContext
from spinneret.marketplace.tasks.models import TaskType
from spinneret.marketplace.vinted import errors, rules

_PHOTOS: Final = "/api/v2/photos"
_DRAFTS: Final = "/api/v2/item_upload/drafts"
_ITEMS: Final = "/api/v2/item_upload/items"
# Listings begun longer ago aren't looked up, because their records may be purged.
_KNOWN: Final = timedelta(seconds=bounds.EFFECT_RETENTION_SECONDS) - timedelta(days=1)

_step: Final = partial(step, via=TaskType.PLUGIN_HTTP)


def publish(subject: JobSubject) -> Sequence[PlanStep]:
    """Return the steps: validation, photos one by one, draft, completion, record. A listing that
    exists is updated instead."""
    what = common.identity(subject)
    return [
        common.validate(rules.check)(subject),
        *_photos(subject),
        _step("draft", "Create draft", "POST", _DRAFTS, what, _draft, of_run=True),
        _step(
            "complete", "Create listing", "POST", f"{_DRAFTS}/{{id}}/completion", what, _complete
        ),
        common.save(subject, _external, "vinted_id"),
    ]


def update(subject: JobSubject) -> Sequence[PlanStep]:
    """Return the steps that update the item's fields and photos."""
    what = common.identity(subject)
    return [
        common.validate(rules.check)(subject),
        *_photos(subject),
        _step("item", "Update listing", "PUT", f"{_ITEMS}/{{id}}", what, _update),
        common.save(subject, common.live_page, "vinted_id"),
    ]


def delete(subject: JobSubject) -> Sequence[PlanStep]:
    """Return the steps that delete the item and check that it is gone; the next publication creates
    another."""
    what = {"generation": subject.generation}
    return [
        _step("delete", "Delete listing", "DELETE", f"{_ITEMS}/{{id}}", what, _delete),
        common.forget(subject, "delete"),
    ]


def sync(subject: JobSubject) -> Sequence[PlanStep]:  # noqa: ARG001 - every plan takes its subject
    """Return the step that looks up the item and reports differences."""
    return [_step("look", "Look up the item", "GET", f"{_ITEMS}/{{id}}", {}, _sync)]


def link_product(subject: JobSubject) -> Sequence[PlanStep]:
    """Return the step that links the item `external_id` to the product; null means that there is
    none."""
    what = {"external_id": subject.given.get("external_id")}
    return [
        PlanStep(
            key="link",
            type=TaskType.DB_OPERATION,
            description="Link the item",
            payload=what,
            run=_link,
        )
    ]


def _photos(subject: JobSubject) -> list[PlanStep]:
    via, generation = TaskType.PLUGIN_HTTP, subject.generation
    return common.image_steps(subject, _PHOTOS, _photo, via, generation=generation)


def _photo(url: str, _: int, work: StepContext) -> Mapping[str, Any]:
    """Upload a photo. A repetition does no harm, since the photo belongs to nothing yet."""
    known = work.listing.images.get(url)
    if known is not None:
        return {"photo_id": known}
    # An earlier run's answer has a copy that Vinted may have refused.
    name = f"{work.context.job.id}/{work.context.job.run}/{url}"
    request = PluginRequest(method="POST", path=_PHOTOS, body={}, photo_url=url, once=name)
    photo_id = asking.repeatable(work, request, lambda answer: errors.id_of(errors.success(answer)))
    work.record_image(url, photo_id)
    return {"photo_id": photo_id}


@contextmanager
def _refused_photos_forgotten(work: StepContext) -> Iterator[None]:
    try:
        yield
    except MarketplaceRefused as refused:
        common.forget_refused_images(work, refused)
        raise


def _body(work: StepContext) -> dict[str, Any]:
    """Return the product as an item, with the photos in the product's order."""
    product, content = work.subject.sold
    return rules.draft_of(content, common.copies(work, "photo_id"), product.sku)


def _draft(work: StepContext) -> Mapping[str, Any]:
    _, content = work.subject.sold
    listing = work.record_intent()
    if listing.external_id is not None:
        return {"draft_id": None, "vinted_id": listing.external_id}
    began = listing.intent_at
    if began is not None and began + _KNOWN <= work.clock():
        raise asking.undecided("the outcome of the listing's creation is unknown")
    refused = listing.reference
    what = "draft" if refused is None else f"draft-after-{refused}"
    draft = PluginRequest(method="POST", path=_DRAFTS, body=_body(work))
    request = asking.named(work, what, draft)

    def made(answer: PluginAnswer) -> Mapping[str, Any]:
        is_this = asking.was_only_sent_as(work, request)
        draft_id = errors.id_of(errors.part(errors.success(answer), "draft"))
        return {"draft_id": draft_id, "content": content.digest if is_this else None}

    with _refused_photos_forgotten(work):
        return asking.unrepeatable(work, what, request, made)


def _complete(work: StepContext) -> Mapping[str, Any]:
    """Complete the draft, the only call that creates a listing.

    If the product has changed since its draft or its publication, the changes are sent afterwards.
    """
    _, content = work.subject.sold
    draft = work.results["draft"]
    if standing := work.current_listing():
        shown = standing.digest
        made: Mapping[str, Any] = {"item_id": standing.external_id, "url": standing.url}
    else:
        path = f"{_DRAFTS}/{draft['draft_id']}/completion"
        request = asking.named(work, "complete", PluginRequest(method="POST", path=path, body={}))
        try:
            with _refused_photos_forgotten(work):
                made = asking.unrepeatable(work, "complete", request, _item_made)
        except MarketplaceRefused as refusal:
            if errors.is_about_fields(refusal):  # a changed product needs another draft
                work.record(reference=draft["draft_id"])
            raise
        shown = draft.get("content")
        work.record_listing(made["item_id"], reference=None, url=made["url"], digest=shown)
    if shown != content.digest:
        _change(work, str(made["item_id"]))
    return made


def _item_made(answer: PluginAnswer) -> Mapping[str, Any]:
    item = errors.part(errors.success(answer), "item")
    return {"item_id": errors.id_of(item), "url": item.get("url")}


def _external(work: StepContext) -> tuple[str, str | None]:
    made = work.results["complete"]
    return str(made["item_id"]), made.get("url")


def _update(work: StepContext) -> Mapping[str, Any]:
    item_id = str(common.live(work).external_id)
    _change(work, item_id)
    return {"item_id": item_id}


def _change(work: StepContext, item_id: str) -> None:
    _, content = work.subject.sold
    body = {"item": _body(work)["draft"]}
    request = PluginRequest(method="PUT", path=f"{_ITEMS}/{item_id}", body=body)
    with _refused_photos_forgotten(work):
        asking.repeatable(work, request, lambda answer: errors.part(errors.success(answer), "item"))
    images = work.listing.images
    work.record(images={url: images[url] for url in content.images if url in images})


def _delete(work: StepContext) -> Mapping[str, Any]:
    listing = work.listing
    if listing.external_id is None:
        if listing.state is ListingState.CREATING:
            raise asking.undecided("it is unknown whether a listing was created")
        return {"deleted": False, "on_record": None}
    path = f"{_ITEMS}/{listing.external_id}"
    look = PluginRequest(method="GET", path=path, body={})

    def shown(answer: PluginAnswer) -> None:
        if errors.item_unless_gone(answer) is not None:
            raise MarketplaceUnavailable("Vinted still shows the item")

    def deleted(answer: PluginAnswer) -> None:
        if not errors.is_gone(answer):
            asking.repeatable(work, look, shown)

    asking.repeatable(work, PluginRequest(method="DELETE", path=path, body={}), deleted)
    return {"deleted": True, "on_record": listing.external_id}


def _sync(work: StepContext) -> Mapping[str, Any]:
    """Look up the item and record differences. Only an explicit answer ends the listing: any other
    without the item proves nothing."""
    _, content = work.subject.sold
    listing = work.listing
    if listing.external_id is None:
        if listing.state is ListingState.CREATING:
            raise asking.undecided("it is unknown whether a listing was created")
        return {"state": "unknown"}
    request = PluginRequest(method="GET", path=f"{_ITEMS}/{listing.external_id}", body={})
    item = asking.repeatable(work, request, errors.item_unless_gone)
    if item is None:
        common.ended(work, listing, ListingState.ENDED)
        return {"state": "ended"}
    drift = common.drift_between({"title": content.title}, {"title": item.get("title")})
    work.record_about(listing, drift=drift, last_sync_at=work.clock())
    return {"state": "active", "drift": drift_rows(drift)}


def _link(work: StepContext) -> Mapping[str, Any]:
    given = work.subject.given
    if "external_id" in given and given["external_id"] is None:
        common.ended(work, work.listing, ListingState.ENDED)
        return {"linked": None}
    item_id = common.given_text(work.subject, "external_id")
    known = work.listing
    require_no_other(known.current_id, item_id)
    # The content and the photos of a newly linked item aren't known.
    fresh: Mapping[str, Any] = (
        {} if known.external_id == item_id else {"digest": None, "url": None, "images": {}}
    )
    now = work.clock()
    work.record_about(
        known, state=ListingState.ACTIVE, external_id=item_id, last_sync_at=now, **fresh
    )
    return {"linked": item_id}
