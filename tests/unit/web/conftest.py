"""Polite fetching on fakes."""

import pytest

from tests.fakes.polite_fetching import PoliteWorld
from tests.fakes.time import HandClock


@pytest.fixture
def world() -> PoliteWorld:
    return PoliteWorld(HandClock())
