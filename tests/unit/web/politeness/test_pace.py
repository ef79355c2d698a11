"""The pace of a host: bucket, promises, Retry-After."""

from __future__ import annotations

from datetime import timedelta

import pytest

from spinneret.web.politeness.models import (
    Admitted,
    Outcome,
    PaceLimits,
    Wait,
    WaitReason,
)
from spinneret.web.politeness.service import Pace
from tests.fakes.politeness import FakeDomainLedger, pace_at
from tests.fakes.time import START, HandClock
from tests.unit.web.politeness.pace_calls import (
    SECOND,
    admitted,
    ask,
    refused,
    use_up,
)

# ---------------------------------------------------------------- Bucket


def test_an_idle_host_is_asked_at_once_for_one_write(pace: Pace, ledger: FakeDomainLedger) -> None:
    leave = admitted(pace)
    assert ledger.updates == 1
    pace.report(leave, Outcome.SUCCESS)
    assert ledger.updates == 1


def test_a_burst_passes_and_then_one_request_per_interval(pace: Pace, clock: HandClock) -> None:
    use_up(pace)
    for second in range(1, 5):
        wait = refused(pace, promised=True)
        assert (wait.until, wait.reason) == (START + second * SECOND, WaitReason.PACE)
        clock.now = wait.until
        admitted(pace, promised=True)


def test_a_bucket_fills_up_to_its_burst_and_no_further(pace: Pace, clock: HandClock) -> None:
    use_up(pace)
    clock.advance(3600)
    use_up(pace)
    assert isinstance(ask(pace), Wait)


@pytest.mark.parametrize(
    "host", ["www.site.example", "SITE.example", "site.example.", "WWW.Site.Example."]
)
def test_one_site_has_one_bucket_under_all_its_names(pace: Pace, host: str) -> None:
    use_up(pace)
    assert isinstance(ask(pace, host=host), Wait)
    admitted(pace, host="www.other.example")
    admitted(pace, host="shop.site.example")


def test_callers_in_different_processes_share_one_bucket(
    ledger: FakeDomainLedger, clock: HandClock
) -> None:
    one, other = pace_at(ledger, clock), pace_at(ledger, clock)
    for pace in (one, other, one, other, one):
        admitted(pace)
    assert isinstance(ask(other), Wait)


def test_nobody_is_faster_than_the_stage(pace: Pace) -> None:
    quick = PaceLimits(rate=1000, burst=1000)
    use_up(pace)
    assert refused(pace, quick, promised=True).until == START + SECOND


# ---------------------------------------------------------------- Promises


def test_everybody_who_must_wait_is_promised_a_slot_of_his_own(pace: Pace) -> None:
    use_up(pace)
    waits = [refused(pace) for _ in range(20)]
    assert [wait.until for wait in waits] == [START + n * SECOND for n in range(1, 21)]
    assert all(wait.promised for wait in waits)


def test_who_keeps_to_his_slot_is_admitted_by_one_write(
    pace: Pace, clock: HandClock, ledger: FakeDomainLedger
) -> None:
    use_up(pace)
    for wait in [refused(pace) for _ in range(10)]:
        clock.now = wait.until
        before = ledger.updates
        admitted(pace, promised=True)
        assert ledger.updates == before + 1


def test_a_newcomer_does_not_overtake_a_promise(pace: Pace, clock: HandClock) -> None:
    use_up(pace)
    promise = refused(pace)
    clock.now = promise.until
    newcomer = refused(pace)
    assert (newcomer.until, newcomer.reason) == (promise.until + SECOND, WaitReason.PROMISED)
    admitted(pace, promised=True)


def test_the_promise_to_a_job_that_died_passes_by(pace: Pace, clock: HandClock) -> None:
    use_up(pace)
    promise = refused(pace)
    clock.now = promise.until + SECOND
    admitted(pace)


