"""Running one job under a lease: claim, handler, outcome. The side that queues use."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from spinneret.jobs import rules
from spinneret.jobs.kinds import KindPolicy
from spinneret.jobs.models import Event, EventKind, Job, JobRef, JobStatus, Lease
from spinneret.jobs.ports import Claimed, JobQueue, JobStore, Refused
from spinneret.kernel import limits
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable, LeaseLost

logger = logging.getLogger(__name__)

Remaining = Callable[[], float]
"""Seconds that the invocation has left."""


class HandBack(Exception):
    """The invocation nears its deadline: the job goes back, uncharged."""


class Postpone(Exception):
    """The job has to wait for a turn at `until`, uncharged; the wait for `waiting_for` is told."""

    def __init__(self, until: datetime, waiting_for: str) -> None:
        super().__init__(f"waits for {waiting_for}")
        self.until = until
        self.waiting_for = waiting_for


class Context:
    """What a handler knows of its claim; the only way for it to touch the job."""

    def __init__(
        self, claimed: Claimed, store: JobStore, clock: Clock, remaining: Remaining
    ) -> None:
        self.job: Job = claimed.job
        self.lease: Lease = claimed.lease
        self._written = claimed.job
        """The job as it surely is in the store; `job` may be ahead of it."""
        self._store = store
        self._clock = clock
        self._remaining = remaining
        self._events: list[Event] = []
        self._numbered = 0
        self.note(EventKind.STATUS_CHANGED, JobStatus.RUNNING, {"status": JobStatus.RUNNING})

    def note(self, kind: EventKind, message: str, data: Mapping[str, Any] | None = None) -> None:
        """Add an event; it is written with the next checkpoint or with the outcome.

        Raises LeaseLost: so many events that one transaction can't hold them are written at once.
        """
        if len(self._events) >= limits.EVENTS_PER_WRITE:
            self._flush(self.job)
        self._events.append(self._event(kind, message, self.job.progress, data))

    def checkpoint(self, step: str, progress: int) -> None:
        """Write step, progress and events, and renew the lease.

        Raises LeaseLost when the claim is over, HandBack when the invocation's time is nearly up.
        """
        if self._remaining() < limits.DEADLINE_MARGIN_SECONDS:
            raise HandBack
        after = replace(
            self.job,
            step=step,
            progress=max(progress, self.job.progress),
            locked_until=lease_end(self._clock, self._remaining),
        )
        self.write(after, EventKind.STEP_STARTED, step)

    def write(
        self, after: Job, kind: EventKind, message: str, data: Mapping[str, Any] | None = None
    ) -> None:
        """One fenced write of the job as it now is, with the events noted so far and this one.

        When its answer is lost it may have happened: events and progress are kept for the next
        write, which says them once more under the same ids, so that the timeline never goes back.
        """
        self._events.append(self._event(kind, message, after.progress, data))
        self._flush(after)

    def _flush(self, after: Job) -> None:
        try:
            watchers = self._store.transition(self._written, after, self._events, lease=self.lease)
        except DependencyUnavailable:
            self.job = replace(self.job, step=after.step, progress=after.progress)
            raise
        self.job = self._written = replace(after, watchers=watchers)
        self._events = []

    def _event(
        self, kind: EventKind, message: str, progress: int, data: Mapping[str, Any] | None
    ) -> Event:
        self._numbered += 1
        return Event(
            fence=self.lease.fence,
            number=self._numbered,
            kind=kind,
            message=rules.told(message),
            created_at=self._clock(),
            progress=progress,
            data=rules.told_data(data or {}),
        )


Handler = Callable[[Context], Mapping[str, Any]]
"""Does the work of one kind and answers its result; effects of its own carry `ctx.lease`."""


class Worker:
    """Runs jobs named by queue messages."""

    def __init__(
        self,
        *,
        store: JobStore,
        queue: JobQueue,
        kinds: Mapping[str, KindPolicy],
        handlers: Mapping[str, Handler],
        clock: Clock,
        random: Callable[[], float],
        new_owner: Callable[[], str],
    ) -> None:
        self._store = store
        self._queue = queue
        self._kinds = kinds
        self._handlers = handlers
        self._clock = clock
        self._random = random
        self._new_owner = new_owner

    def run(self, ref: JobRef, remaining: Remaining) -> None:
        """Claim and do the job if it is there to be done; otherwise leave quietly.

        Raises DependencyUnavailable only when the store itself doesn't answer: the message then
        comes back, or the sweeper finds the expired lease.
        """
        claimed = self._claim(ref, remaining)
        if claimed is None:
            return
        context = Context(claimed, self._store, self._clock, remaining)
        try:
            try:
                result = self._handlers[claimed.job.kind](context)
            except LeaseLost:
                raise
            except HandBack:
                limit = self._kinds[context.job.kind].work_seconds
                self._end(context, rules.hand_back(context.job, self._clock(), limit))
            except Postpone as wish:
                now = self._clock()
                self._end(context, rules.postpone(context.job, wish.until, wish.waiting_for, now))
            except Exception as error:  # noqa: BLE001 - the place where failures become outcomes
                self._fail(context, error)
            else:
                self._end(context, rules.complete(context.job, result, self._clock()))
        except LeaseLost:
            logger.warning("lease_lost", extra={"job_id": ref.job_id, "fence": claimed.lease.fence})

    def _claim(self, ref: JobRef, remaining: Remaining) -> Claimed | None:
        owner = self._new_owner()
        now = self._clock()
        outcome = self._store.claim(ref, owner, now, lease_end(self._clock, remaining))
        match outcome:
            case Claimed():
                return outcome
            case Refused(job=None):
                logger.warning("job_unknown", extra={"job_id": ref.job_id})
            case Refused(job=Job() as job):
                logger.info("job_not_claimed", extra={"job_id": ref.job_id, "status": job.status})
        return None

    def _fail(self, context: Context, error: Exception) -> None:
        after = rules.after_error(context.job, error, self._clock(), self._random())
        failure = after.last_error
        assert failure is not None  # every error leaves its failure
        level = logging.ERROR if failure.type == "internal" else logging.WARNING
        logger.log(
            level,
            f"{after.kind}_failed" if after.status in rules.TERMINAL else "job_will_retry",
            extra={
                "job_id": context.job.id,
                "error_type": type(error).__name__,
                "code": failure.code,
            },
            exc_info=error if failure.type == "internal" else None,
        )
        context.note(EventKind.ERROR, failure.message, {"code": failure.code})
        self._end(context, after)

    def _end(self, context: Context, after: Job) -> None:
        said: dict[str, str] = {"status": after.status}
        if after.waiting_for is not None:
            said["waiting_for"] = after.waiting_for
        context.write(after, EventKind.STATUS_CHANGED, after.status, said)
        if after.status is JobStatus.PENDING:
            send(self._queue, self._kinds, after, self._clock())


def send(queue: JobQueue, kinds: Mapping[str, KindPolicy], job: Job, now: datetime) -> None:
    """Send the message of a pending job for the moment it is due, as far as SQS can delay.

    A queue that doesn't answer is no failure: the sweeper sends again.
    """
    wait = math.ceil((job.due_at - now).total_seconds())
    delay = min(max(wait, 0), limits.SQS_MAX_DELAY_SECONDS)
    try:
        queue.send(kinds[job.kind].lanes[job.priority], [job.ref], delay)
    except DependencyUnavailable:
        logger.warning("job_not_sent", extra={"job_id": job.id})


def lease_end(clock: Clock, remaining: Remaining) -> datetime:
    """min(300 s, what the invocation has left + margin) from now (P-02)."""
    seconds = min(limits.LEASE_MAX_SECONDS, remaining() + limits.LEASE_MARGIN_SECONDS)
    return clock() + timedelta(seconds=seconds)
