"""Updates of the other marketplaces after a sale."""

import logging
from dataclasses import replace
from datetime import timedelta
from typing import Final

from spinneret.jobs.models import JobStatus
from spinneret.jobs.rules import TERMINAL
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import (
    Contended,
    InputNeeded,
    MarketplaceRefused,
    MarketplaceUnsupported,
    ReauthNeeded,
    ValidationFailed,
)
from spinneret.kernel.service import service
from spinneret.marketplace.listings.models import ENDED, Listing
from spinneret.marketplace.listings.ports import ListingStore
from spinneret.marketplace.orders import rules
from spinneret.marketplace.orders.models import (
    UNDONE,
    Adjustment,
    AdjustmentState,
    Sale,
    SaleOutcome,
)
from spinneret.marketplace.orders.ports import SaleStore, SellerJobs
from spinneret.marketplace.preferences.ports import PreferenceStore
from spinneret.marketplace.preferences.rules import quantity_by
from spinneret.marketplace.products.ports import ProductStore

logger = logging.getLogger(__name__)

_ASKED_AT_LEAST: Final = timedelta(hours=6)
_ASKED_AGAIN: Final = timedelta(minutes=5)  # after the first failure; doubles
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
RACES: Final = 5  # concurrent writers of one sale


@service
class SaleAdjuster:
    """Submits the jobs by which other marketplaces show the stock after a sale."""

    sales: SaleStore
    products: ProductStore
    listings: ListingStore
    preferences: PreferenceStore
    jobs: SellerJobs
    clock: Clock

    def adjust(self, sale: Sale) -> Sale:
        """Update every other marketplace to the stock after the sale.

        The sale stays open until all of them show it, or until only the seller can help; a job that
        failed otherwise is submitted again. One without a product stays open while an import may
        still create it. If others write the sale meanwhile, the update is repeated on their
        version. Raises Contended.
        """
        for _ in range(RACES):
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
        is_open = rules.may_be_imported(sale, self.clock())
        ended = set(sale.ended)
        if product:
            for listing in self.listings.of_product(sale.tenant, product.id):
                there = listing.marketplace
                preferences = self.preferences.get(sale.tenant, there)
                left = quantity_by(preferences, product.content.quantity)
                former = made.get(there)
                is_over = rules.is_settled(listing, left)
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
        if rules.is_settled(listing, left):
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

    def _passed_on(self, sale: Sale) -> None:
        """Give returned stock to orders that lack it."""
        for each in self.sales.of_product(sale.tenant, str(sale.product_id)):
            if each.outcome is SaleOutcome.CONFLICT and each.state not in UNDONE:
                taken = replace(each, outcome=SaleOutcome.RESERVED, version=each.version + 1)
                self.sales.reserve(taken)
