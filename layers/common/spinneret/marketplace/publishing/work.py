"""Context of the steps of a marketplace job."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.jobs.effects.service import SideEffects
from spinneret.jobs.worker import Context, Defer
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Conflict, Contended, InputNeeded
from spinneret.kernel.paging import items_of
from spinneret.kernel.races import until_written
from spinneret.kernel.service import service
from spinneret.marketplace import limits
from spinneret.marketplace.calls.service import SellerApiClient
from spinneret.marketplace.images import ImageSource
from spinneret.marketplace.imports.matching import ListingImport
from spinneret.marketplace.listings.models import ENDED, Listing, ListingState
from spinneret.marketplace.listings.ports import ListingStore
from spinneret.marketplace.listings.rules import is_begun, require_no_other
from spinneret.marketplace.orders.service import OrderBook
from spinneret.marketplace.plugins.transport import PluginTransport
from spinneret.marketplace.publishing.models import JobSubject
from spinneret.marketplace.tasks.models import Task

# The longest call: the call, a token refresh, the call again, a wait for the seller's rate limit
# before each, and the record of the attempt.
_CALL: Final = (
    3 * limits.MARKETPLACE_CALL_SECONDS
    + 2 * limits.MARKETPLACE_WAIT_SECONDS
    + bounds.AWS_CALL_SECONDS
)
# Effect records of an older intent may be purged, so `once` reconciles first.
_KNOWN: Final = timedelta(seconds=bounds.EFFECT_RETENTION_SECONDS) - timedelta(days=1)
Result = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class StepServices:
    """Services that the steps of single marketplaces use."""

    browser: PluginTransport
    images: ImageSource
    orders: OrderBook
    imports: ListingImport


@service
class StepContext:
    """One claim of a job, as passed to its steps."""

    context: Context
    subject: JobSubject
    calls: SellerApiClient
    listings: ListingStore
    effects: SideEffects
    services: StepServices
    clock: Clock
    over: Defer | None = None
    """Exception that ends a last look of the job before it creates anything."""

    def __post_init__(self) -> None:
        self.results: dict[str, Result] = {}
        """Results of the steps that are done, by key."""
        self.task: Task | None = None

    @property
    def listing(self) -> Listing:
        """Record of this product on this marketplace; a new, unstored one if there is none."""
        subject = self.subject
        product, _ = subject.sold
        found = self.listings.get(subject.tenant, product.id, subject.marketplace)
        return found or Listing(
            tenant=subject.tenant,
            product_id=product.id,
            marketplace=subject.marketplace,
            sku=product.sku,
            state=ListingState.ENDED,
        )

    def current_listing(self) -> Listing | None:
        """Return the current listing by our record, or None.

        Publishing updates this listing and creates no other, no matter how and when it was created.
        """
        listing = self.listing
        return None if listing.current_id is None else listing

    def record(self, **changes: Any) -> Listing:
        """Change the listing record under this claim's fence and return it.

        Raises LeaseLost, Contended, also if the product has got another SKU since the claim began
        and the listing begins, and Conflict if another product holds the listing's id.
        """
        return self._recorded(lambda _: changes)

    def record_about(self, seen: Listing, **changes: Any) -> Listing:
        """Change the record by what was found out about its listing in `seen`; see `record`.

        Raises Contended if the product's listing or its state has changed since: the step then
        looks again.
        """

        def same(listing: Listing) -> Mapping[str, Any]:
            if listing.identity != seen.identity:
                raise Contended("the product's listing has changed", retry_after=1)
            return changes

        return self._recorded(same)

    def record_listing(self, external_id: str, **changes: Any) -> Listing:
        """Record the active listing that was created or updated; see `record`.

        Raises Conflict if the product has another listing by now. One that a job or the seller has
        ended meanwhile is recorded again, as it may be active: the next sync finds out.
        """

        def listed(listing: Listing) -> Mapping[str, Any]:
            is_its_own = external_id in listing.held or (
                listing.external_id is None and listing.generation == self.subject.generation
            )
            if listing.state not in ENDED and not is_its_own:
                standing = listing.external_id or listing.reference or "that a job creates"
                require_no_other(standing, external_id)
            return {"state": ListingState.ACTIVE, "external_id": external_id, **changes}

        return self._recorded(listed)

    def record_image(self, url: str, copy: str) -> None:
        """Add the marketplace's copy of an image to the record."""
        self._recorded(lambda listing: {"images": {**listing.images, url: copy}})

    def _recorded(self, changes_of: Callable[[Listing], Mapping[str, Any]]) -> Listing:
        """Change the record as `changes_of` says for its present version; see `record`. No changes
        write nothing."""

        def recorded() -> Listing | None:
            before = self.listing
            changes = changes_of(before)
            if not changes:
                return before
            after = replace(before, **changes, updated_at=self.clock(), version=before.version + 1)
            if is_begun(before, after):
                after = replace(after, sku=self.subject.sold[0].sku)
            return after if self.listings.save(before, after, self.context.lease) else None

        changing = Contended("the listing's record is changing", retry_after=1)
        return until_written(recorded, changing)

    def record_intent(self) -> Listing:
        """Record that the listing is about to be created, before the first call that creates it.

        Return the record. If the product has a listing by now, such as one that was just linked, it
        is unchanged, and no other may be created. The time is that of the first intent of this
        generation: look-ups of created listings start there. Raises the exceptions of `record`.
        """

        def intended(listing: Listing) -> Mapping[str, Any]:
            if listing.state is ListingState.CREATING and listing.intent_at is not None:
                return {}
            if listing.external_id is not None and listing.state is not ListingState.ENDED:
                return {}
            self._require_time()
            now = self.clock()
            return {
                "state": ListingState.CREATING,
                "external_id": None,
                "reference": None if listing.state in ENDED else listing.reference,
                "intent_job": self.context.job.id,
                "intent_at": now,
                "listed_since": listing.listed_since or now,
                "attempted_titles": (),
            }

        return self._recorded(intended)

    def once(
        self,
        what: str,
        perform: Callable[[], Result],
        reconcile: Callable[[], Result | None],
        seconds: float = _CALL,
    ) -> Result:
        """Create something on the marketplace, at most once for this product and generation.

        `reconcile` returns what an earlier call created, or None if it created nothing. It raises
        Defer while that is unknown, and InputNeeded if it remains unknown. Raises Conflict when the
        listing has ended since the job's steps were planned.
        """
        listing, subject = self.listing, self.subject
        if listing.generation != subject.generation:
            raise Conflict("the listing has ended in the meantime: publish again")
        is_old = listing.intent_at is not None and listing.intent_at + _KNOWN <= self.clock()
        if is_old and (found := reconcile()) is not None:
            return found
        name = f"{subject.marketplace}/{listing.product_id}/{listing.generation}/{what}"
        return self.effects.once(self.context, name, name, seconds, perform, reconcile)

    def once_in_job(
        self, what: str, perform: Callable[[], Result], reconcile: Callable[[], Result | None]
    ) -> Result:
        """Do something at most once for this job, if it isn't about a listing; see `once`."""
        name = f"{self.subject.marketplace}/{self.context.job.id}/{what}"
        return self.effects.once(self.context, name, name, _CALL, perform, reconcile)

    def attempt(self, title: str, *, has_tags: bool) -> None:
        """Record that a call which creates a listing with this title, and perhaps with tags, is
        about to be sent."""
        self._require_time()

        def attempted(listing: Listing) -> Mapping[str, Any]:
            titles = dict.fromkeys((*listing.attempted_titles, title))
            return {
                "attempted_at": self.clock(),
                "attempted_titles": tuple(titles),
                "has_tags": has_tags or listing.has_tags,
            }

        self._recorded(attempted)

    def _require_time(self) -> None:
        if self.over is not None:
            raise self.over

    def window(self) -> tuple[datetime, datetime]:
        """Return when the creation of the listing began, and when the last call that creates it was
        sent. Raises InputNeeded if that isn't known."""
        listing = self.listing
        if listing.intent_at is None:
            raise InputNeeded("the start of the listing's creation is unknown")
        return listing.intent_at, listing.attempted_at or listing.intent_at

    def others(self) -> list[Listing]:
        """Return the records of the seller's other products on this marketplace."""
        subject = self.subject
        product, _ = subject.sold
        return [
            each
            for each in items_of(
                lambda after: self.listings.page(subject.tenant, after, bounds.LIST_LIMIT_MAX)
            )
            if each.marketplace == subject.marketplace and each.product_id != product.id
        ]