def test_who_comes_a_little_early_waits_for_the_same_slot(
    pace: Pace, clock: HandClock, ledger: FakeDomainLedger
) -> None:
    use_up(pace)
    promise, next_one = refused(pace), refused(pace)
    clock.now = promise.until - 0.4 * SECOND
    assert refused(pace, promised=True) == promise
    assert refused(pace).until == next_one.until + SECOND


def test_who_comes_late_loses_nothing(pace: Pace, clock: HandClock) -> None:
    use_up(pace)
    promises = [refused(pace) for _ in range(4)]
    clock.now = promises[-1].until + 0.9 * SECOND
    for _ in promises:
        admitted(pace, promised=True)


def test_slots_are_promised_for_an_hour_ahead_at_most(
    pace: Pace, clock: HandClock, ledger: FakeDomainLedger
) -> None:
    slow = PaceLimits(rate=1 / 600, burst=2)
    use_up(pace, slow)
    waits = [refused(pace, slow) for _ in range(8)]
    hour = START + timedelta(hours=1)
    assert [wait.until for wait in waits[:6]] == [START + 600 * n * SECOND for n in range(1, 7)]
    assert [(wait.until, wait.promised) for wait in waits[6:]] == [(hour, False)] * 2


def test_who_holds_a_promise_keeps_it_when_others_reach_beyond_the_hour(
    pace: Pace, clock: HandClock
) -> None:
    slow = PaceLimits(rate=1 / 600, burst=2)
    use_up(pace, slow)
    promises = [refused(pace, slow) for _ in range(6)]
    clock.now = promises[0].until - 10 * SECOND
    wait = refused(pace, slow, promised=True)
    assert (wait.until, wait.promised) == (promises[0].until, True)


# ---------------------------------------------------------------- Retry-After


def test_the_wish_of_the_site_holds_for_everybody(
    pace: Pace, ledger: FakeDomainLedger, clock: HandClock
) -> None:
    pace.report(admitted(pace), Outcome.CLIENT_ERROR, retry_after=120)
    waits = [refused(pace_at(ledger, clock)) for _ in range(3)]
    assert {wait.reason for wait in waits} == {WaitReason.RETRY_AFTER}
    assert [wait.until for wait in waits] == [START + (120 + n) * SECOND for n in range(3)]
    for wait in waits:
        clock.now = wait.until
        admitted(pace, promised=True)


@pytest.mark.parametrize(
    ("wishes", "until"),
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
def test_a_wish_never_shortens_another_and_ends_within_the_hour(
    pace: Pace, wishes: list[float], until: float | None, caplog: pytest.LogCaptureFixture
) -> None:
    leaves = [admitted(pace) for _ in wishes]
    for leave, wish in zip(leaves, wishes, strict=True):
        pace.report(leave, Outcome.CLIENT_ERROR, retry_after=wish)
    assert not caplog.records
    outcome = ask(pace)
    if until is None:
        assert isinstance(outcome, Admitted)
    else:
        assert isinstance(outcome, Wait)
        assert outcome.until == START + timedelta(seconds=until)


def test_a_wish_holds_beyond_the_filling_of_the_bucket(pace: Pace, clock: HandClock) -> None:
    pace.report(admitted(pace), Outcome.CLIENT_ERROR, retry_after=120)
    clock.advance(119.999)
    assert isinstance(ask(pace), Wait)
    clock.advance(0.001)
    admitted(pace, promised=True)


def test_no_wish_is_no_write(pace: Pace, ledger: FakeDomainLedger) -> None:
    leave = admitted(pace)
    for wish in (None, 0, -5):
        pace.report(leave, Outcome.SUCCESS, retry_after=wish)
    assert ledger.updates == 1


def test_promises_within_a_wish_are_spread_behind_it(pace: Pace, clock: HandClock) -> None:
    use_up(pace)
    promises = [refused(pace) for _ in range(3)]
    clock.now = promises[0].until
    pace.report(admitted(pace, promised=True), Outcome.CLIENT_ERROR, retry_after=30)
    end = clock.now + 30 * SECOND
    anew = [refused(pace, promised=True).until for _ in promises[1:]]
    assert anew == [end, end + SECOND]
