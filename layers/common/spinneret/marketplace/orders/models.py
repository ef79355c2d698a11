"""Data types of orders."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class SaleOutcome(StrEnum):
    """Effect of a sale on the stock."""

    RESERVED = "reserved"
    """The stock sufficed; other marketplaces must show the rest."""
    CONFLICT = "conflict"
    """The stock was sold already: one of the orders can't be fulfilled."""
    UNKNOWN_PRODUCT = "unknown_product"
    """No product has the SKU."""


class AdjustmentState(StrEnum):
    """Progress of another marketplace's update after a sale."""

    OPEN = "open"
    """An update was requested, and is requested again until it succeeds."""
    DONE = "done"
    NEEDS_INPUT = "needs_input"
    """Only the seller can do it; the job has the reason."""


@dataclass(frozen=True, kw_only=True)
class Adjustment:
    """Progress of another marketplace's update after a sale."""

    marketplace: str
    job_id: str
    """Last job submitted for the update."""
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
    """Time of the sale, as the marketplace reports it."""
    product_id: str | None = None
    outcome: SaleOutcome = SaleOutcome.UNKNOWN_PRODUCT
    conflicts_with: tuple[str, ...] = ()
    """Orders that took the stock earlier, as `<marketplace>:<order>`."""
    adjustments: tuple[Adjustment, ...] = ()
    """Updates of the other marketplaces that had a listing of the product."""
    handled: bool = False
    """Whether no adjustment is open."""
    recorded_at: str = ""
    version: int = 0
    """Version, increased by one with every change; 0 means not stored yet."""

    @property
    def key(self) -> str:
        """Key of the sale within its tenant."""
        return f"{self.marketplace}#{self.order_id}#{self.line_id}"
