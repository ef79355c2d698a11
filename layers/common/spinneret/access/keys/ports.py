"""Ports of the key service."""

from datetime import datetime
from typing import Protocol

from spinneret.access.keys.models import ApiKey, Principal, RateLimitStatus, StoredTicket
from spinneret.kernel.paging import Page


class KeyStore(Protocol):
    """API keys and tickets. Methods raise DependencyUnavailable."""

    def add(self, key: ApiKey, now: datetime, at_most: int | None) -> None:
        """Store a new key.

        Raises Conflict if its tenant has `at_most` active keys; None sets no bound. Raises
        TenantSuspended.
        """

    def find(self, secret_hash: str) -> ApiKey | None:
        """Return the key with this hash (consistent read), even if revoked or expired."""

    def get(self, tenant: str, key_id: str) -> ApiKey | None:
        """Return a tenant's key by its id, with the same guarantees as `find`."""

    def page(self, tenant: str, after: str | None, limit: int) -> Page[ApiKey]:
        """Return up to `limit` of the tenant's keys with ids before `after`, newest first."""

    def revoke(self, tenant: str, key_id: str, now: datetime) -> ApiKey | None:
        """Revoke a key, or keep an earlier revocation; return the key, None if unknown."""

    def add_ticket(self, ticket: StoredTicket) -> None:
        """Store a new ticket."""

    def find_ticket(self, secret_hash: str) -> StoredTicket | None:
        """Return the ticket with this hash, even if expired."""


class People(Protocol):
    """Persons with access tokens. Methods raise DependencyUnavailable."""

    def authenticate(self, token: str) -> Principal:
        """Return the holder of an access token. Raises AuthRequired and TenantSuspended."""

    def holder(self, tenant: str, user_id: str, session_id: str | None) -> Principal | None:
        """Return an active user as caller; None for any other id, and if the session has ended.

        Raises TenantSuspended.
        """


class RateLimitStore(Protocol):
    """Number of requests of each key that were admitted in the last minute."""

    def take(self, tenant: str, key_id: str, limit: int, now: datetime) -> RateLimitStatus:
        """Admit a request and count it, or refuse it uncounted; `limit` is per minute.

        If this clock lags behind another process's, the other's time counts. A changed limit
        applies from the next second on. Raises RateLimited when the key's requests come faster than
        they can be counted, and DependencyUnavailable.
        """
