"""The rules of a job's life as tables."""

import itertools
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.jobs import limits, rules
from spinneret.jobs.models import Failure, JobStatus
from spinneret.kernel import bounds, errors
from spinneret.kernel.clock import to_iso
from spinneret.kernel.errors import (
    Contended,
    DependencyUnavailable,
    DomainError,
    FetchTimeout,
    HttpUnavailable,
    PermanentError,
    TransientError,
)
from tests import factories
from tests.fakes.time import START
from tests.rows import each_row

SECOND = timedelta(seconds=1)
UNTIL = START + 60 * SECOND
NOW = START + 10 * SECOND
DAY = 24 * 3600
MIDDLE = 0.5  # without jitter


def subclasses(of: type[DomainError]) -> list[type[DomainError]]:
    return [
        each
        for each in vars(errors).values()
        if isinstance(each, type) and issubclass(each, of) and each is not of
    ]


def running(**given: Any) -> Any:
    return factories.running_job(UNTIL, **given)


# ---------------------------------------------------------------- Errors


# covers P-03
@each_row((ascii(kind), kind) for kind in subclasses(PermanentError))
def test_a_permanent_error_fails_at_once(kind: type[DomainError]) -> None:
    after = rules.after_error(running(), kind("why", details={"field": "url"}), NOW, MIDDLE)
    assert (after.status, after.attempts, after.finished_at) == (JobStatus.FAILED, 1, NOW)
    assert after.last_error == Failure(
        code=kind.code, message="why", type="permanent", details={"field": "url"}
    )


@each_row((ascii(kind), kind) for kind in subclasses(TransientError) if kind is not Contended)
def test_a_transient_error_waits_and_is_charged(kind: type[DomainError]) -> None:
    after = rules.after_error(running(), kind("why"), NOW, MIDDLE)
    assert (after.status, after.attempts, after.finished_at) == (JobStatus.PENDING, 1, None)
    assert after.due_at == NOW + SECOND
    assert after.last_error == Failure(code=kind.code, message="why", type="transient")


# covers P-03
@pytest.mark.parametrize(
    ("attempts", "retry_after", "status", "wait"),
    [
        (0, None, JobStatus.PENDING, 1),
        (1, None, JobStatus.PENDING, 2),
        (0, 0.0, JobStatus.PENDING, 1),
        (0, 120.0, JobStatus.PENDING, 120),
        (1, 3600.0, JobStatus.PENDING, 3600),
        (2, None, JobStatus.FAILED, None),
        (0, -5.0, JobStatus.PENDING, 1),
        (0, 1e300, JobStatus.PENDING, DAY),
        (0, float("inf"), JobStatus.PENDING, DAY),
        (0, float("-inf"), JobStatus.PENDING, 1),
        (0, float("nan"), JobStatus.PENDING, DAY),
        (2, 120.0, JobStatus.FAILED, None),
        (2, 1e300, JobStatus.FAILED, None),
        (7, None, JobStatus.FAILED, None),
    ],
)
def test_transient_errors_wait_longer_each_time_until_the_attempts_are_used(
    attempts: int, retry_after: float | None, status: JobStatus, wait: int | None
) -> None:
    error = HttpUnavailable("503", retry_after=retry_after)
    after = rules.after_error(running(attempts=attempts), error, NOW, MIDDLE)
    assert (after.status, after.attempts) == (status, attempts + 1)
    if wait is None:
        assert after.finished_at == NOW
    else:
        assert after.due_at == NOW + wait * SECOND


# covers P-03
@pytest.mark.parametrize(
    ("faults", "waited", "status", "wait"),
    [
        (0, None, JobStatus.PENDING, 1),
        (1, 1, JobStatus.PENDING, 2),
        (5, 60, JobStatus.PENDING, 32),
        (6, 90, JobStatus.PENDING, 60),
        (60, 3599, JobStatus.PENDING, 60),
        (61, 3600, JobStatus.FAILED, None),
        (61, 9999, JobStatus.FAILED, None),
    ],
)
def test_a_fault_of_our_own_waits_uncharged_for_an_hour_at_most(
    faults: int, waited: int | None, status: JobStatus, wait: int | None
) -> None:
    since = None if waited is None else NOW - waited * SECOND
    job = running(own_faults=faults, waiting_since=since, attempts=1)
    after = rules.after_error(job, DependencyUnavailable("s3"), NOW, MIDDLE)
    assert (after.status, after.attempts) == (status, 1)
    assert after.last_error is not None
    assert (after.last_error.code, after.last_error.type) == (
        "DEPENDENCY_UNAVAILABLE",
        "dependency",
    )
    if wait is not None:
        assert (after.due_at, after.own_faults) == (NOW + wait * SECOND, faults + 1)
        assert after.waiting_since == (since or NOW)


def test_rows_that_others_keep_changing_charge_no_attempt() -> None:
    error = Contended("the record is changing", retry_after=1)
    after = rules.after_error(running(attempts=2), error, NOW, MIDDLE)
    assert (after.status, after.attempts, after.due_at) == (JobStatus.PENDING, 2, NOW + SECOND)
    assert after.last_error == Failure(code="CONFLICT", message=error.message, type="transient")


