"""What orders need from outside."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from spinneret.kernel.paging import Page
from spinneret.marketplace.orders.models import Sale


class SaleStore(Protocol):
    """Sales by tenant. Raises DependencyUnavailable."""

    def get(self, tenant: str, key: str) -> Sale | None:
        """The sale as it stands."""
        ...

    def reserve(self, sale: Sale) -> bool:
        """Store a sale and take its quantity from the product's stock, both or neither.

        False when the stock isn't there, or the sale was stored by somebody else meanwhile.
        """
        ...

    def put(self, sale: Sale) -> bool:
        """Write it over the version before it, without touching any stock; False when that isn't
        what stands any more."""
        ...

    def open(self, after: str | None, limit: int) -> Page[tuple[str, str]]:
        """Up to `limit` sales of all tenants that aren't handled."""
        ...

    def of_product(self, tenant: str, product_id: str) -> list[Sale]:
        """A product's sales, at most 100."""
        ...

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Sale]:
        """Up to `limit` sales, by marketplace and order."""
        ...

    def since(self, tenant: str, marketplace: str) -> datetime | None:
        """When orders were read last."""
        ...

    def position(self, walk: str) -> str | None:
        """How far a walk over many rows has come."""
        ...

    def keep_position(self, walk: str, after: str | None) -> None:
        """It goes on there; None for from the beginning."""
        ...

    def remember(self, tenant: str, marketplace: str, moment: datetime) -> None:
        """Orders up to this moment were read."""
        ...
