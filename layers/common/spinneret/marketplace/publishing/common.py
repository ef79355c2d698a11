"""Steps that the plans of several marketplaces share."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Final

from spinneret.jobs.worker import Defer
from spinneret.kernel.clock import parse_stamp, to_iso
from spinneret.kernel.errors import (
    Conflict,
    InputNeeded,
    MarketplaceRefused,
    MarketplaceUnsettled,
    ValidationFailed,
)
from spinneret.marketplace import limits
from spinneret.marketplace.listings.models import Drift, Listing, ListingState
from spinneret.marketplace.products.models import ProductContent
from spinneret.marketplace.publishing.models import JobSubject
from spinneret.marketplace.publishing.plans import PlanStep, step
from spinneret.marketplace.publishing.work import StepContext
from spinneret.marketplace.tasks.models import TaskType

_SETTLE: Final = timedelta(seconds=limits.LISTING_SETTLE_SECONDS)
Check = Callable[[ProductContent], Sequence[Mapping[str, str]]]


def identity(subject: JobSubject) -> dict[str, Any]:
    """Return the payload on which every step depends that creates or changes a listing. It
    identifies the product, its content and the generation of the listing."""
    product, content = subject.sold
    return {"sku": product.sku, "content": content.digest, "generation": subject.generation}


def chosen(content: ProductContent | None) -> dict[str, Any]:
    """Return the payload of a step that depends on the seller's choices, if there are any."""
    return {"choices": dict(content.choices)} if content is not None and content.choices else {}


def fresh(work: StepContext, name: str) -> Mapping[str, Any] | None:
    """Return what the connection's settings keep of the seller's account under a name; None if it
    has to be looked up again."""
    kept = work.calls.access.settings.get(name)
    if kept is None:
        return None
    is_doubtful = kept.get("missing") or work.context.job.run > 1
    usual, doubtful = limits.PRECONDITIONS_FRESH_SECONDS, limits.PRECONDITIONS_DOUBTFUL_SECONDS
    until = parse_stamp(kept["checked_at"]) + timedelta(seconds=doubtful if is_doubtful else usual)
    return kept if until > work.clock() else None


def ask(question: str) -> PlanStep:
    """Return a first step that asks the seller whether to run the others; retrying the job says
    yes."""

    def run(work: StepContext) -> Mapping[str, Any]:
        if work.context.job.run == 1:
            raise InputNeeded(f"{question} Retry this job to do so.")
        return {"confirmed": True}

    return PlanStep(
        key="question",
        type=TaskType.DB_OPERATION,
        description="Ask the seller",
        payload={"question": question},
        run=run,
    )


def require_fit(check: Check, content: ProductContent) -> None:
    """Raise ValidationFailed with all fields that the marketplace would refuse."""
    if fields := check(content):
        raise ValidationFailed(
            "; ".join(f"{each['path']}: {each['message']}" for each in fields),
            details={"fields": [dict(each) for each in fields]},
        )


def validate(check: Check) -> Callable[[JobSubject], PlanStep]:
    """Return a step that checks the product by the marketplace's rules, without calling it."""

    def validation(subject: JobSubject) -> PlanStep:
        _, content = subject.sold

        def run(_: StepContext) -> Mapping[str, Any]:
            require_fit(check, content)
            return {"valid": True}

        return PlanStep(
            key="validate",
            type=TaskType.DB_OPERATION,
            description="Validate product data",
            payload=identity(subject),
            run=run,
        )

    return validation


def image_steps(
    subject: JobSubject,
    path: str,
    upload: Callable[[str, int, StepContext], Mapping[str, Any]],
    via: TaskType,
    **more: Any,
) -> list[PlanStep]:
    """Return one step per image, which calls `upload(url, number, work)`. It counts for one run
    only, since the marketplace may have refused or removed its copy. `more` joins the payload."""
    _, content = subject.sold
    total = len(content.images)
    return [
        step(
            f"image-{number}",
            f"Upload image {number}/{total}",
            "POST",
            path,
            {"photo_url": url, "photo_order": number, **more},
            partial(upload, url, number),
            via,
            of_run=True,
        )
        for number, url in enumerate(content.images, start=1)
    ]


