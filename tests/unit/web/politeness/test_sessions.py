"""Sessions: one at a time per domain, with log events."""

import pytest

from spinneret.kernel.errors import DependencyUnavailable, DomainLockLost, DomainLockTimeout
from spinneret.web.politeness.models import Record, WaitReason
from spinneret.web.politeness.sessions import Sessions, SessionWait
from tests.fakes.politeness import FakeHostStateStore, LossyLedger
from tests.fakes.time import HandClock
from tests.unit.web.politeness.session_calls import (
    HOST,
    MILLISECOND,
    SECOND,
    Logged,
    opened,
    refused,
    sessions_at,
)


def test_a_domain_takes_one_session_at_a_time(sessions: Sessions, clock: HandClock) -> None:
    first = opened(sessions)
    assert refused(sessions).reason is WaitReason.LOCK
    opened(sessions, "elsewhere", host="other.example")
    sessions.close(first)
    clock.advance(2.001)
    second = opened(sessions, "two")
    assert first.fence is not None
    assert second.fence == first.fence + 1


@pytest.mark.parametrize("host", ["www.site.example", "WWW.SITE.EXAMPLE", "site.example."])
def test_a_domain_is_the_same_with_and_without_www(sessions: Sessions, host: str) -> None:
    opened(sessions, host=host)
    refused(sessions)


# covers F-04
@pytest.mark.parametrize("random", [0.0, 0.5, 0.999])
def test_who_finds_a_lock_comes_back_three_times_and_then_fails(
    ledger: FakeHostStateStore, clock: HandClock, logged: Logged, random: float
) -> None:
    sessions = sessions_at(ledger, clock, random=random)
    opened(sessions)
    logged()
    attempt = 0
    for seconds in (1, 2, 4):
        wait = refused(sessions, attempt=attempt)
        pause = seconds * SECOND + round(500 * random) * MILLISECOND
        assert wait == SessionWait(
            until=clock.now + pause, reason=WaitReason.LOCK, attempt=attempt + 1
        )
        attempt, clock.now = wait.attempt, wait.until
    with pytest.raises(DomainLockTimeout, match="Domain lock timeout") as caught:
        sessions.open(HOST, "two", attempt=attempt)
    assert (caught.value.code, caught.value.status) == ("DOMAIN_LOCK_TIMEOUT", 503)
    lines = logged()
    assert [line["event"] for line in lines] == [
        *["lock.acquire.retry"] * 3,
        "lock.acquire.timeout",
    ]
    assert {(line["session_id"], line["domain"]) for line in lines} == {("two", HOST)}


def test_the_lock_of_a_session_that_died_ends(sessions: Sessions, clock: HandClock) -> None:
    dead = opened(sessions)
    clock.advance(299.999)
    refused(sessions)
    clock.advance(0.001)
    after = opened(sessions, "two")
    assert (after.fence or 0) > (dead.fence or 0)


def test_a_session_renews_its_lock(sessions: Sessions, clock: HandClock) -> None:
    session = opened(sessions)
    clock.advance(299)
    sessions.renew(session)
    clock.advance(299)
    refused(sessions)


def test_a_lock_that_ran_out_is_renewed_as_long_as_nobody_took_it(
    sessions: Sessions, clock: HandClock
) -> None:
    session = opened(sessions)
    clock.advance(301)
    sessions.renew(session)
    refused(sessions)


# covers F-04
def test_a_session_whose_lock_was_taken_learns_of_it_and_touches_nothing(
    sessions: Sessions, clock: HandClock, ledger: FakeHostStateStore, logged: Logged
) -> None:
    stale = opened(sessions)
    clock.advance(300)
    opened(sessions, "two")
    row = ledger.read(HOST, Record.SESSION)
    logged()
    with pytest.raises(DomainLockLost):
        sessions.renew(stale)
    sessions.close(stale)
    assert ledger.read(HOST, Record.SESSION) == row
    [line] = logged()
    assert (line["event"], line["session_id"], line["domain"]) == (
        "lock.release.stale",
        "one",
        HOST,
    )


