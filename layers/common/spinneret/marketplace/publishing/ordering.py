"""Step that reads a seller's orders, which the plans of several marketplaces share."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from spinneret.kernel.errors import MarketplaceUnsettled
from spinneret.marketplace.orders.models import OrderLine, OrderState
from spinneret.marketplace.publishing.work import StepContext

_PASSES: Final = 3  # a shop that sells all the time always has something new


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

    `read_page` reads the orders that changed since a time, without the first ones. An order that
    changes meanwhile may move behind the others, which move to pages before: several pages are read
    again while they show anything new, up to _PASSES times. Raises MarketplaceUnsettled for a page
    without its orders.
    """
    book, tenant, marketplace = work.services.orders, work.subject.tenant, work.subject.marketplace
    now = work.clock()
    since, known = book.since(tenant, marketplace, now), dict[tuple[str, str], OrderState]()
    for _ in range(_PASSES):
        seen, total, pages, is_new = 0, 1, 0, False
        while seen < total:
            page = read_page(since, seen)
            for line in page.lines:
                place = line.order_id, line.line_id
                if known.get(place) is not line.state:
                    book.record_sale(tenant, marketplace, line)
                    known[place], is_new = line.state, True
            seen, total, pages = seen + page.orders, page.total, pages + 1
            if not page.orders and seen < total:
                raise MarketplaceUnsettled(f"the marketplace shows {seen} of {total} orders")
        if pages == 1 or not is_new:
            break
    book.remember(tenant, marketplace, now)
    return {"orders": seen, "looked_again": book.sync_stale_listings(tenant, marketplace)}
