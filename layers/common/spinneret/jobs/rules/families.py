"""Rules of parents and children: waiting, ending, reopening, and counting of children's ends.

A parent that awaits its children is running without a claim. Only a child's end, or the tenant,
changes its state.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, Final

from spinneret.jobs import limits
from spinneret.jobs.models import ChildCounts, Failure, Job, JobStatus, ParentState, Transition
from spinneret.jobs.rules.states import (
    TERMINAL,
    finished,
    next_status,
    not_before_creation,
    released,
    released_from_outside,
    resting,
    with_next_fence,
)
from spinneret.kernel.sharding import shard_of

_COUNTED: Final[Mapping[JobStatus, str]] = {status: status.value for status in TERMINAL}
"""Terminal state → the counter of ChildCounts that it adds to."""


def new_family(children: int | None) -> ParentState:
    """Return the state for a number of children, or an unknown number; one shard per
    CHILDREN_PER_SHARD.
    """
    if children is None:
        return ParentState(shards=limits.CHILD_SHARDS)
    return ParentState(shards=min(limits.CHILD_SHARDS, 1 + children // limits.CHILDREN_PER_SHARD))


def as_child(job: Job, parent: Job) -> Job:
    """Return the job as a child of its parent."""
    assert parent.family is not None  # the parent creates children
    shard = shard_of(job.id, parent.family.shards)
    return replace(
        job, parent=parent.id, parent_shard=shard, parent_run=parent.run, batch=parent.id
    )


def counted(before: Job, after: Job) -> str | None:
    """Return the counter that the end of a child's run adds to; None for other moves."""
    if before.parent is None or before.status in TERMINAL:
        return None
    return _COUNTED.get(after.status)


def uncounted(before: Job, after: Job) -> str | None:
    """Return the counter that a child leaves when it starts another run; None for other moves."""
    if before.parent is None or after.status in TERMINAL:
        return None
    return _COUNTED.get(before.status)


def total(shards: Iterable[ChildCounts]) -> ChildCounts:
    """Return the sum over all shards."""
    sums: dict[str, int] = asdict(ChildCounts())
    for shard in shards:
        for name, number in asdict(shard).items():
            sums[name] += number
    return ChildCounts(**sums)


def awaits_children(job: Job) -> bool:
    """Return whether a parent has no claim and waits for its children to end."""
    return job.status is JobStatus.RUNNING and job.locked_by is None


def has_children_to_cancel(job: Job) -> bool:
    """Return whether children of this cancelled parent may still be unfinished."""
    return job.status is JobStatus.CANCELLED and job.family is not None and not job.family.settled


def await_children(job: Job, now: datetime) -> Job:
    """End the claim, since all children exist. Due for a check after CHILDREN_CHECK_SECONDS."""
    return replace(released(job, now), status=next_status(job, Transition.AWAIT))


def schedule_recheck(job: Job, now: datetime) -> Job:
    """Schedule the sweeper's next check, since it found unfinished children."""
    return replace(job, due_at=not_before_creation(job, now))


def cancelled_to(job: Job, child: str | None, now: datetime) -> Job:
    """Record the last child up to which the sweeper cancelled all; None restarts at the first."""
    assert job.family is not None  # the job is a parent
    return replace(schedule_recheck(job, now), family=replace(job.family, cancelled_to=child))


def settled(job: Job) -> Job:
    """Record that all children of the parent have ended."""
    assert job.family is not None  # the job is a parent
    return replace(job, family=replace(job.family, settled=True))


def end_of(job: Job, counts: ChildCounts, now: datetime) -> Job:
    """Return the parent after the end of its last child.

    Children that their tenant cancelled count neither as good nor as bad. A parent whose children
    were all cancelled is cancelled.
    """
    good, bad = counts.completed, counts.failed + counts.expired
    if counts.partially_failed or (good and bad):
        move = Transition.END_PARTLY
    elif bad:
        move = Transition.FAIL
    elif counts.cancelled and not good:
        move = Transition.CANCEL
    else:
        move = Transition.COMPLETE
    failure = None
    if move in (Transition.FAIL, Transition.END_PARTLY):
        failure = Failure(
            code="CHILDREN_FAILED",
            message=f"{bad + counts.partially_failed} of {counts.created} failed",
            type="permanent",
            details={"failed": bad + counts.partially_failed, "total": counts.created},
        )
    after = finished(released_from_outside(job, now), move, now)
    ended = replace(after, progress=100, result=summary(counts), last_error=failure)
    return with_next_fence(settled(ended))


def reopened(job: Job, now: datetime) -> Job:
    """Return a finished parent in a new run, which awaits a child that starts again.

    Raises Conflict for a parent that was cancelled.
    """
    after = replace(
        job,
        status=next_status(job, Transition.REOPEN),
        run=job.run + 1,
        due_at=not_before_creation(job, now),
        updated_at=not_before_creation(job, now),
        finished_at=None,
        progress=0,
        result=None,
        last_error=None,
        family=None if job.family is None else replace(job.family, settled=False),
    )
    return with_next_fence(after)


def stopped_by_parent(job: Job, parent: Job | None, now: datetime) -> Job | None:
    """Return the state of a just claimed child whose parent is cancelled or paused; None to
    continue.
    """
    if parent is None or parent.status not in (JobStatus.CANCELLED, JobStatus.PAUSED):
        return None
    if parent.status is JobStatus.CANCELLED:
        return finished(released(job, now), Transition.CANCEL, now)
    return replace(resting(released(job, now)), rests_unchecked=True)


def rest_checked(job: Job) -> Job:
    """Record that the job's parent was still paused when the index surely showed the job."""
    return replace(job, rests_unchecked=False)


def progress_of(job: Job, counts: ChildCounts) -> int:
    """Return the percentage of a parent's children that have ended; 100 only after its own end."""
    if job.status in TERMINAL:
        return 100
    return min(99, 100 * counts.ended // max(1, counts.created))


def summary(counts: ChildCounts) -> dict[str, Any]:
    """Return the counters as results and views show them."""
    return {
        "total_count": counts.created,
        "completed_count": counts.completed,
        "failed_count": counts.partially_failed + counts.failed + counts.expired,
        "cancelled_count": counts.cancelled,
        "pending_count": counts.pending,
    }
