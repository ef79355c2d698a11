"""Read a seller's listings, and link them to products.

Each phase continues where a lost claim stopped. A listing is linked by the write that takes its id
for a product, which fails if another product has it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import batched
from typing import Final

from spinneret.jobs.worker import Context
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Conflict, Contended, NotFound, ValidationFailed
from spinneret.kernel.paging import items_of
from spinneret.kernel.races import until_written
from spinneret.kernel.service import service
from spinneret.marketplace.imports import rules
from spinneret.marketplace.imports.models import (
    FoundListing,
    FoundListingPage,
    ImportedListing,
    ImportOutcome,
)
from spinneret.marketplace.imports.ports import ListingImportStore
from spinneret.marketplace.limits import IMPORT_PAGE
from spinneret.marketplace.listings.models import ENDED, Listing, ListingState
from spinneret.marketplace.listings.ports import ListingStore
from spinneret.marketplace.products.models import Product, ProductOverride
from spinneret.marketplace.products.ports import ProductStore
from spinneret.marketplace.products.rules import NO_VARIATIONS, made_sku
from spinneret.marketplace.products.service import ProductService

_ROWS_PER_CHECKPOINT: Final = 10


@dataclass(frozen=True, kw_only=True)
class Importing:
    """The claim of a job, and the marketplace that it imports from."""

    context: Context
    marketplace: str
    needs_sku: bool
    """Whether the marketplace finds listings by the product's SKU only."""


