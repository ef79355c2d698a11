"""Step that reads a seller's orders, which the plans of several marketplaces share."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from spinneret.marketplace.orders.models import OrderLine
from spinneret.marketplace.publishing.work import StepContext


@dataclass(frozen=True, kw_only=True)
class OrderPage:
    """Page of a seller's orders."""

    lines: Iterable[OrderLine]
    orders: int
    """Number of orders on the page."""
    total: int
    """Number of orders on all pages."""


def read_orders(
    work: StepContext, read_page: Callable[[datetime, int], OrderPage]
) -> Mapping[str, Any]:
    """Store every order that changed since the last reading in the order book, line by line.

    `read_page` reads the orders that changed since a time, without the first ones.
    """
    book, tenant, marketplace = work.services.orders, work.subject.tenant, work.subject.marketplace
    now, seen = work.clock(), 0
    since = book.since(tenant, marketplace, now)
    while True:
        page = read_page(since, seen)
        for line in page.lines:
            book.record_sale(tenant, marketplace, line)
        seen += page.orders
        if not page.orders or seen >= page.total:
            break
    book.remember(tenant, marketplace, now)
    return {"orders": seen, "looked_again": book.sync_stale_listings(tenant, marketplace)}
