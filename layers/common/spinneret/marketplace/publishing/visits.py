"""The step that works at one job: a claim that runs its tasks for as long as it may."""

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

logger = logging.getLogger(__name__)

_LEFT: Final[Mapping[str, Any]] = {"action": "left"}


class AwaitsCallback(Defer):
    """The job waits for a callback under `key`, uncharged; it is due at once, so that whoever
    calls back needn't wait. `is_begun` says that its work is under way elsewhere meanwhile."""

    def __init__(self, now: datetime, key: str, waiting_for: str, *, is_begun: bool) -> None:
        super().__init__(now, waiting_for)
        self.key = key
        self.is_begun = is_begun


class NullJobQueue:
    """Implements JobQueue for the steps: the machine waits itself, so that a message isn't needed
    unless the execution is lost. Then the sweeper sends it, as it replaces lost ones."""

    def send(self, lane: Lane, refs: Sequence[JobRef], delay_seconds: int = 0) -> None:
        """Nothing is sent."""

    def backlog(self, lane: Lane) -> Backlog:
        """Nothing is known of the lane."""
        del lane
        return Backlog(waiting=0, in_flight=0)


class JobStep:
    """One step after the other of a job's visit in a map.

    Each is a claim of its own: what cancels, pauses or reclaims a job, and what bounds its work,
    holds for it as for every worker's. At most `at_once` jobs of one seller are at work on one
    marketplace, however many executions there are; the others are deferred.
    """

    def __init__(
        self,
        *,
        new_worker: Callable[[Handler], Worker],
        publish: Handler,
        driver: Driver,
        store: JobStore,
        slots: Semaphore,
        clock: Clock,
        at_once: int = bounds.PUBLISHED_AT_ONCE,
    ) -> None:
        self._new_worker = new_worker
        self._publish = publish
        self._driver = driver
        self._store = store
        self._slots = slots
        self._clock = clock
        self._at_once = at_once

    def step(self, state: Mapping[str, Any], remaining: Remaining) -> dict[str, Any]:
        """What the visit does next: another step, a wait, a callback's wait, or its end.

        Raises DependencyUnavailable: the machine tries again.
        """
        ref = JobRef(tenant=state["tenant"], job_id=state["job_id"])
        self._keep_batch(state.get("turn"))
        claim = _Claim()
        self._new_worker(lambda context: self._work(context, claim)).run(ref, remaining)
        steps = int(state["steps"]) + 1
        job = self._store.get(ref)
        chosen = self._next(job, claim, steps)
        if claim.group is not None:
            self._keep_slot(ref, claim, chosen)
        return {
            **{name: state.get(name) for name in ("tenant", "job_id", "turn")},
            "steps": steps,
            **chosen,
        }

    def _work(self, context: Context, claim: _Claim) -> Mapping[str, Any]:
        """Raises what handlers raise."""
        claim.is_made = True
        job, now = context.job, self._clock()
        until = now + timedelta(seconds=context.remaining() + bounds.LEASE_MARGIN_SECONDS)
        group = f"PUBLISH#{job.payload['marketplace']}"
        if not self._slots.take(job.tenant, group, job.id, now, until, self._at_once):
            later = now + timedelta(seconds=bounds.PUBLISH_BUSY_SECONDS)
            raise Defer(later, "other jobs of the seller there")
        claim.group = group
        try:
            return self._publish(context)
        except AwaitsCallback as waits:
            claim.awaits = waits
            raise

    def _next(self, job: Job | None, claim: _Claim, steps: int) -> Mapping[str, Any]:
        """A job that another claim holds, that rests, expires or has ended is left. So is one that
        waits for long: the next round, or a message, takes it up when it is due."""
        if job is None or job.status is not JobStatus.PENDING:
            return _LEFT
        if steps >= bounds.PUBLISH_VISIT_STEPS:
            return _LEFT
        waits, now = claim.awaits, self._clock()
        if waits is not None:
            # Who waits for somebody to come does so for one heartbeat, and lets others on.
            stays = waits.is_begun or steps == 1
            found = {"action": "callback", "key": waits.key, "fence": job.fence}
            return found if stays else _LEFT
        if job.due_at <= now:
            return {"action": "step"} if claim.is_made else _LEFT
        if job.due_at - now > timedelta(seconds=bounds.PUBLISH_PAUSE_SECONDS):
            return _LEFT
        return {"action": "wait", "until": to_iso(job.due_at)}

    def _keep_slot(self, ref: JobRef, claim: _Claim, chosen: Mapping[str, Any]) -> None:
        """A job that goes on soon keeps its place, until well after its next step is due; a place
        that isn't given back ends by itself."""
        tenant, group, holder = ref.tenant, claim.group, ref.job_id
        assert group is not None
        waits = claim.awaits
        is_over = chosen["action"] == "left" or (waits is not None and not waits.is_begun)
        now = self._clock()
        until = now + timedelta(seconds=2 * bounds.PLUGIN_TASK_SECONDS)
        try:
            if is_over:
                self._slots.leave(tenant, group, holder)
            else:
                self._slots.take(tenant, group, holder, now, until, self._at_once)
        except DependencyUnavailable as error:
            logger.warning("slot_left", extra={"job_id": holder, "reason": error.message})

    def _keep_batch(self, claim: Mapping[str, Any] | None) -> None:
        """A round lasts as long as its steps do. That the batch moved on is the claim's to see: its
        jobs are cancelled or rest with it."""
        if claim is None:
            return
        turn = ExecutionClaim.of(claim)
        try:
            batch = self._driver.held(turn)
            soon = self._clock() + timedelta(seconds=bounds.PUBLISH_ROUND_SECONDS / 2)
            self._driver.extend(turn, batch, soon)
        except LeaseLost:
            logger.info("batch_moved_on", extra={"job_id": turn.job_id, "fence": turn.fence})


class _Claim:
    """What became of a step's claim: whether it was made, its slot, and what it waits for."""

    def __init__(self) -> None:
        self.is_made = False
        self.group: str | None = None
        self.awaits: AwaitsCallback | None = None
