"""Rules that must hold at every step and at the end, written without the kernel's own rules.

The checks get every write as the store sees it: the row before, the row after, and the writer. They
use the lease that the store granted to a worker, not the one that the worker assumes.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from spinneret.jobs.models import Job, JobEvent, JobRef, JobStatus, Lease, Reply, RequestKey
from spinneret.jobs.ports import Claimed, NewJob, Refused
from spinneret.jobs.worker import Defer, ReleaseJob
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.outbox.models import DomainEvent
from tests.fakes.jobs import FakeJobStore, StoredRow
from tests.simulation import parent_invariants
from tests.simulation.parent_invariants import TERMINAL, ParentInvariants, awaits, is_in_family
from tests.simulation.policies import DRIVEN, POLICIES, SINKS
from tests.simulation.step_invariants import StepInvariants
from tests.simulation.turnstile import Actor, Role

MOVES: Final[Mapping[Role, frozenset[tuple[str, str]]]] = {
    Role.CLIENT: frozenset({("pending", "pending"), ("paused", "paused")}),  # its input arrived
    Role.WORKER: frozenset(
        {
            ("running", "running"),
            ("running", "completed"),
            ("running", "failed"),
            ("running", "pending"),
        }
    ),
    Role.STEP: frozenset(
        {
            ("running", "running"),
            ("running", "completed"),
            ("running", "failed"),
            ("running", "pending"),
        }
    ),
    Role.SWEEPER: frozenset(
        {
            ("pending", "pending"),
            ("pending", "expired"),
            ("running", "pending"),
            ("running", "failed"),
        }
    ),
    Role.USER: frozenset(
        {
            ("pending", "cancelled"),
            ("running", "cancelled"),
            ("paused", "cancelled"),
            ("pending", "paused"),
            ("running", "paused"),
            ("paused", "pending"),
            ("failed", "pending"),
            ("expired", "pending"),
        }
    ),
}
RESEND_EVERY: Final = 30  # seconds
SETTLED: Final = (JobStatus.CANCELLED, JobStatus.CANCELLED)
"""Move of a cancelled parent whose children are cancelled one by one."""
LEAD: Final = 900  # seconds by which SQS can delay a message
SKEW: Final = timedelta(seconds=5)


class Invariants:
    """Checks every write and stores what later checks need."""

    def __init__(self, store: FakeJobStore, now: Callable[[], datetime]) -> None:
        self.violations: list[str] = []
        self.counts: Counter[str] = Counter()
        self.accepted: dict[JobRef, None] = {}
        self._gone: dict[JobRef, Job] = {}
        """Rows that TTL removed, in their last state."""
        self.families = ParentInvariants(store, self._check, self._gone)
        self.steps = StepInvariants(self._check)
        self._store = store
        self._now = now
        self._granted: dict[tuple[JobRef, int], str] = {}
        self._effects: Counter[tuple[JobRef, int]] = Counter()
        self._performed: Counter[str] = Counter()
        self._amendments: Counter[JobRef] = Counter()
        self._known: dict[tuple[JobRef, int], int] = {}
        """Number of amendments that a claim of a job has read."""
        self._reported: dict[tuple[JobRef, int], JobStatus] = {}
        """Ends that must be reported, by job and fence."""
        self._taken: defaultdict[tuple[str, JobRef], list[int]] = defaultdict(list)
        """Fences of the ends that a sink got, in the order of their first arrival."""
        self._ends: dict[tuple[JobRef, int], JobStatus] = {}
        self._timelines: defaultdict[JobRef, dict[str, JobEvent]] = defaultdict(dict)
        self._writers: dict[tuple[JobRef, str], Role] = {}
        self._progress: Counter[tuple[JobRef, int]] = Counter()
        self._sent: Counter[tuple[str, JobRef]] = Counter()
        self._resends: Counter[tuple[JobRef, int, datetime]] = Counter()
        self._replies: dict[tuple[str, str], str] = {}
        self._executions: set[str] = set()

    def submitted(self, jobs: Sequence[NewJob], events: Sequence[JobEvent]) -> None:
        """Check and record an accepted transaction of new jobs."""
        for new, event in zip(jobs, events, strict=True):
            job = new.job
            self.counts["jobs"] += 1
            self.accepted[job.ref] = None
            self._timeline(job, [event], Role.CLIENT)
            self._times(job)
            self._one_live(job)
            self.counts["parents"] += job.family is not None
            self.families.child_made(job)
            self.families.counted(job)

    def claimed(
        self,
        actor: Actor,
        owner: str,
        was: Job | None,
        outcome: Claimed | Refused,
        given: datetime,
    ) -> None:
        """Check the outcome of a claim; `given` is the time by the worker's clock."""
        if was is None:
            return
        if isinstance(outcome, Refused):
            self._check(was.locked_by != owner, was.ref, "a worker didn't recognise its own claim")
            return
        lease, job = outcome.lease, outcome.job
        ref = job.ref
        row = self._row(ref)
        self._check(_under(row, lease), ref, "a claim was granted that the row doesn't show")
        holder = self._granted.setdefault((ref, lease.fence), actor.name)
        self._check(holder == actor.name, ref, f"{actor.name} was granted the claim of {holder}")
        if was.status is JobStatus.PENDING:
            self._check(lease.fence == was.fence + 1, ref, "a claim without a fence of its own")
            self._check(was.due_at <= given, ref, "claimed before it was due")
            late = was.expires_at is not None and was.expires_at <= given
            self._check(not late, ref, "claimed after it had expired")
            self._check(row.expires_at is None, ref, "a claimed job can still expire")
        else:
            self._check(was == row, ref, "a repeated claim changed the row")
        actor.lease = lease
        self._known[ref, lease.fence] = job.amendments  # the last answer of a repeated claim counts
        self._times(row)

    def amended(self, was: Job) -> None:
        """Check the amendment of a job's payload by a later submission."""
        job = self._row(was.ref)
        self.counts["amended"] += 1
        self._amendments[job.ref] += 1
        self._check(was.status not in TERMINAL, job.ref, "a finished job was amended")
        self._check(job.amendments == self._amendments[job.ref], job.ref, "it lost an amendment")
        same = (job.status, job.fence, job.locked_by) == (was.status, was.fence, was.locked_by)
        self._check(same, job.ref, "an amendment moved it")

    def moved(
        self, actor: Actor, was: Job, events: Sequence[JobEvent], lease: Lease | None
    ) -> None:
        """Check an accepted transition, with or without a lease."""
        job = self._row(was.ref)
        move = (was.status.value, job.status.value)
        family_moves = parent_invariants.MOVES[actor.role] if is_in_family(job) else frozenset()
        allowed = MOVES[actor.role] | family_moves
        self._check(move in allowed, job.ref, f"{actor.role} moved it {' -> '.join(move)}")
        self._check(job.fence >= was.fence, job.ref, "the fence fell")
        self._check(job.attempts <= job.max_attempts, job.ref, "too many attempts")
        self._check(job.redrives <= job.max_redrives, job.ref, "too many redrives")
        held = job.status is JobStatus.RUNNING and not awaits(job)
        locks = (job.locked_by, job.locked_until, job.claimed_at)
        self._check(all((each is not None) == held for each in locks), job.ref, "a lock is left")
        ended = job.status in TERMINAL
        self._check(
            (job.finished_at is not None) == ended, job.ref, "finished_at and status differ"
        )
        self._runs(actor, was, job)
        self._times(job)
        self._timeline(job, events, actor.role)
        self.families.child_moved(actor.role, was, job)
        self.families.counted(job)
        match actor.role:
            case _ if lease is None and (awaits(was) or awaits(job) or move == SETTLED):
                self.families.parent_moved(actor.role, was, job)
            case Role.STEP:
                self._check(_under(was, lease or actor.lease), job.ref, "a stale execution's write")
                self.steps.step_moved(was, job)
            case Role.WORKER if lease is not None or _under(was, actor.lease):
                self._worker_moved(actor, was, job)
            case Role.WORKER if was.status is JobStatus.RUNNING:
                self.counts["taken back"] += 1
                self._lost(was, job, self._now() + actor.skew - SKEW)
            case Role.SWEEPER if was.status is JobStatus.PAUSED and job.parent is not None:
                moved = job.status is not JobStatus.PAUSED
                self._check(job.fence == was.fence + moved, job.ref, "a look left its fence")
            case Role.SWEEPER if job.status is JobStatus.CANCELLED:
                self._check(job.parent is not None, job.ref, "the sweeper cancelled it")
                self._check(job.fence > was.fence, job.ref, "a move from outside left its fence")
            case Role.SWEEPER:
                self._sweeper_moved(actor, was, job)
            case Role.CLIENT:
                self._supplied(was, job)
            case _:
                self._check(job.fence > was.fence, job.ref, "a user's move left the old fence")
        if was.status in TERMINAL:
            self._one_live(job)

    def repeated(self, actor: Actor, was: Job) -> None:
        """Check the repeated write of a claim's end, which counted as written."""
        self.counts["repeated"] += 1
        self._check(self._row(was.ref) == was, was.ref, "a repeated end changed the row")
        lease = actor.lease
        own = lease is not None and lease.fence == was.fence
        self._check(own, was.ref, f"{actor.name} took another's end for its own")

    def committed(self, actor: Actor, lease: Lease) -> None:
        """Check a handler's effect that was accepted under a lease."""
        ref = JobRef(tenant=lease.tenant, job_id=lease.job_id)
        self._check(actor.lease == lease, ref, "an effect under somebody else's lease")
        self._check(_under(self._row(ref), lease), ref, "an effect of a stale holder")
        self._effects[ref, lease.fence] += 1
        self._check(self._effects[ref, lease.fence] == 1, ref, "two effects of one claim")

    def left(self, actor: Actor, ref: JobRef) -> None:
        """Check that a worker that returned without an error ended its claim or passed it on."""
        lease = actor.lease
        stands = _under(self._row(ref), lease)
        over = lease is not None and f"{ref.job_id}-{lease.fence}" in self._executions
        self._check(over or not stands, ref, f"{actor.name} left its claim behind")

    def performed(self, key: str) -> None:
        """Check that the foreign system has performed this effect only once."""
        self._performed[key] += 1
        if self._performed[key] > 1:
            self.violations.append(f"the effect {key} happened twice")

    def sent(self, actor: Actor, refs: Sequence[JobRef]) -> None:
        """Check messages that the queue accepted."""
        for ref in refs:
            stored = self._store.get(ref) is not None or ref in self._gone
            self._check(stored, ref, "a message names a job that isn't stored")
            if actor.role is Role.SWEEPER:
                self._sent[actor.name, ref] += 1

    def answered(self, request: RequestKey, reply: Reply) -> None:
        """Check that all answers under one Idempotency-Key are the same."""
        text = json.dumps([reply.status, request.payload, reply.body], sort_keys=True)
        first = self._replies.setdefault((request.tenant, request.scope), text)
        if first != text:
            self.violations.append(f"{request.scope}: two answers, {first} and {text}")

    def recorded(self, lease: Lease, number: int) -> None:
        """Check a step's effect that was accepted under its execution's lease."""
        ref = JobRef(tenant=lease.tenant, job_id=lease.job_id)
        self._check(_under(self._row(ref), lease), ref, "a part of a stale execution")
        self.steps.record(lease, number)

    def started(self, name: str) -> None:
        """Record the start of an execution, whether its worker got the answer or not."""
        self._executions.add(name)

    def started_again(self, name: str, *, same: bool) -> None:
        """Check the start of an execution under a taken name: it must have the same state."""
        if not same:
            self.violations.append(f"two executions are called {name}")

    def acknowledged(self, refs: Sequence[JobRef]) -> None:
        """Check that all accepted jobs in a client's answer are stored."""
        for ref in refs:
            stored = self._store.get(ref) is not None or ref in self._gone
            self._check(stored, ref, "acknowledged, but not stored")

    def taken(self, actor: Actor, sink: str, event: DomainEvent) -> None:
        """Check the event of an end that a sink got."""
        ref = JobRef(tenant=event.tenant, job_id=event.subject)
        ended = self._reported.get((ref, event.sequence))
        job = self._row(ref)
        right = ended is not None and event.type == f"{POLICIES[job.kind].events}.{ended.value}"
        self._check(right, ref, f"{actor.name} reported an end that wasn't")
        seen = self._taken[sink, ref]
        if event.sequence not in seen:
            last = max(seen, default=0)
            self._check(event.sequence > last, ref, f"{sink} got an earlier end after a later one")
            seen.append(event.sequence)

    def purged(self, row: StoredRow) -> None:
        """Check that TTL removes only finished jobs' rows, and other rows only after them."""
        job = self._store.get(row.ref)
        if row.kind == "job":
            assert job is not None
            self._check(job.status in TERMINAL, row.ref, "it was purged alive")
            self._gone[row.ref] = job
        else:
            self._check(job is None, row.ref, f"its {row.kind} was purged before it")

    def unsettled(self) -> list[Job]:
        """Return the accepted jobs that have not settled.

        A job has settled if it has ended and its end is reported, or if it is paused by a user.
        """
        return [job for ref in self.accepted if self._is_unsettled(job := self._row(ref))]

    def _is_unsettled(self, job: Job) -> bool:
        if self._unreported(job.ref) or self.families.is_unsettled(job):
            return True
        return job.status not in TERMINAL and not self.families.rests(job)

    def _unreported(self, ref: JobRef) -> bool:
        fences = [fence for ended, fence in self._reported if ended == ref]
        return any(fence not in self._taken[sink, ref] for fence in fences for sink in SINKS)

    def at_end(self) -> None:
        """Check what must hold once everything has settled."""
        for ref in self.accepted:
            job = self._row(ref)
            if job.status is JobStatus.COMPLETED and job.family is None and job.kind != DRIVEN:
                fence = (job.result or {}).get("fence")
                done = self._effects[ref, fence] if isinstance(fence, int) else 0
                self._check(done == 1, ref, "completed without its effect")
            self._check(not self._unreported(ref), ref, "its end was never reported")
            fails = job.last_error is not None and job.last_error.message == "nothing was uploaded"
            lost = fails and job.status is JobStatus.FAILED and "input" in job.payload
            self._check(not lost, ref, "it failed for lack of an input that it had")
            stored = {event.id: event for event in self._store.events(ref, None, 100_000)}
            self._check(stored == self._timelines[ref], ref, "the timeline isn't what was written")

    def _worker_moved(self, actor: Actor, was: Job, job: Job) -> None:
        lease = actor.lease
        self._check(_under(was, lease), job.ref, "a stale holder's write")
        if job.status is JobStatus.RUNNING:
            self.steps.worker_moved(job)
        charged = _charges(job) - _charges(was)
        stops = job.status in (JobStatus.CANCELLED, JobStatus.PAUSED)
        if stops:
            begun = self._effects[job.ref, was.fence] or actor.work_ended is not None
            self._check(job.parent is not None and not begun, job.ref, "it stopped by itself")
        if stops or job.status is JobStatus.RUNNING:
            self._check(charged == 0 and job.fence == was.fence, job.ref, "a checkpoint charged")
            return
        match actor.work_ended:
            case DependencyUnavailable() | ReleaseJob() | Defer() | None:
                expected = 0
            case _:
                expected = 1
        self._check(charged == expected, job.ref, f"charged {charged} for {actor.work_ended!r}")
        completed = job.status is JobStatus.COMPLETED
        lacks_input = "arrives_by" in job.payload and "input" not in job.payload
        self._check(not (completed and lacks_input), job.ref, "completed without its input")
        knows_all = self._known.get((job.ref, was.fence), 0) == self._amendments[job.ref]
        if completed or knows_all:
            ended_well = knows_all and actor.work_ended is None
            self._check(completed == ended_well, job.ref, "outcome and end differ")
        if job.status is JobStatus.FAILED:
            self.counts["failed"] += 1

    def _supplied(self, was: Job, job: Job) -> None:
        """Check the move of a job whose input arrived."""
        self.counts["supplied"] += 1
        self._check(was.waiting_for == "upload", job.ref, "it didn't wait for its input")
        self._check(job.fence > was.fence, job.ref, "the input left the old fence")
        waits = job.waiting_for is not None or "input" not in job.payload
        self._check(not waits, job.ref, "it still waits for its input")

    def _sweeper_moved(self, actor: Actor, was: Job, job: Job) -> None:
        now = self._now() + actor.skew
        if was.status is JobStatus.RUNNING:
            self._lost(was, job, now)
            return
        if job.status is JobStatus.EXPIRED:
            due = was.expires_at
            self._check(due is not None and due <= now, job.ref, "it expired too early")
            self.counts["expired"] += 1
            return
        message = (actor.name, job.ref)
        self._check(self._sent[message] > 0, job.ref, "a message counts that wasn't sent")
        self._sent[message] -= 1
        age = (now - job.due_at).total_seconds()
        if was.sends == 0:
            self._check(age >= -LEAD, job.ref, "the message of a long wait was sent early")
            return
        wait = (job.ref, job.fence, job.due_at)
        self._resends[wait] += 1
        allowed = age // RESEND_EVERY
        self._check(self._resends[wait] <= allowed, job.ref, f"resent too often for {age:.0f} s")

    def _lost(self, was: Job, job: Job, now: datetime) -> None:
        """Check the end of a dead worker's claim; `now` is the latest possible end of its lease."""
        self.counts["lease losses"] += 1
        until, since = was.locked_until, was.claimed_at
        assert until is not None
        assert since is not None
        self._check(until <= now, job.ref, "a live lease was taken away")
        self._check(_charges(job) == _charges(was) + 1, job.ref, "a lost lease wasn't charged")
        self._check(job.redrives == was.redrives, job.ref, "a lost lease began a redrive")
        self._check(job.fence > was.fence, job.ref, "a lost lease left its fence")
        worked = timedelta(milliseconds=job.worked_ms - was.worked_ms)
        longest = max(until - since, timedelta(0)) + timedelta(milliseconds=1)
        self._check(worked <= longest, job.ref, "nobody worked for so long")

    def _runs(self, actor: Actor, was: Job, job: Job) -> None:
        again = was.status in (
            JobStatus.FAILED,
            JobStatus.PARTIALLY_FAILED,
            JobStatus.EXPIRED,
        )
        # A retried parent's worker retries its children; a retried child reopens its parent.
        retried = again and (actor.role is Role.USER or is_in_family(job))
        self._check(job.run == was.run + retried, job.ref, "a run began without a user's word")
        settled = (was.status, job.status) == SETTLED
        if was.status in TERMINAL:
            self._check(retried or settled, job.ref, "a finished job moved")
        if job.status in TERMINAL and not settled:
            first = (job.ref, job.run) not in self._ends
            self._ends[job.ref, job.run] = job.status
            self._check(first, job.ref, f"run {job.run} ended twice")
            if job.status is not JobStatus.CANCELLED and job.parent is None:
                self._reported[job.ref, job.fence] = job.status

    def _times(self, job: Job) -> None:
        moments = [job.created_at, job.started_at, job.finished_at]
        known = [moment for moment in moments if moment is not None]
        self._check(known == sorted(known), job.ref, "created, started, finished out of order")

    def _timeline(self, job: Job, events: Sequence[JobEvent], role: Role) -> None:
        timeline = self._timelines[job.ref]
        for event in events:
            known = timeline.get(event.id)
            writer = self._writers.setdefault((job.ref, event.id), role)
            if known is not None and role is writer is Role.STEP:
                timeline[event.id] = event  # the machine retried this step
                continue
            if known is not None:
                self._check(known == event, job.ref, f"event {event.id} was written over")
                continue
            last = next(reversed(timeline), "")
            self._check(event.id > last, job.ref, f"event {event.id} came after {last}")
            timeline[event.id] = event
            run = (job.ref, job.run)
            self._check(
                event.progress >= self._progress[run], job.ref, f"progress fell in {event.id}"
            )
            self._progress[run] = event.progress

    def _one_live(self, job: Job) -> None:
        if job.duplicate_key is None:
            return
        live = [
            each
            for ref in self.accepted
            if (each := self._row(ref)).duplicate_key == job.duplicate_key
            and each.status not in TERMINAL
        ]
        others = [each.id for each in live if each.id != job.id]
        self._check(len(live) <= 1, job.ref, f"live beside {others} under one duplicate key")

    def _row(self, ref: JobRef) -> Job:
        row = self._store.get(ref) or self._gone.get(ref)
        assert row is not None
        return row

    def _check(self, holds: bool, ref: JobRef, rule: str) -> None:
        if not holds:
            self.violations.append(f"{ref.job_id}: {rule}")


def _under(row: Job, lease: Lease | None) -> bool:
    if lease is None:
        return False
    standing = (row.status, row.fence, row.locked_by)
    return standing == (JobStatus.RUNNING, lease.fence, lease.owner)


def _charges(job: Job) -> int:
    """Return the number of failures in all series of this run."""
    return job.redrives * job.max_attempts + job.attempts
