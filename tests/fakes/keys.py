"""API keys, tickets and rate windows in memory."""

from dataclasses import replace
from datetime import datetime

from spinneret.access.keys import rules
from spinneret.access.keys.models import ApiKey, RateLimitStatus, SlidingWindow, StoredTicket
from spinneret.access.tenants.rules import require_active
from spinneret.kernel.errors import Conflict, RateLimited
from spinneret.kernel.paging import Page
from tests.fakes.dependency import FakeDependency


class FakeKeyStore(FakeDependency):
    """Implements KeyStore."""

    def __init__(self) -> None:
        self.keys: dict[str, ApiKey] = {}
        """Keys by their hash."""
        self.tickets: dict[str, StoredTicket] = {}
        """Tickets by their hash."""
        self.suspended: dict[str, str] = {}
        """Reasons of suspensions by tenant."""

    def add(self, key: ApiKey, now: datetime, at_most: int | None) -> None:
        self._require()
        require_active(self.suspended.get(key.tenant))
        active = sum(each.is_active(now) for each in self._of(key.tenant))
        if at_most is not None and active >= at_most:
            raise Conflict("too many active keys", details={"active": active})
        self.keys[key.secret_hash] = key

    def find(self, secret_hash: str) -> ApiKey | None:
        self._require()
        return self.keys.get(secret_hash)

    def get(self, tenant: str, key_id: str) -> ApiKey | None:
        self._require()
        return next((key for key in self._of(tenant) if key.id == key_id), None)

    def page(self, tenant: str, after: str | None, limit: int) -> Page[ApiKey]:
        self._require()
        keys = sorted(self._of(tenant), key=lambda key: key.id, reverse=True)
        found = [key for key in keys if after is None or key.id < after]
        return Page.cut(found, limit, lambda each: each.id)

    def revoke(self, tenant: str, key_id: str, now: datetime) -> ApiKey | None:
        key = self.get(tenant, key_id)
        if key is None or key.revoked_at is not None:
            return key
        revoked = self.keys[key.secret_hash] = replace(key, revoked_at=now)
        return revoked

    def add_ticket(self, ticket: StoredTicket) -> None:
        self._require()
        self.tickets[ticket.secret_hash] = ticket

    def find_ticket(self, secret_hash: str) -> StoredTicket | None:
        self._require()
        return self.tickets.get(secret_hash)

    def _of(self, tenant: str) -> list[ApiKey]:
        return [key for key in self.keys.values() if key.tenant == tenant]


class FakeRateLimitStore(FakeDependency):
    """Implements RateLimitStore; raises RateLimited while `flooded`."""

    def __init__(self) -> None:
        self.flooded = False
        self._windows: dict[tuple[str, str], SlidingWindow] = {}

    def take(self, tenant: str, key_id: str, limit: int, now: datetime) -> RateLimitStatus:
        self._require()
        if self.flooded:
            raise RateLimited("too many requests at once")
        window = self._windows.get((tenant, key_id), rules.UNUSED)
        changed = rules.counted(window, limit, now)
        if changed is None:
            return rules.allowance(window, limit, now, admitted=False)
        self._windows[tenant, key_id] = changed
        return rules.allowance(changed, limit, now, admitted=True)
