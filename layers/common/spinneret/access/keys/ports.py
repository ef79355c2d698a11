"""What API keys need from outside."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from spinneret.access.keys.models import ApiKey, RateLimitStatus, StoredTicket
from spinneret.kernel.paging import Page


class KeyStore(Protocol):
    """API keys and tickets. Raises DependencyUnavailable."""

    def add(self, key: ApiKey, now: datetime, at_most: int | None) -> None:
        """Store a new key.

        Raises Conflict when its tenant has `at_most` active ones; None sets no bound.
        """
        ...

    def find(self, secret_hash: str) -> ApiKey | None:
        """The key with this hash, revoked and expired ones included; never an outdated state."""
        ...

    def get(self, tenant: str, key_id: str) -> ApiKey | None:
        """A tenant's key by its id, as `find` answers it."""
        ...

    def page(self, tenant: str, after: str | None, limit: int) -> Page[ApiKey]:
        """Up to `limit` of the tenant's keys with ids before `after`, newest first."""
        ...

    def revoke(self, tenant: str, key_id: str, now: datetime) -> ApiKey | None:
        """The key, revoked now or, if it was so before, then; None for an unknown one."""
        ...

    def add_ticket(self, ticket: StoredTicket) -> None:
        """Store a new ticket."""
        ...

    def find_ticket(self, secret_hash: str) -> StoredTicket | None:
        """The ticket with this hash, expired ones included."""
        ...


class RateLimitStore(Protocol):
    """How many requests of each key were admitted in the last minute."""

    def take(self, tenant: str, key_id: str, limit: int, now: datetime) -> RateLimitStatus:
        """Admit a request and count it, or refuse it uncounted; `limit` is per minute.

        A clock that lags behind another process's is taken for as late as that. A limit that has
        changed applies from the next second on. Raises RateLimited when the key's requests come
        faster than they can be counted, and DependencyUnavailable.
        """
        ...
