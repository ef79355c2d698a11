"""Ports of the listing records."""

from typing import Protocol

from spinneret.jobs.models import Lease
from spinneret.kernel.paging import Page
from spinneret.marketplace.listings.models import Listing
from spinneret.marketplace.products.models import Product


class ListingStore(Protocol):
    """Listing records by tenant, product and marketplace. Raises DependencyUnavailable."""

    def get(self, tenant: str, product_id: str, marketplace: str) -> Listing | None:
        """Return the record (consistent read), or None."""

    def of_product(self, tenant: str, product_id: str) -> list[Listing]:
        """Return all records of a product."""

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Listing]:
        """Return up to `limit` records after a position, by product and marketplace."""

    def holder(self, tenant: str, marketplace: str, external_id: str) -> str | None:
        """Return the product that holds a marketplace's id, or None."""
        ...

    def add(self, product: Product, listing: Listing, lease: Lease) -> None:
        """Store a new product with its first listing, in one transaction.

        Raises Conflict if its SKU or an id of the listing is taken, and LeaseLost if the claim has
        ended.
        """

    def save(self, former: Listing | None, listing: Listing, lease: Lease | None = None) -> bool:
        """Replace the version `former` (None: the first one); return False if it changed meanwhile,
        or if a listing begins (see `is_begun`) and the product's SKU isn't the listing's.

        A listing that begins raises the product's version, so that a change made from the version
        without it fails.

        Take the ids that the listing holds, and release ids that only `former` held, in the same
        transaction. Raises Conflict if another product that exists holds one, and LeaseLost if the
        claim has ended.
        """
