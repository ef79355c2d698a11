"""Fixtures: keys and rate limits on fakes."""

import pytest

from spinneret.access.keys.service import KeyService
from tests.fakes.keys import FakeKeyStore, FakeRateLimitStore
from tests.fakes.time import HandClock


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def store() -> FakeKeyStore:
    return FakeKeyStore()


@pytest.fixture
def windows() -> FakeRateLimitStore:
    return FakeRateLimitStore()


@pytest.fixture
def keys(store: FakeKeyStore, windows: FakeRateLimitStore, clock: HandClock) -> KeyService:
    numbers = iter(range(1, 1000))
    return KeyService(
        keys=store,
        windows=windows,
        clock=clock,
        new_id=lambda prefix: f"{prefix}_{next(numbers)}",
        random=lambda length: next(numbers).to_bytes(length, "little"),
    )
