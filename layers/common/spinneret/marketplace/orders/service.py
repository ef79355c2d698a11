"""Oversell protection: a sale takes the stock at once, and the other marketplaces are told."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from spinneret.jobs.models import Lease
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock, stamp
from spinneret.marketplace.listings.models import ENDED, Listing, ListingState
from spinneret.marketplace.listings.ports import ListingStore
from spinneret.marketplace.orders.models import Sale, SaleOutcome, SalePage
from spinneret.marketplace.orders.ports import SaleStore
from spinneret.marketplace.products.ports import ProductStore

logger = logging.getLogger(__name__)

Ask = Callable[[str, str, str, str, str], None]
"""(tenant, marketplace, action code, product id, why): submits a job of the highest priority."""

_FIRST_READ: Final = timedelta(days=7)  # orders before a seller's first look at them
_IN_DOUBT: Final = timedelta(minutes=15)  # longer than a claim and its retries
_UNSEEN: Final = timedelta(days=1)
_OVERLAP: Final = timedelta(minutes=5)  # read twice: two clocks, and orders that show late


class OrderBook:
    """Sales of all marketplaces, each counted once."""

    def __init__(
        self,
        *,
        sales: SaleStore,
        products: ProductStore,
        listings: ListingStore,
        ask: Ask,
        clock: Clock,
    ) -> None:
        self._sales = sales
        self._products = products
        self._listings = listings
        self._ask = ask
        self._clock = clock

    def since(self, tenant: str, marketplace: str, now: datetime) -> datetime:
        """From when on orders are to be read."""
        last = self._sales.since(tenant, marketplace)
        return now - _FIRST_READ if last is None else last - _OVERLAP

    def remember(self, tenant: str, marketplace: str, moment: datetime) -> None:
        """See SaleStore."""
        self._sales.remember(tenant, marketplace, moment)

    def page(self, tenant: str, after: str | None, limit: int) -> SalePage:
        """See SaleStore."""
        return self._sales.page(tenant, after, limit)

    def sold(
        self,
        lease: Lease | None = None,
        *,
        tenant: str | None = None,
        marketplace: str,
        order_id: str,
        line_id: str,
        sku: str,
        quantity: int,
        sold_at: str,
    ) -> Sale:
        """Record a line of an order; a repetition only finishes what the first one left.

        What it leaves of the product goes to the other marketplaces: its listings end there when
        nothing is left, else they are updated. A sale without stock is a conflict, and is recorded
        with the orders that took it.
        """
        owner = lease.tenant if lease is not None else tenant
        assert owner is not None  # one of the two names it
        sale = Sale(
            tenant=owner,
            marketplace=marketplace,
            order_id=_plain(order_id),
            line_id=_plain(line_id),
            sku=sku,
            quantity=max(1, quantity),
            sold_at=sold_at,
            recorded_at=stamp(self._clock()),
        )
        stored = self._sales.get(owner, sale.key) or self._stored(sale)
        if not stored.handled:
            self._tell(stored)
            stored = replace(stored, handled=True)
            self._sales.put(stored)
        return stored

    def look_again(self, tenant: str, marketplace: str) -> int:
        """Submit a sync for listings that are in doubt, and for those not looked at for a day.

        So reading orders, which sellers do all day, also finds what an expired or cancelled job may
        have made, and reports what differs. At most RECONCILED_PER_READ; the number of them.
        """
        now, asked, after = self._clock(), 0, None
        while asked < bounds.RECONCILED_PER_READ:
            page = self._listings.page(tenant, after, bounds.LIST_LIMIT_MAX)
            for listing in page.listings:
                if asked < bounds.RECONCILED_PER_READ and _is_due(listing, marketplace, now):
                    self._ask(tenant, marketplace, "sync", listing.product_id, "reconcile")
                    asked += 1
            after = page.after
            if after is None:
                break
        return asked

    def _stored(self, sale: Sale) -> Sale:
        product = self._products.find(sale.tenant, sale.sku) if sale.sku else None
        if product is None:
            self._sales.put(sale)
            return sale
        taken = replace(sale, product_id=product.id, outcome=SaleOutcome.RESERVED)
        if self._sales.reserve(taken):
            return taken
        if (other := self._sales.get(sale.tenant, sale.key)) is not None:
            return other
        before = self._sales.of_product(sale.tenant, product.id)
        conflict = replace(
            taken,
            outcome=SaleOutcome.CONFLICT,
            conflicts_with=tuple(
                sorted({f"{each.marketplace}:{each.order_id}" for each in before})
            ),
        )
        self._sales.put(conflict)
        logger.warning(
            "oversold", extra={"product_id": product.id, "orders": list(conflict.conflicts_with)}
        )
        return conflict

    def _tell(self, sale: Sale) -> None:
        if sale.product_id is None:
            return
        product = self._products.get(sale.tenant, sale.product_id)
        if product is None:
            return
        action = "update" if product.content.quantity > 0 else "delete"
        why = f"sold on {sale.marketplace}"
        for listing in self._listings.of_product(sale.tenant, product.id):
            if listing.marketplace != sale.marketplace and listing.state not in ENDED:
                self._ask(sale.tenant, listing.marketplace, action, product.id, why)


def _is_due(listing: Listing, marketplace: str, now: datetime) -> bool:
    """In doubt for a while, or not looked at for a day."""
    if listing.marketplace != marketplace or listing.state in ENDED:
        return False
    seen = listing.last_sync_at or listing.intent_at
    limit = _IN_DOUBT if listing.state is ListingState.CREATING else _UNSEEN
    return seen is not None and seen + limit <= now


def _plain(text: str) -> str:
    """An id of a marketplace without what separates keys."""
    return text.replace("#", "-")
