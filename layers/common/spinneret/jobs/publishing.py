"""Job store that publishes its writes after the commit.

The inner store publishes nothing. Timeline pushes are immediate and best effort. The event of an
end is already in the outbox; it is relayed here so that it needn't wait for a sweep.
"""

from collections.abc import Sequence
from dataclasses import replace

from spinneret.jobs.models import ChildCounts, Job, JobEvent, Lease
from spinneret.jobs.ports import Holder, JobStore, Listener, Reopening


class PublishingJobStore:
    """Implements JobStore over another one, and calls the listeners after its transitions.

    The other methods come from the inner store.
    """

    def __init__(self, store: JobStore, *listeners: Listener) -> None:
        self._store = store
        self._listeners = list(listeners)
        self.get = store.get
        self.find_reply = store.find_reply
        self.find_duplicates = store.find_duplicates
        self.submit = store.submit
        self.claim = store.claim
        self.held_since = store.held_since
        self.amend = store.amend
        self.add_children = store.add_children
        self.plan = store.plan
        self.child_counts = store.child_counts
        self.children = store.children
        self.to_wake = store.to_wake
        self.to_resend = store.to_resend
        self.page = store.page
        self.events = store.events

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
        parent: Job | None = None,
    ) -> int:
        watchers = self._store.transition(
            before, after, events, lease=lease, counted=counted, parent=parent
        )
        self._publish(replace(after, watchers=watchers), events)
        return watchers

    def begin_run(
        self,
        before: Job,
        after: Job,
        event: JobEvent,
        holder: Holder | None,
        parent: Reopening | Job | None = None,
    ) -> None:
        self._store.begin_run(before, after, event, holder, parent)
        self._publish(after, [event])
        if isinstance(parent, Reopening):
            self._publish(parent.after, [parent.event])

    def _publish(self, job: Job, events: Sequence[JobEvent]) -> None:
        for listener in self._listeners if events else ():
            listener(job, events)
