"""Step that processes one job: a claim that runs the job's tasks for as long as it may."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.jobs.driven.driving import Driver
from spinneret.jobs.driven.models import ExecutionClaim
from spinneret.jobs.driven.ports import Semaphore
from spinneret.jobs.models import Backlog, Job, JobRef, JobStatus, Lane
from spinneret.jobs.ports import JobStore
from spinneret.jobs.worker import Context, Defer, Handler, Worker
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock, Remaining, to_iso
from spinneret.kernel.errors import DependencyUnavailable, LeaseLost
from spinneret.kernel.service import service
from spinneret.marketplace import limits

logger = logging.getLogger(__name__)

_LEFT: Final[Mapping[str, Any]] = {"action": "left"}


class AwaitsCallback(Defer):
    """Raised when the job waits for a callback under `key`, uncharged.

    The job is due at once, so that the callback needn't wait for it. `is_begun` means that its work
    is under way elsewhere meanwhile.
    """

    def __init__(self, now: datetime, key: str, waiting_for: str, *, is_begun: bool) -> None:
        super().__init__(now, waiting_for)
        self.key = key
        self.is_begun = is_begun


class NullJobQueue:
    """Implements JobQueue for the steps without sending messages.

    The state machine itself waits, so a message is needed only if the execution is lost. The
    sweeper then sends it, as it replaces lost messages.
    """

    def send(self, lane: Lane, refs: Sequence[JobRef], delay_seconds: int = 0) -> None:
        """Send nothing."""

    def backlog(self, lane: Lane) -> Backlog:
        """Return an empty backlog: the lane's backlog isn't known."""
        del lane
        return Backlog(waiting=0, in_flight=0)


@service
class JobStep:
    """Run one job step by step inside a Map state.

    Each step is its own claim: cancelling, pausing, reclaiming and the work limits apply to it as
    to every worker. At most `at_once` jobs of one seller run on one marketplace, across all
    executions; the others are deferred.
    """

    new_worker: Callable[[Handler], Worker]
    publish: Handler
    driver: Driver
    store: JobStore
    slots: Semaphore
    clock: Clock
    at_once: int = limits.PUBLISHED_AT_ONCE

    def step(self, state: Mapping[str, Any], remaining: Remaining) -> dict[str, Any]:
        """Run one step and return the next action: another step, a wait, a callback's wait, or the
        end.

        Raises DependencyUnavailable, after which the state machine retries.
        """
        ref = JobRef(tenant=state["tenant"], job_id=state["job_id"])
        self._keep_batch(state.get("turn"))
        claim = _Claim()
        self.new_worker(lambda context: self._work(context, claim)).run(ref, remaining)
        steps = int(state["steps"]) + 1
        job = self.store.get(ref)
        chosen = self._next(job, claim, steps)
        if claim.group is not None:
            self._keep_slot(ref, claim, chosen)
        return {
            **{name: state.get(name) for name in ("tenant", "job_id", "turn")},
            "steps": steps,
            **chosen,
        }

    def _work(self, context: Context, claim: _Claim) -> Mapping[str, Any]:
        """Run the handler while the seller has a free slot. Raises Defer if there is none, and the
        exceptions of handlers."""
        claim.is_made = True
        job, now = context.job, self.clock()
        until = now + timedelta(seconds=context.remaining() + bounds.LEASE_MARGIN_SECONDS)
        group = f"PUBLISH#{job.payload['marketplace']}"
        if not self.slots.take(job.tenant, group, job.id, now, until, self.at_once):
            later = now + timedelta(seconds=limits.PUBLISH_BUSY_SECONDS)
            raise Defer(later, "other jobs of the seller there")
        claim.group = group
        try:
            return self.publish(context)
        except AwaitsCallback as waits:
            claim.awaits = waits
            raise

    def _next(self, job: Job | None, claim: _Claim, steps: int) -> Mapping[str, Any]:
        """Return the next action; `left` ends the visit.

        It ends for a job that another claim holds, or that is paused, expired or ended. It also
        ends before a long wait: the next round, or a message, resumes the job when it is due.
        """
        if job is None or job.status is not JobStatus.PENDING:
            return _LEFT
        if steps >= limits.PUBLISH_VISIT_STEPS:
            return _LEFT
        waits, now = claim.awaits, self.clock()
        if waits is not None:
            # A job that waits for a browser to connect does so for one heartbeat, then yields.
            stays = waits.is_begun or steps == 1
            found = {"action": "callback", "key": waits.key, "fence": job.fence}
            return found if stays else _LEFT
        if job.due_at <= now:
            return {"action": "step"} if claim.is_made else _LEFT
        if job.due_at - now > timedelta(seconds=limits.PUBLISH_PAUSE_SECONDS):
            return _LEFT
        return {"action": "wait", "until": to_iso(job.due_at)}

    def _keep_slot(self, ref: JobRef, claim: _Claim, chosen: Mapping[str, Any]) -> None:
        """Keep the slot of a job that continues soon, until well after its next step is due; else
        release it. A slot that isn't released expires by itself."""
        tenant, group, holder = ref.tenant, claim.group, ref.job_id
        assert group is not None
        waits = claim.awaits
        is_over = chosen["action"] == "left" or (waits is not None and not waits.is_begun)
        now = self.clock()
        until = now + timedelta(seconds=2 * limits.PLUGIN_TASK_SECONDS)
        try:
            if is_over:
                self.slots.leave(tenant, group, holder)
            else:
                self.slots.take(tenant, group, holder, now, until, self.at_once)
        except DependencyUnavailable as error:
            logger.warning("slot_update_failed", extra={"job_id": holder, "reason": error.message})

    def _keep_batch(self, claim: Mapping[str, Any] | None) -> None:
        """Extend the batch's lease for as long as its steps run. If the batch has moved on, this
        step continues: the batch's jobs are cancelled or paused with it."""
        if claim is None:
            return
        turn = ExecutionClaim.of(claim)
        try:
            soon = self.clock() + timedelta(seconds=limits.PUBLISH_ROUND_SECONDS / 2)
            self.driver.extend(turn, soon)
        except LeaseLost:
            logger.info("batch_moved_on", extra={"job_id": turn.job_id, "fence": turn.fence})


class _Claim:
    """Outcome of a step's claim: whether it was made, its slot, and the callback that it awaits."""

    def __init__(self) -> None:
        self.is_made = False
        self.group: str | None = None
        self.awaits: AwaitsCallback | None = None
