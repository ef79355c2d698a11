"""Merge a plan with the tasks of an earlier claim or run, and show tasks of ended jobs."""

from collections.abc import Sequence
from dataclasses import replace

from spinneret.jobs.models import Job, JobStatus
from spinneret.marketplace.tasks.models import Reason, Task, TaskStatus

_UNFINISHED = frozenset({TaskStatus.PENDING, TaskStatus.PROCESSING})


def merged(planned: Sequence[Task], stored: Sequence[Task]) -> list[Task]:
    """Return the planned tasks with the results of earlier ones.

    A success is kept while its digest is unchanged, even after a step that must run again: a step
    whose input changed has another digest. Retry counters continue. An unfinished call of an
    earlier claim is reconciled first.
    """
    known = {task.key: task for task in stored}
    result = []
    for task in planned:
        former = known.get(task.key)
        if former is None:
            result.append(task)
        elif former.status is TaskStatus.SUCCESS and former.digest == task.digest:
            result.append(replace(former, position=task.position))
        else:
            result.append(_again(task, former))
    return result


def _again(task: Task, former: Task) -> Task:
    in_doubt = former.status in (TaskStatus.PROCESSING, TaskStatus.TIMEOUT)
    return replace(
        task,
        status=TaskStatus.PENDING,
        reason=Reason.RECONCILING if in_doubt else None,
        unsettled_since=former.unsettled_since,
        retry_count=former.retry_count,
        created_at=former.created_at,
        started_at=former.started_at,
    )


def as_of(job: Job, tasks: Sequence[Task]) -> list[Task]:
    """Return a job's tasks as shown: an ended job has no waiting or running tasks.

    The first task without success is the one at which a job failed, with the job's reason unless
    it has its own; those after it are cancelled. Work that was under way when the job ended is in
    doubt. The product's next job there reconciles it before it acts.
    """
    if job.status not in (JobStatus.CANCELLED, JobStatus.EXPIRED, JobStatus.FAILED):
        return list(tasks)
    is_failed = job.status is JobStatus.FAILED
    unfinished = [task for task in tasks if task.status is not TaskStatus.SUCCESS]
    return [
        _ended(job, task, is_failed=is_failed and task is unfinished[0])
        if task.status in _UNFINISHED
        else task
        for task in tasks
    ]


def _ended(job: Job, task: Task, *, is_failed: bool) -> Task:
    reason = Reason.RECONCILING if task.status is TaskStatus.PROCESSING else task.reason
    if not is_failed:
        return replace(task, status=TaskStatus.CANCELLED, reason=reason)
    failure = job.last_error
    return replace(
        task,
        status=TaskStatus.FAILED,
        reason=reason,
        error_message=failure.message if failure else None,
        error_details=failure.details if failure else {},
        completed_at=job.finished_at,
    )


def progress(tasks: Sequence[Task]) -> int:
    """Return the percentage of tasks that succeeded."""
    done = sum(task.status is TaskStatus.SUCCESS for task in tasks)
    return 100 * done // len(tasks) if tasks else 0
