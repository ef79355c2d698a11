"""Polite fetching on fakes."""

from __future__ import annotations

import pytest

from tests.fakes.polite_fetching import PoliteWorld
from tests.fakes.time import HandClock


@pytest.fixture
def world() -> PoliteWorld:
    return PoliteWorld(HandClock())
