"""Running one job under a lease: claim, handler, outcome. The job kernel's interface for queues."""

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from spinneret.jobs import limits, rules
from spinneret.jobs.bodies import check_result
from spinneret.jobs.disclosure import safe_data, safe_text
from spinneret.jobs.kinds import KindPolicy
from spinneret.jobs.leases import Remaining, lease_end, reclaim, renewed
from spinneret.jobs.models import (
    Failure,
    Job,
    JobEvent,
    JobEventKind,
    JobRef,
    JobStatus,
    Lane,
    Lease,
)
from spinneret.jobs.ports import (
    Claimed,
    JobAmended,
    JobQueue,
    JobStore,
    NewJob,
    Refused,
    SubmissionRaced,
)
from spinneret.kernel import bounds, metrics
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable, LeaseLost
from spinneret.kernel.recent import Recent
from spinneret.kernel.service import service

logger = logging.getLogger(__name__)


class ReleaseJob(Exception):
    """Raised near the invocation's deadline: the job becomes pending again, uncharged."""


class AwaitChildren(Exception):
    """Raised when all children of the job exist: it ends with the last of them."""


class ClaimTransferred(Exception):
    """Raised once the claim belongs to an execution."""


class Defer(Exception):
    """Raised to make the job wait until `until`, uncharged, for its reservation at `waiting_for`.

    `appointed`: `until` is certain, such as the next day's budget, and the time limit of a waiting
    job counts from there.
    """

    def __init__(self, until: datetime, waiting_for: str, *, appointed: bool = False) -> None:
        super().__init__(f"waits for {waiting_for}")
        self.until = until
        self.waiting_for = waiting_for
        self.appointed = appointed


class CompletedInPart(Exception):
    """Raised with an incomplete result: the job is partially failed."""

    def __init__(self, result: Mapping[str, Any], failure: Failure) -> None:
        super().__init__(failure.message)
        self.result = result
        self.failure = failure


