"""Ports of one host: they share its rate limit; each unusual port has its own breaker."""

from datetime import timedelta

import pytest

from spinneret.web import limits
from spinneret.web.politeness.changes import Row
from spinneret.web.politeness.models import (
    Circuit,
    HostOutcome,
    PaceLimits,
    Permit,
    Record,
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
    open_circuit,
    refused,
    send,
)
from tests.unit.web.politeness.meetings import InterruptedLedger

DISCARD, ALTERNATE = 9, 8080
PLACE = f"{HOST}:{DISCARD}"


@pytest.fixture
def pace(ledger: FakeHostStateStore, clock: HandClock) -> HostRateLimiter:
    return pace_at(ledger, clock, QUICK)


# ---------------------------------------------------------------- State of each port


def test_failures_of_an_unusual_port_open_that_port_only(pace: HostRateLimiter) -> None:
    open_circuit(pace, DISCARD)
    assert refused(pace, port=DISCARD).reason is WaitReason.CIRCUIT_OPEN
    for port in (None, ALTERNATE):
        assert pace.state(HOST, port) == CLOSED
        admitted(pace, port=port)


def test_failures_of_the_host_say_nothing_of_another_port(pace: HostRateLimiter) -> None:
    open_circuit(pace)
    admitted(pace, port=ALTERNATE)


@pytest.mark.parametrize(("asked", "other"), [(DISCARD, None), (None, DISCARD)])
def test_a_retry_after_holds_where_it_was_made(
    pace: HostRateLimiter, asked: int | None, other: int | None
) -> None:
    permit = admitted(pace, port=asked)
    pace.report(permit, HostOutcome.CLIENT_ERROR, retry_after=120)
    admitted(pace, port=other)
    wait = refused(pace, port=asked)
    assert (wait.reason, wait.until) == (WaitReason.RETRY_AFTER, START + timedelta(seconds=120))


def test_a_success_ends_the_row_of_failures_of_its_port(pace: HostRateLimiter) -> None:
    send(pace, HostOutcome.HOST_FAILURE, 4)
    send(pace, HostOutcome.HOST_FAILURE, 4, DISCARD)
    send(pace, HostOutcome.SUCCESS, port=DISCARD)
    assert pace.state(HOST, DISCARD) == CLOSED
    assert pace.state(HOST).failures == 4


def test_a_port_is_reset_by_itself(pace: HostRateLimiter) -> None:
    open_circuit(pace, DISCARD)
    open_circuit(pace)
    pace.reset(HOST, DISCARD)
    assert pace.state(HOST, DISCARD) == CLOSED
    assert pace.state(HOST).circuit is Circuit.OPEN


# ---------------------------------------------------------------- State of the host


def test_a_host_is_not_asked_faster_by_its_ports(
    ledger: FakeHostStateStore, clock: HandClock
) -> None:
    pace = pace_at(ledger, clock)
    ports = [None, DISCARD, ALTERNATE, 8081, 8082, 8083, None]
    outcomes = [
        pace.admit(HOST, owner="job", limits=PaceLimits(), port=port, reserved=True)
        for port in ports
    ]
    assert [isinstance(each, Permit) for each in outcomes] == [True] * 5 + [False] * 2


def test_a_crawl_delay_holds_over_all_ports(pace: HostRateLimiter, clock: HandClock) -> None:
    strict = PaceLimits(rate=1000, burst=1000, min_gap_seconds=10)

    def permit(port: int | None) -> Permit | None:
        outcome = pace.admit(HOST, owner="job", limits=strict, port=port, reserved=True)
        return outcome if isinstance(outcome, Permit) else None

    first = permit(DISCARD)
    assert first is not None
    assert permit(None) is None
    pace.report(first, HostOutcome.HOST_FAILURE)
    assert pace.state(HOST, DISCARD).failures == 1
    clock.advance(10)
    assert permit(None) is None
    clock.advance(0.001)
    assert permit(None)


# ---------------------------------------------------------------- Half-open


def half_open(pace: HostRateLimiter, clock: HandClock) -> None:
    open_circuit(pace, DISCARD)
    clock.now += OPEN


def test_one_request_probes_a_port(pace: HostRateLimiter, clock: HandClock) -> None:
    half_open(pace, clock)
    permit = admitted(pace, port=DISCARD)
    assert permit.probe
    assert {refused(pace, port=DISCARD).until for _ in range(10)} == {clock.now + LEASE}
    pace.report(permit, HostOutcome.SUCCESS)
    assert pace.state(HOST, DISCARD) == CLOSED


