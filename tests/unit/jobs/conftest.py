"""The job kernel on fakes."""

from __future__ import annotations

import pytest

from tests.fakes.jobs import FakeJobQueue, FakeJobStore
from tests.fakes.time import HandClock


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def store() -> FakeJobStore:
    return FakeJobStore()


@pytest.fixture
def queue() -> FakeJobQueue:
    return FakeJobQueue()
