"""A process caches a key for five seconds."""

from datetime import timedelta

import pytest

from spinneret.access import limits
from spinneret.access.keys.models import Scope
from spinneret.access.keys.service import KeyService
from spinneret.kernel.errors import AuthRequired
from tests.fakes.keys import FakeKeyStore
from tests.fakes.time import HandClock

READ = frozenset({Scope.READ})


class CountingStore(FakeKeyStore):
    """A key store that counts its reads."""

    reads = 0

    def find(self, secret_hash: str) -> object:  # type: ignore[override]  # counts, then finds
        self.reads += 1
        return super().find(secret_hash)


@pytest.fixture
def store() -> CountingStore:
    return CountingStore()


# covers T-01
def test_a_key_is_read_once_in_five_seconds(
    keys: KeyService, store: CountingStore, clock: HandClock
) -> None:
    _, secret = keys.issue("acme", "laptop", READ)
    for _ in range(5):
        keys.authenticate(secret)
        clock.advance(0.99)
    assert store.reads == 1
    clock.advance(0.1)
    keys.authenticate(secret)
    assert store.reads == 2


# covers T-01
def test_a_key_that_another_process_revoked_ends_within_five_seconds(
    keys: KeyService, store: CountingStore, clock: HandClock
) -> None:
    key, secret = keys.issue("acme", "laptop", READ)
    keys.authenticate(secret)
    store.revoke("acme", key.id, clock())
    clock.advance(limits.KEY_KNOWN_SECONDS)
    with pytest.raises(AuthRequired):
        keys.authenticate(secret)


def test_a_key_that_this_process_revoked_ends_at_once(keys: KeyService) -> None:
    key, secret = keys.issue("acme", "laptop", READ)
    keys.authenticate(secret)
    keys.revoke("acme", key.id)
    with pytest.raises(AuthRequired):
        keys.authenticate(secret)


def test_a_remembered_key_still_expires(keys: KeyService, clock: HandClock) -> None:
    _, secret = keys.issue("acme", "laptop", READ, expires_at=clock() + timedelta(seconds=1))
    keys.authenticate(secret)
    clock.advance(1)
    with pytest.raises(AuthRequired):
        keys.authenticate(secret)


def test_an_unknown_secret_is_looked_for_every_time(keys: KeyService, store: CountingStore) -> None:
    for _ in range(2):
        with pytest.raises(AuthRequired):
            keys.authenticate("spn_unknown")
    assert store.reads == 2
