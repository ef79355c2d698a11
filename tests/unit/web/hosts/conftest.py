"""Domain settings on fakes."""

from __future__ import annotations

import pytest

from tests.fakes.sites import Sites
from tests.fakes.time import HandClock


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def sites(clock: HandClock) -> Sites:
    return Sites(clock)
