"""Hosts with a crawl-delay: one request at a time, and a gap after its end."""

from datetime import datetime

import pytest

from spinneret.web import limits
from spinneret.web.politeness.models import (
    HostOutcome,
    PaceLimits,
    Permit,
    Record,
    Wait,
)
from spinneret.web.politeness.service import HostRateLimiter
from tests.fakes.politeness import FakeHostStateStore, pace_at
from tests.fakes.time import START, HandClock
from tests.unit.web.politeness.pace_calls import (
    HOST,
    SECOND,
    STRICT,
    USUAL,
    admitted,
    ask,
    refused,
    use_up,
)


@pytest.mark.parametrize(
    "limits_",
    [STRICT, PaceLimits(own_gap_seconds=10), PaceLimits(rate=0.1, burst=1)],
    ids=["crawl-delay", "own gap", "burst 1"],
)
def test_the_next_strict_request_waits_for_the_end_of_the_last_and_the_gap(
    pace: HostRateLimiter, clock: HandClock, limits_: PaceLimits
) -> None:
    permit = admitted(pace, limits_)
    clock.advance(25)
    assert isinstance(ask(pace, limits_, reserved=True), Wait)
    clock.advance(4)
    pace.report(permit, HostOutcome.SUCCESS)
    clock.advance(10)
    assert isinstance(ask(pace, limits_, reserved=True), Wait)
    clock.advance(0.001)
    admitted(pace, limits_, reserved=True)


@pytest.mark.parametrize(
    "quick",
    [PaceLimits(rate=10, min_gap_seconds=0.5), PaceLimits(rate=10, own_gap_seconds=0.5)],
    ids=["crawl-delay", "own gap"],
)
def test_who_meets_a_strict_request_under_way_is_reserved_the_time_after_a_gap(
    ledger: FakeHostStateStore, clock: HandClock, quick: PaceLimits
) -> None:
    pace = pace_at(ledger, clock, PaceLimits(rate=10))
    admitted(pace, quick)
    clock.advance(5)
    newcomers = [refused(pace, quick).until for _ in range(2)]
    assert newcomers == [clock.now + 0.5 * SECOND, clock.now + SECOND]
    back = [refused(pace, quick, reserved=True).until for _ in range(2)]
    assert back == [clock.now + 1.5 * SECOND, clock.now + 2 * SECOND]


@pytest.mark.parametrize("limits_", [STRICT, PaceLimits(own_gap_seconds=10)])
def test_a_strict_request_is_two_writes(
    pace: HostRateLimiter, ledger: FakeHostStateStore, limits_: PaceLimits
) -> None:
    permit = admitted(pace, limits_)
    pace.report(permit, HostOutcome.SUCCESS)
    assert ledger.updates == 2


def test_a_crawl_delay_of_zero_is_none(pace: HostRateLimiter) -> None:
    use_up(pace, PaceLimits(min_gap_seconds=0))


@pytest.mark.parametrize("limits_", [STRICT, PaceLimits(own_gap_seconds=10)])
def test_a_strict_holder_that_died_frees_the_host_after_its_time_and_a_gap(
    pace: HostRateLimiter, clock: HandClock, limits_: PaceLimits
) -> None:
    admitted(pace, limits_)
    free = START + (limits.HOST_LEASE_SECONDS + 10) * SECOND
    clock.now = free - 0.001 * SECOND
    assert refused(pace, limits_, reserved=True).until == free
    clock.now = free
    admitted(pace, limits_, reserved=True)


@pytest.mark.parametrize("limits_", [STRICT, PaceLimits(own_gap_seconds=10)])
def test_the_report_of_a_holder_that_was_given_up_changes_nothing(
    pace: HostRateLimiter, clock: HandClock, ledger: FakeHostStateStore, limits_: PaceLimits
) -> None:
    late = admitted(pace, limits_)
    clock.advance(limits.HOST_LEASE_SECONDS + 10)
    admitted(pace, limits_)
    row = ledger.read(HOST, Record.PACE)
    pace.report(late, HostOutcome.SUCCESS)
    assert ledger.read(HOST, Record.PACE) == row


def test_others_keep_away_from_a_host_that_is_asked_strictly(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    permit = admitted(pace, STRICT)
    assert isinstance(ask(pace, USUAL), Wait)
    pace.report(permit, HostOutcome.SUCCESS)
    assert isinstance(ask(pace, USUAL), Wait)
    clock.advance(10.001)
    admitted(pace, USUAL, reserved=True)


def test_a_strict_caller_keeps_its_gap_from_an_admission_before(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    admitted(pace, USUAL)
    assert refused(pace, STRICT).until == START + 10 * SECOND
    clock.advance(9.999)
    assert isinstance(ask(pace, STRICT, reserved=True), Wait)
    clock.advance(0.001)
    admitted(pace, STRICT, reserved=True)


def test_of_two_strict_callers_the_slower_ones_gap_holds_either_way_round(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    quick = PaceLimits(min_gap_seconds=2)
    for first, then in ((quick, STRICT), (STRICT, quick)):
        permit = admitted(pace, first, reserved=True)
        clock.advance(25)
        pace.report(permit, HostOutcome.SUCCESS)
        clock.advance(10)
        assert isinstance(ask(pace, then, reserved=True), Wait)
        clock.advance(0.001)
        pace.report(admitted(pace, then, reserved=True), HostOutcome.SUCCESS)
        clock.advance(60)


def test_waiters_of_a_slow_strict_host_are_spread_and_none_is_forgotten(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    """Requests take longer than the gap, so that slots become due faster than requests end."""
    due: list[tuple[datetime, int]] = [(START, n) for n in range(10)]
    reserved: set[int] = set()
    done: list[int] = []
    quick = PaceLimits(min_gap_seconds=2)
    for _ in range(500):
        if not due:
            break
        due.sort()
        moment, number = due.pop(0)
        clock.now = max(clock.now, moment)
        match ask(pace, quick, reserved=number in reserved):
            case Wait() as wait:
                assert wait.until > clock.now
                reserved.add(number)
                due.append((wait.until, number))
            case Permit() as permit:
                clock.advance(7)
                pace.report(permit, HostOutcome.SUCCESS)
                done.append(number)
    assert sorted(done) == list(range(10))
    assert (clock.now - START).total_seconds() < 10 * (7 + 2 + 2)
