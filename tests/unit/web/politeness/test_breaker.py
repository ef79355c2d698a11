"""The circuit breaker of a host: opening, probing, closing."""

from datetime import timedelta

import pytest

from spinneret.web import limits
from spinneret.web.politeness.models import (
    BreakerView,
    Circuit,
    HostOutcome,
    PaceLimits,
    Permit,
    Record,
    Wait,
    WaitReason,
)
from spinneret.web.politeness.service import HostRateLimiter
from tests.fakes.politeness import FakeHostStateStore, LossyLedger, pace_at
from tests.fakes.time import START, HandClock
from tests.unit.web.politeness.breaker_calls import (
    CLOSED,
    HOST,
    LEASE,
    OPEN,
    QUICK,
    admitted,
    ask,
    open_circuit,
    send,
)


@pytest.fixture
def pace(ledger: FakeHostStateStore, clock: HandClock) -> HostRateLimiter:
    return pace_at(ledger, clock, QUICK)


def probe_of(pace: HostRateLimiter, clock: HandClock) -> Permit:
    """Open the breaker, advance the clock until it is half-open, and return the probe's permit."""
    open_circuit(pace)
    clock.now += OPEN
    permit = admitted(pace)
    assert permit.probe
    return permit


# ---------------------------------------------------------------- Closed


def test_an_unknown_host_is_closed(pace: HostRateLimiter) -> None:
    assert pace.state(HOST) == CLOSED


# covers F-07
def test_failures_in_a_row_open_the_circuit(pace: HostRateLimiter) -> None:
    send(pace, HostOutcome.HOST_FAILURE, limits.BREAKER_FAILURES - 1)
    view = pace.state(HOST)
    assert (view.circuit, view.failures) == (Circuit.CLOSED, 4)
    send(pace, HostOutcome.HOST_FAILURE)
    assert pace.state(HOST) == BreakerView(
        circuit=Circuit.OPEN, failures=5, opened_at=START, retry_after=300.0
    )


@pytest.mark.parametrize("between", [HostOutcome.SUCCESS, HostOutcome.CLIENT_ERROR])
def test_an_answer_of_the_host_ends_the_row_of_failures(
    pace: HostRateLimiter, between: HostOutcome
) -> None:
    send(pace, HostOutcome.HOST_FAILURE, 4)
    send(pace, between)
    assert pace.state(HOST) == CLOSED
    send(pace, HostOutcome.HOST_FAILURE, 4)
    assert pace.state(HOST).circuit is Circuit.CLOSED


@pytest.mark.parametrize(
    "outcome", [HostOutcome.SUCCESS, HostOutcome.CLIENT_ERROR, HostOutcome.NOT_TRIED]
)
def test_a_host_that_works_costs_no_write_and_opens_nothing(
    pace: HostRateLimiter, ledger: FakeHostStateStore, outcome: HostOutcome
) -> None:
    send(pace, outcome, 20)
    assert ledger.updates == 20 + 19  # a burst takes two each: the first assumes an idle host
    assert pace.state(HOST) == CLOSED


def test_what_was_not_tried_neither_counts_nor_ends_the_row(pace: HostRateLimiter) -> None:
    send(pace, HostOutcome.HOST_FAILURE, 4)
    send(pace, HostOutcome.NOT_TRIED)
    assert pace.state(HOST).failures == 4


