"""Contract tests of tenant stores: the fake, moto, and DynamoDB Local."""

from dataclasses import dataclass, replace
from uuid import uuid4

import pytest

from spinneret.access.keys.dynamo import DynamoKeyStore
from spinneret.access.keys.models import ApiKey, Scope
from spinneret.access.keys.ports import KeyStore
from spinneret.access.permissions import Role
from spinneret.access.tenants.dynamo import DynamoTenantStore
from spinneret.access.tenants.models import Tenant, TenantState
from spinneret.access.tenants.ports import TenantStore
from spinneret.access.users.dynamo import DynamoUserStore
from spinneret.access.users.models import User
from spinneret.access.users.ports import UserStore
from spinneret.kernel.errors import TenantSuspended
from tests.contract.backends import OF_AWS, Tables
from tests.fakes.keys import FakeKeyStore
from tests.fakes.people import FakeUserStore
from tests.fakes.tenants import FakeTenantStore
from tests.fakes.time import START

pytestmark = OF_AWS


@dataclass(frozen=True)
class Stores:
    """The stores of one table."""

    tenants: TenantStore
    keys: KeyStore
    users: UserStore


@pytest.fixture
def stores(tables: Tables | None) -> Stores:
    if tables is None:
        keys, users = FakeKeyStore(), FakeUserStore()
        return Stores(FakeTenantStore(keys, users), keys, users)
    of = (tables.client, tables.names["Tenancy"])
    return Stores(DynamoTenantStore(*of), DynamoKeyStore(*of), DynamoUserStore(*of))


def a_key(tenant: str) -> ApiKey:
    number = uuid4().hex
    return ApiKey(
        id=f"key_{number}",
        tenant=tenant,
        name="one",
        secret_hash=number * 2,
        prefix="spn_abcd",
        scopes=frozenset({Scope.ADMIN}),
        created_at=START,
    )


def a_user(tenant: str) -> User:
    number = uuid4().hex
    return User(
        tenant=tenant,
        id=f"u_{number}",
        email=f"{number}@example.com",
        name="Maya",
        role=Role.ADMIN,
        created_at=START,
    )


def test_a_tenant_is_stored_once_and_forgotten(stores: Stores, tenant: str) -> None:
    made = Tenant(name=tenant, created_at=START, since=START)
    assert not stores.tenants.is_known(tenant)
    assert stores.tenants.add(made)
    assert not stores.tenants.add(replace(made, state=TenantState.DELETING))
    stopped = replace(made, state=TenantState.SUSPENDED, reason="unpaid")
    stores.tenants.put(stopped)
    assert stores.tenants.get(tenant) == stopped
    stores.tenants.forget(tenant)
    stores.tenants.forget(tenant)
    assert stores.tenants.get(tenant) is None


def test_a_tenant_is_known_by_its_keys_or_people(stores: Stores, tenant: str) -> None:
    stores.keys.add(a_key(tenant), START, None)
    assert stores.tenants.is_known(tenant)
    stores.users.add(a_user(f"{tenant}-2"), 10)
    assert stores.tenants.is_known(f"{tenant}-2")


def test_a_mark_reaches_all_credentials_of_the_tenant_and_refuses_new_ones(
    stores: Stores, tenant: str
) -> None:
    other = f"{tenant}-2"
    keys, users = [a_key(tenant), a_key(tenant), a_key(other)], [a_user(tenant), a_user(other)]
    for key in keys:
        stores.keys.add(key, START, None)
    for user in users:
        stores.users.add(user, 10)
    for reason in ("unpaid", "unpaid", None):
        stores.tenants.mark(tenant, reason)
        for key in keys:
            expected = replace(key, suspended=reason if key.tenant == tenant else None)
            assert stores.keys.find(key.secret_hash) == expected
            assert stores.keys.get(key.tenant, key.id) == expected
        for user in users:
            found = stores.users.get(user.tenant, user.id)
            assert found == replace(user, suspended=reason if user.tenant == tenant else None)
        if reason is not None:
            with pytest.raises(TenantSuspended, match="unpaid"):
                stores.keys.add(a_key(tenant), START, None)
            with pytest.raises(TenantSuspended, match="unpaid"):
                stores.users.add(a_user(tenant), 10)
    stores.keys.add(a_key(tenant), START, None)
    stores.users.add(a_user(tenant), 10)


def test_a_tenant_without_credentials_can_be_marked(stores: Stores, tenant: str) -> None:
    stores.tenants.mark(tenant, "unpaid")
    with pytest.raises(TenantSuspended):
        stores.keys.add(a_key(tenant), START, None)
    stores.tenants.mark(tenant, None)
    stores.keys.add(a_key(tenant), START, None)
