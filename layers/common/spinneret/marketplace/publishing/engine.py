"""Run a marketplace job: its plan's steps in order, each as a fenced task.

Each claim continues the work of the previous one. A step that succeeded is skipped while its digest
is unchanged, and a step that may have happened first looks for its own effect.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from spinneret.jobs.disclosure import safe_data, safe_text
from spinneret.jobs.models import Job, JobEventKind
from spinneret.jobs.worker import Context, Defer, ReleaseJob
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import (
    Contended,
    DependencyUnavailable,
    DomainError,
    InputNeeded,
    LeaseLost,
    MarketplaceUnavailable,
    MarketplaceUnsettled,
    MarketplaceUnsupported,
    NotFound,
    PermanentError,
    ReauthNeeded,
    RetriesExceeded,
    TransientError,
)
from spinneret.kernel.service import service
from spinneret.marketplace import limits
from spinneret.marketplace.listings.ports import ListingStore
from spinneret.marketplace.preferences.models import Preferences
from spinneret.marketplace.preferences.ports import PreferenceStore
from spinneret.marketplace.preferences.rules import held_until
from spinneret.marketplace.products.ports import ProductStore
from spinneret.marketplace.products.rules import shown_on
from spinneret.marketplace.publishing.commands import ASKED, Command, require_time
from spinneret.marketplace.publishing.common import ask
from spinneret.marketplace.publishing.models import ActionType, JobSubject
from spinneret.marketplace.publishing.plans import PlanStep, Platform
from spinneret.marketplace.publishing.work import StepContext
from spinneret.marketplace.tasks import rules
from spinneret.marketplace.tasks.models import Reason, Task, TaskStatus, TaskType
from spinneret.marketplace.tasks.ports import TaskStore

logger = logging.getLogger(__name__)

_REASONS: Final[Mapping[type[DomainError], Reason]] = {
    MarketplaceUnsupported: Reason.UNSUPPORTED,
    InputNeeded: Reason.NEEDS_INPUT,
    ReauthNeeded: Reason.NEEDS_REAUTH,
}

_SENDING: Final = frozenset({"publish", "update"})
"""Actions that send the product's content."""
NewWork = Callable[[Context, JobSubject], StepContext]


def _digest(step: PlanStep, run: int) -> str:
    of_run = [run] if step.of_run and run > 1 else []
    return fingerprint([step.key, step.method, step.path, dict(step.payload), *of_run])