class Context:
    """A handler's claim, and its only way to change the job."""

    def __init__(
        self,
        claimed: Claimed,
        store: JobStore,
        clock: Clock,
        remaining: Remaining,
        *,
        holds_steps: bool = False,
    ) -> None:
        """`holds_steps` as for KindPolicy."""
        self.job: Job = claimed.job
        self.lease: Lease = claimed.lease
        self._written = claimed.job
        """Job as last confirmed by the store; `job` may be ahead of it."""
        self._holds_steps = holds_steps
        self._is_handed_over = False
        self._written_at = clock()
        """Time of the last confirmed write."""
        self._store = store
        self._clock = clock
        self.remaining = remaining
        self._events: list[JobEvent] = []
        self._noted = 0
        """Number of events before the outcome's."""
        self._numbered = 0
        self.note(JobEventKind.STATUS_CHANGED, JobStatus.RUNNING, {"status": JobStatus.RUNNING})

    @property
    def owner(self) -> str:
        """Name that no other claim has."""
        return self.lease.owner

    def note(self, kind: JobEventKind, message: str, data: Mapping[str, Any] | None = None) -> None:
        """Add an event; it is written with the next checkpoint or with the outcome.

        Writes the events at once if a transaction can't hold more; that raises LeaseLost.
        """
        if len(self._events) >= limits.EVENTS_PER_WRITE:
            self._flush(self.job)
        self._add(kind, message, self.job.progress, data or {})

    def checkpoint(self, step: str, progress: int) -> None:
        """Write step, progress and events, and renew the lease.

        A kind that holds its steps writes nothing within STEPS_HELD_SECONDS of the last write,
        unless somebody watches the job: the next write has all of it.

        Raises LeaseLost if the claim has ended, ReleaseJob if the invocation nears its deadline or
        the tenant is suspended.
        """
        if self.remaining() < bounds.DEADLINE_MARGIN_SECONDS or self._is_held():
            raise ReleaseJob
        after = replace(self.job, step=step, progress=max(progress, self.job.progress))
        self._add(JobEventKind.STEP_STARTED, step, after.progress, {})
        if self._may_hold():
            self.job = after
            return
        until = renewed(self.job.locked_until, self._clock, self.remaining)
        self._flush(replace(after, locked_until=until, updated_at=self._clock()))

    def add_children(
        self, children: Sequence[NewJob], events: Sequence[JobEvent], cursor: str | None
    ) -> None:
        """Write children of the job, move its cursor, and renew the lease.

        Raises LeaseLost, SubmissionRaced, and ReleaseJob if the invocation nears its deadline.
        """
        if self.remaining() < bounds.DEADLINE_MARGIN_SECONDS:
            raise ReleaseJob
        assert self.job.family is not None  # the job is a parent
        after = replace(
            self.job,
            family=replace(self.job.family, cursor=cursor),
            locked_until=renewed(self.job.locked_until, self._clock, self.remaining),
        )
        self._store.add_children(self._written, after, children, events, lease=self.lease)
        self.job = self._written = after

    def hand_over(self, seconds: float) -> int:
        """Extend the claim to `seconds` from now, for another process. Raises LeaseLost.

        Returns the number of the claim's last event: the other process continues after it. From
        here on, the context's writes raise ClaimTransferred if the row has changed.
        """
        until = self._clock() + timedelta(seconds=seconds)
        self._flush(replace(self.job, locked_until=until))
        self._is_handed_over = True
        return self._numbered

    def end(self, after: Job, failure: Failure | None = None, parent: Job | None = None) -> None:
        """Write the outcome with the events so far, the failure and the new status.

        Raises LeaseLost and DependencyUnavailable; any other error leaves the events unchanged.
        `parent` as for JobStore.transition.
        """
        self._noted = len(self._events)
        if failure is not None:
            self._add(JobEventKind.ERROR, failure.message, after.progress, {"code": failure.code})
        data = {"status": after.status.value}
        if after.waiting_for is not None:
            data["waiting_for"] = after.waiting_for
        self._add(JobEventKind.STATUS_CHANGED, after.status, after.progress, data)
        self.end_again(after, parent)

    def end_again(self, after: Job, parent: Job | None = None) -> None:
        """Repeat the write of an unconfirmed outcome, with the same events. Raises as `end`."""
        try:
            self._flush(after, parent)
        except (DependencyUnavailable, LeaseLost):
            raise
        except Exception:
            del self._events[self._noted :]
            raise

    def _is_held(self) -> bool:
        return self._store.held_since(self.job.tenant) is not None

    def _flush(self, after: Job, parent: Job | None = None) -> None:
        """Write the job and the events noted so far, fenced, in one write.

        If the answer is lost, the write may have happened. Events and progress are kept for the
        next write, which repeats them under the same ids, so that the timeline never goes back.

        After a hand-over two processes have the lease, so the write requires an unchanged row.
        """
        lease = None if self._is_handed_over else self.lease
        try:
            watchers = self._store.transition(
                self._written, after, self._events, lease=lease, parent=parent
            )
        except DependencyUnavailable:
            self.job = replace(self.job, step=after.step, progress=after.progress)
            raise
        except LeaseLost as error:
            if self._is_handed_over:
                raise ClaimTransferred from error
            raise
        self.job = self._written = replace(after, watchers=watchers)
        self._written_at = self._clock()
        self._events = []

    def _may_hold(self) -> bool:
        since = (self._clock() - self._written_at).total_seconds()
        is_recent = 0 <= since < limits.STEPS_HELD_SECONDS
        return self._holds_steps and is_recent and not self._written.watchers

    def _add(
        self, kind: JobEventKind, message: str, progress: int, data: Mapping[str, Any]
    ) -> None:
        self._numbered += 1
        event = JobEvent(
            fence=self.lease.fence,
            number=self._numbered,
            kind=kind,
            message=safe_text(message),
            created_at=self._clock(),
            progress=progress,
            data=safe_data(data),
        )
        self._events.append(event)


Handler = Callable[[Context], Mapping[str, Any]]
"""Function that does the work of one kind and returns its result; its own writes carry `ctx.lease`.
"""


