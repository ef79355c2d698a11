"""Submission and look-up of jobs: the side of the job kernel that requests use."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from spinneret.jobs import rules
from spinneret.jobs.kinds import KindPolicy
from spinneret.jobs.models import (
    Draft,
    Job,
    JobRef,
    JobStatus,
    Lane,
    Reply,
    RequestKey,
)
from spinneret.jobs.ports import Holder, JobQueue, JobStore, NewJob, SubmissionRaced
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import (
    DependencyUnavailable,
    DomainError,
    IdempotencyMismatch,
    NotFound,
)
from spinneret.kernel.ids import NewId

logger = logging.getLogger(__name__)

_RACES = 5  # submissions of one key that may interleave before the store counts as busy


@dataclass(frozen=True, kw_only=True)
class Placed:
    """The job of a draft: a new one, or the one that already does the same work."""

    job: Job
    duplicate: bool


@dataclass(frozen=True, kw_only=True)
class Submitted:
    """The answer to a submission; `replayed` when its Idempotency-Key had one already."""

    reply: Reply
    replayed: bool = False


class JobService:
    """Accepts work: row first, message second; the sweeper sends what was never sent."""

    def __init__(
        self,
        *,
        store: JobStore,
        queue: JobQueue,
        kinds: Mapping[str, KindPolicy],
        clock: Clock,
        new_id: NewId,
    ) -> None:
        self._store = store
        self._queue = queue
        self._kinds = kinds
        self._clock = clock
        self._new_id = new_id

    def submit(
        self,
        tenant: str,
        drafts: Sequence[Draft],
        request: RequestKey | None,
        answer: Callable[[Sequence[Placed]], Reply],
    ) -> Submitted:
        """Store the jobs and the answer in one transaction, then send the messages.

        `answer` renders the reply from the jobs, draft by draft. Raises IdempotencyMismatch when
        the key came with another payload before.
        """
        for _ in range(_RACES):
            now = self._clock()
            if replayed := self._replayed(request):
                return replayed
            placed, new = self._place(tenant, drafts, request)
            reply = answer(placed)
            events = [
                rules.status_event(item.job, item.job.created_at, run=item.job.run) for item in new
            ]
            try:
                self._store.submit(new, events, request, reply, now)
            except SubmissionRaced:
                continue
            self._send([item.job for item in new])
            return Submitted(reply=reply)
        raise DependencyUnavailable("dynamodb", "too many requests for one key at once")

    def replayed_or(
        self, request: RequestKey | None, submission: Callable[[], Submitted]
    ) -> Submitted:
        """The result of `submission`, or the stored answer if that refuses a request which had one.

        What a request was checked against may have changed since it was accepted, by its own effect
        too. Looking after the refusal also finds an answer that was stored during the checks.
        """
        try:
            return submission()
        except DomainError:
            replayed = self._replayed(request)
            if replayed is None:
                raise
            return replayed

    def get(self, ref: JobRef, kind: str) -> Job:
        """A job of one kind; raises NotFound for an unknown, foreign or other kind of id."""
        job = self._store.get(ref)
        if job is None or job.kind != kind:
            raise NotFound("no such job")
        return job

    def _replayed(self, request: RequestKey | None) -> Submitted | None:
        """The answer to an earlier request under the same key. Raises IdempotencyMismatch."""
        stored = self._store.find_reply(request, self._clock()) if request else None
        if request is None or stored is None:
            return None
        if stored.payload != request.payload:
            raise IdempotencyMismatch("this Idempotency-Key came with another payload")
        return Submitted(reply=stored.reply, replayed=True)

    def _place(
        self, tenant: str, drafts: Sequence[Draft], request: RequestKey | None
    ) -> tuple[list[Placed], list[NewJob]]:
        wanted = [draft.duplicate_key for draft in drafts if draft.duplicate_key]
        holders = self._store.find_duplicates(tenant, wanted) if wanted else {}
        batch = self._new_id("batch") if len(drafts) > 1 else None
        placed: list[Placed] = []
        new: dict[str, NewJob] = {}
        fresh: dict[str, Job] = {}
        for draft in drafts:
            key = draft.duplicate_key
            if key in fresh:
                placed.append(Placed(job=fresh[key], duplicate=True))
                continue
            holder = self._holder(tenant, holders.get(key)) if key else None
            former = holder.job if holder else None
            if former is not None and (draft.once or self._still_answers(former)):
                placed.append(Placed(job=former, duplicate=True))
                continue
            job = self._new_job(tenant, draft, batch, request)
            new[job.id] = NewJob(job=job, replaces=holder)
            placed.append(Placed(job=job, duplicate=False))
            if key:
                fresh[key] = job
        return placed, list(new.values())

    def _holder(self, tenant: str, job_id: str | None) -> Holder | None:
        if job_id is None:
            return None
        return Holder(job_id=job_id, job=self._store.get(JobRef(tenant=tenant, job_id=job_id)))

    def _still_answers(self, job: Job) -> bool:
        """A live job, or a fresh result (ruling "Duplicate"); a failure doesn't block a new try."""
        if job.status not in rules.TERMINAL:
            return True
        expires = job.result_expires_at
        return expires is not None and self._clock() < expires

    def _new_job(
        self, tenant: str, draft: Draft, batch: str | None, request: RequestKey | None
    ) -> Job:
        now = self._clock()
        policy = self._kinds[draft.kind]
        pending_limit = policy.pending_seconds
        return Job(
            tenant=tenant,
            id=self._new_id("job"),
            kind=draft.kind,
            status=JobStatus.PENDING,
            priority=draft.priority,
            payload=draft.payload,
            created_at=now,
            due_at=now,
            max_attempts=policy.max_attempts,
            max_redrives=policy.max_redrives,
            expires_at=None if pending_limit is None else now + timedelta(seconds=pending_limit),
            domain=draft.domain,
            batch=batch,
            notify=draft.notify,
            duplicate_key=draft.duplicate_key,
            idempotency_key=request.scope if request else draft.duplicate_key,
        )

    def _send(self, jobs: Sequence[Job]) -> None:
        lanes: defaultdict[Lane, list[JobRef]] = defaultdict(list)
        for job in jobs:
            lanes[self._kinds[job.kind].lanes[job.priority]].append(job.ref)
        for lane, refs in lanes.items():
            try:
                self._queue.send(lane, refs)
            except DependencyUnavailable:
                # The rows stand; the sweeper sends them again.
                logger.warning("jobs_not_sent", extra={"lane": lane, "count": len(refs)})
