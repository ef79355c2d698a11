"""A tenant whose own breaker is stricter than the breaker that all tenants share."""

from datetime import timedelta

import pytest

from spinneret.web import limits
from spinneret.web.politeness.models import (
    BreakerLimits,
    BreakerView,
    Circuit,
    HostOutcome,
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
    USUAL,
    admitted,
    ask,
    open_circuit,
    refused,
    send,
)

CAREFUL = BreakerLimits(threshold=2, open_seconds=600)
PATIENT = BreakerLimits(open_seconds=600)
TEN_MINUTES = timedelta(minutes=10)


@pytest.fixture
def pace(ledger: FakeHostStateStore, clock: HandClock) -> HostRateLimiter:
    return pace_at(ledger, clock, QUICK)


# ---------------------------------------------------------------- Fewer failures


def test_after_fewer_failures_of_anybody_the_careful_stay_away_and_others_go_on(
    pace: HostRateLimiter,
) -> None:
    send(pace, HostOutcome.HOST_FAILURE)
    admitted(pace, CAREFUL)
    send(pace, HostOutcome.HOST_FAILURE)
    until = START + TEN_MINUTES
    assert refused(pace, CAREFUL) == Wait(until=until, reason=WaitReason.CIRCUIT_OPEN)
    assert pace.state(HOST, breaker=CAREFUL) == BreakerView(
        circuit=Circuit.OPEN, failures=2, opened_at=START, retry_after=600
    )
    assert pace.state(HOST).circuit is Circuit.CLOSED
    admitted(pace)


@pytest.mark.parametrize("threshold", range(1, limits.BREAKER_FAILURES + 1))
def test_each_threshold_counts_exactly(pace: HostRateLimiter, threshold: int) -> None:
    careful = BreakerLimits(threshold=threshold)
    send(pace, HostOutcome.HOST_FAILURE, threshold - 1)
    admitted(pace, careful)
    send(pace, HostOutcome.HOST_FAILURE)
    refused(pace, careful)


@pytest.mark.parametrize("outcome", [HostOutcome.SUCCESS, HostOutcome.CLIENT_ERROR])
def test_an_answer_to_anybody_closes_it_for_the_careful_too(
    pace: HostRateLimiter, outcome: HostOutcome
) -> None:
    send(pace, HostOutcome.HOST_FAILURE, 3)
    send(pace, outcome)
    assert pace.state(HOST, breaker=CAREFUL) == CLOSED
    assert not admitted(pace, CAREFUL).probe


