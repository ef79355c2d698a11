"""Ports of the product service."""

from collections.abc import Sequence
from typing import Protocol

from spinneret.kernel.rows import RowStore
from spinneret.marketplace.products.models import Product


class ProductStore(RowStore[Product], Protocol):
    """Products; SKUs are their names, unique per tenant."""

    def find(self, tenant: str, sku: str, /) -> Product | None:
        """Return the product of a SKU, or None."""

    def existing(self, tenant: str, product_ids: Sequence[str]) -> frozenset[str]:
        """Return the ids, of at most 100 given, that are products."""
