"""API keys: shown once, stored as hashes, checked on every request."""

import hashlib
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from spinneret.access import limits
from spinneret.access.keys.models import ApiKey, Principal, Scope
from spinneret.access.keys.service import KeyService
from spinneret.access.permissions import Permission
from spinneret.kernel.errors import (
    AuthRequired,
    Conflict,
    DependencyUnavailable,
    Forbidden,
    NotFound,
    ValidationFailed,
)
from tests.fakes.keys import FakeKeyStore
from tests.fakes.time import HandClock

READ = frozenset({Scope.READ})
ADMIN = Principal(tenant="acme", key_id="key_0", scopes=frozenset({Scope.ADMIN}))


def test_the_secret_of_a_key_names_its_tenant_and_scopes(keys: KeyService) -> None:
    key, secret = keys.issue("acme", "laptop", frozenset({Scope.READ, Scope.WRITE}))
    assert keys.authenticate(secret) == Principal(
        tenant="acme", key_id=key.id, scopes=frozenset({Scope.READ, Scope.WRITE})
    )


# covers T-01
def test_only_the_hash_of_a_secret_is_stored(keys: KeyService, store: FakeKeyStore) -> None:
    key, secret = keys.issue("acme", "laptop", READ)
    assert list(store.keys) == [key.secret_hash] == [hashlib.sha256(secret.encode()).hexdigest()]
    assert secret not in repr(store.keys)
    assert secret.removeprefix("spn_") not in repr(store.keys)


def test_a_secret_holds_256_random_bits_behind_its_prefix(keys: KeyService) -> None:
    asked: list[int] = []
    keys.random = lambda length: asked.append(length) or b"\xff" * length  # type: ignore[func-returns-value]  # notes, then answers
    _, secret = keys.issue("acme", "laptop", READ)
    assert asked == [32]
    assert secret == "spn_" + "_" * 42 + "8"


@pytest.mark.parametrize(
    "secret", [None, "", "spn_", "spn_unknown", "key_1", "\u00fc", " ", "\udcff", "x" * 10_000]
)
def test_no_and_unknown_secrets_are_refused_alike(keys: KeyService, secret: str | None) -> None:
    keys.issue("acme", "laptop", READ)
    with pytest.raises(AuthRequired, match=r"^a valid API key or access token is required$"):
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


def test_a_principal_has_the_rate_of_its_key(keys: KeyService) -> None:
    _, secret = keys.issue("acme", "laptop", READ)
    assert keys.authenticate(secret).rate_limit_rpm == 60
    _, secret = keys.issue("acme", "laptop", READ, rate_limit_rpm=7)
    assert keys.authenticate(secret).rate_limit_rpm == 7


def test_a_stage_gives_keys_its_own_rate(keys: KeyService) -> None:
    keys.default_rpm = 120
    _, secret = keys.issue("acme", "laptop", READ)
    assert keys.authenticate(secret).rate_limit_rpm == 120


def test_a_key_shows_eight_characters_of_its_secret(keys: KeyService) -> None:
    key, secret = keys.issue("acme", "laptop", READ)
    assert key.prefix == secret[:8]
    assert secret not in repr(key)
    assert key.secret_hash not in repr(key)


# ---------------------------------------------------------------- The end of a key


def test_a_key_ends_at_its_expiry(keys: KeyService, clock: HandClock) -> None:
    _, secret = keys.issue("acme", "laptop", READ, clock() + timedelta(seconds=10))
    clock.advance(9)
    assert keys.authenticate(secret).tenant == "acme"
    clock.advance(1)
    with pytest.raises(AuthRequired, match=r"^a valid API key or access token is required$"):
        keys.authenticate(secret)


