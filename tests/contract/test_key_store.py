"""What every key store holds: the fake, moto, and DynamoDB Local."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from spinneret.tenancy.dynamo import DynamoKeyStore
from spinneret.tenancy.models import ApiKey, Scope
from spinneret.tenancy.ports import KeyStore
from tests import factories
from tests.contract.backends import OF_AWS, Tables
from tests.fakes.tenancy import FakeKeyStore
from tests.fakes.time import START

pytestmark = OF_AWS


@pytest.fixture
def keys(tables: Tables | None) -> KeyStore:
    if tables is None:
        return FakeKeyStore()
    return DynamoKeyStore(tables.client, tables.names["Tenancy"])


def new_key(**given: Any) -> ApiKey:
    return factories.api_key(secret_hash=uuid4().hex * 2, **given)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"expires_at": START + timedelta(days=30, microseconds=1)},
        {"scopes": frozenset(Scope)},
        {"scopes": frozenset()},
        {"name": "Läptop 🕷"},
        {"name": ""},
    ],
    ids=["plain", "expiry", "all scopes", "no scopes", "unicode", "no name"],
)
def test_a_key_is_found_by_its_hash(keys: KeyStore, given: dict[str, Any]) -> None:
    key = new_key(**given)
    keys.add(key)
    assert keys.find(key.secret_hash) == key


@pytest.mark.parametrize("secret_hash", ["", "0" * 64, "x#y"])
def test_an_unknown_hash_finds_nothing(keys: KeyStore, secret_hash: str) -> None:
    keys.add(new_key())
    assert keys.find(secret_hash) is None


def test_keys_of_two_tenants_stand_beside_each_other(keys: KeyStore) -> None:
    one, other = new_key(tenant="one"), new_key(tenant="other")
    keys.add(one)
    keys.add(other)
    assert [keys.find(key.secret_hash) for key in (one, other)] == [one, other]
