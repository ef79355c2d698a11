"""Conditions on a job's row, and tests of the row that made a condition fail."""

from datetime import datetime
from typing import Any, Final

from spinneret.aws import dynamo
from spinneret.jobs import items
from spinneret.jobs.models import Job, JobStatus, Lease
from spinneret.jobs.ports import JobAmended
from spinneret.kernel.clock import to_iso

_STANDS: Final = (
    "status",
    "fence",
    "locked_by",
    "locked_until",
    "sends",
    "watchers",
    "progress",  # a checkpoint may renew the lease to the same moment
)
COMPLETING: Final = (JobStatus.COMPLETED, JobStatus.PARTIALLY_FAILED)
"""Ends of a claim whose result must include all amendments."""
_ENDS: Final = ("status", "fence", "locked_by", "attempts", "due_at", "finished_at")


def claim_stands(lease: Lease, before: Job, after: Job, watchers: int) -> dynamo.Condition:
    """Require that the claim still holds the job, and that it has `watchers` subscribers.

    To complete the job, also require that it wasn't amended.
    """
    wanted: dict[str, Any] = {"watchers": watchers}
    if after.status in COMPLETING:
        wanted["amendments"] = amendments(before)
    return dynamo.equals(
        status=JobStatus.RUNNING, fence=lease.fence, locked_by=lease.owner, **wanted
    )


def amendments(job: Job) -> int | None:
    """Return the stored number of a job's amendments; None if the row lacks it."""
    return job.amendments or None


def amendable(job: Job) -> dynamo.Condition:
    """Require that the job has the status and the payload that were read."""
    return dynamo.equals(status=job.status, amendments=amendments(job))


def claimed(lease: Lease) -> dynamo.Condition:
    """Require that the claim still holds the job."""
    return dynamo.equals(status=JobStatus.RUNNING, fence=lease.fence, locked_by=lease.owner)


def is_held(row: dict[str, Any], lease: Lease) -> bool:
    """Return whether the claim still holds the job of a row."""
    held = (row.get("status"), row.get("fence"), row.get("locked_by"))
    return held == (JobStatus.RUNNING, lease.fence, lease.owner)


def require_unamended(row: dict[str, Any], before: Job, after: Job) -> None:
    """Raise JobAmended if a row that should complete was amended after the claim."""
    if after.status in COMPLETING and row.get("amendments") != amendments(before):
        raise JobAmended(f"job {before.id} was amended after its claim")


def is_ended(row: dict[str, Any], lease: Lease, after: Job) -> bool:
    """Return whether the claim ended as in `after`: nothing else writes under its fence."""
    if after.status is JobStatus.RUNNING or row.get("fence") != lease.fence:
        return False
    wanted = items.JOBS.encode(after)
    return all(row.get(name) == wanted.get(name) for name in _ENDS)


def row_stands(before: Job) -> dynamo.Condition:
    """Require that the row equals `before` in all fields that a move from outside depends on."""
    row = items.JOBS.encode(before)
    return dynamo.equals(**{name: row.get(name) for name in _STANDS})


def unmoved(job: Job) -> dynamo.Condition:
    """Require that the job has made no move since it was read."""
    return dynamo.equals(status=job.status, fence=job.fence)


def unless_alive(now: datetime) -> dynamo.Condition:
    """Require that there is no record, or that it has expired."""
    return "attribute_not_exists(#pk) OR #expires_at <= :now", {":now": to_iso(now)}