@service
class PublishHandler:
    """Handles jobs of kind `publish`."""

    platforms: Mapping[str, Platform]
    actions: Mapping[str, ActionType]
    products: ProductStore
    listings: ListingStore
    tasks: TaskStore
    preferences: PreferenceStore
    new_work: NewWork
    clock: Clock

    def __call__(self, context: Context) -> Mapping[str, Any]:
        """Run the remaining steps of the job and return the result of the last one."""
        command = Command.of(context.job.payload)
        action = self.actions.get(command.full_code)
        if action is None:
            raise MarketplaceUnsupported(f"unknown action: {command.full_code}")
        require_time(context.job.payload, self.clock())
        preferences = self._preferences(context.job.tenant, command)
        self._require_running(context.job, command, preferences)
        try:
            return self._run(context, command, preferences)
        except TransientError as error:
            if context.job.attempts + 1 < action.max_retries:
                raise
            raise RetriesExceeded(
                f"Max retries ({action.max_retries}) exceeded: {error.message}",
                details={**error.details, "max_retries": action.max_retries},
            ) from error

    def _preferences(self, tenant: str, command: Command) -> Preferences:
        if command.product_id is None:  # only products are listed by them
            return Preferences(tenant=tenant, marketplace=command.marketplace)
        return self.preferences.get(tenant, command.marketplace)

    def _require_running(self, job: Job, command: Command, preferences: Preferences) -> None:
        """Raise Defer while the seller pauses what the job would do.

        A sale on another marketplace still revises listings, and a last look changes nothing.
        """
        is_held = command.action_code == "publish" or (
            command.action_code == "update" and ASKED not in job.payload
        )
        if not is_held or job.ending:
            return
        until = held_until(preferences, self.clock())
        if until is not None:
            title = self.platforms[command.marketplace].title
            raise Defer(until, f"the seller, who paused {title}", appointed=True)

    def _run(
        self, context: Context, command: Command, preferences: Preferences
    ) -> Mapping[str, Any]:
        subject = self._subject(context, command, preferences)
        steps = self._steps(command, subject)
        tasks = self._planned(context, steps, subject)
        work = self.new_work(context, subject)
        for number, step in enumerate(steps):
            if tasks[number].status is not TaskStatus.SUCCESS:
                if step.method not in (None, "GET"):  # what was done is still recorded
                    now_preferred = self._preferences(context.job.tenant, command)
                    self._require_running(context.job, command, now_preferred)
                context.checkpoint(step.description, rules.progress(tasks))
                tasks[number] = self._step(context, work, step, tasks[number])
                context.note(JobEventKind.STEP_DONE, step.description)
            work.results[step.key] = tasks[number].result or {}
        if self._is_outdated(context.job, command, subject):
            raise ReleaseJob  # the next claim sends what has changed
        return work.results[steps[-1].key]

    def _is_outdated(self, job: Job, command: Command, subject: JobSubject) -> bool:
        """Return whether the product has changed to something else to show since the claim began.

        Another job may have sent the change before this one sent the former content.
        """
        if command.action_code not in _SENDING or subject.product is None or job.ending:
            return False
        product = self.products.get(job.tenant, subject.product.id)
        if product is None:
            return False
        preferences = self._preferences(job.tenant, command)
        content = shown_on(product, preferences, command.input_data)
        return content != subject.content and not self.platforms[command.marketplace].check(content)

    def _subject(self, context: Context, command: Command, preferences: Preferences) -> JobSubject:
        tenant, marketplace = context.job.tenant, command.marketplace
        product = content = listing = None
        if command.product_id is not None:
            product = self.products.get(tenant, command.product_id)
            if product is None:
                raise NotFound("the product was deleted")
            content = shown_on(product, preferences, command.input_data)
            listing = self.listings.get(tenant, product.id, marketplace)
        return JobSubject(
            tenant=tenant,
            marketplace=marketplace,
            product=product,
            content=content,
            listing=listing,
            given=command.input_data,
        )

    def _steps(self, command: Command, subject: JobSubject) -> Sequence[PlanStep]:
        platform = self.platforms[command.marketplace]
        plan = platform.plans.get(command.action_code)
        if plan is not None:
            question = subject.given.get("question")
            return [*([ask(question)] if question else []), *plan(subject)]
        why = platform.unsupported.get(
            command.action_code, f"{platform.title} has no interface for this"
        )

        def refuse(_: StepContext) -> Mapping[str, Any]:
            raise MarketplaceUnsupported(why)

        return [
            PlanStep(
                key="unsupported",
                type=TaskType.DB_OPERATION,
                description=f"{command.action_code} on {platform.title}",
                run=refuse,
            )
        ]

    def _planned(
        self, context: Context, steps: Sequence[PlanStep], subject: JobSubject
    ) -> list[Task]:
        """Store and return the tasks of the plan, keeping results of earlier claims."""
        job, now = context.job, self.clock()
        stored = self.tasks.of_job(job.tenant, job.id)
        planned = [
            Task(
                tenant=job.tenant,
                job_id=job.id,
                position=position,
                key=step.key,
                task_type=step.type,
                description=step.description,
                platform=subject.marketplace,
                product_id=subject.product.id if subject.product else None,
                http_method=step.method,
                path=step.path,
                payload=step.payload,
                digest=_digest(step, job.run),
                created_at=now,
            )
            for position, step in enumerate(steps, start=1)
        ]
        tasks = rules.merged(planned, stored)
        places = {task.position: task for task in stored}
        changed = [task for task in tasks if places.get(task.position) != task]
        if changed:
            self.tasks.save(context.lease, changed)
        left = [task for task in stored if task.position > len(tasks)]
        if left:
            self.tasks.drop(context.lease, left)
        return tasks

    def _step(self, context: Context, work: StepContext, step: PlanStep, task: Task) -> Task:
        """Run one step between two fenced writes: the task as processing, then its outcome."""
        begun = replace(
            task,
            status=TaskStatus.PROCESSING,
            started_at=self.clock(),
            completed_at=None,
            error_message=None,
            error_details={},
        )
        self.tasks.save(context.lease, [begun])
        work.task = begun
        try:
            result = step.run(work)
        except (LeaseLost, DependencyUnavailable):
            raise
        except (Defer, ReleaseJob):
            self.tasks.save(context.lease, [replace(begun, status=TaskStatus.PENDING)])
            raise
        except Contended as busy:  # of our own rows: the step didn't fail
            self.tasks.save(context.lease, [replace(begun, status=TaskStatus.PENDING)])
            raise DependencyUnavailable("dynamodb", busy.message) from busy
        except MarketplaceUnsettled as error:
            raise self._read_back(context, begun, error) from error
        except DomainError as error:
            self.tasks.save(context.lease, [self._failed(begun, error)])
            raise
        done = replace(
            begun,
            status=TaskStatus.SUCCESS,
            reason=None,
            unsettled_since=None,
            result=result,
            completed_at=self.clock(),
        )
        self.tasks.save(context.lease, [done])
        return done

    def _read_back(self, context: Context, task: Task, error: MarketplaceUnsettled) -> Exception:
        """Store the task as repeating and return the deferral until then; after
        READ_BACK_SECONDS, store its failure and return that.

        A repeated step first looks for its own effect: this reads back what the marketplace has.
        """
        now = self.clock()
        since = task.unsettled_since or now
        waited = (now - since).total_seconds()
        if waited >= limits.READ_BACK_SECONDS:
            self.tasks.save(context.lease, [self._failed(task, error.otherwise)])
            return error.otherwise
        again = replace(
            task, status=TaskStatus.PENDING, reason=Reason.RECONCILING, unsettled_since=since
        )
        self.tasks.save(context.lease, [again])
        pause = max(limits.READ_BACK_PAUSE_SECONDS, waited)
        return Defer(now + timedelta(seconds=pause), f"a second look: {error.message}")

    def _failed(self, task: Task, error: DomainError) -> Task:
        unknown = isinstance(error, MarketplaceUnavailable)
        reason = Reason.RECONCILING if unknown else _REASONS.get(type(error))
        permanent = isinstance(error, PermanentError)
        status = TaskStatus.TIMEOUT if unknown and not permanent else TaskStatus.FAILED
        return replace(
            task,
            status=status,
            reason=reason,
            unsettled_since=None,
            retry_count=task.retry_count + 1,
            error_message=safe_text(error.message),
            error_details=safe_data(error.details),
            completed_at=self.clock(),
        )
