"""The throttle between two sessions at a domain, and the options that disable it or the lock."""

from typing import Any

import pytest

from spinneret.web.politeness.models import Record, WaitReason
from spinneret.web.politeness.sessions import Sessions
from tests.fakes.politeness import FakeHostStateStore
from tests.fakes.time import START, HandClock
from tests.unit.web.politeness.session_calls import (
    HOST,
    MILLISECOND,
    SECOND,
    Logged,
    opened,
    refused,
    sessions_at,
)


# covers F-05
def test_a_domain_rests_between_sessions_from_the_end_of_the_last(
    sessions: Sessions, clock: HandClock, logged: Logged
) -> None:
    first = opened(sessions)
    clock.advance(100)
    sessions.close(first)
    clock.advance(0.5)
    logged()
    wait = refused(sessions, attempt=2)
    assert wait.reason is WaitReason.THROTTLE
    assert wait.attempt == 2
    assert wait.until == clock.now + 1.501 * SECOND
    [line] = logged()
    assert line == {
        "event": "throttle.wait",
        "session_id": "two",
        "domain": HOST,
        "wait_ms": 1501,
    }
    clock.now = wait.until - MILLISECOND
    refused(sessions)
    clock.now = wait.until
    opened(sessions, "two")


def test_a_session_that_comes_again_rests_like_any_other(
    sessions: Sessions, clock: HandClock
) -> None:
    sessions.close(opened(sessions))
    assert refused(sessions, "one").reason is WaitReason.THROTTLE


def test_an_end_older_than_the_throttles_time_does_not_matter(
    ledger: FakeHostStateStore, clock: HandClock
) -> None:
    sessions = sessions_at(ledger, clock, min_delay_ms=120_000)
    sessions.close(opened(sessions))
    clock.advance(60)
    refused(sessions)
    clock.advance(0.001)
    opened(sessions, "two")


def test_the_row_of_an_ended_session_is_purged_with_its_throttle(
    sessions: Sessions, ledger: FakeHostStateStore
) -> None:
    session = opened(sessions)
    during = ledger.read(HOST, Record.SESSION)["purge_at"]
    sessions.close(session)
    after = ledger.read(HOST, Record.SESSION)["purge_at"]
    assert after == START.timestamp() + 61
    assert isinstance(during, int)
    assert during > START.timestamp() + 300


# covers F-05
@pytest.mark.parametrize(
    ("given", "mode", "reason"),
    [
        ({}, "debug", "debug_mode"),
        ({"disable_throttle": True}, "standard", "testing"),
        ({"disable_throttle": True}, "debug", "testing"),
    ],
)
def test_the_throttle_can_be_skipped_and_the_lock_stays(
    ledger: FakeHostStateStore,
    clock: HandClock,
    logged: Logged,
    given: dict[str, Any],
    mode: str,
    reason: str,
) -> None:
    sessions = sessions_at(ledger, clock, **given)
    sessions.close(opened(sessions))
    logged()
    opened(sessions, "two", mode=mode)
    assert logged()[0] == {
        "event": "throttle.skip",
        "session_id": "two",
        "domain": HOST,
        "reason": reason,
    }
    assert refused(sessions, "three", mode=mode).reason is WaitReason.LOCK


# covers F-05
def test_without_locks_there_is_neither_lock_nor_throttle(
    ledger: FakeHostStateStore, clock: HandClock, logged: Logged
) -> None:
    sessions = sessions_at(ledger, clock, disable_locks=True)
    one, two = opened(sessions), opened(sessions, "two")
    for session in (one, two):
        sessions.renew(session)
        sessions.close(session)
    opened(sessions, "three")
    assert ledger.read(HOST, Record.SESSION) == {}
    assert [(line["event"], line["reason"]) for line in logged()] == [
        ("throttle.skip", "testing")
    ] * 3


def test_a_session_is_reported_in_the_log(
    sessions: Sessions, logged: Logged, clock: HandClock
) -> None:
    session = opened(sessions, host="www.site.example")
    sessions.close(session)
    assert logged() == [
        {"event": event, "session_id": "one", "domain": HOST, "fence": session.fence}
        for event in ("lock.acquire.success", "lock.release.success")
    ]
