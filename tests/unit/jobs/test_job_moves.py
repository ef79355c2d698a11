"""The state machine: the allowed transitions of a job, and new series and runs."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from spinneret.jobs import rules
from spinneret.jobs.models import Job, JobStatus, Transition
from spinneret.kernel import bounds
from spinneret.kernel.errors import Conflict, FetchTimeout, NotFound
from tests import factories
from tests.fakes.time import START
from tests.rows import each_row

SECOND = timedelta(seconds=1)
UNTIL = START + 60 * SECOND
NOW = START + 10 * SECOND

MOVES: dict[Transition, Callable[[Job, datetime], Job]] = {
    Transition.COMPLETE: lambda job, now: rules.complete(job, {}, now),
    Transition.FAIL: lambda job, now: rules.after_error(job, NotFound("gone"), now, 0.5),
    Transition.WAIT: lambda job, now: rules.after_error(job, FetchTimeout("slow"), now, 0.5),
    Transition.HAND_BACK: rules.hand_back,
    Transition.LOSE_LEASE: rules.after_lease_expired,
    Transition.CANCEL: rules.cancel,
    Transition.PAUSE: rules.pause,
    Transition.RESUME: rules.resume,
    Transition.RETRY: rules.retry,
    Transition.EXPIRE: rules.expire,
    Transition.SUPPLY: lambda job, now: rules.supply(job, job.payload, now),
}
ASKED_FOR = (Transition.CANCEL, Transition.PAUSE, Transition.RESUME, Transition.RETRY)


def in_state(status: JobStatus, **given: object) -> Job:
    """Return a job in the given state."""
    if status is JobStatus.RUNNING:
        return factories.running_job(UNTIL, **given)
    finished = START if status in rules.TERMINAL else None
    return factories.job(status=status, fence=1, finished_at=finished, **given)


# covers P-08
@each_row((f"{status} {move}", (status, move)) for status in JobStatus for move in MOVES)
def test_a_move_happens_where_the_table_allows_it_and_nowhere_else(
    row: tuple[JobStatus, Transition],
) -> None:
    status, move = row
    job, to = in_state(status), rules.TRANSITIONS.get((status, move))
    if to is None:
        with pytest.raises(Conflict):
            MOVES[move](job, NOW)
    else:
        assert MOVES[move](job, NOW).status is to


@pytest.mark.parametrize("status", sorted(rules.TERMINAL))
def test_only_a_retry_of_a_job_or_of_its_child_leaves_a_finished_state(status: JobStatus) -> None:
    moves = {move for at, move in rules.TRANSITIONS if at is status}
    assert moves <= {Transition.RETRY, Transition.REOPEN}


@pytest.mark.parametrize(
    ("status", "move"), [each for each in rules.TRANSITIONS if each[1] in ASKED_FOR]
)
def test_what_a_tenant_asks_for_ends_any_claim(status: JobStatus, move: Transition) -> None:
    job = in_state(status)
    after = MOVES[move](job, NOW)
    assert after.fence > job.fence
    assert (after.locked_by, after.locked_until) == (None, None)


@pytest.mark.parametrize(
    ("status", "move"), [each for each in rules.TRANSITIONS if each[1] in MOVES]
)
def test_every_move_is_an_update(status: JobStatus, move: Transition) -> None:
    assert MOVES[move](in_state(status), NOW).updated_at == NOW


def test_a_job_is_never_updated_before_it_was_made() -> None:
    slow = START - SECOND
    assert rules.cancel(factories.job(), slow).updated_at == START
    assert rules.pause(factories.running_job(UNTIL), slow).updated_at == START


@pytest.mark.parametrize("move", [each for each in MOVES if each is not Transition.RETRY])
def test_within_a_run_nothing_is_forgotten(move: Transition) -> None:
    for status in JobStatus:
        if (status, move) not in rules.TRANSITIONS:
            continue
        job = in_state(status, attempts=1, progress=40, step="embedding")
        after = MOVES[move](job, NOW)
        assert (after.run, after.created_at, after.payload) == (1, job.created_at, job.payload)
        assert after.progress >= 40
        assert after.attempts >= 1


def test_a_resumed_job_is_due_at_once() -> None:
    after = rules.resume(rules.pause(in_state(JobStatus.RUNNING), START), NOW)
    assert (after.status, after.due_at, after.sends) == (JobStatus.PENDING, NOW, 1)


@pytest.mark.parametrize(
    ("status", "is_parent", "kept"),
    [
        (JobStatus.FAILED, False, 40),
        (JobStatus.FAILED, True, 0),
        (JobStatus.PARTIALLY_FAILED, False, 0),
    ],
)
def test_a_retry_keeps_the_percentage_unless_the_work_starts_from_scratch(
    status: JobStatus, is_parent: bool, kept: int
) -> None:
    family = rules.new_family(2) if is_parent else None
    assert rules.retry(in_state(status, progress=40, family=family), NOW).progress == kept


def test_a_retry_is_a_new_run_of_the_same_job() -> None:
    running = in_state(JobStatus.RUNNING, attempts=2, ending=True)
    failed = rules.after_error(running, NotFound("x"), NOW, 0.5)
    after = rules.retry(failed, NOW + SECOND)
    assert (after.id, after.run, after.due_at) == (failed.id, 2, NOW + SECOND)
    assert (after.attempts, after.redrives, after.worked_ms) == (0, 0, 0)
    assert (after.started_at, after.finished_at, after.last_error) == (None, None, None)
    assert (after.progress, after.step, after.ending) == (0, None, False)
    assert after.fence > failed.fence


def test_a_new_run_shows_nothing_of_the_result_before_it() -> None:
    partial = in_state(JobStatus.PARTIALLY_FAILED, result={"pages": 3})
    assert rules.retry(partial, NOW).result is None


def test_pausing_lifts_the_limit_of_pending() -> None:
    paused = rules.pause(in_state(JobStatus.PENDING, expires_at=NOW + SECOND), NOW)
    assert (paused.expires_at, rules.resume(paused, NOW).expires_at) == (None, None)


def test_an_expired_job_says_why() -> None:
    after = rules.expire(in_state(JobStatus.PENDING, expires_at=NOW), NOW)
    assert after.last_error is not None
    assert (after.last_error.code, after.attempts, after.finished_at) == ("EXPIRED", 0, NOW)


# ---------------------------------------------------------------- Series of attempts


# covers P-08
def test_transient_failures_are_tried_in_series_with_growing_waits() -> None:
    job = factories.job(max_redrives=6)
    waits = []
    now = START
    for _ in range(1000):
        if job.status is not JobStatus.PENDING:
            break
        job = factories.running_job(
            now, **{**vars(job), "status": JobStatus.RUNNING, "claimed_at": now}
        )
        job = rules.after_error(job, FetchTimeout("slow"), now, 0.5)
        waits.append((job.due_at - now).total_seconds())
        now = max(job.due_at, now)
    assert job.status is JobStatus.FAILED
    assert len(waits) == bounds.JOB_MAX_ATTEMPTS * 7
    between = waits[bounds.JOB_MAX_ATTEMPTS - 1 : -1 : bounds.JOB_MAX_ATTEMPTS]
    assert between == [30, 60, 120, 240, 300, 300]
    assert (job.attempts, job.redrives) == (bounds.JOB_MAX_ATTEMPTS, 6)


def test_a_site_that_asks_for_a_longer_wait_gets_it_between_series_too() -> None:
    job = in_state(JobStatus.RUNNING, attempts=2, max_redrives=1)
    after = rules.after_error(job, FetchTimeout("slow", retry_after=900), NOW, 0.5)
    assert (after.attempts, after.redrives, after.due_at) == (0, 1, NOW + 900 * SECOND)


def test_a_permanent_error_begins_no_new_series() -> None:
    job = in_state(JobStatus.RUNNING, max_redrives=5)
    assert rules.after_error(job, NotFound("gone"), NOW, 0.5).status is JobStatus.FAILED


# ---------------------------------------------------------------- The time limit


@pytest.mark.parametrize(
    ("worked_ms", "status"),
    [(0, JobStatus.PENDING), (289_999, JobStatus.PENDING), (290_000, JobStatus.FAILED)],
)
def test_a_job_is_handed_back_until_its_time_is_used(worked_ms: int, status: JobStatus) -> None:
    """The test's claim adds ten seconds to `worked_ms`."""
    after = rules.hand_back(in_state(JobStatus.RUNNING, worked_ms=worked_ms), NOW, 300.0)
    assert (after.status, after.worked_ms) == (status, worked_ms + 10_000)
    if after.last_error is not None:
        assert (after.last_error.code, after.last_error.type) == ("TIME_LIMIT", "permanent")


@pytest.mark.parametrize(
    "move", [Transition.COMPLETE, Transition.WAIT, Transition.LOSE_LEASE, Transition.PAUSE]
)
def test_the_time_of_every_claim_is_added_up(move: Transition) -> None:
    after = MOVES[move](in_state(JobStatus.RUNNING, worked_ms=500), NOW)
    assert (after.worked_ms, after.claimed_at) == (10_500, None)


def test_time_that_runs_backwards_is_no_work() -> None:
    after = rules.hand_back(in_state(JobStatus.RUNNING), START - 5 * SECOND)
    assert after.worked_ms == 0
