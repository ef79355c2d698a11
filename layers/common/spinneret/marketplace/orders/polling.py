"""Scheduled pass that reads all sellers' orders and retries open sales."""

import logging
from dataclasses import dataclass, replace
from typing import Final

from spinneret.jobs.rules import TERMINAL
from spinneret.kernel.passes import FAILED, act_on_each
from spinneret.kernel.service import service
from spinneret.marketplace import limits
from spinneret.marketplace.connections.models import ConnectionStatus, Seller
from spinneret.marketplace.connections.ports import SellerConnectionStore
from spinneret.marketplace.orders.ports import SaleStore, SellerJobs
from spinneret.marketplace.orders.service import OrderBook

logger = logging.getLogger(__name__)

_SELLERS: Final = "sellers"
_SALES: Final = "sales"
_READ: Final = "read"
_ADJUSTED: Final = "adjusted"
_LEFT: Final = "left"


@dataclass(frozen=True, kw_only=True)
class PollResult:
    """Result of one pass."""

    enabled: bool = True
    read: int = 0
    """Number of submitted readings of sellers' orders."""
    adjusted: int = 0
    """Number of open sales that were processed."""
    failed: int = 0
    """Number of sellers and sales that failed; a later round retries them."""


@service
class OrderPolling:
    """Submits readings of orders, since some are reported by no webhook, and retries open sales.

    Each pass continues where the previous one ended, and restarts after the last row.
    """

    sales: SaleStore
    connections: SellerConnectionStore
    book: OrderBook
    jobs: SellerJobs
    marketplaces: frozenset[str]
    """Marketplaces whose orders can be read."""

    def run(self) -> PollResult:
        """Run one pass. Raises DependencyUnavailable if the sellers or open sales can't be read."""
        sellers = self.connections.sellers(
            self.sales.position(_SELLERS), limits.SELLERS_POLLED_PER_PASS
        )
        polled = act_on_each(sellers.items, self._polled, lambda seller: seller.tenant)
        self.sales.keep_position(_SELLERS, sellers.after)
        sales = self.sales.open(self.sales.position(_SALES), limits.SALES_ADJUSTED_PER_PASS)
        adjusted = act_on_each(sales.items, self._adjusted, "/".join)
        self.sales.keep_position(_SALES, sales.after)
        done = PollResult(
            read=polled[_READ],
            adjusted=adjusted[_ADJUSTED],
            failed=polled[FAILED] + adjusted[FAILED],
        )
        logger.info("orders_polled", extra={"read": done.read, "adjusted": done.adjusted})
        return done

    def _polled(self, seller: Seller) -> str:
        """Submit a reading of a seller's orders, one at a time and only with a valid authorization.
        Return whether one was submitted."""
        if seller.marketplace not in self.marketplaces:
            return _LEFT
        connection = self.connections.get(seller.tenant, seller.marketplace)
        if connection is None:
            self.connections.forget(seller)
            return _LEFT
        if connection.status is not ConnectionStatus.ACTIVE:
            return _LEFT
        if seller.job_id is not None:
            former = self.jobs.find(seller.tenant, seller.job_id)
            if former is not None and former.status not in TERMINAL:
                return _LEFT
        job_id = self.jobs.read_orders(seller.tenant, seller.marketplace, "poll", urgent=False)
        self.connections.polled(replace(seller, job_id=job_id))
        return _READ

    def _adjusted(self, sale: tuple[str, str]) -> str:
        self.book.adjust_again(*sale)
        return _ADJUSTED
