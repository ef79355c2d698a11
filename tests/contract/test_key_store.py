"""Contract tests of key stores: the fake, moto, and DynamoDB Local."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from spinneret.access.keys.dynamo import DynamoKeyStore
from spinneret.access.keys.models import ApiKey, Scope
from spinneret.access.keys.ports import KeyStore
from spinneret.kernel.errors import Conflict
from tests import factories
from tests.contract.backends import OF_AWS, Tables
from tests.fakes.keys import FakeKeyStore
from tests.fakes.time import START

pytestmark = OF_AWS

SECOND = timedelta(seconds=1)


@pytest.fixture
def keys(tables: Tables | None) -> KeyStore:
    if tables is None:
        return FakeKeyStore()
    return DynamoKeyStore(tables.client, tables.names["Tenancy"])


def new_key(**given: Any) -> ApiKey:
    return factories.api_key(secret_hash=uuid4().hex * 2, **given)


def added(keys: KeyStore, *given: ApiKey, at_most: int | None = None) -> None:
    for key in given:
        keys.add(key, START, at_most)


def listed(keys: KeyStore, tenant: str, limit: int = 100) -> list[str]:
    """Return the ids of all pages."""
    found: list[str] = []
    after = None
    while True:
        page = keys.page(tenant, after, limit)
        found += [key.id for key in page.items]
        assert len(page.items) <= limit
        if page.after is None:
            return found
        assert page.after == found[-1]
        after = page.after


# ---------------------------------------------------------------- Keys


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"expires_at": START + timedelta(days=30, microseconds=1)},
        {"revoked_at": START + timedelta(microseconds=1)},
        {"rate_limit_rpm": 6000},
        {"scopes": frozenset(Scope)},
        {"scopes": frozenset()},
        {"name": "Läptop 🕷"},
        {"name": ""},
    ],
    ids=["plain", "expiry", "revoked", "rate", "all scopes", "no scopes", "unicode", "no name"],
)
def test_a_key_is_found_by_its_hash_and_by_its_id(
    keys: KeyStore, tenant: str, given: dict[str, Any]
) -> None:
    key = new_key(tenant=tenant, **given)
    added(keys, key)
    assert keys.find(key.secret_hash) == key
    assert keys.get(tenant, key.id) == key
    assert keys.page(tenant, None, 1).items == (key,)


@pytest.mark.parametrize("secret_hash", ["", "0" * 64, "x#y"])
def test_an_unknown_hash_finds_nothing(keys: KeyStore, tenant: str, secret_hash: str) -> None:
    added(keys, new_key(tenant=tenant))
    assert keys.find(secret_hash) is None
    assert keys.find_ticket(secret_hash) is None


@pytest.mark.parametrize("key_id", ["", "key_9", "ROSTER", "key_1#x", "ü", "x" * 1100])
def test_an_unknown_id_finds_and_revokes_nothing(keys: KeyStore, tenant: str, key_id: str) -> None:
    added(keys, new_key(tenant=tenant))
    assert keys.get(tenant, key_id) is None
    assert keys.revoke(tenant, key_id, START) is None


def test_tenants_never_meet(keys: KeyStore, tenant: str) -> None:
    one, other = new_key(tenant=f"{tenant}-1"), new_key(tenant=f"{tenant}-2", id="key_2")
    added(keys, one, other, at_most=1)
    assert [keys.find(key.secret_hash) for key in (one, other)] == [one, other]
    assert listed(keys, one.tenant) == ["key_1"]
    assert keys.get(one.tenant, "key_2") is None
    assert keys.revoke(one.tenant, "key_2", START) is None
    assert keys.find(other.secret_hash) == other


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 6])
def test_keys_are_listed_newest_first_page_by_page(keys: KeyStore, tenant: str, limit: int) -> None:
    ids = [f"key_{number}" for number in range(5)]
    added(keys, *[new_key(tenant=tenant, id=each) for each in ids])
    assert listed(keys, tenant, limit) == ids[::-1]


def test_a_list_goes_on_behind_a_key_that_is_gone(keys: KeyStore, tenant: str) -> None:
    added(keys, new_key(tenant=tenant, id="key_1"), new_key(tenant=tenant, id="key_3"))
    assert [key.id for key in keys.page(tenant, "key_2", 5).items] == ["key_1"]


def test_a_tenant_without_keys_has_an_empty_list(keys: KeyStore, tenant: str) -> None:
    assert listed(keys, tenant) == []


# ---------------------------------------------------------------- Revoking


def test_a_revoked_key_is_so_by_hash_id_and_list(keys: KeyStore, tenant: str) -> None:
    key, other = new_key(tenant=tenant), new_key(tenant=tenant, id="key_2")
    added(keys, key, other)
    revoked = replace(key, revoked_at=START + SECOND)
    assert keys.revoke(tenant, key.id, START + SECOND) == revoked
    assert keys.find(key.secret_hash) == revoked
    assert keys.get(tenant, key.id) == revoked
    assert keys.page(tenant, None, 5).items == (other, revoked)


def test_a_key_is_revoked_once(keys: KeyStore, tenant: str) -> None:
    key = new_key(tenant=tenant, expires_at=START + SECOND)
    added(keys, key)
    first = keys.revoke(tenant, key.id, START)
    assert keys.revoke(tenant, key.id, START + SECOND) == first
    assert keys.find(key.secret_hash) == first


# ---------------------------------------------------------------- Number of keys


def test_a_tenant_has_so_many_active_keys_and_no_more(keys: KeyStore, tenant: str) -> None:
    added(keys, *[new_key(tenant=tenant, id=f"key_{n}") for n in range(3)], at_most=3)
    refused = new_key(tenant=tenant, id="key_3")
    with pytest.raises(Conflict) as error:
        keys.add(refused, START, 3)
    assert error.value.details == {"active": 3}
    assert keys.find(refused.secret_hash) is None
    assert len(listed(keys, tenant)) == 3


def test_a_revoked_key_makes_room(keys: KeyStore, tenant: str) -> None:
    added(keys, new_key(tenant=tenant), at_most=1)
    keys.revoke(tenant, "key_1", START)
    keys.revoke(tenant, "key_1", START)
    added(keys, new_key(tenant=tenant, id="key_2"), at_most=1)
    with pytest.raises(Conflict):
        keys.add(new_key(tenant=tenant, id="key_3"), START, 1)


def test_an_expired_key_makes_room_and_can_still_be_revoked(keys: KeyStore, tenant: str) -> None:
    added(keys, new_key(tenant=tenant, expires_at=START + SECOND), at_most=1)
    with pytest.raises(Conflict):
        keys.add(new_key(tenant=tenant, id="key_2"), START, 1)
    keys.add(new_key(tenant=tenant, id="key_2"), START + SECOND, 1)
    revoked = keys.revoke(tenant, "key_1", START + SECOND)
    assert revoked is not None
    assert revoked.revoked_at == START + SECOND
    with pytest.raises(Conflict):
        keys.add(new_key(tenant=tenant, id="key_3"), START + SECOND, 1)


def test_without_a_bound_there_may_be_more(keys: KeyStore, tenant: str) -> None:
    added(keys, *[new_key(tenant=tenant, id=f"key_{n}") for n in range(3)], at_most=None)
    with pytest.raises(Conflict):
        keys.add(new_key(tenant=tenant, id="key_3"), START, 2)
    assert len(listed(keys, tenant)) == 3


# ---------------------------------------------------------------- Tickets


def test_a_ticket_is_found_by_its_hash_and_never_as_a_key(keys: KeyStore, tenant: str) -> None:
    ticket = factories.stored_ticket(tenant=tenant, secret_hash=uuid4().hex * 2)
    keys.add_ticket(ticket)
    assert keys.find_ticket(ticket.secret_hash) == ticket
    assert keys.find(ticket.secret_hash) is None
    assert listed(keys, tenant) == []


def test_a_key_is_never_found_as_a_ticket(keys: KeyStore, tenant: str) -> None:
    key = new_key(tenant=tenant)
    added(keys, key)
    assert keys.find_ticket(key.secret_hash) is None
