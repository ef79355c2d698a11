"""Tenants in memory, over the stores of keys and people; holds of their work."""

from dataclasses import replace
from datetime import datetime

from spinneret.access.tenants.models import Tenant
from tests.fakes.keys import FakeKeyStore
from tests.fakes.people import FakeUserStore


class FakeTenantStore:
    """Implements TenantStore."""

    def __init__(self, keys: FakeKeyStore, users: FakeUserStore) -> None:
        self.tenants: dict[str, Tenant] = {}
        self._keys = keys
        self._users = users

    def get(self, name: str) -> Tenant | None:
        return self.tenants.get(name)

    def is_known(self, name: str) -> bool:
        owners = {each.tenant for each in self._keys.keys.values()}
        return name in {*self.tenants, *owners, *(tenant for tenant, _ in self._users.users)}

    def add(self, tenant: Tenant) -> bool:
        return self.tenants.setdefault(tenant.name, tenant) is tenant

    def put(self, tenant: Tenant) -> None:
        self.tenants[tenant.name] = tenant

    def mark(self, name: str, reason: str | None) -> None:
        for store in (self._keys.suspended, self._users.suspended):
            store.pop(name, None)
            if reason is not None:
                store[name] = reason
        for digest, key in self._keys.keys.items():
            if key.tenant == name:
                self._keys.keys[digest] = replace(key, suspended=reason)
        for place, user in self._users.users.items():
            if user.tenant == name:
                self._users.users[place] = replace(user, suspended=reason)

    def forget(self, name: str) -> None:
        self.tenants.pop(name, None)


class FakeHolds:
    """Implements WorkHolds."""

    def __init__(self) -> None:
        self.held: dict[str, datetime] = {}

    def hold(self, tenant: str, since: datetime) -> None:
        self.held[tenant] = since

    def release(self, tenant: str) -> None:
        self.held.pop(tenant, None)
