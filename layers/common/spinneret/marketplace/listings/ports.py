"""What listing records need from outside."""

from __future__ import annotations

from typing import Protocol

from spinneret.jobs.models import Lease
from spinneret.kernel.paging import Page
from spinneret.marketplace.listings.models import Listing


class ListingStore(Protocol):
    """Listing records by tenant, product and marketplace. Raises DependencyUnavailable."""

    def get(self, tenant: str, product_id: str, marketplace: str) -> Listing | None:
        """The record as it stands."""
        ...

    def of_product(self, tenant: str, product_id: str) -> list[Listing]:
        """All records of a product."""
        ...

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Listing]:
        """Up to `limit` records after a position, by product and marketplace."""
        ...

    def save(self, listing: Listing, lease: Lease | None = None) -> bool:
        """Write it over the version before it; False when that isn't what stands any more.

        Raises LeaseLost when the claim has ended.
        """
        ...