@pytest.mark.parametrize(
    "outcome",
    [
        lambda job: rules.hand_back(job, NOW),
        lambda job: rules.complete(job, {}, NOW),
        lambda job: rules.after_lease_expired(job, NOW),
        lambda job: rules.after_error(job, FetchTimeout("slow"), NOW, MIDDLE),
    ],
    ids=["hand back", "complete", "lease expired", "transient"],
)
def test_any_other_outcome_ends_a_row_of_own_faults(outcome: Any) -> None:
    after = outcome(running(own_faults=9, waiting_since=START))
    assert (after.own_faults, after.waiting_since) == (0, None)


# covers P-03
@pytest.mark.parametrize("error", [ValueError("password=1"), KeyError("s"), RecursionError("s")])
def test_an_unexpected_exception_fails_at_once_and_shows_its_class_only(error: Exception) -> None:
    after = rules.after_error(running(), error, NOW, MIDDLE)
    assert (after.status, after.attempts) == (JobStatus.FAILED, 1)
    assert after.last_error == Failure(
        code="INTERNAL_ERROR", message=type(error).__name__, type="internal"
    )


def test_a_lost_worker_is_charged_and_its_job_due_at_once() -> None:
    after = rules.after_lease_expired(running(), NOW)
    assert (after.status, after.attempts, after.due_at) == (JobStatus.PENDING, 1, NOW)
    assert after.last_error is not None
    assert (after.last_error.code, after.last_error.type) == ("LEASE_EXPIRED", "lease_expired")


@pytest.mark.parametrize("redrives", [0, 3])
def test_a_job_that_kills_every_worker_fails_in_the_end(redrives: int) -> None:
    """Redrives are only for transient failures."""
    job = running(attempts=bounds.JOB_MAX_ATTEMPTS - 1, redrives=redrives, max_redrives=5)
    after = rules.after_lease_expired(job, NOW)
    assert (after.status, after.attempts) == (JobStatus.FAILED, bounds.JOB_MAX_ATTEMPTS)
    assert (after.redrives, after.finished_at, after.fence) == (redrives, NOW, job.fence + 1)


WITHDRAWALS = {
    "lost lease": rules.after_lease_expired,
    "cancel": rules.cancel,
    "pause": rules.pause,
}


@pytest.mark.parametrize(
    ("moment", "worked"), [(-5, 0), (10, 10), (60, 60), (61, 60), (100_000, 60)]
)
@pytest.mark.parametrize("withdrawal", list(WITHDRAWALS))
def test_nobody_works_past_the_end_of_a_lease(withdrawal: str, moment: int, worked: int) -> None:
    """The sweeper or a tenant may move the job long after its worker died."""
    after = WITHDRAWALS[withdrawal](running(worked_ms=7), START + moment * SECOND)
    assert after.worked_ms == 7 + 1000 * worked


def test_a_worker_s_own_outcome_counts_all_its_work() -> None:
    after = rules.complete(running(), {}, UNTIL + 30 * SECOND)
    assert after.worked_ms == 90_000


@pytest.mark.parametrize(
    ("late", "abandoned"),
    [(-1, False), (0, False), (4.999, False), (bounds.CLOCK_SKEW_SECONDS, True), (1e6, True)],
)
def test_a_claim_is_abandoned_when_its_lease_is_over_by_every_clock(
    late: float, abandoned: bool
) -> None:
    now = UNTIL + timedelta(seconds=late)
    assert rules.has_expired_lease(running(), now) is abandoned
    assert not rules.has_expired_lease(factories.job(), now)
    assert not rules.has_expired_lease(running(status=JobStatus.COMPLETED), now)


def test_a_hand_back_charges_nothing_and_is_due_at_once() -> None:
    job = running(attempts=1, step="fetching", progress=10)
    after = rules.hand_back(job, NOW)
    assert (after.status, after.attempts, after.due_at) == (JobStatus.PENDING, 1, NOW)
    assert (after.fence, after.progress) == (job.fence, 10)


def test_a_completed_job_has_its_result_and_no_error() -> None:
    failed_before = running(last_error=Failure(code="X", message="m", type="transient"))
    after = rules.complete(failed_before, {"n": 1}, NOW)
    assert (after.status, after.progress, after.finished_at) == (JobStatus.COMPLETED, 100, NOW)
    assert (after.result, after.last_error) == ({"n": 1}, None)


OUTCOMES = {
    "complete": lambda job, now: rules.complete(job, {}, now),
    "hand back": rules.hand_back,
    "lease expired": rules.after_lease_expired,
    "permanent": lambda job, now: rules.after_error(job, PermanentError("no"), now, MIDDLE),
    "transient": lambda job, now: rules.after_error(job, FetchTimeout("slow"), now, MIDDLE),
    "own fault": lambda job, now: rules.after_error(job, DependencyUnavailable("s3"), now, MIDDLE),
    "unexpected": lambda job, now: rules.after_error(job, ValueError(), now, MIDDLE),
}


