"""Responses about orders."""

from __future__ import annotations

from spinneret.kernel.paging import Page
from spinneret.kernel.views import ListOf, View
from spinneret.marketplace.orders.models import AdjustmentState, OrderState, Sale, SaleOutcome


class AdjustmentView(View):
    """Update of another marketplace to the stock that remains after a sale."""

    marketplace: str
    job_id: str
    state: AdjustmentState
    times: int
    """Number of requested updates."""


class OrderView(View):
    """A line of an order."""

    marketplace: str
    order_id: str
    line_id: str
    sku: str
    product_id: str | None
    quantity: int
    sold_at: str
    state: OrderState
    outcome: SaleOutcome
    conflicts_with: list[str]
    """Orders that took the stock earlier, as `<marketplace>:<order>`."""
    adjustments: list[AdjustmentView]
    """Updates of the other marketplaces that had a listing of the product. After the order is
    undone: updates to the returned stock, and jobs that ask whether to list the product again."""


class OrderList(ListOf[OrderView]):
    """A page of orders."""


def order_list(page: Page[Sale]) -> OrderList:
    """Return the view of a page."""
    return OrderList.page(page, OrderView.of)
