"""Values of orders."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class SaleOutcome(StrEnum):
    """What a sale meant for the stock."""

    RESERVED = "reserved"
    """The stock was there; other marketplaces are to show what is left."""
    CONFLICT = "conflict"
    """The stock was sold already: one of the orders can't be served."""
    UNKNOWN_PRODUCT = "unknown_product"
    """No product has the SKU."""


class AdjustmentState(StrEnum):
    """Whether another marketplace shows what a sale left."""

    OPEN = "open"
    """It was asked to, and is asked again until it does."""
    DONE = "done"
    NEEDS_INPUT = "needs_input"
    """Only the seller can do it: the job says why."""


@dataclass(frozen=True, kw_only=True)
class Adjustment:
    """How far one other marketplace is with what a sale left."""

    marketplace: str
    job_id: str
    """The last job that was to do it."""
    asked_at: datetime
    times: int = 1
    state: AdjustmentState = AdjustmentState.OPEN


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
    adjustments: tuple[Adjustment, ...] = ()
    """The other marketplaces that had a listing of the product."""
    handled: bool = False
    """Whether none of them is open."""
    recorded_at: str = ""
    version: int = 0
    """Goes up by one with every change; 0 isn't stored yet."""

    @property
    def key(self) -> str:
        """Names it among the tenant's."""
        return f"{self.marketplace}#{self.order_id}#{self.line_id}"