@pytest.mark.parametrize("attempts", [0, bounds.JOB_MAX_ATTEMPTS - 1])
@pytest.mark.parametrize("outcome", list(OUTCOMES))
def test_every_outcome_gives_the_lease_back(outcome: str, attempts: int) -> None:
    after = OUTCOMES[outcome](running(attempts=attempts, sends=4), NOW)
    assert (after.locked_by, after.locked_until, after.sends) == (None, None, 1)
    assert after.status in {JobStatus.PENDING, JobStatus.COMPLETED, JobStatus.FAILED}
    assert (after.finished_at is not None) == (after.status in rules.TERMINAL)


# covers P-01
@pytest.mark.parametrize("skew", [-3600, -5, 0, 5])
@pytest.mark.parametrize("outcome", list(OUTCOMES))
def test_timestamps_stay_ordered_when_the_clock_of_the_worker_lags(outcome: str, skew: int) -> None:
    after = OUTCOMES[outcome](running(), START + skew * SECOND)
    moments = [after.created_at, after.started_at, after.finished_at]
    stamps = [to_iso(moment) for moment in moments if moment is not None]
    assert stamps == sorted(stamps)


# ---------------------------------------------------------------- Backoff


@given(
    failures=st.integers(-1, 10**9),
    unit=st.floats(0, 1, exclude_max=True),
    cap=st.sampled_from([limits.BACKOFF_CAP_SECONDS, limits.OWN_FAULT_CAP_SECONDS]),
)
def test_a_backoff_is_doubled_each_time_within_its_jitter_and_its_cap(
    failures: int, unit: float, cap: float
) -> None:
    wait = rules.backoff(failures, unit, cap).total_seconds()
    base = min(cap, 2.0 ** min(max(failures, 1) - 1, 60))
    assert 0.8 * base - 1e-6 <= wait <= min(cap, 1.2 * base + 1e-6)


@pytest.mark.parametrize(
    ("failures", "seconds"), [(0, 5), (1, 5), (2, 60), (3, 120), (4, 240), (5, 300), (10**9, 300)]
)
def test_a_stage_s_delays_come_first_and_the_last_is_doubled(failures: int, seconds: int) -> None:
    assert rules.backoff(failures, 0.5, 300, (5.0, 60.0)).total_seconds() == seconds


def test_a_jitter_uses_its_whole_range() -> None:
    lowest, highest = (rules.backoff(3, unit, 300).total_seconds() for unit in (0.0, 0.999999))
    assert lowest == pytest.approx(3.2)
    assert highest == pytest.approx(4.8, abs=1e-4)


# ---------------------------------------------------------------- Time of the next sweep


@pytest.mark.parametrize("status", list(JobStatus))
def test_only_pending_and_running_jobs_are_swept(status: JobStatus) -> None:
    job = running(status=status)
    grace = START + limits.RESEND_GRACE_SECONDS * SECOND
    expected = {JobStatus.PENDING: (None, grace), JobStatus.RUNNING: (UNTIL, None)}
    assert (rules.wake_at(job), rules.resend_at(job)) == expected.get(status, (None, None))
    assert rules.sweep_at(job) == {JobStatus.PENDING: grace, JobStatus.RUNNING: UNTIL}.get(status)


def test_a_job_that_may_be_queued_is_sent_again_less_and_less_often() -> None:
    """Each wait between two messages is twice the previous one, up to the cap."""
    job = factories.job()
    moments = [START]
    for _ in range(30):
        moment = rules.spaced_resend_at(job)
        assert moment is not None
        moments.append(moment)
        job = rules.resent(job, moment)
    waits = [(b - a).total_seconds() for a, b in itertools.pairwise(moments)]
    assert waits[:4] == [30, 60, 120, 240]
    assert waits == sorted(waits)
    assert waits[-1] == max(waits) == limits.RESEND_CAP_SECONDS


def test_resends_are_spaced_from_the_last_one_however_late_it_was() -> None:
    late = START + timedelta(hours=5)
    job = rules.resent(factories.job(), late)
    grace = limits.RESEND_GRACE_SECONDS * SECOND
    assert (rules.resend_at(job), rules.spaced_resend_at(job)) == (late + grace, late + 2 * grace)
    assert job.updated_at == late


@pytest.mark.parametrize(
    ("seconds", "sends"),
    [(bounds.SQS_MAX_DELAY_SECONDS, 1), (bounds.SQS_MAX_DELAY_SECONDS + 1, 0)],
)
def test_a_wait_that_sqs_can_not_delay_has_no_message_yet(seconds: int, sends: int) -> None:
    due = START + seconds * SECOND
    deferred = rules.defer(running(), due, "site.example", START)
    failed = rules.after_error(running(), FetchTimeout("x", retry_after=seconds), START, 0.5)
    assert {job.sends for job in (deferred, failed)} == {sends}
    lead = timedelta(seconds=limits.LONG_WAIT_LEAD_SECONDS)
    assert rules.wake_at(deferred) == (None if sends else due - lead)


def test_every_error_says_what_a_worker_does() -> None:
    known = (PermanentError, TransientError, DependencyUnavailable, errors.LeaseLost)
    for each in subclasses(DomainError):
        assert issubclass(each, known), each
