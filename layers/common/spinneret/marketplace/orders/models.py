"""Values of orders."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SaleOutcome(StrEnum):
    """What a sale meant for the stock."""

    RESERVED = "reserved"
    """The stock was there; other marketplaces are told what is left."""
    CONFLICT = "conflict"
    """The stock was sold already: one of the orders can't be served."""
    UNKNOWN_PRODUCT = "unknown_product"
    """No product has the SKU."""


@dataclass(frozen=True, kw_only=True)
class Sale:
    """One line of an order."""

    tenant: str
    marketplace: str
    order_id: str
    line_id: str
    sku: str
    quantity: int
    sold_at: str
    """As the marketplace has it."""
    product_id: str | None = None
    outcome: SaleOutcome = SaleOutcome.UNKNOWN_PRODUCT
    conflicts_with: tuple[str, ...] = ()
    """Orders that took the stock before, as `<marketplace>:<order>`."""
    handled: bool = False
    """Whether the other marketplaces were told."""
    recorded_at: str = ""

    @property
    def key(self) -> str:
        """Names it among the tenant's."""
        return f"{self.marketplace}#{self.order_id}#{self.line_id}"


@dataclass(frozen=True, kw_only=True)
class SalePage:
    """Sales, and the position to go on after; None when there are no more."""

    sales: tuple[Sale, ...]
    after: str | None