def test_one_careful_request_probes_and_holds_nobody_else_off(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    send(pace, HostOutcome.HOST_FAILURE, 2)
    clock.now += TEN_MINUTES
    assert pace.state(HOST, breaker=CAREFUL).circuit is Circuit.HALF_OPEN
    assert admitted(pace, CAREFUL).probe
    assert {refused(pace, CAREFUL).until for _ in range(10)} == {clock.now + LEASE}
    assert not admitted(pace).probe


def test_the_probe_of_the_careful_closes_by_success(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    send(pace, HostOutcome.HOST_FAILURE, 2)
    clock.now += TEN_MINUTES
    pace.report(admitted(pace, CAREFUL), HostOutcome.SUCCESS)
    assert pace.state(HOST, breaker=CAREFUL) == CLOSED
    assert not admitted(pace, CAREFUL).probe


def test_the_probe_of_the_careful_counts_when_it_fails(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    send(pace, HostOutcome.HOST_FAILURE, 2)
    clock.now += TEN_MINUTES
    pace.report(admitted(pace, CAREFUL), HostOutcome.HOST_FAILURE)
    assert pace.state(HOST, breaker=CAREFUL) == BreakerView(
        circuit=Circuit.OPEN, failures=3, opened_at=clock.now, retry_after=600
    )
    clock.now += TEN_MINUTES
    assert admitted(pace, CAREFUL).probe  # the lease ended with the failure


def test_a_careful_probe_that_was_not_tried_passes_the_part_on(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    send(pace, HostOutcome.HOST_FAILURE, 2)
    clock.now += TEN_MINUTES
    pace.report(admitted(pace, CAREFUL), HostOutcome.NOT_TRIED)
    assert admitted(pace, CAREFUL).probe


def test_a_careful_prober_that_died_is_followed_by_the_next(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    send(pace, HostOutcome.HOST_FAILURE, 2)
    clock.now += TEN_MINUTES
    admitted(pace, CAREFUL)
    clock.now += LEASE
    assert admitted(pace, CAREFUL).probe


@pytest.mark.parametrize("outcome", [HostOutcome.HOST_FAILURE, HostOutcome.NOT_TRIED])
def test_a_careful_prober_that_was_given_up_ends_no_lease_of_another(
    pace: HostRateLimiter, clock: HandClock, ledger: FakeHostStateStore, outcome: HostOutcome
) -> None:
    send(pace, HostOutcome.HOST_FAILURE, 2)
    clock.now += TEN_MINUTES
    late = admitted(pace, CAREFUL)
    clock.now += LEASE
    assert admitted(pace, CAREFUL).probe
    lease = ledger.read(HOST, Record.PACE)["probe_owner"]
    pace.report(late, outcome)
    assert ledger.read(HOST, Record.PACE)["probe_owner"] == lease


def test_failures_that_are_forgotten_keep_the_careful_away_no_longer(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    send(pace, HostOutcome.HOST_FAILURE, 2)
    clock.advance(limits.BREAKER_MEMORY_SECONDS)
    assert pace.state(HOST, breaker=CAREFUL) == CLOSED
    assert not admitted(pace, CAREFUL).probe


# ---------------------------------------------------------------- A longer open time


def test_the_patient_stay_away_for_longer_and_others_probe(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    open_circuit(pace)
    assert refused(pace, PATIENT).until == START + TEN_MINUTES
    clock.now += OPEN
    assert pace.state(HOST).circuit is Circuit.HALF_OPEN
    assert pace.state(HOST, breaker=PATIENT).circuit is Circuit.OPEN
    assert refused(pace, PATIENT).until == START + TEN_MINUTES
    assert admitted(pace).probe


def test_the_probe_of_another_closes_for_the_patient_too(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    open_circuit(pace)
    clock.now += OPEN
    pace.report(admitted(pace), HostOutcome.SUCCESS)
    assert not admitted(pace, PATIENT).probe


def test_where_nobody_else_asks_the_patient_probe(pace: HostRateLimiter, clock: HandClock) -> None:
    open_circuit(pace)
    clock.now += TEN_MINUTES
    permit = admitted(pace, PATIENT)
    assert permit.probe
    refused(pace)
    pace.report(permit, HostOutcome.HOST_FAILURE)
    assert refused(pace).until == clock.now + OPEN  # the shared open time isn't extended


# ---------------------------------------------------------------- No effect on other tenants


@pytest.mark.parametrize("outcome", list(HostOutcome))
def test_a_careful_probe_from_before_the_opening_decides_nothing(
    pace: HostRateLimiter, clock: HandClock, ledger: FakeHostStateStore, outcome: HostOutcome
) -> None:
    send(pace, HostOutcome.HOST_FAILURE, 4)
    clock.now += TEN_MINUTES
    stale = admitted(pace, CAREFUL)
    assert stale.probe
    send(pace, HostOutcome.HOST_FAILURE)
    row = ledger.read(HOST, Record.PACE)
    pace.report(stale, outcome)
    assert ledger.read(HOST, Record.PACE) == row
    clock.now += OPEN
    assert admitted(pace).probe


def test_the_failures_of_the_careful_open_it_at_the_fifth_for_everybody(
    pace: HostRateLimiter,
) -> None:
    permits = [admitted(pace, CAREFUL) for _ in range(5)]
    for permit in permits[:4]:
        pace.report(permit, HostOutcome.HOST_FAILURE)
    assert pace.state(HOST).circuit is Circuit.CLOSED
    pace.report(permits[4], HostOutcome.HOST_FAILURE)
    assert pace.state(HOST).retry_after == limits.BREAKER_OPEN_SECONDS


@pytest.mark.parametrize("breaker", [USUAL, CAREFUL, PATIENT])
def test_care_costs_no_write(
    pace: HostRateLimiter, ledger: FakeHostStateStore, breaker: BreakerLimits
) -> None:
    pace.report(admitted(pace, breaker), HostOutcome.SUCCESS)
    assert (ledger.updates, ledger.reads) == (1, 0)


def test_the_careful_see_the_same_as_they_are_admitted_by(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    send(pace, HostOutcome.HOST_FAILURE, 3)
    for _ in range(200):
        clock.advance(7)
        view = pace.state(HOST, breaker=CAREFUL)
        outcome = ask(pace, CAREFUL)
        assert isinstance(outcome, Permit) == (not view.retry_after)
        if isinstance(outcome, Wait):
            assert (outcome.until - clock.now).total_seconds() == view.retry_after


def test_lost_answers_change_no_verdict_of_the_careful(clock: HandClock) -> None:
    pace = pace_at(LossyLedger(FakeHostStateStore()), clock, QUICK)
    send(pace, HostOutcome.HOST_FAILURE, 2)
    for verdict in (HostOutcome.HOST_FAILURE, HostOutcome.NOT_TRIED, HostOutcome.SUCCESS):
        clock.now += TEN_MINUTES
        probe = admitted(pace, CAREFUL)
        assert probe.probe
        pace.report(probe, verdict)
    assert pace.state(HOST, breaker=CAREFUL) == CLOSED
