"""What products need from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from spinneret.kernel.paging import Page
from spinneret.marketplace.products.models import Product


class ProductStore(Protocol):
    """Products by tenant and id; SKUs are unique per tenant. Raises DependencyUnavailable."""

    def add(self, product: Product) -> None:
        """Store a new one; raises Conflict when its SKU is taken."""
        ...

    def get(self, tenant: str, product_id: str) -> Product | None:
        """The product as it stands."""
        ...

    def find(self, tenant: str, sku: str) -> Product | None:
        """The product of a SKU."""
        ...

    def existing(self, tenant: str, product_ids: Sequence[str]) -> frozenset[str]:
        """Which of these ids, at most 100, are products."""
        ...

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Product]:
        """Up to `limit` products with ids before `after`, newest first."""
        ...

    def replace(self, former: Product, product: Product) -> bool:
        """Write `product` over `former`; False when that isn't what stands any more.

        Raises Conflict when another product has the SKU.
        """
        ...

    def remove(self, product: Product) -> bool:
        """Remove it; False when it isn't what stands any more."""
        ...
