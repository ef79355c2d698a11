"""Answers about orders."""

from __future__ import annotations

from pydantic import BaseModel

from spinneret.kernel.paging import Page
from spinneret.kernel.views import ListOf
from spinneret.marketplace.orders.models import AdjustmentState, Sale, SaleOutcome


class AdjustmentView(BaseModel):
    """Whether another marketplace shows what the sale left."""

    marketplace: str
    job_id: str
    state: AdjustmentState
    times: int
    """How often it was asked to."""


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
    """Orders that took the stock before: `<marketplace>:<order>`."""
    adjustments: list[AdjustmentView]
    """The other marketplaces that had a listing of the product."""


class OrderList(ListOf[OrderView]):
    """A page of orders."""


def order_list(page: Page[Sale]) -> OrderList:
    """A page as its tenant sees it."""
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
