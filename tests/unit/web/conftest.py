"""Fixtures for polite fetching with fakes."""

import pytest

from tests.fakes.polite_fetching import PoliteWorld
from tests.fakes.time import HandClock


@pytest.fixture
def world() -> PoliteWorld:
    return PoliteWorld(HandClock())
