"""Operations of an execution's steps on their job, like a worker's context for other jobs."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.jobs import rules
from spinneret.jobs.bodies import check_result
from spinneret.jobs.disclosure import safe_data, safe_text
from spinneret.jobs.driven.models import ExecutionClaim
from spinneret.jobs.kinds import KindPolicy
from spinneret.jobs.models import Failure, Job, JobEvent, JobEventKind, JobRef, JobStatus
from spinneret.jobs.ports import JobQueue, JobStore
from spinneret.jobs.worker import send
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable, LeaseLost
from spinneret.kernel.service import service

logger = logging.getLogger(__name__)

_TRIES: Final = 8  # each means that another step of the same claim changed the row


@service
class Driver:
    """Operations of an execution on its job.

    Every method raises LeaseLost if the execution's claim has ended. It raises
    DependencyUnavailable if the step should be retried.
    """

    store: JobStore
    queue: JobQueue
    kinds: Mapping[str, KindPolicy]
    clock: Clock
    random: Callable[[], float]
    retry_delays: Sequence[float] = bounds.RETRY_DELAYS_SECONDS

    def find(self, ref: JobRef) -> Job | None:
        """Return the job regardless of its claim."""
        return self.store.get(ref)

    def held(self, turn: ExecutionClaim) -> Job:
        """Return the job if the claim still holds it."""
        job = self.store.get(turn.ref)
        lease = turn.lease
        held = None if job is None else (job.status, job.fence, job.locked_by)
        if job is None or held != (JobStatus.RUNNING, lease.fence, lease.owner):
            raise LeaseLost(f"job {turn.job_id} is no longer held by this claim")
        return job

    def renew(
        self,
        turn: ExecutionClaim,
        job: Job,
        until: datetime,
        step: str,
        progress: int,
        data: Mapping[str, Any],
    ) -> Job:
        """Extend the claim to `until` plus a margin, and add a step to the timeline.

        A later end of the claim stays. Progress resets the attempts that lost executions were
        charged. A step alone doesn't: a segment that kills each of its executions takes its first
        steps in every one of them.

        While the tenant is suspended, the claim ends instead, and the job waits.
        """
        if self.store.held_since(job.tenant) is not None:
            self.next_segment(turn, job)
            raise LeaseLost(f"job {job.id} waits: its tenant is suspended")
        end = until + timedelta(seconds=bounds.LEASE_MARGIN_SECONDS)

        def stepped(job: Job) -> Job:
            reached = max(job.progress, min(progress, 99))
            return replace(
                job,
                locked_until=_later(job, end),
                attempts=0 if reached > job.progress else job.attempts,
                step=step,
                progress=reached,
            )

        shown = stepped(job).progress
        event = self._event(turn, JobEventKind.STEP_STARTED, step, shown, data)
        return self._change(turn, job, stepped, [event])

    def extend(self, turn: ExecutionClaim, until: datetime) -> None:
        """Extend the claim to `until` if it would end earlier."""
        self._change(
            turn, self.held(turn), lambda job: replace(job, locked_until=_later(job, until))
        )

    def complete(
        self, turn: ExecutionClaim, job: Job, result: Mapping[str, Any], lack: Failure | None = None
    ) -> None:
        """Complete the job with its result; `lack` says what is missing from it."""
        check_result(result)
        now = self.clock()
        if lack is None:
            self._end(turn, rules.complete(job, result, now), job)
        else:
            self._end(turn, rules.complete_in_part(job, result, lack, now), job)

    def fail(self, turn: ExecutionClaim, job: Job, error: Exception) -> None:
        """End the claim after an error as a worker does: the job fails, or is retried later."""
        self._end(
            turn, rules.after_error(job, error, self.clock(), self.random(), self.retry_delays), job
        )

    def await_children(self, turn: ExecutionClaim, job: Job) -> None:
        """End the execution; the parent job ends with its last child."""
        self._end(turn, rules.await_children(job, self.clock()), job)

    def next_segment(self, turn: ExecutionClaim, job: Job) -> None:
        """Release the job without charging an attempt; a worker starts its next execution.

        The segment is done, so the attempts of its executions no longer count.
        """
        after = rules.hand_back(job, self.clock(), work_seconds=float("inf"))
        self._end(turn, replace(after, attempts=0), job)

    def _change(
        self,
        turn: ExecutionClaim,
        job: Job,
        changed: Callable[[Job], Job],
        events: Sequence[JobEvent] = (),
    ) -> Job:
        """Write a change of the current row: several steps may hold one claim."""
        for _ in range(_TRIES):
            after = changed(job)
            if after == job and not events:
                return job
            try:
                self.store.transition(job, after, events)
            except LeaseLost:  # of a row that differs from `job`; perhaps the claim still holds it
                job = self.held(turn)
            else:
                return after
        raise DependencyUnavailable("dynamodb", "too many steps change the job at once")

    def _end(self, turn: ExecutionClaim, after: Job, before: Job) -> None:
        data = {"status": after.status.value}
        event = self._event(turn, JobEventKind.STATUS_CHANGED, after.status, after.progress, data)
        self.store.transition(before, after, [event], lease=turn.lease)
        if after.status is JobStatus.PENDING:
            send(self.queue, self.kinds, after, self.clock())

    def _event(
        self,
        turn: ExecutionClaim,
        kind: JobEventKind,
        message: str,
        progress: int,
        data: Mapping[str, Any],
    ) -> JobEvent:
        return JobEvent(
            fence=turn.fence,
            number=turn.number,
            kind=kind,
            message=safe_text(message),
            created_at=self.clock(),
            progress=progress,
            data=safe_data(data),
        )


def _later(job: Job, until: datetime) -> datetime:
    """Return the end of the job's lease, but at least `until`."""
    return until if job.locked_until is None else max(job.locked_until, until)
