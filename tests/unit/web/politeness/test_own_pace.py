"""Callers with different rate limits at one host: each keeps its own and delays no faster one."""

import itertools

import pytest

from spinneret.kernel import bounds
from spinneret.web.politeness.models import HostOutcome, PaceLimits, Permit, Record, WaitReason
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

SLOW = PaceLimits(rate=0.2, burst=2)
SLOWEST = PaceLimits(rate=bounds.DOMAIN_RATE_MIN)
OWN_GAP = PaceLimits(own_gap_seconds=3600)
MIXED = [USUAL, PaceLimits(rate=0.2), PaceLimits(rate=0.02), PaceLimits(rate=0.002), SLOWEST]

# ---------------------------------------------------------------- Limits of the host


@pytest.mark.parametrize("reserved", [False, True])
@pytest.mark.parametrize("order", [MIXED, MIXED[::-1]], ids=["fastest first", "slowest first"])
def test_all_paces_together_get_one_burst(
    pace: HostRateLimiter, order: list[PaceLimits], reserved: bool
) -> None:
    outcomes = [
        ask(pace, limits_, reserved=reserved) for limits_ in order for _ in range(limits_.burst)
    ]
    assert sum(isinstance(each, Permit) for each in outcomes) == bounds.DOMAIN_BURST


