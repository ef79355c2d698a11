"""Responses about orders."""

from __future__ import annotations

from pydantic import BaseModel

from spinneret.kernel.paging import Page
from spinneret.kernel.views import ListOf
from spinneret.marketplace.orders.models import AdjustmentState, Sale, SaleOutcome


class AdjustmentView(BaseModel):
    """Update of another marketplace to the stock that remains after a sale."""

    marketplace: str
    job_id: str
    state: AdjustmentState
    times: int
    """Number of requested updates."""


class OrderView(BaseModel):
    """A line of an order."""

    marketplace: str
    order_id: str
    line_id: str
    sku: str
    product_id: str | None
    quantity: int
    sold_at: str
    outcome: SaleOutcome
    conflicts_with: list[str]
    """Orders that took the stock earlier, as `<marketplace>:<order>`."""
    adjustments: list[AdjustmentView]
    """Updates of the other marketplaces that had a listing of the product."""


class OrderList(ListOf[OrderView]):
    """A page of orders."""


def order_list(page: Page[Sale]) -> OrderList:
    """Return the view of a page."""
    return OrderList.page(page, _view)


def _view(sale: Sale) -> OrderView:
    return OrderView(
        marketplace=sale.marketplace,
        order_id=sale.order_id,
        line_id=sale.line_id,
        sku=sale.sku,
        product_id=sale.product_id,
        quantity=sale.quantity,
        sold_at=sale.sold_at,
        outcome=sale.outcome,
        conflicts_with=list(sale.conflicts_with),
        adjustments=[
            AdjustmentView(
                marketplace=each.marketplace,
                job_id=each.job_id,
                state=each.state,
                times=each.times,
            )
            for each in sale.adjustments
        ],
    )
