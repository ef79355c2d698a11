"""Step that chooses the next jobs: several of a batch, or the one job of an execution."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.jobs import rules
from spinneret.jobs.driven.driving import Driver
from spinneret.jobs.driven.models import ExecutionClaim
from spinneret.jobs.models import Job, JobRef, JobStatus
from spinneret.jobs.placement import family_counts
from spinneret.jobs.ports import JobStore
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock, Remaining, to_iso
from spinneret.kernel.errors import LeaseLost
from spinneret.kernel.paging import items_of
from spinneret.kernel.service import service
from spinneret.marketplace import limits

logger = logging.getLogger(__name__)

_ALIVE: Final = (JobStatus.PENDING, JobStatus.RUNNING, JobStatus.PAUSED)
_STOP: Final[Mapping[str, Any]] = {"action": "stop"}
_INDEX_SECONDS: Final = 2.0  # delay before a lagging index row is read again


@service
class NextJobsStep:
    """Chooses the next action of a `publish_batch` execution."""

    driver: Driver
    store: JobStore
    clock: Clock
    segment_steps: int
    """Steps after which a new execution continues.

    An execution has at most 25,000 events of history (Step Functions quotas). A step with its wait
    takes about 15 of them; the last round adds up to `round_jobs` times PUBLISH_VISIT_STEPS steps.
    """
    round_jobs: int = limits.PUBLISH_ROUND_JOBS

    def take(self, state: Mapping[str, Any], _: Remaining) -> dict[str, Any]:
        """Return the next state: jobs to run, a time to wait for, or the end.

        Raises DependencyUnavailable, after which the state machine retries.
        """
        steps = state.get("steps", 0) + sum(each["steps"] for each in state.get("visits", ()))
        known = {"tenant": state["tenant"], "job_id": state["job_id"], "steps": steps}
        claim = state.get("turn") or (state if "fence" in state else None)
        if claim is None:
            ref = JobRef(tenant=state["tenant"], job_id=state["job_id"])
            return {**known, "turn": None, **self._single(ref, steps)}
        turn = replace(ExecutionClaim.of(claim), number=claim["number"] + 1)
        try:
            chosen = self._round(turn, self.driver.held(turn), steps, state.get("after"))
        except LeaseLost:
            logger.info("execution_ended", extra={"job_id": turn.job_id, "fence": turn.fence})
            chosen = _STOP
        return {**known, "turn": turn.state(), **chosen}

    def _single(self, ref: JobRef, steps: int) -> Mapping[str, Any]:
        """Return the next action for a single job. If this execution stops, a message starts
        another one."""
        job, now = self.store.get(ref), self.clock()
        if job is None or job.status is not JobStatus.PENDING or _is_over(job, now):
            return _STOP
        if steps >= self.segment_steps:
            return _STOP
        if job.due_at > now:
            return {"action": "wait", "until": to_iso(job.due_at)}
        return {"action": "jobs", "jobs": [job.id]}

    def _round(
        self, turn: ExecutionClaim, batch: Job, steps: int, after: str | None
    ) -> Mapping[str, Any]:
        """Return the next action for a batch. Jobs after the last one of the previous round come
        first.

        Raises LeaseLost.
        """
        counts = family_counts(self.store, batch)
        assert counts is not None  # a batch is a parent
        now, due, moments, resting = self.clock(), list[str](), list[datetime](), 0
        for job in self._alive(batch, after):
            if job.status is JobStatus.PAUSED:
                resting += 1
            elif rules.has_expired_lease(job, now):
                due.append(job.id)  # its next step reclaims it
            elif job.status is JobStatus.RUNNING or _is_over(job, now):
                moments.append(now + timedelta(seconds=limits.PUBLISH_LOOK_SECONDS))
            elif job.due_at > now:
                moments.append(job.due_at)
            else:
                due.append(job.id)
            if len(due) == self.round_jobs:
                break
        if not due and not moments and resting >= counts.pending:
            self.driver.await_children(turn, batch)  # a paused job restarts by its own message
            return _STOP
        if steps >= self.segment_steps:
            self.driver.next_segment(turn, batch)
            return _STOP
        return self._next(turn, batch, due, moments, rules.progress_of(batch, counts))

    def _next(
        self,
        turn: ExecutionClaim,
        batch: Job,
        due: Sequence[str],
        moments: Sequence[datetime],
        progress: int,
    ) -> Mapping[str, Any]:
        now = self.clock()
        lease = now + timedelta(seconds=limits.PUBLISH_ROUND_SECONDS)
        if due:
            self.driver.renew(turn, batch, lease, f"{len(due)} jobs", progress, {})
            return {"action": "jobs", "jobs": list(due), "after": due[-1]}
        latest = now + timedelta(seconds=limits.PUBLISH_LOOK_SECONDS if moments else _INDEX_SECONDS)
        until = max(min([latest, *moments]), now + timedelta(seconds=1))
        self.driver.renew(turn, batch, lease, "waiting", progress, {})
        return {"action": "wait", "until": to_iso(until)}

    def _alive(self, batch: Job, after: str | None) -> Iterator[Job]:
        """Yield jobs of the batch that have not ended, by id from `after` on, then from the first.
        The index may lag, the rows don't."""
        yield from self._between(batch, after, None)
        if after is not None:
            yield from self._between(batch, None, after)

    def _between(self, batch: Job, after: str | None, last: str | None) -> Iterator[Job]:
        refs = items_of(
            lambda position: self.store.children(
                batch.ref, _ALIVE, position, bounds.LIST_LIMIT_MAX
            ),
            after,
        )
        for ref in refs:
            if last is not None and ref.job_id > last:
                return
            job = self.store.get(ref)
            if job is not None and job.status in _ALIVE:
                yield job


def _is_over(job: Job, now: datetime) -> bool:
    """Return whether the job waited too long, though the sweeper hasn't expired it yet."""
    return job.expires_at is not None and job.expires_at <= now
