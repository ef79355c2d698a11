"""Fixtures for proxies with fakes."""

import pytest

from tests.fakes.proxies import Proxies
from tests.fakes.time import HandClock


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def proxies(clock: HandClock) -> Proxies:
    return Proxies(clock)