def test_a_probe_of_a_port_that_fails_opens_it_anew(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    half_open(pace, clock)
    pace.report(admitted(pace, port=DISCARD), HostOutcome.HOST_FAILURE)
    assert pace.state(HOST, DISCARD).retry_after == limits.BREAKER_OPEN_SECONDS


def test_a_probe_of_a_port_that_was_not_tried_passes_the_part_on(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    half_open(pace, clock)
    pace.report(admitted(pace, port=DISCARD), HostOutcome.NOT_TRIED)
    assert admitted(pace, port=DISCARD).probe


def test_a_prober_of_a_port_that_died_is_followed_by_the_next(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    half_open(pace, clock)
    admitted(pace, port=DISCARD)
    clock.now += LEASE
    assert admitted(pace, port=DISCARD).probe


@pytest.mark.parametrize("outcome", list(HostOutcome))
def test_what_was_admitted_before_the_opening_of_a_port_changes_nothing(
    pace: HostRateLimiter, ledger: FakeHostStateStore, outcome: HostOutcome
) -> None:
    late = admitted(pace, port=DISCARD)
    open_circuit(pace, DISCARD)
    row = ledger.read(PLACE, Record.PACE)
    pace.report(late, outcome)
    assert ledger.read(PLACE, Record.PACE) == row


@pytest.mark.parametrize("at", [0, 1], ids=["before its turn", "before its lease"])
def test_of_two_that_would_probe_a_port_one_does(
    ledger: FakeHostStateStore, clock: HandClock, at: int
) -> None:
    other = pace_at(ledger, clock, QUICK)
    half_open(other, clock)
    between = InterruptedLedger(ledger)
    between.at, between.action = at, lambda: permits.append(admitted(other, port=DISCARD))
    permits: list[Permit] = []
    wait = refused(pace_at(between, clock, QUICK), port=DISCARD)
    assert [permit.probe for permit in permits] == [True]
    assert wait.reason is WaitReason.CIRCUIT_OPEN
    other.report(permits[0], HostOutcome.SUCCESS)
    assert pace_at(ledger, clock).state(HOST, DISCARD) == CLOSED


def test_who_comes_too_late_to_probe_frees_a_host_that_he_held(
    ledger: FakeHostStateStore, clock: HandClock
) -> None:
    strict = PaceLimits(rate=1000, burst=1000, min_gap_seconds=10)
    other = pace_at(ledger, clock, QUICK)
    half_open(other, clock)
    between = InterruptedLedger(ledger)
    lease: Row = {"probe_owner": "other", "probe_until": 2**50}
    between.at = 1
    between.action = lambda: between.put(PLACE, lease)
    late = pace_at(between, clock, QUICK)
    late.admit(HOST, owner="job", limits=strict, port=DISCARD)
    clock.advance(10.001)
    assert isinstance(other.admit(HOST, owner="job", limits=strict, reserved=True), Permit)


def test_lost_answers_change_no_verdict_of_a_port(clock: HandClock) -> None:
    pace = pace_at(LossyLedger(FakeHostStateStore()), clock, QUICK)
    half_open(pace, clock)
    for verdict in (HostOutcome.HOST_FAILURE, HostOutcome.NOT_TRIED, HostOutcome.SUCCESS):
        permit = admitted(pace, port=DISCARD)
        assert permit.probe
        pace.report(permit, verdict)
        clock.now += OPEN
    assert pace.state(HOST, DISCARD) == CLOSED


# ---------------------------------------------------------------- Cost


def test_an_unusual_port_costs_one_read_more(
    pace: HostRateLimiter, ledger: FakeHostStateStore
) -> None:
    pace.report(admitted(pace), HostOutcome.SUCCESS)
    assert (ledger.updates, ledger.reads) == (1, 0)
    permit = admitted(pace, port=DISCARD)
    assert ledger.reads == 1
    pace.report(permit, HostOutcome.SUCCESS)
    assert ledger.read(PLACE, Record.PACE) == {}


def test_an_open_port_costs_the_host_no_token(
    pace: HostRateLimiter, ledger: FakeHostStateStore
) -> None:
    open_circuit(pace, DISCARD)
    row, before = ledger.read(HOST, Record.PACE), ledger.updates
    refused(pace, port=DISCARD)
    assert ledger.read(HOST, Record.PACE) == row
    assert ledger.updates == before
