"""Ports of the connection service."""

from typing import Protocol

from spinneret.kernel.paging import Page
from spinneret.marketplace.connections.models import (
    PendingConsent,
    Seller,
    SellerConnection,
)


class SellerConnectionStore(Protocol):
    """Connections by tenant and marketplace. Raises DependencyUnavailable."""

    def get(self, tenant: str, marketplace: str) -> SellerConnection | None:
        """Return the connection (consistent read), or None."""

    def put(self, connection: SellerConnection) -> None:
        """Store the connection over any existing one: the seller has just consented."""

    def replace(self, connection: SellerConnection) -> bool:
        """Replace the previous version; return False if it changed meanwhile."""

    def owner(self, marketplace: str, account: str) -> str | None:
        """Return the tenant that connected an account last, or None."""

    def sellers(self, after: str | None, limit: int) -> Page[Seller]:
        """Return up to `limit` connected sellers of all tenants, by marketplace."""

    def polled(self, seller: Seller) -> None:
        """Store the job that reads the orders now; no-op if the seller is disconnected."""

    def remove(self, tenant: str, marketplace: str) -> None:
        """Delete the connection and its seller row atomically; no-op if there is none."""

    def forget(self, seller: Seller) -> None:
        """Delete the seller row unless a connection exists."""

    def begin(self, consent: PendingConsent) -> None:
        """Store the pending consent of a seller who is sent to the marketplace."""

    def take(self, tenant: str, state_hash: str) -> PendingConsent | None:
        """Remove and return the consent of a state; return None if there is none."""
