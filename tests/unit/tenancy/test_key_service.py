"""API keys: shown once, stored as hashes, checked on every request."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

import pytest

from spinneret.kernel.errors import AuthRequired, DependencyUnavailable, ValidationFailed
from spinneret.tenancy.models import Principal, Scope
from spinneret.tenancy.service import KeyService
from tests.fakes.tenancy import FakeKeyStore
from tests.fakes.time import HandClock

READ = frozenset({Scope.READ})


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def store() -> FakeKeyStore:
    return FakeKeyStore()


@pytest.fixture
def keys(store: FakeKeyStore, clock: HandClock) -> KeyService:
    numbers = iter(range(1, 1000))
    return KeyService(
        keys=store,
        clock=clock,
        new_id=lambda prefix: f"{prefix}_{next(numbers)}",
        random=lambda length: next(numbers).to_bytes(length, "little"),
    )


def test_the_secret_of_a_key_names_its_tenant_and_scopes(keys: KeyService) -> None:
    key, secret = keys.issue("acme", "laptop", frozenset({Scope.READ, Scope.WRITE}))
    assert keys.authenticate(secret) == Principal(
        tenant="acme", key_id=key.id, scopes=frozenset({Scope.READ, Scope.WRITE})
    )


def test_only_the_hash_of_a_secret_is_stored(keys: KeyService, store: FakeKeyStore) -> None:
    key, secret = keys.issue("acme", "laptop", READ)
    assert list(store.keys) == [key.secret_hash] == [hashlib.sha256(secret.encode()).hexdigest()]
    assert secret not in repr(store.keys)
    assert secret.removeprefix("spn_") not in repr(store.keys)


def test_a_secret_holds_256_random_bits_behind_its_prefix(keys: KeyService) -> None:
    asked: list[int] = []
    keys._random = lambda length: asked.append(length) or b"\xff" * length  # type: ignore[func-returns-value]  # notes, then answers
    _, secret = keys.issue("acme", "laptop", READ)
    assert asked == [32]
    assert secret == "spn_" + "_" * 42 + "8"


@pytest.mark.parametrize("secret", [None, "", "spn_", "spn_unknown", "key_1", "\u00fc", " "])
def test_no_and_unknown_secrets_are_refused_alike(keys: KeyService, secret: str | None) -> None:
    keys.issue("acme", "laptop", READ)
    with pytest.raises(AuthRequired, match=r"^a valid API key is required$"):
        keys.authenticate(secret)


def test_the_stored_hash_is_no_secret(keys: KeyService) -> None:
    key, _ = keys.issue("acme", "laptop", READ)
    with pytest.raises(AuthRequired):
        keys.authenticate(key.secret_hash)


def test_a_secret_is_compared_as_a_whole(keys: KeyService) -> None:
    _, secret = keys.issue("acme", "laptop", READ)
    for other in (secret[:-1], secret.upper(), secret + "A", secret.removeprefix("spn_")):
        with pytest.raises(AuthRequired):
            keys.authenticate(other)


def test_a_key_ends_at_its_expiry(keys: KeyService, clock: HandClock) -> None:
    _, secret = keys.issue("acme", "laptop", READ, clock() + timedelta(seconds=10))
    clock.advance(9)
    assert keys.authenticate(secret).tenant == "acme"
    clock.advance(1)
    with pytest.raises(AuthRequired, match=r"^a valid API key is required$"):
        keys.authenticate(secret)


@pytest.mark.parametrize("tenant", ["a", "acme", "0", "a-b-c", "a" * 63])
def test_a_tenant_is_named_by_lower_case_letters_digits_and_hyphens(
    keys: KeyService, tenant: str
) -> None:
    _, secret = keys.issue(tenant, "laptop", READ)
    assert keys.authenticate(secret).tenant == tenant


@pytest.mark.parametrize(
    "tenant", ["", "-a", "Acme", "a#b", "a/b", "a b", "a\n", "ä", "a_b", "a.b", "a" * 64, "../x"]
)
def test_another_name_could_lead_out_of_its_keys_and_is_refused(
    keys: KeyService, store: FakeKeyStore, tenant: str
) -> None:
    with pytest.raises(ValidationFailed):
        keys.issue(tenant, "laptop", READ)
    assert store.keys == {}


@pytest.mark.parametrize(
    ("own", "asked", "allowed"),
    [
        (Scope.READ, Scope.READ, True),
        (Scope.READ, Scope.WRITE, False),
        (Scope.READ, Scope.ADMIN, False),
        (Scope.WRITE, Scope.READ, True),
        (Scope.WRITE, Scope.WRITE, True),
        (Scope.WRITE, Scope.ADMIN, False),
        (Scope.ADMIN, Scope.READ, True),
        (Scope.ADMIN, Scope.WRITE, True),
        (Scope.ADMIN, Scope.ADMIN, True),
    ],
)
def test_a_scope_includes_the_lesser_ones(own: Scope, asked: Scope, allowed: bool) -> None:
    principal = Principal(tenant="acme", key_id="key_1", scopes=frozenset({own}))
    assert principal.may(asked) is allowed


@pytest.mark.parametrize("asked", list(Scope))
def test_a_key_without_scopes_may_nothing(asked: Any) -> None:
    assert not Principal(tenant="acme", key_id="key_1", scopes=frozenset()).may(asked)


def test_a_store_that_is_down_refuses_nobody_for_good(
    keys: KeyService, store: FakeKeyStore
) -> None:
    _, secret = keys.issue("acme", "laptop", READ)
    store.available = False
    with pytest.raises(DependencyUnavailable):
        keys.authenticate(secret)
