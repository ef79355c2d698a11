"""Fixtures: the rate limiter and the sessions of one process, with a store in memory."""

import logging
from typing import Any

import pytest

from spinneret.web.politeness.service import HostRateLimiter
from spinneret.web.politeness.sessions import Sessions
from tests.fakes.politeness import FakeHostStateStore, pace_at
from tests.fakes.time import HandClock
from tests.unit.web.politeness.session_calls import Logged, sessions_at


@pytest.fixture
def ledger() -> FakeHostStateStore:
    return FakeHostStateStore()


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def pace(ledger: FakeHostStateStore, clock: HandClock) -> HostRateLimiter:
    return pace_at(ledger, clock)


@pytest.fixture
def sessions(ledger: FakeHostStateStore, clock: HandClock) -> Sessions:
    return sessions_at(ledger, clock)


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Logged:
    """Provide a function that returns the log lines since its last call: event and fields."""
    caplog.set_level(logging.INFO, logger="spinneret.web.politeness.sessions")
    plain = set(vars(logging.makeLogRecord({}))) | {"message", "asctime"}

    def look() -> list[dict[str, Any]]:
        lines = [
            {"event": record.message}
            | {name: value for name, value in vars(record).items() if name not in plain}
            for record in caplog.records
        ]
        caplog.clear()
        return lines

    return look
