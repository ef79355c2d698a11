"""The store and the queue of one actor: every call is a step of the world."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from spinneret.jobs.models import (
    Backlog,
    ChildCounts,
    Job,
    JobEvent,
    JobFilter,
    JobRef,
    JobStatus,
    Lane,
    Lease,
    Reply,
    RequestKey,
    StoredReply,
)
from spinneret.jobs.ports import (
    Claimed,
    DuePage,
    DuePosition,
    EffectDone,
    EffectStarted,
    EffectUncertain,
    Holder,
    NewJob,
    Refused,
    Reopening,
    ResendShard,
)
from spinneret.kernel.errors import DependencyUnavailable, LeaseLost
from spinneret.kernel.paging import Page
from spinneret.outbox.models import DomainEvent, PendingEvent, SubjectRef
from spinneret.outbox.ports import DueSubjectPage, PendingPage, Position
from tests.simulation.turnstile import Actor
from tests.simulation.world import World

Post = Callable[[JobRef, int], None]
"""Function that puts a message into the queue, with its delay in seconds."""
BacklogNow = Callable[[], Backlog]
"""Function that returns how many messages wait for a worker, as the queue reports it."""


class SteppedStore:
    """Implements JobStore, and a fenced write of another domain."""

    def __init__(self, world: World, actor: Actor) -> None:
        self._world = world
        self._actor = actor
        self._store = world.store
        self._invariants = world.invariants

    def get(self, ref: JobRef) -> Job | None:
        """See JobStore."""
        return self._world.call(self._actor, "store.get", lambda: self._store.get(ref), ref.job_id)

    def find_reply(self, key: RequestKey, now: datetime) -> StoredReply | None:
        """See JobStore."""
        return self._world.call(
            self._actor, "store.find_reply", lambda: self._store.find_reply(key, now), key.scope
        )

    def find_duplicates(self, tenant: str, keys: Sequence[str]) -> dict[str, str]:
        """See JobStore."""
        return self._world.call(
            self._actor,
            "store.find_duplicates",
            lambda: self._store.find_duplicates(tenant, keys),
            keys,
        )

    def submit(
        self,
        jobs: Sequence[NewJob],
        events: Sequence[JobEvent],
        request: RequestKey | None,
        reply: Reply,
        now: datetime,
    ) -> None:
        """See JobStore."""

        def effect() -> None:
            self._store.submit(jobs, events, request, reply, now)
            self._world.wrote(*(new.job.ref for new in jobs))
            self._invariants.submitted(jobs, events)

        self._world.call(self._actor, "store.submit", effect, [new.job.id for new in jobs])

    def held_since(self, tenant: str) -> datetime | None:
        """See JobStore; this is no separate step, as no scenario suspends a tenant."""
        return self._store.held_since(tenant)

    def claim(
        self,
        ref: JobRef,
        owner: str,
        now: datetime,
        until: datetime,
        kinds: Collection[str] | None = None,
    ) -> Claimed | Refused:
        """See JobStore."""

        def effect() -> Claimed | Refused:
            was = self._store.get(ref)
            outcome = self._store.claim(ref, owner, now, until, kinds)
            self._world.wrote(ref)
            self._invariants.claimed(self._actor, owner, was, outcome, now)
            return outcome

        return self._world.call(self._actor, "store.claim", effect, ref.job_id)

    def amend(self, job: Job, payload: Mapping[str, Any]) -> None:
        """See JobStore."""

        def effect() -> None:
            was = self._store.get(job.ref)
            self._store.amend(job, payload)
            self._world.wrote(job.ref)
            assert was is not None
            self._invariants.amended(was)

        self._world.call(self._actor, "store.amend", effect, job.id)

    def transition(
        self,
        before: Job,
        after: Job,
        events: Sequence[JobEvent] = (),
        *,
        lease: Lease | None = None,
        counted: Sequence[ChildCounts] = (),
        parent: Job | None = None,
    ) -> int:
        """See JobStore."""

        def effect() -> int:
            was = self._store.get(before.ref)
            watchers = self._store.transition(
                before, after, events, lease=lease, counted=counted, parent=parent
            )
            self._world.wrote(before.ref)
            assert was is not None
            if lease is not None and was.status is not JobStatus.RUNNING:
                self._invariants.repeated(self._actor, was)
            else:
                self._invariants.moved(self._actor, was, events, lease)
            return watchers

        return self._world.call(self._actor, "store.transition", effect, _Change(before, after))

    def begin_run(
        self,
        before: Job,
        after: Job,
        event: JobEvent,
        holder: Holder | None,
        parent: Reopening | Job | None = None,
    ) -> None:
        """See JobStore."""

        def effect() -> None:
            was = self._store.get(before.ref)
            reopening = parent if isinstance(parent, Reopening) else None
            above = self._store.get(reopening.before.ref) if reopening is not None else None
            self._store.begin_run(before, after, event, holder, parent)
            self._world.wrote(before.ref)
            assert was is not None
            self._invariants.moved(self._actor, was, [event], None)
            if reopening is not None:
                assert above is not None
                self._world.wrote(above.ref)
                self._invariants.moved(self._actor, above, [reopening.event], None)

        self._world.call(self._actor, "store.begin_run", effect, _Change(before, after))

    def add_children(
        self,
        before: Job,
        after: Job,
        children: Sequence[NewJob],
        events: Sequence[JobEvent],
        *,
        lease: Lease,
    ) -> None:
        """See JobStore."""

        def effect() -> None:
            was = self._store.get(before.ref)
            self._store.add_children(before, after, children, events, lease=lease)
            self._world.wrote(before.ref, *(new.job.ref for new in children))
            assert was is not None
            self._invariants.moved(self._actor, was, (), lease)
            self._invariants.submitted(children, events)

        self._world.call(self._actor, "store.add_children", effect, before.id)

    def plan(self, parent: JobRef, number: int) -> str | None:
        """See JobStore."""
        return self._world.call(
            self._actor, "store.plan", lambda: self._store.plan(parent, number), parent.job_id
        )

    def child_counts(self, parent: JobRef, shards: Sequence[int]) -> list[ChildCounts]:
        """See JobStore."""
        return self._world.call(
            self._actor,
            "store.child_counts",
            lambda: self._store.child_counts(parent, shards),
            parent.job_id,
        )

    def children(
        self, parent: JobRef, statuses: Sequence[JobStatus], after: str | None, limit: int
    ) -> Page[JobRef]:
        """See JobStore. The index lags behind the rows."""

        def shown() -> Page[JobRef]:
            moment = self._world.shown_at()
            page = self._store.children(parent, tuple(JobStatus), after, limit)
            rows = [self._world.past.at(ref, moment) for ref in page.items]
            found = tuple(row.ref for row in rows if row is not None and row.status in statuses)
            return replace(page, items=found)

        return self._world.call(self._actor, "store.children", shown, parent.job_id)

    def to_wake(
        self, shard: int, until: datetime, limit: int, after: DuePosition | None = None
    ) -> DuePage:
        """See JobStore."""
        return self._due(lambda: self._store.to_wake(shard, until, limit, after), shard)

    def to_resend(
        self,
        resend: ResendShard,
        until: datetime,
        limit: int,
        after: DuePosition | None = None,
    ) -> DuePage:
        """See JobStore."""
        return self._due(lambda: self._store.to_resend(resend, until, limit, after), resend)

    def _due(self, query: Callable[[], DuePage], subject: object) -> DuePage:
        """Query an index; rows that were written within the index's lag are missing.

        The query of an empty shard is no step: nothing can happen between two of them.
        """
        found = query()
        if not found.refs and not self._world.faults.is_down("store"):
            return found

        def shown() -> DuePage:
            moment, page = self._world.shown_at(), query()
            refs = tuple(ref for ref in page.refs if not self._world.past.is_newer(ref, moment))
            return replace(page, refs=refs)

        return self._world.call(self._actor, "store.due", shown, subject)

    def page(self, tenant: str, wanted: JobFilter, after: str | None, limit: int) -> Page[Job]:
        """See JobStore; reads for lists change nothing and are no step."""
        return self._store.page(tenant, wanted, after, limit)

    def events(self, ref: JobRef, after: str | None, limit: int) -> list[JobEvent]:
        """See JobStore; reads for lists change nothing and are no step."""
        return self._store.events(ref, after, limit)

    def commit(self, lease: Lease) -> None:
        """Write a handler's effect and check its lease in one transaction."""

        def effect() -> None:
            if not self._store.holds(lease):
                raise LeaseLost(f"job {lease.job_id} is no longer held by this claim")
            self._invariants.committed(self._actor, lease)

        self._world.call(self._actor, "store.commit", effect, (lease.job_id, lease.fence))

    def record(self, lease: Lease, number: int) -> None:
        """Write a step's effect and check its execution's lease in one transaction."""

        def effect() -> None:
            if not self._store.holds(lease):
                raise LeaseLost(f"job {lease.job_id} is no longer held by this claim")
            self._invariants.recorded(lease, number)

        self._world.call(self._actor, "store.record", effect, (lease.job_id, lease.fence, number))


