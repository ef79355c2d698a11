"""Job store that publishes its writes after the commit.

The inner store publishes nothing. Timeline pushes are immediate and best effort. The event of an
end is already in the outbox; it is relayed here so that it needn't wait for a sweep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from spinneret.jobs.models import (
    ChildCounts,
    Job,
    JobEvent,
    JobFilter,
    JobRef,
    JobStatus,
    Lease,
    Reply,
    RequestKey,
    StoredReply,
)
from spinneret.jobs.ports import (
    Claimed,
    DuePage,
    DuePosition,
    Holder,
    JobStore,
    Listener,
    NewJob,
    Refused,
    Reopening,
    ResendShard,
)
from spinneret.kernel.paging import Page


class PublishingJobStore:
    """Implements JobStore over another one, and calls the listeners after its transitions."""

    def __init__(self, store: JobStore, *listeners: Listener) -> None:
        self._store = store
        self._listeners = list(listeners)

    def listen(self, listener: Listener) -> None:
        """Add a listener; for listeners that themselves write to this store."""
        self._listeners.append(listener)

    def transition(
        self,
        before: Job,
        after: Job,
        events: Sequence[JobEvent] = (),
        *,
        lease: Lease | None = None,
        counted: Sequence[ChildCounts] = (),
    ) -> int:
        """See JobStore."""
        watchers = self._store.transition(before, after, events, lease=lease, counted=counted)
        self._publish(replace(after, watchers=watchers), events)
        return watchers

    def begin_run(
        self,
        before: Job,
        after: Job,
        event: JobEvent,
        holder: Holder | None,
        parent: Reopening | None = None,
    ) -> None:
        """See JobStore."""
        self._store.begin_run(before, after, event, holder, parent)
        self._publish(after, [event])
        if parent is not None:
            self._publish(parent.after, [parent.event])

    def _publish(self, job: Job, events: Sequence[JobEvent]) -> None:
        for listener in self._listeners if events else ():
            listener(job, events)

    # ------------------------------------------------------------ Passed through

    def get(self, ref: JobRef) -> Job | None:
        """See JobStore."""
        return self._store.get(ref)

    def find_reply(self, key: RequestKey, now: datetime) -> StoredReply | None:
        """See JobStore."""
        return self._store.find_reply(key, now)

    def find_duplicates(self, tenant: str, keys: Sequence[str]) -> dict[str, str]:
        """See JobStore."""
        return self._store.find_duplicates(tenant, keys)

    def submit(
        self,
        jobs: Sequence[NewJob],
        events: Sequence[JobEvent],
        request: RequestKey | None,
        reply: Reply,
        now: datetime,
    ) -> None:
        """See JobStore."""
        self._store.submit(jobs, events, request, reply, now)

    def claim(self, ref: JobRef, owner: str, now: datetime, until: datetime) -> Claimed | Refused:
        """See JobStore."""
        return self._store.claim(ref, owner, now, until)

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
        self._store.add_children(before, after, children, events, lease=lease)

    def plan(self, parent: JobRef, number: int) -> str | None:
        """See JobStore."""
        return self._store.plan(parent, number)

    def child_counts(self, parent: JobRef, shards: Sequence[int]) -> list[ChildCounts]:
        """See JobStore."""
        return self._store.child_counts(parent, shards)

    def children(
        self, parent: JobRef, statuses: Sequence[JobStatus], after: str | None, limit: int
    ) -> Page[JobRef]:
        """See JobStore."""
        return self._store.children(parent, statuses, after, limit)

    def to_wake(
        self, shard: int, until: datetime, limit: int, after: DuePosition | None = None
    ) -> DuePage:
        """See JobStore."""
        return self._store.to_wake(shard, until, limit, after)

    def to_resend(
        self,
        resend: ResendShard,
        until: datetime,
        limit: int,
        after: DuePosition | None = None,
    ) -> DuePage:
        """See JobStore."""
        return self._store.to_resend(resend, until, limit, after)

    def page(self, tenant: str, wanted: JobFilter, after: str | None, limit: int) -> Page[Job]:
        """See JobStore."""
        return self._store.page(tenant, wanted, after, limit)

    def events(self, ref: JobRef, after: str | None, limit: int) -> list[JobEvent]:
        """See JobStore."""
        return self._store.events(ref, after, limit)
