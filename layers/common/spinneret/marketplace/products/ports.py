"""Ports of the product service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from spinneret.kernel.paging import Page
from spinneret.marketplace.products.models import Product


class ProductStore(Protocol):
    """Products by tenant and id; SKUs are unique per tenant. Raises DependencyUnavailable."""

    def add(self, product: Product) -> None:
        """Store a new product. Raises Conflict if its SKU is taken."""
        ...

    def get(self, tenant: str, product_id: str) -> Product | None:
        """Return the product (consistent read), or None."""
        ...

    def find(self, tenant: str, sku: str) -> Product | None:
        """Return the product of a SKU, or None."""
        ...

    def existing(self, tenant: str, product_ids: Sequence[str]) -> frozenset[str]:
        """Return the ids, of at most 100 given, that are products."""
        ...

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Product]:
        """Return up to `limit` products with ids before `after`, newest first."""
        ...

    def replace(self, former: Product, product: Product) -> bool:
        """Replace `former` by `product`; return False if it changed meanwhile.

        Raises Conflict if another product has the SKU.
        """
        ...

    def remove(self, product: Product) -> bool:
        """Remove the product; return False if it changed meanwhile."""
        ...
