"""Fixtures for domain settings with fakes."""

import pytest

from tests.fakes.hosts import Hosts
from tests.fakes.time import HandClock


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def hosts(clock: HandClock) -> Hosts:
    return Hosts(clock)
