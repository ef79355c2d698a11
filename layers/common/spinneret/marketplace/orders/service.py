"""Oversell protection: a sale reduces the stock at once, then the other marketplaces are
updated."""

import logging
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from spinneret.jobs.models import JobStatus, Lease
from spinneret.jobs.rules import TERMINAL
from spinneret.kernel.clock import Clock, to_iso
from spinneret.kernel.errors import (
    Contended,
    InputNeeded,
    MarketplaceRefused,
    MarketplaceUnsupported,
    NotFound,
    ReauthNeeded,
    ValidationFailed,
)
from spinneret.kernel.paging import Page
from spinneret.kernel.service import service
from spinneret.marketplace import limits
from spinneret.marketplace.listings.models import ENDED, Listing, ListingState
from spinneret.marketplace.listings.ports import ListingStore
from spinneret.marketplace.orders.models import (
    UNDONE,
    Adjustment,
    AdjustmentState,
    OrderState,
    Sale,
    SaleOutcome,
)
from spinneret.marketplace.orders.ports import SaleStore, SellerJobs
from spinneret.marketplace.preferences.ports import PreferenceStore
from spinneret.marketplace.preferences.rules import quantity_by
from spinneret.marketplace.products.models import Product
from spinneret.marketplace.products.ports import ProductStore

logger = logging.getLogger(__name__)

_FIRST_READ: Final = timedelta(days=7)  # period that a seller's first reading covers
_IN_DOUBT: Final = timedelta(minutes=15)  # longer than a claim and its retries
_UNSEEN: Final = timedelta(days=1)
_ASKED_AGAIN: Final = timedelta(minutes=5)  # after the first failure; doubles
_ASKED_AT_LEAST: Final = timedelta(hours=6)
_ONLY_THE_SELLER: Final = frozenset(
    each.code
    for each in (
        InputNeeded,
        MarketplaceRefused,
        MarketplaceUnsupported,
        ReauthNeeded,
        ValidationFailed,
    )
)
_IMPORTED_WITHIN: Final = timedelta(hours=3)  # longer than an import waits and works
_RACES: Final = 5  # concurrent writers of one sale
_OVERLAP: Final = timedelta(minutes=5)  # read twice because of clock skew and late orders


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

    def since(self, tenant: str, marketplace: str, now: datetime) -> datetime:
        """Return the time from which orders have to be read."""
        last = self.sales.since(tenant, marketplace)
        return now - _FIRST_READ if last is None else last - _OVERLAP

    def remember(self, tenant: str, marketplace: str, moment: datetime) -> None:
        self.sales.remember(tenant, marketplace, moment)

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Sale]:
        return self.sales.page(tenant, after, limit)

    def record_sale(
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
        state: OrderState = OrderState.PAID,
        listing_id: str | None = None,
    ) -> Sale:
        """Record a line of an order, or the order's present state.

        A sale takes stock: the other marketplaces are updated to the rest; if there is none, the
        product's listings there end. A sale without stock is a conflict, and is recorded with the
        orders that took the stock. An order that is undone gives its stock back: listings are
        updated, and the seller is asked about listings that ended for it. An order that is undone
        when it is first read, or older than the listing, is recorded only. A repetition completes
        what an earlier call didn't finish, and finds a product that was created since.
        """
        owner = lease.tenant if lease is not None else tenant
        assert owner is not None  # the caller passes `lease` or `tenant`
        sale = Sale(
            tenant=owner,
            marketplace=marketplace,
            order_id=_plain(order_id),
            line_id=_plain(line_id),
            sku=sku,
            listing_id=listing_id,
            quantity=max(1, quantity),
            sold_at=sold_at,
            state=state,
            recorded_at=to_iso(self.clock()),
            version=1,
        )
        known = self.sales.get(owner, sale.key)
        stored = self._stored(sale) if known is None else self._resolved(known)
        stored = self._moved(stored, state)
        return stored if stored.handled else self._adjust(stored)

    def adjust_again(self, tenant: str, key: str) -> Sale | None:
        """Look again for the product of a sale that has none, and retry the updates of other
        marketplaces that a sale still needs. Return None for an unknown sale."""
        sale = self.sales.get(tenant, key)
        if sale is None or sale.handled:
            return sale
        sale = self._resolved(sale)
        return sale if sale.handled else self._adjust(sale)

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
                if _is_due(listing, now):
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
        moment = _moment(sale.sold_at)
        return moment is not None and moment < since - _OVERLAP

    def _moved(self, sale: Sale, state: OrderState) -> Sale:
        """Change the sale to the order's present state. Raises Contended."""
        for _ in range(_RACES):
            if sale.state is state or _is_about_refund(sale.state, state):
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

    def _passed_on(self, sale: Sale) -> None:
        """Give returned stock to orders that lack it."""
        for each in self.sales.of_product(sale.tenant, str(sale.product_id)):
            if each.outcome is SaleOutcome.CONFLICT and each.state not in UNDONE:
                taken = replace(each, outcome=SaleOutcome.RESERVED, version=each.version + 1)
                self.sales.reserve(taken)

    def _adjust(self, sale: Sale) -> Sale:
        """Update every other marketplace to the stock after the sale.

        The sale stays open until all of them show it, or until only the seller can help; a job that
        failed otherwise is submitted again. One without a product stays open while an import may
        still create it. If others write the sale meanwhile, the update is
        repeated on their version. Raises Contended.
        """
        for _ in range(_RACES):
            after = self._adjusted(sale)
            if after == sale or self.sales.put(after):
                return after
            sale = self.sales.get(sale.tenant, sale.key) or sale
        raise Contended("the sale is changing", retry_after=1)

    def _adjusted(self, sale: Sale) -> Sale:
        """Submit the jobs that are due and return the changed sale, or the same object if nothing
        changes."""
        is_back = sale.outcome is SaleOutcome.RETURNED
        if is_back:
            self._passed_on(sale)
        product = sale.product_id and self.products.get(sale.tenant, sale.product_id)
        made = {each.marketplace: each for each in sale.adjustments}
        is_open = _may_be_imported(sale, self.clock())
        ended = set(sale.ended)
        if product:
            for listing in self.listings.of_product(sale.tenant, product.id):
                there = listing.marketplace
                preferences = self.preferences.get(sale.tenant, there)
                left = quantity_by(preferences, product.content.quantity)
                former = made.get(there)
                is_over = _is_settled(listing, left)
                if is_back and left > 0 and there in ended and listing.state in ENDED:
                    made[there] = self._question(sale, listing, former)
                elif (is_back or there != sale.marketplace) and (former or not is_over):
                    made[there] = self._adjustment(sale, listing, former, left)
                    ended |= {there} if left <= 0 and not is_over else set()
            is_open = any(each.state is AdjustmentState.OPEN for each in made.values())
        after = replace(
            sale,
            adjustments=tuple(made.values()),
            ended=tuple(sorted(ended)),
            handled=not is_open,
        )
        return sale if after == sale else replace(after, version=sale.version + 1)

    def _question(self, sale: Sale, listing: Listing, former: Adjustment | None) -> Adjustment:
        """Ask the seller whether to list the product again where its listing ended for the sale."""
        if former is not None and former.state is AdjustmentState.NEEDS_INPUT:
            return former
        there = listing.marketplace
        what = f"The order {sale.order_id} on {sale.marketplace} was undone ({sale.state})."
        question = f"{what} List the product on {there} again?"
        once = f"{sale.key} {sale.turn} question"
        job_id = self.jobs.ask_to_publish(sale.tenant, there, listing.product_id, question, once)
        return Adjustment(
            marketplace=there,
            job_id=job_id,
            asked_at=self.clock(),
            times=former.times + 1 if former else 1,
            state=AdjustmentState.NEEDS_INPUT,
        )

    def _adjustment(
        self, sale: Sale, listing: Listing, former: Adjustment | None, left: int
    ) -> Adjustment:
        now = self.clock()
        if former is not None:
            state = self._state(sale, listing, former, left)
            again = min(_ASKED_AT_LEAST, _ASKED_AGAIN * 2 ** min(former.times - 1, 10))
            if state is not None or now < former.asked_at + again:
                return replace(former, state=state or former.state)
        action = "update" if left > 0 else "delete"
        what = "returned" if sale.outcome is SaleOutcome.RETURNED else "sold"
        why, marketplace = f"{what} on {sale.marketplace}", listing.marketplace
        times = former.times + 1 if former else 1
        once = f"{sale.key} {sale.turn} {times}"  # concurrent callers get the same job
        job_id = self.jobs.ask(sale.tenant, marketplace, action, listing.product_id, why, once)
        return Adjustment(marketplace=marketplace, job_id=job_id, asked_at=now, times=times)

    def _state(
        self, sale: Sale, listing: Listing, former: Adjustment, left: int
    ) -> AdjustmentState | None:
        """Return the adjustment's state, or None if another job must be submitted. That is so after
        a failed job, and if a listing of a sold-out product remains."""
        if former.state is not AdjustmentState.OPEN:
            return former.state
        if _is_settled(listing, left):
            return AdjustmentState.DONE
        job = self.jobs.find(sale.tenant, former.job_id)
        if job is None:
            return None
        if job.status is JobStatus.COMPLETED:  # a publishing job may have created a listing since
            return AdjustmentState.DONE if left > 0 else None
        if job.status not in TERMINAL:
            return AdjustmentState.OPEN
        code = job.last_error.code if job.last_error else ""
        facts = {"product_id": listing.product_id, "marketplace": listing.marketplace}
        logger.warning("adjustment_failed", extra={**facts, "job_id": job.id, "code": code})
        return AdjustmentState.NEEDS_INPUT if code in _ONLY_THE_SELLER else None