def test_all_paces_together_go_on_at_the_rate_of_the_fastest(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    moments = []
    for _ in range(100):
        clock.advance(0.25)
        moments += [
            (clock.now - START).total_seconds()
            for each in MIXED
            if isinstance(ask(pace, each, reserved=True), Permit)
        ]
    for first, last in itertools.combinations(range(len(moments)), 2):
        assert last - first + 1 <= 5 + (moments[last] - moments[first])


# ---------------------------------------------------------------- Effect on other callers


@pytest.mark.parametrize(
    "limits_",
    [SLOWEST, PaceLimits(rate=bounds.DOMAIN_RATE_MIN, burst=1), OWN_GAP],
    ids=["rate", "rate and burst", "gap"],
)
def test_a_slow_request_costs_the_faster_no_more_than_one_of_theirs(
    pace: HostRateLimiter, limits_: PaceLimits
) -> None:
    admitted(pace, limits_)
    for _ in range(4):
        admitted(pace)
    assert refused(pace).until == START + SECOND


def test_a_slow_reservation_keeps_no_newcomer_back(pace: HostRateLimiter) -> None:
    for _ in range(2):
        admitted(pace, SLOW)
    assert [refused(pace, SLOW).until for _ in range(3)] == [
        START + 5 * n * SECOND for n in range(1, 4)
    ]
    admitted(pace)


def test_a_tenants_own_gap_keeps_others_away_neither_while_it_asks_nor_after(
    pace: HostRateLimiter,
) -> None:
    permit = admitted(pace, OWN_GAP)
    pace.report(admitted(pace), HostOutcome.SUCCESS)
    pace.report(permit, HostOutcome.SUCCESS)
    admitted(pace)
    admitted(pace, PaceLimits(own_gap_seconds=10))


def test_a_holder_of_an_own_gap_that_died_keeps_nobody_else_away(pace: HostRateLimiter) -> None:
    admitted(pace, OWN_GAP)
    admitted(pace)
    admitted(pace, SLOW)
    admitted(pace, PaceLimits(rate=bounds.DOMAIN_RATE_MIN, burst=2))


def test_who_is_much_slower_delays_no_slowed_one_either(pace: HostRateLimiter) -> None:
    admitted(pace, SLOWEST)
    for _ in range(2):
        admitted(pace, SLOW)


def test_steady_traffic_of_others_starves_no_slow_one(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    slow = PaceLimits(own_gap_seconds=10)
    done, reserved, due = 0, False, START
    for _ in range(120):
        clock.advance(1)
        if clock.now >= due:
            outcome = ask(pace, slow, reserved=reserved)
            if isinstance(outcome, Permit):
                pace.report(outcome, HostOutcome.SUCCESS)
                done, reserved = done + 1, False
            else:
                due, reserved = outcome.until, outcome.reserved
        ask(pace)
    assert done >= 10


# ---------------------------------------------------------------- Permits of the slow caller


def test_a_slow_caller_keeps_to_its_own_pace_at_an_idle_host(
    pace: HostRateLimiter, clock: HandClock, ledger: FakeHostStateStore
) -> None:
    for _ in range(2):
        admitted(pace, SLOW)
    for number in range(1, 5):
        wait = refused(pace, SLOW)
        assert (wait.until, wait.reason) == (START + 5 * number * SECOND, WaitReason.PACE)
        clock.now = wait.until
        before = ledger.updates
        admitted(pace, SLOW, reserved=True)
        assert ledger.updates == before + 1


def test_a_slow_newcomer_does_not_overtake_a_reservation(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    for _ in range(2):
        admitted(pace, SLOW)
    reservation = refused(pace, SLOW)
    clock.now = reservation.until
    newcomer = refused(pace, SLOW)
    assert (newcomer.until, newcomer.reason) == (
        reservation.until + 5 * SECOND,
        WaitReason.RESERVED,
    )
    admitted(pace, SLOW, reserved=True)


def test_a_slow_newcomer_comes_after_all_reservations_though_there_is_a_token(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    for _ in range(2):
        admitted(pace, SLOW)
    reservations = [refused(pace, SLOW).until for _ in range(3)]
    clock.now = reservations[1]
    assert refused(pace, SLOW).until == reservations[2] + 5 * SECOND


def test_a_slow_caller_waits_for_the_hosts_bucket_too(pace: HostRateLimiter) -> None:
    use_up(pace)
    assert refused(pace, SLOW).until == START + SECOND


def test_two_tenants_of_one_slow_pace_share_one_bucket(
    ledger: FakeHostStateStore, clock: HandClock
) -> None:
    one, other = pace_at(ledger, clock), pace_at(ledger, clock)
    admitted(one, SLOW)
    admitted(other, SLOW)
    assert refused(one, SLOW).until == START + 5 * SECOND
    assert refused(other, SLOW).until == START + 10 * SECOND


def test_a_slow_request_at_an_idle_host_is_one_write(
    pace: HostRateLimiter, ledger: FakeHostStateStore
) -> None:
    pace.report(admitted(pace, SLOW), HostOutcome.SUCCESS)
    assert (ledger.updates, ledger.reads) == (1, 0)


# ---------------------------------------------------------------- Together with a crawl-delay

PATIENT = PaceLimits(min_gap_seconds=10, own_gap_seconds=60)


def test_a_crawl_delay_holds_between_tenants_whatever_their_own_gaps(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    for first, then in ((PATIENT, STRICT), (STRICT, PATIENT)):
        permit = admitted(pace, first)
        clock.advance(20)
        assert refused(pace, then, reserved=True)
        pace.report(permit, HostOutcome.SUCCESS)
        clock.advance(10)
        assert refused(pace, then, reserved=True)
        clock.advance(0.001)
        pace.report(admitted(pace, then, reserved=True), HostOutcome.SUCCESS)
        clock.advance(600)


def test_an_own_gap_longer_than_the_crawl_delay_holds_for_its_tenant(
    pace: HostRateLimiter, clock: HandClock, ledger: FakeHostStateStore
) -> None:
    permit = admitted(pace, PATIENT)
    before = ledger.updates
    pace.report(permit, HostOutcome.SUCCESS)
    assert ledger.updates == before + 1
    clock.advance(10.001)
    pace.report(admitted(pace, STRICT), HostOutcome.SUCCESS)
    clock.now = START + 60 * SECOND
    assert refused(pace, PATIENT, reserved=True)
    clock.advance(0.001)
    admitted(pace, PATIENT, reserved=True)


# ---------------------------------------------------------------- The row


@pytest.mark.heavy
def test_a_row_stays_small_whatever_pace_tenants_set(
    pace: HostRateLimiter, ledger: FakeHostStateStore, clock: HandClock
) -> None:
    for number in range(1000):
        retry_after = 1 + 3599 * number / 1000
        for limits_ in (PaceLimits(rate=1 / retry_after), PaceLimits(own_gap_seconds=retry_after)):
            clock.advance(3)
            ask(pace, limits_, reserved=True)
            ask(pace, limits_)
    row = ledger.read(HOST, Record.PACE)
    assert sum(len(name) + len(str(value)) for name, value in row.items()) < 2048
