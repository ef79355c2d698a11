"""The rate limit of a host: bucket, reservations, Retry-After."""

from datetime import timedelta

import pytest

from spinneret.web.politeness.models import (
    HostOutcome,
    PaceLimits,
    Permit,
    Wait,
    WaitReason,
)
from spinneret.web.politeness.service import HostRateLimiter
from tests.fakes.politeness import FakeHostStateStore, pace_at
from tests.fakes.time import START, HandClock
from tests.unit.web.politeness.pace_calls import (
    SECOND,
    admitted,
    ask,
    refused,
    use_up,
)

# ---------------------------------------------------------------- Bucket


def test_an_idle_host_is_asked_at_once_for_one_write(
    pace: HostRateLimiter, ledger: FakeHostStateStore
) -> None:
    permit = admitted(pace)
    assert ledger.updates == 1
    pace.report(permit, HostOutcome.SUCCESS)
    assert ledger.updates == 1


def test_a_burst_passes_and_then_one_request_per_interval(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    use_up(pace)
    for second in range(1, 5):
        wait = refused(pace, reserved=True)
        assert (wait.until, wait.reason) == (START + second * SECOND, WaitReason.PACE)
        clock.now = wait.until
        admitted(pace, reserved=True)


def test_a_bucket_fills_up_to_its_burst_and_no_further(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    use_up(pace)
    clock.advance(3600)
    use_up(pace)
    assert isinstance(ask(pace), Wait)


@pytest.mark.parametrize(
    "host", ["www.site.example", "SITE.example", "site.example.", "WWW.Site.Example."]
)
def test_one_host_has_one_bucket_under_all_its_names(pace: HostRateLimiter, host: str) -> None:
    use_up(pace)
    assert isinstance(ask(pace, host=host), Wait)
    admitted(pace, host="www.other.example")
    admitted(pace, host="shop.site.example")


def test_callers_in_different_processes_share_one_bucket(
    ledger: FakeHostStateStore, clock: HandClock
) -> None:
    one, other = pace_at(ledger, clock), pace_at(ledger, clock)
    for pace in (one, other, one, other, one):
        admitted(pace)
    assert isinstance(ask(other), Wait)


def test_nobody_is_faster_than_the_stage(pace: HostRateLimiter) -> None:
    quick = PaceLimits(rate=1000, burst=1000)
    use_up(pace)
    assert refused(pace, quick, reserved=True).until == START + SECOND


# ---------------------------------------------------------------- Reservations


def test_everybody_who_must_wait_is_reserved_a_slot_of_his_own(pace: HostRateLimiter) -> None:
    use_up(pace)
    waits = [refused(pace) for _ in range(20)]
    assert [wait.until for wait in waits] == [START + n * SECOND for n in range(1, 21)]
    assert all(wait.reserved for wait in waits)


def test_who_keeps_to_his_slot_is_admitted_by_one_write(
    pace: HostRateLimiter, clock: HandClock, ledger: FakeHostStateStore
) -> None:
    use_up(pace)
    for wait in [refused(pace) for _ in range(10)]:
        clock.now = wait.until
        before = ledger.updates
        admitted(pace, reserved=True)
        assert ledger.updates == before + 1


def test_a_newcomer_does_not_overtake_a_reservation(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    use_up(pace)
    reservation = refused(pace)
    clock.now = reservation.until
    newcomer = refused(pace)
    assert (newcomer.until, newcomer.reason) == (reservation.until + SECOND, WaitReason.RESERVED)
    admitted(pace, reserved=True)


def test_the_reservation_to_a_job_that_died_passes_by(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    use_up(pace)
    reservation = refused(pace)
    clock.now = reservation.until + SECOND
    admitted(pace)


def test_who_comes_a_little_early_waits_for_the_same_slot(
    pace: HostRateLimiter, clock: HandClock, ledger: FakeHostStateStore
) -> None:
    use_up(pace)
    reservation, next_one = refused(pace), refused(pace)
    clock.now = reservation.until - 0.4 * SECOND
    assert refused(pace, reserved=True) == reservation
    assert refused(pace).until == next_one.until + SECOND


def test_who_comes_late_loses_nothing(pace: HostRateLimiter, clock: HandClock) -> None:
    use_up(pace)
    reservations = [refused(pace) for _ in range(4)]
    clock.now = reservations[-1].until + 0.9 * SECOND
    for _ in reservations:
        admitted(pace, reserved=True)


def test_slots_are_reserved_for_an_hour_ahead_at_most(
    pace: HostRateLimiter, clock: HandClock, ledger: FakeHostStateStore
) -> None:
    slow = PaceLimits(rate=1 / 600, burst=2)
    use_up(pace, slow)
    waits = [refused(pace, slow) for _ in range(8)]
    hour = START + timedelta(hours=1)
    assert [wait.until for wait in waits[:6]] == [START + 600 * n * SECOND for n in range(1, 7)]
    assert [(wait.until, wait.reserved) for wait in waits[6:]] == [(hour, False)] * 2


def test_who_holds_a_reservation_keeps_it_when_others_reach_beyond_the_hour(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    slow = PaceLimits(rate=1 / 600, burst=2)
    use_up(pace, slow)
    reservations = [refused(pace, slow) for _ in range(6)]
    clock.now = reservations[0].until - 10 * SECOND
    wait = refused(pace, slow, reserved=True)
    assert (wait.until, wait.reserved) == (reservations[0].until, True)


# ---------------------------------------------------------------- Retry-After


def test_the_retry_after_of_the_host_holds_for_everybody(
    pace: HostRateLimiter, ledger: FakeHostStateStore, clock: HandClock
) -> None:
    pace.report(admitted(pace), HostOutcome.CLIENT_ERROR, retry_after=120)
    waits = [refused(pace_at(ledger, clock)) for _ in range(3)]
    assert {wait.reason for wait in waits} == {WaitReason.RETRY_AFTER}
    assert [wait.until for wait in waits] == [START + (120 + n) * SECOND for n in range(3)]
    for wait in waits:
        clock.now = wait.until
        admitted(pace, reserved=True)


@pytest.mark.parametrize(
    ("retry_afters", "until"),
    [
        ([60, 30], 60),
        ([30, 60], 60),
        ([0], None),
        ([-5], None),
        ([0.25], 0.25),
        ([1e9], 3600),
        ([3599.9994], 3599.999),
    ],
)
def test_a_retry_after_never_shortens_another_and_ends_within_the_hour(
    pace: HostRateLimiter,
    retry_afters: list[float],
    until: float | None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    permits = [admitted(pace) for _ in retry_afters]
    for permit, retry_after in zip(permits, retry_afters, strict=True):
        pace.report(permit, HostOutcome.CLIENT_ERROR, retry_after=retry_after)
    assert not caplog.records
    outcome = ask(pace)
    if until is None:
        assert isinstance(outcome, Permit)
    else:
        assert isinstance(outcome, Wait)
        assert outcome.until == START + timedelta(seconds=until)


def test_a_retry_after_holds_beyond_the_filling_of_the_bucket(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    pace.report(admitted(pace), HostOutcome.CLIENT_ERROR, retry_after=120)
    clock.advance(119.999)
    assert isinstance(ask(pace), Wait)
    clock.advance(0.001)
    admitted(pace, reserved=True)


def test_no_retry_after_is_no_write(pace: HostRateLimiter, ledger: FakeHostStateStore) -> None:
    permit = admitted(pace)
    for retry_after in (None, 0, -5):
        pace.report(permit, HostOutcome.SUCCESS, retry_after=retry_after)
    assert ledger.updates == 1


def test_reservations_within_a_retry_after_are_spread_behind_it(
    pace: HostRateLimiter, clock: HandClock
) -> None:
    use_up(pace)
    reservations = [refused(pace) for _ in range(3)]
    clock.now = reservations[0].until
    pace.report(admitted(pace, reserved=True), HostOutcome.CLIENT_ERROR, retry_after=30)
    end = clock.now + 30 * SECOND
    anew = [refused(pace, reserved=True).until for _ in reservations[1:]]
    assert anew == [end, end + SECOND]