def test_failures_are_forgotten_after_an_hour_of_none(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    send(pace, HostOutcome.HOST_FAILURE, 4)
    clock.advance(limits.BREAKER_MEMORY_SECONDS - 1)
    assert pace.state(HOST).failures == 4
    clock.advance(1)
    assert pace.state(HOST).failures == 0
    send(pace, HostOutcome.HOST_FAILURE, 4)
    view = pace.state(HOST)
    assert (view.circuit, view.failures) == (Circuit.CLOSED, 4)


def test_failures_that_are_reported_together_are_all_counted(pace: HostRateLimiter) -> None:
    """All requests were admitted before the first of them failed."""
    permits = [admitted(pace) for _ in range(5)]
    for number, permit in enumerate(permits):
        assert pace.state(HOST).failures == number
        pace.report(permit, HostOutcome.HOST_FAILURE)
    assert pace.state(HOST).circuit is Circuit.OPEN


def test_a_failure_counts_on_from_those_since_its_admission(pace: HostRateLimiter) -> None:
    send(pace, HostOutcome.HOST_FAILURE, 3)
    permit = admitted(pace)
    send(pace, HostOutcome.HOST_FAILURE)
    pace.report(permit, HostOutcome.HOST_FAILURE)
    assert pace.state(HOST).circuit is Circuit.OPEN


def test_one_failure_is_counted_once_however_often_it_is_reported(pace: HostRateLimiter) -> None:
    permit = admitted(pace)
    for _ in range(5):
        pace.report(permit, HostOutcome.HOST_FAILURE)
    assert pace.state(HOST).failures == 1


# ---------------------------------------------------------------- Open


def test_an_open_circuit_lets_nobody_through_and_says_until_when(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    open_circuit(pace)
    clock.advance(299.999)
    wait = ask(pace)
    assert wait == Wait(until=START + OPEN, reason=WaitReason.CIRCUIT_OPEN)
    assert pace.state(HOST).retry_after == pytest.approx(0.001)


@pytest.mark.parametrize("failures", [0, 4])
@pytest.mark.parametrize("outcome", list(HostOutcome))
def test_what_was_admitted_before_the_opening_changes_nothing(
    pace: HostRateLimiter, ledger: FakeHostStateStore, outcome: HostOutcome, failures: int
) -> None:
    send(pace, HostOutcome.HOST_FAILURE, failures)
    late = admitted(pace)
    send(pace, HostOutcome.HOST_FAILURE, 5 - failures)
    row = ledger.read(HOST, Record.PACE)
    pace.report(late, outcome)
    assert ledger.read(HOST, Record.PACE) == row


def test_the_retry_after_of_the_host_is_heeded_beyond_the_opening(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    permit = admitted(pace)
    open_circuit(pace)
    pace.report(permit, HostOutcome.HOST_FAILURE, retry_after=400)
    clock.now += OPEN
    wait = ask(pace)
    assert isinstance(wait, Wait)
    assert (wait.reason, wait.until) == (
        WaitReason.RETRY_AFTER,
        START + timedelta(seconds=400),
    )


# covers F-07
def test_a_reset_closes_at_once(pace: HostRateLimiter) -> None:
    open_circuit(pace)
    pace.reset(f"www.{HOST}")
    assert pace.state(HOST) == CLOSED
    assert not admitted(pace).probe


def test_a_reset_of_an_unknown_host_leaves_nothing_behind(
    pace: HostRateLimiter, ledger: FakeHostStateStore
) -> None:
    pace.reset(HOST)
    assert ledger.read(HOST, Record.PACE) == {}
    assert pace.state(HOST) == CLOSED


# ---------------------------------------------------------------- Half-open


# covers F-07
def test_one_request_probes_and_all_others_wait_for_it(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    probe_of(pace, clock)
    wait = Wait(until=clock.now + LEASE, reason=WaitReason.CIRCUIT_OPEN)
    assert [ask(pace) for _ in range(50)] == [wait] * 50
    view = pace.state(HOST)
    assert (view.circuit, view.retry_after) == (Circuit.HALF_OPEN, limits.HOST_LEASE_SECONDS)


def test_before_the_probe_a_half_open_circuit_asks_for_no_patience(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    open_circuit(pace)
    clock.now += OPEN
    view = pace.state(HOST)
    assert (view.circuit, view.retry_after) == (Circuit.HALF_OPEN, 0)


@pytest.mark.parametrize("outcome", [HostOutcome.SUCCESS, HostOutcome.CLIENT_ERROR])
def test_a_probe_that_succeeds_closes(
    pace: HostRateLimiter, clock: HandClock, outcome: HostOutcome
) -> None:
    pace.report(probe_of(pace, clock), outcome)
    assert pace.state(HOST) == CLOSED
    assert not admitted(pace).probe


def test_a_probe_that_fails_opens_anew(pace: HostRateLimiter, clock: HandClock) -> None:
    probe = probe_of(pace, clock)
    clock.advance(10)
    pace.report(probe, HostOutcome.HOST_FAILURE)
    opened_at = clock.now
    clock.advance(10)
    pace.report(probe, HostOutcome.HOST_FAILURE)  # reported again: it is no longer the probe
    view = pace.state(HOST)
    assert (view.circuit, view.opened_at, view.retry_after) == (Circuit.OPEN, opened_at, 290.0)
    clock.now += OPEN
    assert admitted(pace).probe


def test_a_probe_that_was_not_tried_passes_the_part_on(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    pace.report(probe_of(pace, clock), HostOutcome.NOT_TRIED)
    assert pace.state(HOST).circuit is Circuit.HALF_OPEN
    assert admitted(pace).probe


def test_a_prober_that_died_is_followed_by_the_next_caller(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    probe_of(pace, clock)
    clock.now += LEASE - timedelta(milliseconds=1)
    assert isinstance(ask(pace), Wait)
    clock.now += timedelta(milliseconds=1)
    assert admitted(pace).probe
    assert isinstance(ask(pace), Wait)


@pytest.mark.parametrize("outcome", list(HostOutcome))
def test_a_prober_that_was_given_up_changes_nothing(
    pace: HostRateLimiter, clock: HandClock, ledger: FakeHostStateStore, outcome: HostOutcome
) -> None:
    late = probe_of(pace, clock)
    clock.now += LEASE
    assert admitted(pace).probe
    row = ledger.read(HOST, Record.PACE)
    pace.report(late, outcome)
    assert ledger.read(HOST, Record.PACE) == row


def test_a_probe_needs_a_token_too(ledger: FakeHostStateStore, clock: HandClock) -> None:
    slow = PaceLimits(rate=1 / 600, burst=5)
    pace = pace_at(ledger, clock, slow)
    for _ in range(5):
        permit = pace.admit(HOST, owner="job_1", limits=slow)
        assert isinstance(permit, Permit)
        pace.report(permit, HostOutcome.HOST_FAILURE)
    clock.now += OPEN
    wait = pace.admit(HOST, owner="job_1", limits=slow)
    assert isinstance(wait, Wait)
    assert (wait.reason, wait.until) == (WaitReason.PACE, START + 2 * OPEN)
    clock.now = wait.until
    permit = pace.admit(HOST, owner="job_1", limits=slow, reserved=True)
    assert isinstance(permit, Permit)
    assert permit.probe


def test_lost_answers_change_no_verdict(clock: HandClock) -> None:
    ledger = FakeHostStateStore()
    pace = pace_at(LossyLedger(ledger), clock, QUICK)
    send(pace, HostOutcome.HOST_FAILURE, 4)
    assert pace.state(HOST).failures == 4
    send(pace, HostOutcome.HOST_FAILURE)
    for verdict in (HostOutcome.HOST_FAILURE, HostOutcome.NOT_TRIED, HostOutcome.SUCCESS):
        clock.now += OPEN
        probe = admitted(pace)
        assert probe.probe
        pace.report(probe, verdict)
    assert pace.state(HOST) == CLOSED
