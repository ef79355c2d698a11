"""Choice of the job for a draft: an existing job that does the same work, or a new one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from spinneret.jobs import rules
from spinneret.jobs.kinds import KindPolicy
from spinneret.jobs.models import ChildCounts, Draft, Job, JobRef, JobStatus
from spinneret.jobs.ports import Holder, JobStore, NewJob
from spinneret.kernel.caller import nobody
from spinneret.kernel.clock import Clock
from spinneret.kernel.ids import NewId
from spinneret.kernel.service import service


@dataclass(frozen=True, kw_only=True)
class Placed:
    """Job of a draft: a new one, or an existing one that does the same work."""

    job: Job
    duplicate: bool

    @property
    def is_answered(self) -> bool:
        """Whether a fresh result of the work exists already."""
        return self.duplicate and self.job.status in rules.TERMINAL


def family_counts(store: JobStore, job: Job) -> ChildCounts | None:
    """Return how a parent's children ended so far; None for other jobs. Raises
    DependencyUnavailable.
    """
    if job.family is None:
        return None
    return rules.total(store.child_counts(job.ref, range(job.family.shards)))


def always(_: Job) -> bool:
    """Take the result of every job for existing."""
    return True


@service
class Deduplication:
    """Look up duplicates and build the rows of new jobs; write nothing."""

    store: JobStore
    kinds: Mapping[str, KindPolicy]
    clock: Clock
    new_id: NewId
    caller: Callable[[], str | None] = nobody
    """Returns who submits."""
    result_exists: Callable[[Job], bool] = always
    """Returns whether what a job made is still there; else its fresh result answers no draft."""

    def place(
        self,
        tenant: str,
        drafts: Sequence[Draft],
        *,
        scope: str | None = None,
        batch: str | None = None,
        look: bool = True,
    ) -> tuple[list[Placed], list[NewJob]]:
        """Return the jobs of the drafts in their order, and the new ones among them.

        `scope` is that of an Idempotency-Key. A draft with a promised id always gets a new job,
        without the duplicate key if another job holds it. Unless `look`, no key is taken to be
        held; if one is, the store refuses the new jobs.
        """
        wanted = [draft.duplicate_key for draft in drafts if draft.duplicate_key]
        holders = self.store.find_duplicates(tenant, wanted) if wanted and look else {}
        placed: list[Placed] = []
        new: dict[str, NewJob] = {}
        fresh: dict[str, Job] = {}
        for draft in drafts:
            key = draft.duplicate_key
            holder = self._holder(tenant, holders.get(key)) if key else None
            standing = self._standing(draft, holder, fresh.get(key) if key else None)
            if standing is not None and draft.id is None:
                placed.append(Placed(job=standing, duplicate=True))
                continue
            if standing is not None:
                draft, holder, key = replace(draft, duplicate_key=None), None, None  # noqa: PLW2901 - a job of its own
            job = self._new_job(tenant, draft, batch, scope)
            new[job.id] = NewJob(job=job, replaces=holder)
            placed.append(Placed(job=job, duplicate=False))
            if key:
                fresh[key] = job
        return placed, list(new.values())

    def _standing(self, draft: Draft, holder: Holder | None, fresh: Job | None) -> Job | None:
        """Return the job that already does the draft's work: an earlier job, or one of this
        submission.
        """
        former = holder.job if holder else None
        if fresh is None and former is not None and (draft.once or self._still_answers(former)):
            return former
        return fresh

    def _holder(self, tenant: str, job_id: str | None) -> Holder | None:
        if job_id is None:
            return None
        return Holder(job_id=job_id, job=self.store.get(JobRef(tenant=tenant, job_id=job_id)))

    def _still_answers(self, job: Job) -> bool:
        """Return whether a job is live or has a fresh result (ruling "Duplicate").

        A failed job doesn't block a new attempt.
        """
        if job.status not in rules.TERMINAL:
            return True
        expires = job.result_expires_at
        return expires is not None and self.clock() < expires and self.result_exists(job)

    def _new_job(self, tenant: str, draft: Draft, batch: str | None, scope: str | None) -> Job:
        now = self.clock()
        policy = self.kinds[draft.kind]
        pending_limit, begins = policy.pending_seconds, max(now, draft.due_at or now)
        job = Job(
            tenant=tenant,
            id=draft.id or self.new_id("job"),
            kind=draft.kind,
            status=JobStatus.PENDING,
            priority=draft.priority,
            payload=draft.payload,
            created_at=now,
            updated_at=now,
            due_at=now,
            max_attempts=policy.max_attempts,
            result_seconds=policy.result_seconds,
            max_redrives=policy.max_redrives,
            expires_at=None if pending_limit is None else begins + timedelta(seconds=pending_limit),
            domain=draft.domain,
            batch=batch,
            created_by=self.caller(),
            notify=draft.notify,
            duplicate_key=draft.duplicate_key,
            idempotency_key=scope or draft.duplicate_key,
        )
        if draft.due_at is None:
            return job
        return replace(rules.waiting(job, draft.due_at, now), waiting_for=draft.waiting_for)
