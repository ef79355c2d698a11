"""Ports of the order book."""

from datetime import datetime
from typing import Protocol

from spinneret.jobs.models import Job
from spinneret.kernel.paging import Page
from spinneret.marketplace.orders.models import Sale


class SaleStore(Protocol):
    """Sales by tenant. Raises DependencyUnavailable."""

    def get(self, tenant: str, key: str) -> Sale | None:
        """Return the sale (consistent read), or None."""

    def reserve(self, sale: Sale) -> bool:
        """Replace the previous version and take the sale's quantity from the product's stock,
        atomically.

        Return False if the stock is too low, or if another caller changed the sale meanwhile.
        """
        ...

    def give_back(self, sale: Sale) -> bool:
        """Replace the previous version and add the sale's quantity to the product's stock,
        atomically.

        Return False if the product was removed, or if another caller changed the sale meanwhile.
        """

    def put(self, sale: Sale) -> bool:
        """Replace the previous version without changing any stock; return False if it changed
        meanwhile."""

    def open(self, after: str | None, limit: int) -> Page[tuple[str, str]]:
        """Return tenant and key of up to `limit` sales of all tenants that aren't handled."""

    def of_product(self, tenant: str, product_id: str) -> list[Sale]:
        """Return a product's sales, at most 100."""

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Sale]:
        """Return up to `limit` sales, by marketplace and order."""

    def since(self, tenant: str, marketplace: str) -> datetime | None:
        """Return the time of the last reading of orders, or None."""

    def position(self, walk: str) -> str | None:
        """Return the position of a walk over many rows; None at the beginning."""

    def keep_position(self, walk: str, after: str | None) -> None:
        """Store the position at which the walk continues; None means the beginning."""

    def remember(self, tenant: str, marketplace: str, moment: datetime) -> None:
        """Record that orders up to this moment were read."""


class SellerJobs(Protocol):
    """Marketplace jobs of sellers. All methods raise DependencyUnavailable."""

    def find(self, tenant: str, job_id: str) -> Job | None:
        """Return the job, or None."""

    def ask(
        self,
        tenant: str,
        marketplace: str,
        action: str,
        product_id: str,
        why: str,
        once: str,
    ) -> str:
        """Submit a job of the highest priority for the product and return its id. If an earlier job
        has the same `once`, return that one's id, however it ended."""

    def ask_to_publish(
        self, tenant: str, marketplace: str, product_id: str, question: str, once: str
    ) -> str:
        """Submit a job that asks the seller whether to publish the product, and return its id. It
        ends with the reason `needs_input`; the seller answers yes by retrying it."""
        ...

    def read_orders(self, tenant: str, marketplace: str, why: str, *, urgent: bool = True) -> str:
        """Submit a job that reads a seller's orders; return its id."""