def test_an_end_in_any_zone_is_kept_in_utc(keys: KeyService, clock: HandClock) -> None:
    zone = timezone(timedelta(hours=5, minutes=30))
    end = (clock() + timedelta(hours=1)).astimezone(zone)
    key, _ = keys.issue("acme", "laptop", READ, end)
    assert key.expires_at == end
    assert key.expires_at.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    "end",
    [
        timedelta(0),
        timedelta(microseconds=-1),
        timedelta(seconds=limits.KEY_LIFETIME_MAX_SECONDS, microseconds=1),
    ],
)
def test_an_end_that_makes_no_sense_is_refused(
    keys: KeyService, store: FakeKeyStore, clock: HandClock, end: timedelta
) -> None:
    with pytest.raises(ValidationFailed) as error:
        keys.issue("acme", "laptop", READ, clock() + end)
    assert [each["path"] for each in error.value.details["fields"]] == ["expires_at"]
    assert store.keys == {}


@pytest.mark.parametrize(
    "end",
    [
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))),
        datetime(9999, 12, 31, 23, 59, 59, tzinfo=timezone(timedelta(hours=-12))),
    ],
)
def test_an_end_that_is_no_time_in_utc_is_refused_too(keys: KeyService, end: datetime) -> None:
    with pytest.raises(ValidationFailed):
        keys.issue("acme", "laptop", READ, end)


# covers T-01
def test_a_revoked_key_is_refused_at_once(keys: KeyService, clock: HandClock) -> None:
    key, secret = keys.issue("acme", "laptop", READ)
    _, other = keys.issue("acme", "server", READ)
    revoked = keys.revoke("acme", key.id)
    assert revoked.revoked_at == clock()
    with pytest.raises(AuthRequired, match=r"^a valid API key or access token is required$"):
        keys.authenticate(secret)
    assert keys.authenticate(other).tenant == "acme"


def test_what_was_opened_with_a_key_learns_by_its_id_that_it_has_ended(
    keys: KeyService, clock: HandClock
) -> None:
    revoked, _ = keys.issue("acme", "laptop", READ)
    expired, _ = keys.issue("acme", "server", READ, clock() + timedelta(seconds=10))
    assert keys.is_active("acme", revoked.id)
    assert keys.is_active("acme", expired.id)
    keys.revoke("acme", revoked.id)
    clock.advance(10)
    assert not keys.is_active("acme", revoked.id)
    assert not keys.is_active("acme", expired.id)


@pytest.mark.parametrize(
    ("own", "allowed"), [(Scope.READ, False), (Scope.WRITE, True), (Scope.ADMIN, True)]
)
def test_what_was_opened_with_a_key_learns_by_its_id_what_it_may(
    own: Scope, allowed: bool, keys: KeyService
) -> None:
    crawl, upload = Permission.CRAWL, Permission.UPLOAD
    key, _ = keys.issue("acme", "laptop", frozenset({own}), permissions=frozenset({crawl}))
    assert keys.allows("acme", key.id, Scope.WRITE, crawl) is allowed
    assert not keys.allows("acme", key.id, Scope.READ, upload)
    assert not keys.allows("other", key.id, Scope.READ, crawl)
    keys.revoke("acme", key.id)
    assert not keys.allows("acme", key.id, Scope.READ, crawl)


def test_an_unknown_and_a_foreign_key_are_not_active(keys: KeyService) -> None:
    key, _ = keys.issue("acme", "laptop", READ)
    assert not keys.is_active("acme", "key_unknown")
    assert not keys.is_active("other", key.id)


def test_to_revoke_again_changes_nothing(keys: KeyService, clock: HandClock) -> None:
    key, _ = keys.issue("acme", "laptop", READ)
    first = keys.revoke("acme", key.id)
    clock.advance(1)
    assert keys.revoke("acme", key.id) == first == keys.get("acme", key.id)


def test_the_last_admin_key_may_be_revoked_and_the_operator_issues_another(
    keys: KeyService,
) -> None:
    key, _ = keys.issue("acme", "first", frozenset({Scope.ADMIN}))
    keys.revoke("acme", key.id)
    _, secret = keys.issue("acme", "second", frozenset({Scope.ADMIN}))
    assert keys.authenticate(secret).may(Scope.ADMIN)