def _is_about_refund(former: OrderState, state: OrderState) -> bool:
    """Return whether the new state is that of a refund: eBay reports a refund that waits or failed
    as it does a payment."""
    return former is OrderState.PAID and state in (OrderState.PENDING, OrderState.FAILED)


def _may_be_imported(sale: Sale, now: datetime) -> bool:
    """Return whether an import that was under way when the sale was read may still create its
    product."""
    recorded = _moment(sale.recorded_at)
    is_unknown = sale.outcome is SaleOutcome.UNKNOWN_PRODUCT
    return is_unknown and recorded is not None and now < recorded + _IMPORTED_WITHIN


def _moment(text: str) -> datetime | None:
    """Return the time that a marketplace reports; None if it reports none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _is_settled(listing: Listing, left: int) -> bool:
    """Return whether sold stock can't be bought there. A draft gets the product's stock when it is
    renewed, but must end when no stock remains."""
    return listing.state in ENDED or (listing.state is ListingState.DRAFT and left > 0)


def _is_due(listing: Listing, now: datetime) -> bool:
    """Return whether the listing has been in doubt for 15 minutes, or not looked at for a day."""
    if listing.state in ENDED:
        return False
    seen = listing.last_sync_at or listing.intent_at
    limit = _IN_DOUBT if listing.state is ListingState.CREATING else _UNSEEN
    return seen is not None and seen + limit <= now


def _plain(text: str) -> str:
    """Replace key separators in a marketplace's id."""
    return text.replace("#", "-")