@service
class ListingImport:
    """Phases of an import. All methods raise DependencyUnavailable, LeaseLost, and ReleaseJob near
    the invocation's deadline."""

    products: ProductStore
    catalogue: ProductService
    listings: ListingStore
    rows: ListingImportStore
    clock: Clock

    def read(
        self, job: Importing, pages: Callable[[str | None], FoundListingPage]
    ) -> Mapping[str, int]:
        """Store the seller's listings page by page, from the page at which an earlier claim
        stopped. Raises the exceptions of `pages`."""
        ref, after, number = job.context.job.ref, self.rows.position(job.context.job.ref), 0
        while True:
            job.context.checkpoint("Read the listings", 0)
            page = pages(after)
            now = self.clock()
            found = {
                each.external_id: ImportedListing(
                    tenant=ref.tenant,
                    job_id=ref.job_id,
                    external_id=each.external_id,
                    title=each.title,
                    sku=each.sku,
                    url=each.url,
                    at=now,
                    found=rules.shortened(each),
                )
                for each in page.listings
            }
            parts = list(batched(found.values(), IMPORT_PAGE)) or [()]
            for part in parts[:-1]:  # a SKU may be listed on several sites
                self.rows.keep(job.context.lease, part, None, now)
            self.rows.keep(job.context.lease, parts[-1], page.after, now)
            number += 1
            if page.after is None:
                return {"pages": number}
            after = page.after

    def match_by_sku(self, job: Importing) -> Mapping[str, int]:
        """Link the listings whose SKU a product has."""
        for row, found in self._undecided(job, "Match by SKU"):
            if found.is_varied:
                self._decide(job, row, ImportOutcome.REFUSED, reason=NO_VARIATIONS)
                continue
            sku = rules.sku_of(found, job.marketplace)
            if job.needs_sku and sku != found.sku:
                self._decide(job, row, ImportOutcome.REFUSED, reason=rules.UNFIT_SKU)
                continue
            product = self.products.find(job.context.job.tenant, sku)
            if product is not None:
                self._link(job, row, found, product, ImportOutcome.LINKED)
        return {}

    def match_by_title(self, job: Importing, *, create: bool) -> Mapping[str, int]:
        """Link the others to the product of their title, or else, if asked, to a new product.
        Return the number of listings by outcome.

        Only products that existed before the job have titles to match.
        """
        titles: Mapping[str, list[Product]] | None = None
        for row, found in self._undecided(job, "Match by title"):
            held = self._held(job, found)
            if held is not None:
                self._decide_listed(job, row, found, held)
                continue
            if titles is None:
                titles = rules.by_title(self._products(job), job.marketplace)
            products = titles.get(rules.title_key(found.title), [])
            if len(products) == 1:
                self._link_by_title(job, row, found, products[0])
            elif products:
                reason = "several products have this title: give one of them the listing's SKU"
                rivals = tuple(each.id for each in products)
                self._decide(job, row, ImportOutcome.CONFLICT, rivals=rivals, reason=reason)
            elif create:
                self._create(job, row, found)
            else:
                self._decide(job, row, ImportOutcome.UNMATCHED)
        counts = Counter(row.outcome.value for row in self._all(job))
        return {"listings": counts.total(), **counts}

    def _link_by_title(
        self, job: Importing, row: ImportedListing, found: FoundListing, product: Product
    ) -> None:
        """Link the product of the title. Where the marketplace finds listings by SKU only, a
        product whose SKU the seller didn't choose gets the listing's."""
        sku = rules.sku_of(found, job.marketplace)
        if job.needs_sku and product.sku != sku:
            reason = (
                f"the product of this title has the SKU {product.sku}: give it the listing's SKU"
                f" {found.sku}, then import again"
            )
            if product.sku != made_sku(product.id):
                self._decide(job, row, ImportOutcome.CONFLICT, rivals=(product.id,), reason=reason)
                return
            try:
                product = self.catalogue.change_sku(product.tenant, product.id, sku)
            except NotFound as gone:  # removed just now: the next claim matches without it
                raise Contended("the product was removed", retry_after=1) from gone
            except Conflict:
                self._decide(job, row, ImportOutcome.CONFLICT, rivals=(product.id,), reason=reason)
                return
        self._link(job, row, found, product, ImportOutcome.LINKED)

    def _create(self, job: Importing, row: ImportedListing, found: FoundListing) -> None:
        """Create the product of the listing together with its record, so that no publication finds
        it unlisted. Link a product that has got the SKU meanwhile."""
        tenant, sku = job.context.job.tenant, rules.sku_of(found, job.marketplace)
        override = ProductOverride(category_id=found.category_id)
        overrides = {job.marketplace: override} if found.category_id else {}
        try:
            product = self.catalogue.made(tenant, sku, rules.content_of(found), overrides)
            listing = self._linked(job, row, found, product, None, ImportOutcome.CREATED)
            self.listings.add(product, listing, job.context.lease)
        except ValidationFailed as refused:
            self._decide(job, row, ImportOutcome.REFUSED, reason=_why(refused))
            return
        except Conflict:
            standing = self.products.find(tenant, sku)
            if standing is None:
                raise Contended("the product's SKU is changing", retry_after=1) from None
            self._link(job, row, found, standing, ImportOutcome.CREATED)
        else:
            self._decide(job, row, ImportOutcome.CREATED, product_id=product.id)

    def _link(
        self,
        job: Importing,
        row: ImportedListing,
        found: FoundListing,
        product: Product,
        outcome: ImportOutcome,
    ) -> None:
        """Record the listing as the product's, unless either has another."""

        def linked() -> bool:
            former = self.listings.get(product.tenant, product.id, job.marketplace)
            if former is not None and former.state not in ENDED:
                self._decide_listed(job, row, found, former)
                return True
            after = self._linked(job, row, found, product, former, outcome)
            try:
                is_saved = self.listings.save(former, after, job.context.lease)
            except Conflict as held:
                rivals = (product.id, str(held.details["product_id"]))
                self._decide(job, row, ImportOutcome.CONFLICT, rivals=rivals, reason=held.message)
                return True
            if is_saved:
                self._decide(job, row, outcome, product_id=product.id)
            return is_saved

        until_written(linked, Contended("the listing's record is changing", retry_after=1))

    def _linked(
        self,
        job: Importing,
        row: ImportedListing,
        found: FoundListing,
        product: Product,
        former: Listing | None,
        outcome: ImportOutcome,
    ) -> Listing:
        now, is_created = self.clock(), outcome is ImportOutcome.CREATED
        base = former or Listing(
            tenant=product.tenant,
            product_id=product.id,
            marketplace=job.marketplace,
            sku=product.sku,
        )
        return replace(
            base,
            sku=product.sku,
            state=ListingState.ACTIVE,
            external_id=found.external_id,
            reference=found.reference,
            url=found.url,
            # The images of another product aren't known to be the listing's.
            images=found.images if is_created else {},
            has_tags=is_created and "tags" in found.attributes,
            digest=None,
            drift=(),
            intent_job=job.context.job.id,
            # Older orders had their effect on the stock: the seller's, or that which was read.
            listed_since=base.listed_since or (row.at if is_created else now),
            last_sync_at=now,
            updated_at=now,
            version=base.version + 1,
        )

    def _decide_listed(
        self,
        job: Importing,
        row: ImportedListing,
        found: FoundListing,
        listing: Listing,
    ) -> None:
        """Decide about a listing whose product has one already: this one, or another."""
        ids = {listing.external_id, listing.reference} - {None}
        if ids & {found.external_id, found.reference}:
            outcome = self._standing(job, listing)
            self._decide(job, row, outcome, product_id=listing.product_id)
            return
        other = listing.external_id or listing.reference or "that a job creates"
        reason = f"its product has the listing {other}: end or unlink that one, then import again"
        rivals = (listing.product_id,)
        self._decide(job, row, ImportOutcome.CONFLICT, rivals=rivals, reason=reason)

    def _standing(self, job: Importing, listing: Listing) -> ImportOutcome:
        """Return the outcome of a listing that its product has: of a lost claim of this job, or
        known before."""
        if listing.intent_job != job.context.job.id:
            return ImportOutcome.KNOWN
        product = self.products.get(listing.tenant, listing.product_id)
        is_old = product is None or product.created_at < job.context.job.created_at
        return ImportOutcome.LINKED if is_old else ImportOutcome.CREATED

    def _decide(
        self,
        job: Importing,
        row: ImportedListing,
        outcome: ImportOutcome,
        *,
        product_id: str | None = None,
        rivals: tuple[str, ...] = (),
        reason: str | None = None,
    ) -> None:
        decided = replace(
            row,
            outcome=outcome,
            found=None,
            product_id=product_id,
            rivals=rivals,
            reason=reason,
            at=self.clock(),
        )
        self.rows.decide(job.context.lease, decided)

    def _held(self, job: Importing, found: FoundListing) -> Listing | None:
        """Return the record of the existing product that has the listing, or None."""
        tenant = job.context.job.tenant
        holder = self.listings.holder(tenant, job.marketplace, found.external_id)
        if holder is None or not self.products.existing(tenant, [holder]):
            return None
        return self.listings.get(tenant, holder, job.marketplace)

    def _products(self, job: Importing) -> Iterator[Product]:
        tenant, began = job.context.job.tenant, job.context.job.created_at
        products = items_of(lambda after: self.products.page(tenant, after, bounds.LIST_LIMIT_MAX))
        return (each for each in products if each.created_at < began)

    def _undecided(
        self, job: Importing, step: str
    ) -> Iterator[tuple[ImportedListing, FoundListing]]:
        """Yield the listings without an outcome; renew the claim between them."""
        number = 0
        for row in self._all(job):
            if row.found is None:
                continue
            if number % _ROWS_PER_CHECKPOINT == 0:
                job.context.checkpoint(step, 0)
            number += 1
            yield row, row.found

    def _all(self, job: Importing) -> Iterator[ImportedListing]:
        ref = job.context.job.ref
        return items_of(lambda after: self.rows.page(ref, after, bounds.LIST_LIMIT_MAX))


def _why(refused: ValidationFailed) -> str:
    fields = refused.details.get("fields", ())
    return "; ".join(f"{each['path']}: {each['message']}" for each in fields) or refused.message