def test_a_foreign_key_is_as_unknown_as_any(keys: KeyService) -> None:
    key, secret = keys.issue("acme", "laptop", READ)
    for tenant, key_id in (("other", key.id), ("acme", "key_unknown")):
        for act in (keys.get, keys.revoke):
            with pytest.raises(NotFound, match=r"^no such key$"):
                act(tenant, key_id)
    assert keys.authenticate(secret).tenant == "acme"


def test_a_refusal_takes_the_same_look_up_whatever_its_reason(
    keys: KeyService, store: FakeKeyStore, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, expired = keys.issue("acme", "laptop", READ, clock() + timedelta(seconds=1))
    key, revoked = keys.issue("acme", "laptop", READ)
    keys.revoke("acme", key.id)
    clock.advance(1)
    looked_up: list[str] = []
    find = store.find

    def noted(secret_hash: str) -> ApiKey | None:
        looked_up.append(secret_hash)
        return find(secret_hash)

    monkeypatch.setattr(store, "find", noted)
    for number, secret in enumerate(("spn_unknown", expired, revoked), start=1):
        with pytest.raises(AuthRequired, match=r"^a valid API key or access token is required$"):
            keys.authenticate(secret)
        assert len(looked_up) == number


# ---------------------------------------------------------------- Who may issue which keys


@pytest.mark.parametrize("own", list(Scope))
@pytest.mark.parametrize("asked", list(Scope))
def test_a_key_grants_no_more_than_its_issuer_has(
    keys: KeyService, store: FakeKeyStore, own: Scope, asked: Scope
) -> None:
    issuer = Principal(tenant="acme", key_id="key_0", scopes=frozenset({own}))
    if issuer.may(asked):
        keys.issue("acme", "laptop", READ | {asked}, issuer=issuer)
        return
    with pytest.raises(Forbidden):
        keys.issue("acme", "laptop", READ | {asked}, issuer=issuer)
    assert store.keys == {}


# covers T-03
@pytest.mark.parametrize(
    ("own", "granted", "is_granted"),
    [
        (None, None, True),
        (None, {Permission.CRAWL}, True),
        ({Permission.CRAWL, Permission.MANAGE_KEYS}, {Permission.CRAWL}, True),
        ({Permission.MANAGE_KEYS}, {Permission.CRAWL}, False),
        ({Permission.MANAGE_KEYS}, None, False),
    ],
)
def test_a_narrowed_key_grants_none_but_its_permissions(
    keys: KeyService,
    own: set[Permission] | None,
    granted: set[Permission] | None,
    is_granted: bool,
) -> None:
    _, secret = keys.issue("acme", "own", ADMIN.scopes, permissions=own and frozenset(own))
    issuer = keys.authenticate(secret)
    wanted = granted and frozenset(granted)
    if is_granted:
        key, _ = keys.issue("acme", "x", READ, permissions=wanted, issuer=issuer)
        assert key.permissions == wanted
        return
    with pytest.raises(Forbidden):
        keys.issue("acme", "x", READ, permissions=wanted, issuer=issuer)


def test_a_key_may_grant_one_that_outlives_it(keys: KeyService, clock: HandClock) -> None:
    """A key may issue its own successor before it expires: see docs/users.md."""
    _, secret = keys.issue("acme", "own", ADMIN.scopes, clock() + timedelta(days=1))
    _, later = keys.issue("acme", "next", ADMIN.scopes, issuer=keys.authenticate(secret))
    clock.advance(2 * 24 * 3600)
    assert keys.authenticate(later).expires_at is None
    with pytest.raises(AuthRequired):
        keys.authenticate(secret)


def test_a_tenant_issues_100_active_keys_and_the_operator_one_more(keys: KeyService) -> None:
    issued = [keys.issue("acme", "laptop", READ, issuer=ADMIN)[0] for _ in range(100)]
    with pytest.raises(Conflict):
        keys.issue("acme", "laptop", READ, issuer=ADMIN)
    _, secret = keys.issue("acme", "a way back in", frozenset({Scope.ADMIN}))
    assert keys.authenticate(secret).tenant == "acme"
    for key in issued[:2]:
        keys.revoke("acme", key.id)
    keys.issue("acme", "laptop", READ, issuer=ADMIN)


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
