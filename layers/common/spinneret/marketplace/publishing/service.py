"""Use cases of a tenant's marketplace jobs, behind the routes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.jobs.control import JobControl
from spinneret.jobs.models import (
    ChildCounts,
    Draft,
    Job,
    JobFilter,
    JobRef,
    JobStatus,
    Priority,
    Reply,
    RequestKey,
    Transition,
)
from spinneret.jobs.placement import Placed
from spinneret.jobs.service import JobService, Submitted
from spinneret.kernel import bounds
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import Clock, to_iso
from spinneret.kernel.errors import NotFound, ValidationFailed, field_error
from spinneret.kernel.ids import is_id
from spinneret.marketplace.kinds import PUBLISH, PUBLISH_BATCH
from spinneret.marketplace.listings.ports import ListingStore
from spinneret.marketplace.listings.rules import held_by
from spinneret.marketplace.preferences.ports import PreferenceStore
from spinneret.marketplace.products.ports import ProductStore
from spinneret.marketplace.products.rules import shown_on, variations_in
from spinneret.marketplace.publishing import limits
from spinneret.marketplace.publishing.actions import PRIORITIES, find_action
from spinneret.marketplace.publishing.common import Check, require_fit
from spinneret.marketplace.publishing.engine import ASKED, SCHEDULED, Command
from spinneret.marketplace.publishing.models import ActionType
from spinneret.marketplace.tasks import rules as task_rules
from spinneret.marketplace.tasks.models import Task, TaskStatus, place_of
from spinneret.marketplace.tasks.ports import TaskStore

# Two of these for a product in the same state are the same work; other actions may be repeated.
_UNIQUE: Final = frozenset({"publish", "delete"})
_COUNT_DIGITS: Final = 9


@dataclass(frozen=True, kw_only=True)
class JobWithTasks:
    """A marketplace job, its tasks, and whether its product still exists."""

    job: Job
    tasks: tuple[Task, ...]
    has_product: bool


@dataclass(frozen=True, kw_only=True)
class Batch:
    """A batch and the counts of its jobs by outcome."""

    job: Job
    counts: ChildCounts


class PublishingService:
    """Use cases of jobs, tasks and batches; implements SellerJobs.

    All methods raise DependencyUnavailable.
    """

    def __init__(
        self,
        *,
        jobs: JobService,
        control: JobControl,
        products: ProductStore,
        listings: ListingStore,
        tasks: TaskStore,
        preferences: PreferenceStore,
        actions: Mapping[str, ActionType],
        checks: Mapping[str, Check],
        begin_batch: Callable[[JobRef], None] | None,
        clock: Clock,
        new_hex: Callable[[], str],
    ) -> None:
        self._jobs = jobs
        self._control = control
        self._products = products
        self._listings = listings
        self._tasks = tasks
        self._preferences = preferences
        self._actions = actions
        self._checks = checks
        self._begin_batch = begin_batch
        self._clock = clock
        self._new_hex = new_hex

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
        return self._jobs.replayed_or(
            key, lambda: self._submit(tenant, command, priority, key, answer)
        )

    def _submit(
        self,
        tenant: str,
        command: Command,
        priority: int | None,
        key: RequestKey | None,
        answer: Callable[[Job], Mapping[str, Any]],
    ) -> Submitted:
        draft = self._draft(tenant, command, priority)

        def reply(placed: Sequence[Placed]) -> Reply:
            return Reply(status=201, body=answer(placed[0].job))

        return self._jobs.submit(tenant, [draft], key, reply)

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

        Raises ValidationFailed with every unknown product.
        """
        return self._jobs.replayed_or(
            key,
            lambda: self._batch(
                tenant, marketplace, action_code, product_ids, priority, key, answer, publish_at
            ),
        )

    def _batch(
        self,
        tenant: str,
        marketplace: str,
        action_code: str,
        product_ids: Sequence[str],
        priority: int | None,
        key: RequestKey | None,
        answer: Callable[[Job, Sequence[Placed]], Mapping[str, Any]],
        publish_at: datetime | None,
    ) -> Submitted:
        self._require_soon(publish_at)
        action = find_action(self._actions, marketplace, action_code)
        wanted_ids = list(dict.fromkeys(product_ids))
        existing = self._found(tenant, wanted_ids)
        wrong = [
            field_error(f"product_ids.{number}", "no such product")
            for number, product_id in enumerate(wanted_ids)
            if product_id not in existing
        ]
        if wrong:
            raise ValidationFailed("some products don't exist", details={"fields": wrong})
        # No duplicate keys, because a batch counts every product. The side-effect records prevent
        # a second listing of a product.
        drafts = [
            _drafted(
                Command(
                    marketplace=marketplace,
                    action_code=action_code,
                    product_id=product_id,
                    input_data={},
                    publish_at=publish_at,
                ),
                action,
                priority,
                None,
            )
            for product_id in wanted_ids
        ]
        wanted = priority or action.priority
        parent = Draft(
            kind=PUBLISH_BATCH,
            payload={
                "marketplace": marketplace,
                "action_code": action_code,
                "total": len(drafts),
                **({} if publish_at is None else {"publish_at": to_iso(publish_at)}),
            },
            priority=priority_of(wanted),
            domain=marketplace,
            duplicate_key=None,
            due_at=publish_at,
            waiting_for=SCHEDULED if publish_at else None,
            id=batch_id(action_code, self._clock(), self._new_hex()),
        )
        return self._jobs.submit_parent(
            tenant,
            parent,
            drafts,
            key,
            lambda job, placed: Reply(status=201, body=answer(job, placed)),
            begin=self._begin_batch if publish_at is None else None,
        )

    def find(self, tenant: str, job_id: str) -> Job | None:
        try:
            return self._job(tenant, job_id)
        except NotFound:
            return None

    def ask(
        self,
        tenant: str,
        marketplace: str,
        action: str,
        product_id: str,
        why: str,
        once: str | None = None,
    ) -> str:
        command = Command(
            marketplace=marketplace,
            action_code=action,
            product_id=product_id,
            input_data={"reason": why},
        )
        return self._asked(tenant, command, 1, once)

    def ask_to_publish(
        self, tenant: str, marketplace: str, product_id: str, question: str, once: str
    ) -> str:
        """See SellerJobs."""
        command = Command(
            marketplace=marketplace,
            action_code="publish",
            product_id=product_id,
            input_data={"question": question},
        )
        return self._asked(tenant, command, 1, once)

    def read_orders(self, tenant: str, marketplace: str, why: str, *, urgent: bool = True) -> str:
        command = Command(
            marketplace=marketplace,
            action_code="orders",
            product_id=None,
            input_data={"reason": why},
        )
        return self._asked(tenant, command, 1 if urgent else None, None)

    def _asked(self, tenant: str, command: Command, priority: int | None, once: str | None) -> str:
        draft = self._draft(tenant, command, priority)
        if once is not None:
            key = fingerprint(["marketplace", command.payload, once])
            draft = replace(draft, duplicate_key=key, once=True)
        draft = replace(draft, payload={**draft.payload, ASKED: True})

        def reply(placed: Sequence[Placed]) -> Reply:
            return Reply(status=201, body={"job_id": placed[0].job.id})

        return str(self._jobs.submit(tenant, [draft], None, reply).reply.body["job_id"])

    def get(self, tenant: str, job_id: str) -> JobWithTasks:
        """Return a job with its tasks. Raises NotFound."""
        job = self._job(tenant, job_id)
        tasks = self._tasks.of_job(tenant, job_id)
        return self._seen(job, tasks, self._existing(tenant, [job]))

    def page(
        self,
        tenant: str,
        marketplace: str | None,
        status: JobStatus | None,
        batch: str | None,
        after: str | None,
        limit: int,
    ) -> tuple[list[JobWithTasks], str | None]:
        """Return jobs without their tasks, newest first, and the next position."""
        wanted = JobFilter(kind=PUBLISH, status=status, domain=marketplace, batch=batch)
        page = self._control.page(tenant, wanted, after, limit)
        existing = self._existing(tenant, page.items)
        return [self._seen(job, [], existing) for job in page.items], page.after

    def tasks(
        self,
        tenant: str,
        job_id: str | None,
        status: TaskStatus | None,
        after: str | None,
        limit: int,
    ) -> tuple[list[Task], str | None]:
        """Return a job's tasks by position, and the next position. Without a job, return tasks of
        the newest jobs, job by job.

        A position consists of the position among jobs and the number of tasks already shown after
        it.
        """
        jobs_after, _, shown = (after or ":0").rpartition(":")
        skip, next_jobs, found = int(shown), None, list[Task]()
        if job_id is not None:
            seen_jobs = [self.get(tenant, job_id)]
        else:
            wanted = JobFilter(kind=PUBLISH)
            page = self._control.page(tenant, wanted, jobs_after or None, max(1, limit // 10))
            existing, next_jobs = self._existing(tenant, page.items), page.after
            seen_jobs = [
                self._seen(job, self._tasks.of_job(tenant, job.id), existing) for job in page.items
            ]
        for seen in seen_jobs:
            found += [task for task in seen.tasks if status in (None, task.status)]
        if len(found) > skip + limit:
            return found[skip : skip + limit], f"{jobs_after}:{skip + limit}"
        left = max(0, skip - len(found))
        return found[skip:], None if next_jobs is None else f"{next_jobs}:{left}"

    def task(self, tenant: str, task_id: str) -> Task:
        """Return one task. Raises NotFound, also once its product was deleted."""
        place = place_of(task_id)
        if place is None:
            raise NotFound("no such task")
        job_id, position = place
        found = [task for task in self.get(tenant, job_id).tasks if task.position == position]
        if not found:
            raise NotFound("no such task")
        return found[0]

    def move(self, tenant: str, job_id: str, move: Transition) -> JobWithTasks:
        """Cancel, pause, resume or retry a job. Raises NotFound, Conflict and Contended."""
        self._job(tenant, job_id)
        self._control.move(JobRef(tenant=tenant, job_id=job_id), move)
        return self.get(tenant, job_id)

    def batch(self, tenant: str, batch_id_: str) -> Batch:
        """Return a batch. Raises NotFound."""
        job = self._jobs.get(JobRef(tenant=tenant, job_id=batch_id_), PUBLISH_BATCH)
        return Batch(job=job, counts=self._control.counts(job) or ChildCounts())

    def batches(
        self,
        tenant: str,
        marketplace: str | None,
        status: JobStatus | None,
        after: str | None,
        limit: int,
    ) -> tuple[list[Batch], str | None]:
        """Return batches, newest first, and the next position."""
        wanted = JobFilter(kind=PUBLISH_BATCH, status=status, domain=marketplace)
        page = self._control.page(tenant, wanted, after, limit)
        found = [
            Batch(job=job, counts=self._control.counts(job) or ChildCounts()) for job in page.items
        ]
        return found, page.after

    def move_batch(self, tenant: str, batch_id_: str, move: Transition) -> Batch:
        """Cancel, pause or resume a batch, or retry its failed jobs. Raises the exceptions of
        `move`."""
        self.batch(tenant, batch_id_)
        self._control.move(JobRef(tenant=tenant, job_id=batch_id_), move)
        return self.batch(tenant, batch_id_)

    def _draft(self, tenant: str, command: Command, priority: int | None) -> Draft:
        action = find_action(self._actions, command.marketplace, command.action_code)
        _check_input(command.input_data)
        self._require_soon(command.publish_at)
        key = None
        if command.product_id is not None:
            product = self._products.get(tenant, command.product_id)
            if product is None:
                raise NotFound("no such product")
            preferences = self._preferences.get(tenant, command.marketplace)
            if command.action_code == "publish":
                content = shown_on(product, preferences, command.input_data)
                require_fit(self._checks[command.marketplace], content)
            if command.action_code in _UNIQUE:
                listing = self._listings.get(tenant, product.id, command.marketplace)
                generation = listing.generation if listing else 1
                state = [product.version, generation, listing.version if listing else 0]
                state += [preferences.version] if preferences.version else []
                key = fingerprint(["marketplace", command.payload, state])
            if command.action_code == "link_product":
                self._require_unheld(tenant, command)
        elif action.needs_product:
            raise ValidationFailed.of_field(
                "product_id", "is missing", error=f"{action.code} needs a product"
            )
        return _drafted(command, action, priority, key)

    def _require_soon(self, publish_at: datetime | None) -> None:
        """Raise ValidationFailed for a time that isn't within the next PUBLISH_AHEAD_DAYS days."""
        now, days = self._clock(), limits.PUBLISH_AHEAD_DAYS
        if publish_at is not None and not now < publish_at <= now + timedelta(days=days):
            raise ValidationFailed.of_field("publish_at", f"a time within the next {days} days")

    def _require_unheld(self, tenant: str, command: Command) -> None:
        """Raise Conflict if another existing product has the listing to link."""
        external_id = command.input_data.get("external_id")
        if not isinstance(external_id, str) or not external_id:
            return
        holder = self._listings.holder(tenant, command.marketplace, external_id)
        if holder not in (None, command.product_id) and self._products.get(tenant, str(holder)):
            raise held_by(str(holder), command.marketplace, external_id)

    def _found(self, tenant: str, product_ids: Sequence[str]) -> frozenset[str]:
        """Return the ids that are products."""
        step = bounds.LIST_LIMIT_MAX
        return frozenset[str]().union(
            *(
                self._products.existing(tenant, product_ids[start : start + step])
                for start in range(0, len(product_ids), step)
            )
        )

    def _job(self, tenant: str, job_id: str) -> Job:
        return self._jobs.get(JobRef(tenant=tenant, job_id=job_id), PUBLISH)

    def _existing(self, tenant: str, jobs: Sequence[Job]) -> frozenset[str]:
        ids = [str(job.payload["product_id"]) for job in jobs if job.payload.get("product_id")]
        return self._products.existing(tenant, ids)

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


def _drafted(command: Command, action: ActionType, priority: int | None, key: str | None) -> Draft:
    return Draft(
        kind=PUBLISH,
        payload={**command.payload, "max_retries": action.max_retries},
        priority=priority_of(priority or action.priority),
        domain=command.marketplace,
        duplicate_key=key,
        # Jobs of a batch are created at its time.
        due_at=command.publish_at,
        waiting_for=SCHEDULED if command.publish_at else None,
    )


def priority_of(number: int) -> Priority:
    """Return the priority of a number, from 1 (critical) to 4 (low)."""
    return Priority(PRIORITIES[number - 1])


def number_of(priority: Priority) -> int:
    """Return the number of a priority; the inverse of `priority_of`."""
    return PRIORITIES.index(priority.value) + 1


def batch_id(action_code: str, now: datetime, uuid: str) -> str:
    """Return a batch id: `{action}_{timestamp}_{uuid}`."""
    return f"{action_code}_{now.strftime('%Y%m%dT%H%M%S')}_{uuid}"


def _check_input(given: Mapping[str, Any]) -> None:
    """Check the overrides that every publication accepts. Raises ValidationFailed."""
    wrong = variations_in("input_data", given)
    price = given.get("override_price")
    if price is not None and (not isinstance(price, int) or isinstance(price, bool) or price < 1):
        wrong.append(field_error("input_data.override_price", "minor units, 1 or more"))
    wrong += [
        field_error(f"input_data.{name}", "a text")
        for name in ("custom_title", "custom_description", "question")
        if given.get(name) is not None and not isinstance(given[name], str)
    ]
    if wrong:
        raise ValidationFailed("input_data has invalid fields", details={"fields": wrong})