class SteppedOutbox:
    """Implements OutboxStore."""

    def __init__(self, world: World, actor: Actor) -> None:
        self._world = world
        self._actor = actor
        self._outbox = world.store.outbox

    def pending(self, ref: SubjectRef, after: Position | None, limit: int) -> PendingPage:
        """See OutboxStore."""
        return self._world.call(
            self._actor,
            "store.pending",
            lambda: self._outbox.pending(ref, after, limit),
            ref.subject,
        )

    def postpone(self, pending: PendingEvent) -> None:
        """See OutboxStore."""
        self._world.call(
            self._actor,
            "store.postpone",
            lambda: self._outbox.postpone(pending),
            pending.event.subject,
        )

    def close(self, event: DomainEvent, now: datetime) -> None:
        """See OutboxStore."""
        self._world.call(
            self._actor, "store.close", lambda: self._outbox.close(event, now), event.subject
        )

    def to_wake(
        self, shard: int, until: datetime, limit: int, after: Position | None
    ) -> DueSubjectPage:
        """See OutboxStore; an empty shard is no step."""
        found = self._outbox.to_wake(shard, until, limit, after)
        if not found.subjects and not self._world.faults.is_down("store"):
            return found
        return self._world.call(
            self._actor,
            "store.wake_events",
            lambda: self._outbox.to_wake(shard, until, limit, after),
            shard,
        )


