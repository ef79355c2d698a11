"""Rules for parents and children, checked on their rows without the kernel's own rules."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from spinneret.jobs.models import ChildCounts, Job, JobRef, JobStatus
from tests.fakes.jobs import FakeJobStore
from tests.simulation.turnstile import Role

TERMINAL: Final = frozenset(
    {
        JobStatus.COMPLETED,
        JobStatus.PARTIALLY_FAILED,
        JobStatus.FAILED,
        JobStatus.CANCELLED,
        JobStatus.EXPIRED,
    }
)
_ENDS: Final = frozenset(
    ("running", end) for end in ("completed", "partially_failed", "failed", "cancelled")
)
_REOPENED: Final = frozenset((end, "running") for end in ("partially_failed", "failed"))
_BEGUN: Final = frozenset({("paused", "pending"), ("failed", "pending"), ("expired", "pending")})
_BAD: Final = frozenset({JobStatus.PARTIALLY_FAILED, JobStatus.FAILED, JobStatus.EXPIRED})
MOVES: Final[Mapping[Role, frozenset[tuple[str, str]]]] = {
    Role.CLIENT: frozenset(),
    Role.STEP: frozenset(),
    # The worker of the last child ends the parent; a claimed child stops as its parent did.
    Role.WORKER: _ENDS | _REOPENED | _BEGUN | {("running", "paused")},
    Role.SWEEPER: _ENDS
    | {
        ("running", "running"),
        ("pending", "cancelled"),
        ("paused", "cancelled"),
        ("paused", "pending"),
        ("paused", "paused"),
        ("cancelled", "cancelled"),
    },
    Role.USER: _ENDS | _REOPENED | {("partially_failed", "pending")},
}
"""Moves that a parent or a child may make in addition to those of every job."""

Check = Callable[[bool, JobRef, str], None]


def is_in_family(job: Job) -> bool:
    """Return whether the job is a parent or a child."""
    return job.family is not None or job.parent is not None


def awaits(job: Job) -> bool:
    """Return whether this job is a parent that runs without a claim."""
    return job.family is not None and job.status is JobStatus.RUNNING and job.locked_by is None


class ParentInvariants:
    """Checks each write to a parent or a child, and that all of them end."""

    def __init__(self, store: FakeJobStore, check: Check, gone: Mapping[JobRef, Job]) -> None:
        """Create the checks; `gone` are the rows that TTL removed."""
        self._store = store
        self._check = check
        self._gone = gone
        self._paused_by_users: set[JobRef] = set()
        self._retried: dict[JobRef, int] = {}
        """Parent → its last run that began with a user's retry of the parent itself."""
        self._begun: dict[JobRef, int] = {}
        """Child → run of its parent in which the child's own last run began or was still alive."""

    def child_made(self, job: Job) -> None:
        """Record the parent's run in which a child was created."""
        self._begin(job)

    def child_moved(self, role: Role, was: Job, job: Job) -> None:
        """Record a job's move: whether a user paused it, and whether a run began."""
        if was.status is not JobStatus.PAUSED and job.status is JobStatus.PAUSED:
            by_user = role is Role.USER
            (self._paused_by_users.add if by_user else self._paused_by_users.discard)(job.ref)
        if job.run > was.run:
            self._begin(job)
            if job.family is not None and job.status is JobStatus.PENDING:
                self._retried[job.ref] = job.run
                for child in self._children(job.ref):
                    if child.status not in TERMINAL:  # its current run counts as the retry
                        self._begun[child.ref] = job.run

    def _begin(self, job: Job) -> None:
        if job.parent is not None:
            parent = JobRef(tenant=job.tenant, job_id=job.parent)
            row = self._store.get(parent) or self._gone[parent]
            self._begun[job.ref] = row.run

    def counted(self, job: Job) -> None:
        """Check after a write that every counter agrees with the children's rows."""
        if job.parent is None:
            return
        parent = JobRef(tenant=job.tenant, job_id=job.parent)
        row = self._store.get(parent)
        if row is None:
            assert parent in self._gone
            return  # the parent is purged: its counters no longer matter
        assert row.family is not None
        children = self._children(parent)
        counts = self._store.child_counts(parent, range(row.family.shards))
        for shard, count in enumerate(counts):
            true = _counts([child for child in children if child.parent_shard == shard])
            self._check(count == true, parent, f"counter {shard} says {count} instead of {true}")
        told = row.status in TERMINAL - {JobStatus.CANCELLED} and row.result is not None
        alive = told and job.status not in TERMINAL
        self._check(not alive, parent, f"it stays {row.status.value} while {job.id} is alive")

    def parent_moved(self, role: Role, was: Job, job: Job) -> None:
        """Check the move of a parent that has no claim."""
        assert was.family is not None
        assert job.family is not None
        if was.status in TERMINAL and job.status is JobStatus.RUNNING:
            self._check(job.run == was.run + 1, job.ref, "it was reopened within its run")
            made = was.family.cursor is None
            self._check(made, job.ref, "it was reopened before all children were made")
            return
        self._check(job.run == was.run, job.ref, "a run began without a user's word")
        if job.status is not was.status:
            self._check(job.fence > was.fence, job.ref, "a move from outside left its fence")
        if job.family.settled or job.status in TERMINAL - {JobStatus.CANCELLED}:
            alive = [child.id for child in self._children(job.ref) if child.status not in TERMINAL]
            self._check(not alive, job.ref, f"it ended while a child was alive: {alive}")
        by_children = job.status in TERMINAL and not (
            role is Role.USER and job.status is JobStatus.CANCELLED
        )
        if by_children and was.status is JobStatus.RUNNING:
            self._ended(was, job)

    def _ended(self, was: Job, job: Job) -> None:
        assert was.family is not None
        self._check(was.family.cursor is None, job.ref, "it ended before all children were made")
        children = self._children(job.ref)
        counts, result = _counts(children), job.result or {}
        said = result.get("total_count"), result.get("completed_count")
        true = counts.created, counts.completed
        self._check(said == true, job.ref, f"its result says {said} instead of {true}")
        bad = counts.failed + counts.expired
        expected = JobStatus.COMPLETED
        if bad:
            expected = JobStatus.PARTIALLY_FAILED if counts.completed else JobStatus.FAILED
        elif counts.cancelled and not counts.completed:
            expected = JobStatus.CANCELLED
        self._check(job.status is expected, job.ref, f"it ended as {job.status.value}: {counts}")
        for child in children:
            chance = self._begun[child.ref] >= self._retried.get(job.ref, 1)
            left = child.status in _BAD and child.duplicate_key is None and not chance
            left = left and child.ref not in self._gone
            self._check(not left, child.ref, "its parent's retry left it out")

    def rests(self, job: Job) -> bool:
        """Return whether an unfinished job waits only for a user's move.

        A user has paused it, or its parent, or all unfinished children of a parent. A child that
        stopped because its parent was paused rests no longer than its parent does.
        """
        if awaits(job):
            alive = [child for child in self._children(job.ref) if child.status not in TERMINAL]
            return bool(alive) and all(map(self.rests, alive))
        if job.status is not JobStatus.PAUSED:
            return False
        if job.parent is None or job.ref in self._paused_by_users:
            return True
        parent = self._store.get(JobRef(tenant=job.tenant, job_id=job.parent))
        return parent is None or parent.status in TERMINAL | {JobStatus.PAUSED}

    def is_unsettled(self, job: Job) -> bool:
        """Return whether the job is a cancelled parent whose children may still be alive."""
        cancelled = job.family is not None and job.status is JobStatus.CANCELLED
        return cancelled and job.family is not None and not job.family.settled

    def _children(self, parent: JobRef) -> list[Job]:
        refs = self._store.children(parent, tuple(JobStatus), None, 1000).items
        found = [self._store.get(ref) for ref in refs]
        purged = [job for job in self._gone.values() if job.parent == parent.job_id]
        return [child for child in found if child is not None] + purged


def _counts(children: list[Job]) -> ChildCounts:
    statuses = Counter(child.status for child in children)
    ended = {status.value: statuses[status] for status in TERMINAL}
    return ChildCounts(created=len(children), **ended)
