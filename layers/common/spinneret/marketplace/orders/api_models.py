"""Responses about orders."""

from spinneret.kernel.views import ListOf, View
from spinneret.marketplace.orders.models import AdjustmentState, OrderState, SaleOutcome


class AdjustmentView(View):
    """Update of another marketplace to the stock that remains after a sale."""

    marketplace: str
    job_id: str
    """Id of the last job submitted for the update."""
    state: AdjustmentState
    """Progress of the update."""
    times: int
    """Number of requested updates."""


class OrderView(View):
    """A line of an order."""

    marketplace: str
    order_id: str
    """Id of the order at the marketplace."""
    line_id: str
    """Id of the line within the order."""
    sku: str
    """SKU as the order names it."""
    product_id: str | None
    """Id of the sold product; null if no product has the SKU."""
    quantity: int
    """Number of pieces sold."""
    sold_at: str
    """Time of the sale, as the marketplace reports it."""
    state: OrderState
    """State of the order at the marketplace."""
    outcome: SaleOutcome
    """Effect of the sale on the product's stock."""
    conflicts_with: list[str]
    """Orders that took the stock earlier, as `<marketplace>:<order>`."""
    adjustments: list[AdjustmentView]
    """Updates of the other marketplaces that had a listing of the product. After the order is
    undone: updates to the returned stock, and jobs that ask whether to list the product again."""


class OrderList(ListOf[OrderView]):
    """A page of orders."""
