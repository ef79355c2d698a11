"""Marketplace jobs, batches and plans as API responses."""

from collections.abc import Mapping, Sequence
from typing import Any

from spinneret.jobs import rules as job_rules
from spinneret.jobs.models import ChildCounts, Job, JobStatus
from spinneret.jobs.placement import Placed
from spinneret.kernel.clock import optional_stamp, to_iso
from spinneret.marketplace.publishing.api_models import (
    BatchJobView,
    BatchJobWithJobs,
    MarketplaceJobView,
    MarketplaceJobWithTasks,
    PlanView,
    ProspectView,
)
from spinneret.marketplace.publishing.drafting import number_of
from spinneret.marketplace.publishing.planning import PlannedOutcome
from spinneret.marketplace.publishing.service import BatchWithCounts, JobWithTasks
from spinneret.marketplace.tasks import rules as task_rules
from spinneret.marketplace.tasks.api_models import TaskView


def job_view(seen: JobWithTasks) -> MarketplaceJobView:
    """Return the view of a job. Its tasks, if given, may show more progress than its row."""
    job, progress = seen.job, seen.job.progress
    if job.status not in job_rules.TERMINAL:
        progress = max(progress, task_rules.progress(seen.tasks))
    payload, failure = job.payload, job.last_error
    error = None
    if failure is not None:
        error = {"error": failure.message, "code": failure.code, "details": dict(failure.details)}
    return MarketplaceJobView(
        job_id=job.id,
        marketplace=payload["marketplace"],
        action_code=payload["action_code"],
        product_id=payload.get("product_id") if seen.has_product else None,
        batch_job_id=job.parent,
        status=job.status,
        priority=number_of(job.priority),
        retry_count=job.attempts,
        max_retries=payload["max_retries"],
        expires_at=optional_stamp(job.expires_at),
        waiting_for=job.waiting_for,
        input_data=dict(payload["input_data"]),
        result_data=None if job.result is None else dict(job.result),
        error=error,
        publish_at=payload.get("publish_at"),
        created_at=to_iso(job.created_at),
        started_at=optional_stamp(job.started_at),
        completed_at=optional_stamp(job.finished_at),
        progress=progress,
    )


def job_with_tasks(seen: JobWithTasks) -> MarketplaceJobWithTasks:
    """Return the view of a job and its tasks."""
    tasks = [TaskView.of(task) for task in seen.tasks]
    return MarketplaceJobWithTasks(**job_view(seen).model_dump(), tasks=tasks)


def submitted_job(job: Job) -> Mapping[str, Any]:
    """Return the response to a submission."""
    has_product = job.payload.get("product_id") is not None
    seen = JobWithTasks(job=job, tasks=(), has_product=has_product)
    return job_view(seen).model_dump(mode="json")


def submitted_batch(job: Job, placed: Sequence[Placed]) -> Mapping[str, Any]:
    """Return the response to a submitted batch."""
    total = sum(not each.duplicate for each in placed)
    return _batch(job, job_rules.summary(ChildCounts(created=total))).model_dump(mode="json")


def batch_view(batch: BatchWithCounts) -> BatchJobView:
    """Return the view of a batch."""
    counts = job_rules.summary(batch.counts)
    family = batch.job.family
    if family is not None and family.cursor is not None:  # some of its jobs aren't made yet
        missing = max(0, int(batch.job.payload["total"]) - batch.counts.created)
        counts["total_count"] += missing
        counts["pending_count"] += missing
    return _batch(batch.job, counts)


def batch_with_jobs(batch: BatchWithCounts, jobs: Sequence[JobWithTasks]) -> BatchJobWithJobs:
    """Return the view of a batch and its jobs."""
    views = [job_view(each) for each in jobs]
    return BatchJobWithJobs(**batch_view(batch).model_dump(), jobs=views)


def plan_view(marketplace: str, action_code: str, found: Sequence[PlannedOutcome]) -> PlanView:
    """Return the view of a plan."""
    items = [ProspectView.of(each) for each in found]
    return PlanView(
        marketplace=marketplace,
        action_code=action_code,
        total_count=len(items),
        refused_count=sum(each.outcome == "refused" for each in items),
        items=items,
    )


def _batch(job: Job, counts: Mapping[str, int]) -> BatchJobView:
    terminal = job.status in job_rules.TERMINAL
    ended = counts["total_count"] - counts["pending_count"]
    percent = 100 if terminal else min(99, 100 * ended // max(1, counts["total_count"]))
    return BatchJobView(
        batch_id=job.id,
        marketplace=job.payload["marketplace"],
        action_code=job.payload["action_code"],
        status=job.status,
        priority=number_of(job.priority),
        progress_percent=percent,
        is_active=job.status in (JobStatus.PENDING, JobStatus.RUNNING),
        is_terminal=terminal,
        created_at=to_iso(job.created_at),
        publish_at=job.payload.get("publish_at"),
        started_at=optional_stamp(job.started_at),
        completed_at=optional_stamp(job.finished_at),
        **counts,
    )
