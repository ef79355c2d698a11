"""Data types of orders."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final


class OrderState(StrEnum):
    """State of an order at its marketplace."""

    PENDING = "pending"
    """Not paid yet. It takes stock, because the marketplace keeps the piece for its buyer."""
    PAID = "paid"
    CANCELLED = "cancelled"
    REFUNDED = "refunded"
    """The whole amount was refunded; a partial refund changes nothing."""
    FAILED = "failed"
    """The payment failed."""


UNDONE: Final = frozenset({OrderState.CANCELLED, OrderState.REFUNDED, OrderState.FAILED})
"""States in which an order needs no stock."""


class SaleOutcome(StrEnum):
    """Effect of a sale on the stock."""

    RESERVED = "reserved"
    """The stock sufficed; other marketplaces must show the rest."""
    CONFLICT = "conflict"
    """The stock was sold already: one of the orders can't be fulfilled."""
    UNKNOWN_PRODUCT = "unknown_product"
    """No product has the SKU."""
    RETURNED = "returned"
    """The order was undone: the stock is back."""
    RECORDED = "recorded"
    """No stock was taken: the order was undone before it was read, or is older than the listing."""


class AdjustmentState(StrEnum):
    """Progress of another marketplace's update after a sale."""

    OPEN = "open"
    """An update was requested, and is requested again until it succeeds."""
    DONE = "done"
    NEEDS_INPUT = "needs_input"
    """Only the seller can do it; the job has the reason."""


@dataclass(frozen=True, kw_only=True)
class OrderLine:
    """One line of an order, as its marketplace reports it."""

    order_id: str
    line_id: str
    sku: str
    quantity: int
    sold_at: str
    state: OrderState = OrderState.PAID
    listing_id: str | None = None


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
    listing_id: str | None = None
    """Id of the sold listing, if the marketplace names it."""
    quantity: int
    sold_at: str
    """Time of the sale, as the marketplace reports it."""
    state: OrderState = OrderState.PAID
    product_id: str | None = None
    outcome: SaleOutcome = SaleOutcome.UNKNOWN_PRODUCT
    conflicts_with: tuple[str, ...] = ()
    """Orders that took the stock earlier, as `<marketplace>:<order>`."""
    adjustments: tuple[Adjustment, ...] = ()
    """Updates of the other marketplaces that had a listing of the product."""
    ended: tuple[str, ...] = ()
    """Marketplaces whose listings end because of the sale, or of the product's other sales if it is
    returned."""
    turn: int = 0
    """Number of times that the order was undone or renewed."""
    handled: bool = False
    """Whether no adjustment is open."""
    recorded_at: str = ""
    version: int = 0
    """Version, increased by one with every change; 0 means not stored yet."""

    @property
    def key(self) -> str:
        """Key of the sale within its tenant."""
        return f"{self.marketplace}#{self.order_id}#{self.line_id}"
