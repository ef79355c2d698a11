"""Oversell protection: a sale reduces the stock at once, then the other marketplaces are
updated."""

import logging
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from spinneret.kernel.clock import Clock, to_iso
from spinneret.kernel.errors import Contended, NotFound
from spinneret.kernel.paging import Page
from spinneret.kernel.service import service
from spinneret.marketplace import limits
from spinneret.marketplace.listings.ports import ListingStore
from spinneret.marketplace.orders import rules
from spinneret.marketplace.orders.adjusting import RACES, SaleAdjuster
from spinneret.marketplace.orders.models import (
    UNDONE,
    AdjustmentState,
    OrderLine,
    OrderState,
    Sale,
    SaleOutcome,
)
from spinneret.marketplace.orders.ports import SaleStore, SellerJobs
from spinneret.marketplace.preferences.ports import PreferenceStore
from spinneret.marketplace.products.models import Product
from spinneret.marketplace.products.ports import ProductStore

logger = logging.getLogger(__name__)

_FIRST_READ: Final = timedelta(days=7)  # period that a seller's first reading covers
_OVERLAP: Final = timedelta(seconds=limits.MARKETPLACE_SKEW_SECONDS)  # is read twice


@service
class OrderBook:
    """Sales of all marketplaces, each counted once; pages as SaleStore does."""

    sales: SaleStore
    products: ProductStore
    listings: ListingStore
    preferences: PreferenceStore
    jobs: SellerJobs
    clock: Clock
    silent: frozenset[str] = frozenset()
    """Marketplaces whose orders can't be read."""

    def __post_init__(self) -> None:
        self._adjuster = SaleAdjuster(
            sales=self.sales,
            products=self.products,
            listings=self.listings,
            preferences=self.preferences,
            jobs=self.jobs,
            clock=self.clock,
        )

    def since(self, tenant: str, marketplace: str, now: datetime) -> datetime:
        """Return the time from which orders have to be read."""
        last = self.sales.since(tenant, marketplace)
        return now - _FIRST_READ if last is None else last - _OVERLAP

    def remember(self, tenant: str, marketplace: str, moment: datetime) -> None:
        self.sales.remember(tenant, marketplace, moment)

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Sale]:
        return self.sales.page(tenant, after, limit)

    def record_sale(self, tenant: str, marketplace: str, line: OrderLine) -> Sale:
        """Record a line of an order, or the order's present state.

        A sale takes stock: the other marketplaces are updated to the rest; if there is none, the
        product's listings there end. A sale without stock is a conflict, and is recorded with the
        orders that took the stock. An order that is undone gives its stock back: listings are
        updated, and the seller is asked about listings that ended for it. An order that is undone
        when it is first read, or older than the listing, is recorded only. A repetition completes
        what an earlier call didn't finish, and finds a product that was created since.
        """
        sale = Sale(
            tenant=tenant,
            marketplace=marketplace,
            order_id=rules.key_part(line.order_id),
            line_id=rules.key_part(line.line_id),
            sku=line.sku,
            listing_id=line.listing_id,
            quantity=max(1, line.quantity),
            sold_at=line.sold_at,
            state=line.state,
            recorded_at=to_iso(self.clock()),
            version=1,
        )
        known = self.sales.get(tenant, sale.key)
        stored = self._stored(sale) if known is None else self._resolved(known)
        stored = self._moved(stored, line.state)
        return stored if stored.handled else self._adjuster.adjust(stored)

    def adjust_again(self, tenant: str, key: str) -> Sale | None:
        """Look again for the product of a sale that has none, and retry the updates of other
        marketplaces that a sale still needs. Return None for an unknown sale."""
        sale = self.sales.get(tenant, key)
        if sale is None or sale.handled:
            return sale
        sale = self._resolved(sale)
        return sale if sale.handled else self._adjuster.adjust(sale)

    def sync_stale_listings(self, tenant: str, marketplace: str) -> int:
        """Submit a sync for listings that are in doubt, and for those not looked at for a day.

        Orders are read all day, so this also finds listings that expired or cancelled jobs may have
        created, and reports differences. Listings on marketplaces without orders are checked with
        every other marketplace's orders. At most RECONCILED_PER_READ syncs are submitted, starting
        where the last reading ended. Return their number.
        """
        now, asked = self.clock(), 0
        walk = f"listings {tenant} {marketplace}"
        start = after = self.sales.position(walk)
        step = max(1, limits.RECONCILED_PER_READ // 2)
        while asked + step <= limits.RECONCILED_PER_READ:
            page = self.listings.page(tenant, after, step)
            for listing in page.items:
                there = listing.marketplace
                if there != marketplace and there not in self.silent:
                    continue
                if rules.is_due(listing, now):
                    # A sync without result leaves the listing due, so `once` limits its repetition:
                    # to one an hour, or one a day where it needs a browser that may be away.
                    once = f"{now:%Y-%m-%d}" if there in self.silent else f"{now:%Y-%m-%dT%H}"
                    with suppress(NotFound):  # its product was removed
                        self.jobs.ask(tenant, there, "sync", listing.product_id, "reconcile", once)
                        asked += 1
            after = page.after
            if after is None:
                break
        if after != start:
            self.sales.keep_position(walk, after)
        return asked

    def _stored(self, sale: Sale) -> Sale:
        product = self._sold(sale)
        return self._first(sale) if product is None else self._taken(sale, product)

    def _resolved(self, sale: Sale) -> Sale:
        """Look for the product of a sale that has none: an import may have created it since."""
        unknown = sale.outcome is SaleOutcome.UNKNOWN_PRODUCT
        product = self._sold(sale) if unknown else None
        if product is None:
            return sale
        return self._taken(replace(sale, handled=False, version=sale.version + 1), product)

    def _taken(self, sale: Sale, product: Product) -> Sale:
        """Take the product's stock for the sale; store and return the sale with its outcome."""
        taken = replace(sale, product_id=product.id, outcome=SaleOutcome.RESERVED)
        if sale.state in UNDONE or self._is_older(sale, product):
            return self._first(replace(taken, outcome=SaleOutcome.RECORDED, handled=True))
        if self.sales.reserve(taken):
            return taken
        other = self.sales.get(sale.tenant, sale.key)
        if other is not None and (sale.version == 1 or other.version >= sale.version):
            return other
        before = [
            each
            for each in self.sales.of_product(sale.tenant, product.id)
            if each.outcome is SaleOutcome.RESERVED
        ]
        conflict = replace(
            taken,
            outcome=SaleOutcome.CONFLICT,
            conflicts_with=tuple(
                sorted({f"{each.marketplace}:{each.order_id}" for each in before})
            ),
        )
        logger.warning(
            "oversold", extra={"product_id": product.id, "orders": list(conflict.conflicts_with)}
        )
        return self._first(conflict)

    def _sold(self, sale: Sale) -> Product | None:
        """Return the product that has the listing, whose SKU there may be another or none; else the
        product of the SKU."""
        tenant, known = sale.tenant, sale.product_id
        if known is None and sale.listing_id is not None:
            known = self.listings.holder(tenant, sale.marketplace, sale.listing_id)
        product = self.products.get(tenant, known) if known is not None else None
        return product or (self.products.find(tenant, sale.sku) if sale.sku else None)

    def _first(self, sale: Sale) -> Sale:
        """Store the sale unless another caller has; return the stored one."""
        return sale if self.sales.put(sale) else self.sales.get(sale.tenant, sale.key) or sale

    def _is_older(self, sale: Sale, product: Product) -> bool:
        """Return whether the sale is older than the product's first listing there, or than the
        product, whose stock the seller gave after it."""
        listing = self.listings.get(sale.tenant, product.id, sale.marketplace)
        since = (listing.listed_since if listing else None) or product.created_at
        moment = rules.moment_of(sale.sold_at)
        return moment is not None and moment < since - _OVERLAP

    def _moved(self, sale: Sale, state: OrderState) -> Sale:
        """Change the sale to the order's present state. Raises Contended."""
        for _ in range(RACES):
            if sale.state is state or rules.is_about_refund(sale.state, state):
                return sale
            after = self._changed(replace(sale, state=state, version=sale.version + 1), sale)
            if after is not None:
                return after
            sale = self.sales.get(sale.tenant, sale.key) or sale
        raise Contended("the sale is changing", retry_after=1)

    def _changed(self, after: Sale, former: Sale) -> Sale | None:
        """Give the sale's stock back, or take it again; store and return the sale. Return None if
        others changed it meanwhile."""
        if after.state not in UNDONE and former.state in UNDONE:
            again = replace(after, adjustments=(), ended=(), turn=former.turn + 1, handled=False)
            return self._stored(again)
        if after.state in UNDONE and former.outcome is SaleOutcome.RESERVED:
            others = self.sales.of_product(former.tenant, str(former.product_id))
            back = replace(
                after,
                outcome=SaleOutcome.RETURNED,
                # The end of a listing that is still under way is awaited.
                adjustments=tuple(
                    each for each in former.adjustments if each.state is AdjustmentState.OPEN
                ),
                ended=tuple(sorted({name for each in (former, *others) for name in each.ended})),
                turn=former.turn + 1,
                handled=False,
            )
            if self.sales.give_back(back):
                return back
            if self.products.get(former.tenant, str(former.product_id)) is not None:
                return None
        return after if self.sales.put(after) else None
