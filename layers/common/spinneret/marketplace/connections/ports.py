"""What connections need from outside."""

from __future__ import annotations

from typing import Protocol

from spinneret.kernel.paging import Page
from spinneret.marketplace.connections.models import (
    ClientSecrets,
    Connection,
    PendingConsent,
    Seller,
)


class ConnectionStore(Protocol):
    """Connections by tenant and marketplace. Raises DependencyUnavailable."""

    def get(self, tenant: str, marketplace: str) -> Connection | None:
        """The connection as it stands."""
        ...

    def put(self, connection: Connection) -> None:
        """Store it whatever stands: the seller has just agreed."""
        ...

    def replace(self, connection: Connection) -> bool:
        """Write it over the version before it; False when that isn't what stands any more."""
        ...

    def owner(self, marketplace: str, account: str) -> str | None:
        """The tenant that connected an account last."""
        ...

    def sellers(self, after: str | None, limit: int) -> Page[Seller]:
        """Up to `limit` connected sellers of all tenants, by marketplace."""
        ...

    def polled(self, seller: Seller) -> None:
        """Remember the job that reads the orders now; harmless once it is disconnected."""
        ...

    def remove(self, tenant: str, marketplace: str) -> None:
        """The connection and its seller, both or neither; harmless when there is none."""
        ...

    def forget(self, seller: Seller) -> None:
        """The passes find the seller no more, unless there is a connection."""
        ...

    def begin(self, consent: PendingConsent) -> None:
        """Remember where a seller was sent."""
        ...

    def take(self, tenant: str, state_hash: str) -> PendingConsent | None:
        """The consent of a state, once: it is removed."""
        ...


class ClientSecretProvider(Protocol):
    """What marketplaces know this application by. Raises DependencyUnavailable."""

    def client(self, marketplace: str) -> ClientSecrets:
        """Raises Conflict where the stage has no client for the marketplace."""
        ...
