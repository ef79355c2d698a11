"""Use cases of a tenant's marketplace jobs, behind the routes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from spinneret.jobs.control import JobControl
from spinneret.jobs.models import (
    ChildCounts,
    Job,
    JobFilter,
    JobRef,
    JobStatus,
    Reply,
    RequestKey,
    Transition,
)
from spinneret.jobs.placement import Placed
from spinneret.jobs.service import JobService, Submitted
from spinneret.kernel.errors import NotFound, existing
from spinneret.kernel.ids import is_id
from spinneret.kernel.paging import Page
from spinneret.kernel.service import service
from spinneret.marketplace.kinds import PUBLISH, PUBLISH_BATCH
from spinneret.marketplace.products.ports import ProductStore
from spinneret.marketplace.publishing.commands import Command
from spinneret.marketplace.publishing.drafting import Drafter
from spinneret.marketplace.tasks import rules as task_rules
from spinneret.marketplace.tasks.models import Task, TaskStatus, place_of
from spinneret.marketplace.tasks.ports import TaskStore

_COUNT_DIGITS: Final = 9


@dataclass(frozen=True, kw_only=True)
class JobWithTasks:
    """A marketplace job, its tasks, and whether its product still exists."""

    job: Job
    tasks: tuple[Task, ...]
    has_product: bool


@dataclass(frozen=True, kw_only=True)
class BatchWithCounts:
    """A batch and the counts of its jobs by outcome."""

    job: Job
    counts: ChildCounts


@service
class PublishingService:
    """Use cases of jobs, tasks and batches. All methods raise DependencyUnavailable."""

    jobs: JobService
    control: JobControl
    products: ProductStore
    task_store: TaskStore
    drafter: Drafter
    begin_batch: Callable[[JobRef], None] | None

    def submit(
        self,
        tenant: str,
        command: Command,
        priority: int | None,
        key: RequestKey | None,
        answer: Callable[[Job], Mapping[str, Any]],
    ) -> Submitted:
        """Accept one job.

        Raises ValidationFailed, also for a product that the marketplace's rules refuse, NotFound
        for an unknown product, and Conflict for a link to another product's listing.
        """

        def submit() -> Submitted:
            draft = self.drafter.job(tenant, command, priority)
            return self.jobs.submit(
                tenant,
                [draft],
                key,
                lambda placed: Reply(status=201, body=answer(placed[0].job)),
            )

        return self.jobs.replayed_or(key, submit)

    def submit_batch(
        self,
        tenant: str,
        marketplace: str,
        action_code: str,
        product_ids: Sequence[str],
        priority: int | None,
        key: RequestKey | None,
        answer: Callable[[Job, Sequence[Placed]], Mapping[str, Any]],
        publish_at: datetime | None = None,
    ) -> Submitted:
        """Accept a job for each product, and a batch that counts them.

        Raises ValidationFailed with every unknown product, and for an action without products.
        """

        def submit() -> Submitted:
            parent, drafts = self.drafter.batch(
                tenant, marketplace, action_code, product_ids, priority, publish_at
            )
            return self.jobs.submit_parent(
                tenant,
                parent,
                drafts,
                key,
                lambda job, placed: Reply(status=201, body=answer(job, placed)),
                begin=self.begin_batch if publish_at is None else None,
            )

        return self.jobs.replayed_or(key, submit)

    def get(self, tenant: str, job_id: str) -> JobWithTasks:
        """Return a job with its tasks. Raises NotFound."""
        job = self._job(tenant, job_id)
        tasks = self.task_store.of_job(tenant, job_id)
        return self._seen(job, tasks, self._existing(tenant, [job]))

    def page(
        self,
        tenant: str,
        marketplace: str | None,
        status: JobStatus | None,
        batch: str | None,
        after: str | None,
        limit: int,
    ) -> Page[JobWithTasks]:
        """Return jobs without their tasks, newest first."""
        wanted = JobFilter(kind=PUBLISH, status=status, domain=marketplace, batch=batch)
        page = self.control.page(tenant, wanted, after, limit)
        existing = self._existing(tenant, page.items)
        return page.map(lambda job: self._seen(job, [], existing))

    def tasks(
        self,
        tenant: str,
        job_id: str | None,
        status: TaskStatus | None,
        after: str | None,
        limit: int,
    ) -> Page[Task]:
        """Return a job's tasks by position. Without a job, return tasks of the newest jobs, job by
        job.

        The page's position consists of the position among jobs and the number of tasks already
        shown after it.
        """
        jobs_after, _, shown = (after or ":0").rpartition(":")
        skip, next_jobs, found = int(shown), None, list[Task]()
        if job_id is not None:
            seen_jobs = [self.get(tenant, job_id)]
        else:
            wanted = JobFilter(kind=PUBLISH)
            page = self.control.page(tenant, wanted, jobs_after or None, max(1, limit // 10))
            existing, next_jobs = self._existing(tenant, page.items), page.after
            seen_jobs = [
                self._seen(job, self.task_store.of_job(tenant, job.id), existing)
                for job in page.items
            ]
        for seen in seen_jobs:
            found += [task for task in seen.tasks if status in (None, task.status)]
        if len(found) > skip + limit:
            shown_now = tuple(found[skip : skip + limit])
            return Page(items=shown_now, after=f"{jobs_after}:{skip + limit}")
        left = max(0, skip - len(found))
        next_position = None if next_jobs is None else f"{next_jobs}:{left}"
        return Page(items=tuple(found[skip:]), after=next_position)

    def task(self, tenant: str, task_id: str) -> Task:
        """Return one task. Raises NotFound, also once its product was deleted."""
        place = existing(place_of(task_id), "task")
        job_id, position = place
        found = [task for task in self.get(tenant, job_id).tasks if task.position == position]
        if not found:
            raise NotFound("no such task")
        return found[0]

    def move(self, tenant: str, job_id: str, move: Transition) -> JobWithTasks:
        """Cancel, pause, resume or retry a job. Raises NotFound, Conflict and Contended."""
        self._job(tenant, job_id)
        self.control.move(JobRef(tenant=tenant, job_id=job_id), move)
        return self.get(tenant, job_id)

    def batch(self, tenant: str, batch_id: str) -> BatchWithCounts:
        """Return a batch. Raises NotFound."""
        return self._batch(self.jobs.get(JobRef(tenant=tenant, job_id=batch_id), PUBLISH_BATCH))

    def batches(
        self,
        tenant: str,
        marketplace: str | None,
        status: JobStatus | None,
        after: str | None,
        limit: int,
    ) -> Page[BatchWithCounts]:
        """Return batches, newest first."""
        wanted = JobFilter(kind=PUBLISH_BATCH, status=status, domain=marketplace)
        return self.control.page(tenant, wanted, after, limit).map(self._batch)

    def move_batch(self, tenant: str, batch_id: str, move: Transition) -> BatchWithCounts:
        """Cancel, pause or resume a batch, or retry its failed jobs. Raises the exceptions of
        `move`."""
        self.batch(tenant, batch_id)
        self.control.move(JobRef(tenant=tenant, job_id=batch_id), move)
        return self.batch(tenant, batch_id)

    def _batch(self, job: Job) -> BatchWithCounts:
        return BatchWithCounts(job=job, counts=self.control.counts(job) or ChildCounts())

    def _job(self, tenant: str, job_id: str) -> Job:
        return self.jobs.get(JobRef(tenant=tenant, job_id=job_id), PUBLISH)

    def _existing(self, tenant: str, jobs: Sequence[Job]) -> frozenset[str]:
        ids = [str(job.payload["product_id"]) for job in jobs if job.payload.get("product_id")]
        return self.products.existing(tenant, ids)

    def _seen(self, job: Job, tasks: Sequence[Task], existing: frozenset[str]) -> JobWithTasks:
        """Return the job with its visible tasks. A job outlives its product, but the product's
        tasks are hidden then."""
        product_id = job.payload.get("product_id")
        has_product = product_id is not None and product_id in existing
        shown = task_rules.as_of(
            job, [task for task in tasks if task.product_id is None or has_product]
        )
        return JobWithTasks(job=job, tasks=tuple(shown), has_product=has_product)


def is_task_position(text: str) -> bool:
    """Return whether the text is a position in a list of tasks."""
    job_id, colon, shown = text.rpartition(":")
    is_count = shown.isascii() and shown.isdigit() and len(shown) <= _COUNT_DIGITS
    return bool(colon) and is_count and (not job_id or is_id(job_id))