def test_a_session_that_ended_is_not_renewed(sessions: Sessions) -> None:
    session = opened(sessions)
    sessions.close(session)
    with pytest.raises(DomainLockLost):
        sessions.renew(session)


def test_a_session_takes_over_what_its_own_dead_worker_left(
    sessions: Sessions, clock: HandClock, ledger: FakeHostStateStore
) -> None:
    dead = opened(sessions)
    clock.advance(10)
    alive = opened(sessions)
    assert (alive.fence or 0) > (dead.fence or 0)
    with pytest.raises(DomainLockLost):
        sessions.renew(dead)
    sessions.close(dead)
    refused(sessions)
    sessions.close(alive)
    assert refused(sessions).reason is WaitReason.THROTTLE


# ---------------------------------------------------------------- Sessions that left the domain


def test_a_session_that_left_keeps_the_host_and_goes_on(
    clock: HandClock, ledger: FakeHostStateStore
) -> None:
    sessions = sessions_at(ledger, clock)
    left = opened(sessions)
    clock.advance(200)
    sessions.leave(left)
    clock.advance(299)
    assert refused(sessions).reason is WaitReason.LOCK
    again = opened(sessions)
    assert (again.fence or 0) > (left.fence or 0)


def test_a_session_that_left_for_good_is_followed_by_the_next_one(
    clock: HandClock, ledger: FakeHostStateStore, logged: Logged
) -> None:
    sessions = sessions_at(ledger, clock, is_over=lambda session_id: session_id == "one")
    sessions.leave(opened(sessions))
    logged()
    assert refused(sessions).reason is WaitReason.THROTTLE  # it began when the session left
    clock.advance(2.001)
    opened(sessions, "two")
    lines = [(line["event"], line["session_id"]) for line in logged()]
    assert lines == [
        ("throttle.wait", "two"),
        ("lock.release.success", "one"),
        ("lock.acquire.success", "two"),
    ]


def test_no_session_is_followed_while_somebody_is_at_the_host(
    clock: HandClock, ledger: FakeHostStateStore
) -> None:
    sessions = sessions_at(ledger, clock, is_over=lambda _: True)
    first = opened(sessions)
    assert refused(sessions).reason is WaitReason.LOCK
    sessions.leave(first)
    opened(sessions)
    assert refused(sessions).reason is WaitReason.LOCK


def test_a_session_that_is_opened_while_it_is_asked_about_keeps_its_lock(
    clock: HandClock, ledger: FakeHostStateStore
) -> None:
    mine = sessions_at(ledger, clock)

    def looked_up(session_id: str) -> bool:
        opened(mine, session_id)
        return True

    mine.leave(opened(mine))
    clock.advance(3)
    theirs = sessions_at(ledger, clock, is_over=looked_up)
    assert refused(theirs).reason is WaitReason.LOCK


def test_a_fence_rises_even_if_the_row_was_purged(clock: HandClock) -> None:
    before = opened(sessions_at(FakeHostStateStore(), clock))
    clock.advance(60)
    after = opened(sessions_at(FakeHostStateStore(), clock))
    assert (after.fence or 0) > (before.fence or 0)


# ---------------------------------------------------------------- Faults


def test_a_session_recognises_itself_when_answers_are_lost(
    ledger: FakeHostStateStore, clock: HandClock, logged: Logged
) -> None:
    lossy = sessions_at(LossyLedger(ledger), clock)
    session = opened(lossy)
    refused(lossy)
    lossy.renew(session)
    lossy.close(session)
    assert "lock.release.success" in [line["event"] for line in logged()]
    clock.advance(3)
    assert opened(lossy, "two").fence == (session.fence or 0) + 1


def test_a_ledger_that_is_down_is_reported(sessions: Sessions, ledger: FakeHostStateStore) -> None:
    session = opened(sessions)
    ledger.available = False
    for call in (
        lambda: sessions.open(HOST, "two"),
        lambda: sessions.renew(session),
        lambda: sessions.close(session),
    ):
        with pytest.raises(DependencyUnavailable):
            call()