@service
class Worker:
    """Run jobs named by queue messages."""

    store: JobStore
    queue: JobQueue
    kinds: Mapping[str, KindPolicy]
    handlers: Mapping[str, Handler]
    clock: Clock
    random: Callable[[], float]
    new_owner: Callable[[], str]
    sleep: Callable[[float], None] = time.sleep
    retry_delays: Sequence[float] = bounds.RETRY_DELAYS_SECONDS

    def __post_init__(self) -> None:
        self._parents = Recent[JobRef, Job | None](
            limits.PARENT_KNOWN_SECONDS, limits.PARENTS_KNOWN_MAX
        )

    def run(self, ref: JobRef, remaining: Remaining) -> None:
        """Claim the job and run its handler; ignore a job that can't be claimed.

        Raises DependencyUnavailable only if the store itself doesn't answer: the message then comes
        back, or the sweeper finds the expired lease.
        """
        claimed = self._claim(ref, remaining)
        if claimed is None:
            return
        policy = self.kinds.get(claimed.job.kind)
        holds_steps = policy is not None and policy.holds_steps
        context = Context(claimed, self.store, self.clock, remaining, holds_steps=holds_steps)
        try:
            if not self._stopped(context, remembers=holds_steps):
                self._work(context)
        except ClaimTransferred:
            return
        except LeaseLost:
            logger.warning("lease_lost", extra={"job_id": ref.job_id, "fence": claimed.lease.fence})

    def _claim(self, ref: JobRef, remaining: Remaining) -> Claimed | None:
        """Claim the job; return None if it can't be claimed. Raises DependencyUnavailable.

        A kind without a handler is one of a newer release, before a roll-back: its jobs wait.
        """
        since = self.store.held_since(ref.tenant)
        if since is not None:
            self._put_off(ref, since)
            return None
        owner = self.new_owner()
        until = lease_end(self.clock, remaining)
        outcome = self.store.claim(ref, owner, self.clock(), until, self.handlers)
        if isinstance(outcome, Refused) and self._reclaimed(outcome.job):
            until = lease_end(self.clock, remaining)
            outcome = self.store.claim(ref, owner, self.clock(), until, self.handlers)
        match outcome:
            case Claimed(job=job):
                facts = {"job_id": job.id, "kind": job.kind, "fence": outcome.lease.fence}
                logger.info("job_claimed", extra=facts)
                return outcome
            case Refused(job=None):
                logger.warning("job_unknown", extra={"job_id": ref.job_id})
            case Refused(job=Job() as job):
                facts = {"job_id": ref.job_id, "kind": job.kind, "status": job.status}
                logger.info("job_not_claimed", extra=facts)
                self._replace_early_message(job)
        return None

    def _put_off(self, ref: JobRef, since: datetime) -> None:
        """Make a job of a suspended tenant due later; the sweeper reclaims one of a lost worker."""
        job, now = self.store.get(ref), self.clock()
        if job is None or job.status is not JobStatus.PENDING or job.due_at > now:
            return
        after = rules.put_off(job, since, now)
        try:
            self.store.transition(job, after)
        except LeaseLost:
            return  # it was moved meanwhile
        send(self.queue, self.kinds, after, now)

    def _reclaimed(self, job: Job | None) -> bool:
        """Return whether the claim of a lost worker was reclaimed, here or by another process."""
        now = self.clock()
        if job is None or not rules.has_expired_lease(job, now):
            return False
        try:
            reclaim(self.store, job, now)
        except LeaseLost:
            logger.info("lease_reclaimed_by_another", extra={"job_id": job.id})
        return True

    def _replace_early_message(self, job: Job) -> None:
        """Resend a message that came early: because of a lagging clock, or SQS's longest delay."""
        now = self.clock()
        wait = (job.due_at - now).total_seconds()
        if job.status is JobStatus.PENDING and 0 < wait <= bounds.SQS_MAX_DELAY_SECONDS:
            send(self.queue, self.kinds, job, now)

    def _stopped(self, context: Context, *, remembers: bool) -> bool:
        """Stop the job if its parent was cancelled or paused; return whether it did. Raises as
        `run`. `remembers`: a parent read within PARENT_KNOWN_SECONDS isn't read again.
        """
        job = context.job
        if job.parent is None:
            return False
        ref = JobRef(tenant=job.tenant, job_id=job.parent)
        if not remembers:
            self._parents.forget(ref)
        while True:
            parent = self._parents.get(ref, self.clock(), lambda: self.store.get(ref))
            after = rules.stopped_by_parent(job, parent, self.clock())
            if after is None:
                return False
            try:
                self._end(context, after, parent=parent)
            except SubmissionRaced:
                self._parents.forget(ref)  # it was moved meanwhile
                continue
            return True

    def _work(self, context: Context) -> None:
        """Run the handler and write its outcome.

        Raises ClaimTransferred, LeaseLost and DependencyUnavailable.
        """
        policy = self.kinds.get(context.job.kind)
        try:
            result = self.handlers[context.job.kind](context)
        except (ClaimTransferred, LeaseLost):
            raise
        except ReleaseJob:
            self._hand_back(context)
        except AwaitChildren:
            self._end(context, rules.await_children(context.job, self.clock()))
        except Defer as deferral:
            pending_limit = policy.pending_seconds if policy else None
            now = self.clock()
            until, waiting_for = deferral.until, safe_text(deferral.waiting_for)
            after = rules.defer(
                context.job, until, waiting_for, now, pending_limit, appointed=deferral.appointed
            )
            self._end(context, after)
            metrics.JOBS_DEFERRED.add()
        except CompletedInPart as part:
            self._complete(context, part.result, part.failure)
        except Exception as error:  # noqa: BLE001 - the place where failures become outcomes
            self._fail(context, error)
        else:
            self._complete(context, result)

    def _hand_back(self, context: Context) -> None:
        policy = self.kinds.get(context.job.kind)
        limit = policy.work_seconds if policy else bounds.JOB_WORK_SECONDS
        self._end(context, rules.hand_back(context.job, self.clock(), limit))

    def _complete(
        self, context: Context, result: Mapping[str, Any], lack: Failure | None = None
    ) -> None:
        job, now = context.job, self.clock()
        try:
            check_result(result)
            if lack is None:
                self._end(context, rules.complete(job, result, now))
            else:
                self._end(context, rules.complete_in_part(job, result, lack, now), lack)
        except (DependencyUnavailable, LeaseLost):
            raise
        except JobAmended:
            logger.info("job_amended", extra={"job_id": job.id})
            self._hand_back(context)
        except Exception as error:  # noqa: BLE001 - an unstorable result is an outcome
            self._fail(context, error)

    def _fail(self, context: Context, error: Exception) -> None:
        now, delays = self.clock(), self.retry_delays
        after = rules.after_error(context.job, error, now, self.random(), delays)
        failure = after.last_error
        assert failure is not None  # every error leaves its failure
        level = logging.ERROR if failure.type == "internal" else logging.WARNING
        policy = self.kinds.get(context.job.kind)
        logger.log(
            level,
            f"{after.kind}_failed" if after.status in rules.TERMINAL else "job_will_retry",
            extra={
                "job_id": context.job.id,
                "url": policy.subject_of(context.job.payload) if policy else None,
                "error_type": type(error).__name__,
                "code": failure.code,
            },
            exc_info=error if failure.type == "internal" else None,
        )
        self._end(context, after, failure)

    def _end(
        self,
        context: Context,
        after: Job,
        failure: Failure | None = None,
        parent: Job | None = None,
    ) -> None:
        try:
            context.end(after, failure, parent)
        except DependencyUnavailable as error:
            self._end_again(context, after, error, parent)
        if after.status is JobStatus.PENDING:
            send(self.queue, self.kinds, after, self.clock())

    def _end_again(
        self, context: Context, after: Job, error: DependencyUnavailable, parent: Job | None
    ) -> None:
        """Repeat an outcome's write while lease and deadline allow: it can't be rescheduled.

        The store recognises a write that did happen. Waits double with full jitter, so that the
        workers of one outage don't retry in step. Raises `error` in the end, and LeaseLost.
        """
        until = context.job.locked_until
        for doubling in range(1, limits.OUTCOME_TRIES):
            wait = self.random() * min(limits.OUTCOME_CAP_SECONDS, 2.0 ** (doubling - 1))
            in_time = context.remaining() - wait >= bounds.AWS_CALL_SECONDS
            if not in_time or until is None or until <= self.clock() + timedelta(seconds=wait):
                break
            logger.warning("outcome_not_written", extra={"job_id": after.id, "tries": doubling})
            self.sleep(wait)
            try:
                context.end_again(after, parent)
            except DependencyUnavailable:
                continue
            return
        raise error


def send(queue: JobQueue, kinds: Mapping[str, KindPolicy], job: Job, now: datetime) -> None:
    """Send the message of a pending job for the time it is due, as far as SQS can delay.

    The sweeper sends the message of a longer wait. It also resends if the queue doesn't answer, so
    that is no failure.
    """
    if not job.sends or job.kind not in kinds:
        return
    try:
        queue.send(lane_of(kinds, job), [job.ref], delay_of(job, now))
    except DependencyUnavailable:
        logger.warning("job_not_sent", extra={"job_id": job.id})


def lane_of(kinds: Mapping[str, KindPolicy], job: Job) -> Lane:
    """Return the lane of a job's kind and priority."""
    return kinds[job.kind].lanes[job.priority]


def delay_of(job: Job, now: datetime) -> int:
    """Return the delay of a job's message in seconds: until it is due, at most what SQS accepts."""
    wait = math.ceil((job.due_at - now).total_seconds())
    return min(max(wait, 0), bounds.SQS_MAX_DELAY_SECONDS)