def copies(work: StepContext, name: str) -> list[str]:
    """Return what the image steps have found under a name, each once, in the product's order."""
    _, content = work.subject.sold
    numbers = range(1, len(content.images) + 1)
    found = (str(work.results[f"image-{number}"][name]) for number in numbers)
    return list(dict.fromkeys(found))


def save(
    subject: JobSubject, external: Callable[[StepContext], tuple[str, str | None]], id_name: str
) -> PlanStep:
    """Return the last step of publishing, which records the current listing."""
    _, content = subject.sold

    def run(work: StepContext) -> Mapping[str, Any]:
        external_id, url = external(work)
        now = work.clock()
        work.record_listing(external_id, url=url, digest=content.digest, drift=(), last_sync_at=now)
        return {id_name: external_id, "url": url, "published_at": to_iso(now)}

    return PlanStep(
        key="save",
        type=TaskType.DB_OPERATION,
        description="Save listing ID",
        payload=identity(subject),
        run=run,
    )


def forget(subject: JobSubject, ending: str, **more: Any) -> PlanStep:
    """Return the last step of ending a listing; a later publication creates another listing.

    `ending` is the key of the step that ended it, whose result holds the listing's id on record at
    that time (`on_record`). A listing recorded after that is kept. `more` joins the record.
    """

    def run(work: StepContext) -> Mapping[str, Any]:
        listing, looked = work.listing, work.results[ending]
        is_it = listing.external_id in (None, looked["on_record"])
        if listing.version and listing.generation == subject.generation and is_it:
            ended(work, listing, ListingState.ENDED, **more)
        return {"deleted": True, "external_id": looked["on_record"]}

    return PlanStep(
        key="save",
        type=TaskType.DB_OPERATION,
        description="Save the end of the listing",
        payload={"generation": subject.generation},
        run=run,
    )


def ended(work: StepContext, listing: Listing, state: ListingState, **more: Any) -> Listing:
    """Record that the listing has ended, and forget the marketplace's copies of its images. Raises
    Contended if the product has another listing by now."""
    return work.record_about(
        listing,
        **more,
        state=state,
        external_id=None,
        images={},
        url=None,
        has_tags=False,
        digest=None,
        drift=(),
        intent_job=None,
        intent_at=None,
        attempted_titles=(),
        generation=listing.generation + 1,
        last_sync_at=work.clock(),
    )


def forget_refused_images(
    work: StepContext, refused: MarketplaceRefused | MarketplaceUnsettled
) -> None:
    """Forget the marketplace's copies of the images if it refuses one of them, so that the next try
    uploads what the seller has put there."""
    if any(each["path"] == "images" for each in refused.details.get("fields", ())):
        work.record(images={})


def varied(external_id: str) -> InputNeeded:
    """Build the exception for a listing with variations, which an update would delete."""
    return InputNeeded(
        f"the listing {external_id} has variations: change it on the marketplace's own pages",
        details={"external_id": external_id},
    )


def live(work: StepContext) -> Listing:
    """Return the record of an active listing. Raises Conflict for a product that isn't listed."""
    listing = work.listing
    if listing.state is not ListingState.ACTIVE or listing.external_id is None:
        raise Conflict("the product isn't listed there: publish it first")
    return listing


def live_page(work: StepContext) -> tuple[str, str | None]:
    """Return id and page of the live listing. Raises the exceptions of `live`."""
    listing = live(work)
    return str(listing.external_id), listing.url


def await_visible(work: StepContext) -> None:
    """Raise Defer while a listing that was just created may not be visible yet."""
    listing = work.listing
    created = listing.attempted_at or listing.intent_at
    settled = None if created is None else created + _SETTLE
    if settled is not None and work.clock() < settled:
        raise Defer(settled, "the marketplace to show a new listing")


def drift_between(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> tuple[Drift, ...]:
    """Return the fields that differ."""
    return tuple(
        Drift(field=name, ours=str(value), theirs=str(theirs.get(name)))
        for name, value in ours.items()
        if theirs.get(name) != value
    )


def given_text(subject: JobSubject, name: str) -> str:
    """Return a text of the job's input. Raises InputNeeded if it is missing."""
    value = subject.given.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InputNeeded.about(f"input_data.{name}", "is missing")
    return value