class SteppedSink:
    """Implements Sink: the bus, or webhooks."""

    def __init__(self, world: World, actor: Actor, name: str) -> None:
        self._world = world
        self._actor = actor
        self.name = name

    def take(self, event: DomainEvent) -> None:
        """See Sink."""
        self._world.call(
            self._actor,
            "sink.take",
            lambda: self._world.invariants.taken(self._actor, self.name, event),
            (self.name, event.subject, event.sequence),
        )


class SteppedEffects:
    """Implements EffectStore and the foreign system, which records its effects."""

    def __init__(self, world: World, actor: Actor) -> None:
        self._world = world
        self._actor = actor
        self._store = world.effects

    def begin(
        self, lease: Lease, key: str, request: str, now: datetime, until: datetime
    ) -> EffectStarted | EffectUncertain | EffectDone:
        """See EffectStore."""
        begun = self._world.call(
            self._actor,
            "store.begin_effect",
            lambda: self._store.begin(lease, key, request, now, until),
            key,
        )
        self._world.counts["in doubt"] += isinstance(begun, EffectUncertain)
        return begun

    def finish(self, lease: Lease, key: str, result: Mapping[str, Any], now: datetime) -> None:
        """See EffectStore."""
        self._world.call(
            self._actor,
            "store.finish_effect",
            lambda: self._store.finish(lease, key, result, now),
            key,
        )

    def perform(self, key: str) -> Mapping[str, Any]:
        """Let the foreign system perform the effect; it would also perform it a second time."""

        def effect() -> None:
            self._world.invariants.performed(key)
            self._world.performed.add(key)

        self._world.call(self._actor, "foreign.perform", effect, key)
        return {"done": key}

    def reconcile(self, key: str) -> Mapping[str, Any] | None:
        """Return the effect's result if the foreign system has performed it, else None."""
        done = self._world.call(
            self._actor, "foreign.look", lambda: key in self._world.performed, key
        )
        return {"done": key} if done else None


class SteppedQueue:
    """Implements JobQueue."""

    def __init__(self, world: World, actor: Actor, post: Post, backlog: BacklogNow) -> None:
        self._world = world
        self._actor = actor
        self._post = post
        self._backlog = backlog

    def backlog(self, lane: Lane) -> Backlog:
        """See JobQueue; reading it changes nothing and is no step."""
        if self._world.faults.is_down("queue"):
            raise DependencyUnavailable("queue")
        return self._backlog()

    def send(self, lane: Lane, refs: Sequence[JobRef], delay_seconds: int = 0) -> None:
        """See JobQueue."""
        tries: list[None] = []

        def effect() -> None:
            if not tries:
                self._world.invariants.sent(self._actor, refs)
            tries.append(None)
            for ref in refs:
                self._post(ref, delay_seconds)

        subject = (*(ref.job_id for ref in refs), f"{delay_seconds} s")
        self._world.call(self._actor, "queue.send", effect, subject)


class _Change:
    """The subject of a transition in the trace."""

    def __init__(self, before: Job, after: Job) -> None:
        self._before = before
        self._after = after

    def __str__(self) -> str:
        return f"{self._before.id} {_state_of(self._before)} => {_state_of(self._after)}"


def _state_of(job: Job) -> str:
    return f"{job.status.value}/run {job.run}/fence {job.fence}/attempts {job.attempts}"
