"""The outbox in memory, and sinks that record events and fail on request."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from spinneret.outbox import items
from spinneret.outbox.models import DomainEvent, PendingEvent, SubjectRef
from spinneret.outbox.ports import DueSubjectPage, PendingPage, Position

_Key = tuple[str, str]


class FakeOutboxStore:
    """Implements OutboxStore; `write` replaces the transaction of a change."""

    def __init__(self) -> None:
        self.rows: dict[_Key, PendingEvent] = {}
        self.closed: dict[_Key, DomainEvent] = {}

    def write(self, event: DomainEvent) -> None:
        """Store an event, as `event_write` does in a transaction."""
        event = items.PENDING.decode(items.new_item(event)).event
        key = _key_of(event)
        self.closed.pop(key, None)
        self.rows[key] = PendingEvent(event=event, due_at=items.first_due(event))

    def pending(self, ref: SubjectRef, after: Position | None, limit: int) -> PendingPage:
        """See OutboxStore."""
        partition = items.subject_partition(ref)
        first = after["sk"] if after else ""
        keys = sorted(sk for pk, sk in self.rows if pk == partition and sk > first)
        page, rest = keys[:limit], keys[limit:]
        return PendingPage(
            events=tuple(self.rows[partition, sk] for sk in page),
            after={"sk": page[-1]} if rest else None,
        )

    def postpone(self, pending: PendingEvent) -> None:
        """See OutboxStore."""
        key = _key_of(pending.event)
        stored = self.rows.get(key)
        if stored is not None:
            self.rows[key] = replace(pending, taken=stored.taken | pending.taken)

    def close(self, event: DomainEvent, now: datetime) -> None:
        """See OutboxStore."""
        key = _key_of(event)
        if self.rows.pop(key, None):
            self.closed[key] = event

    def to_wake(
        self, shard: int, until: datetime, limit: int, after: Position | None
    ) -> DueSubjectPage:
        """See OutboxStore."""
        due = sorted(
            (row.due_at, *key, row.ref)
            for key, row in self.rows.items()
            if items.wake_shard(row.ref) == shard and row.due_at <= until
        )
        position = (after["at"], after["pk"], after["sk"]) if after else ("", "", "")
        found = [each for each in due if (each[0].isoformat(), each[1], each[2]) > position]
        page, rest = found[:limit], found[limit:]
        last = page[-1] if rest else None
        return DueSubjectPage(
            subjects=tuple(ref for *_, ref in page),
            after={"at": last[0].isoformat(), "pk": last[1], "sk": last[2]} if last else None,
        )


class FakeSink:
    """Implements Sink; `refuse` returns the error that `take` raises for an event, or None."""

    def __init__(
        self, name: str, refuse: Callable[[DomainEvent], Exception | None] = lambda _: None
    ) -> None:
        self.name = name
        self.refuse = refuse
        self.took: list[DomainEvent] = []
        self.asked: Counter[str] = Counter()

    def take(self, event: DomainEvent) -> None:
        """See Sink."""
        self.asked[event.id] += 1
        error = self.refuse(event)
        if error is not None:
            raise error
        self.took.append(event)

    @property
    def first_sights(self) -> list[DomainEvent]:
        """Return the events without repetitions, in the order of their first arrival."""
        by_id: dict[str, DomainEvent] = {}
        for event in self.took:
            by_id.setdefault(event.id, event)
        return list(by_id.values())


def _key_of(event: DomainEvent) -> _Key:
    key = items.event_key(event)
    return key["pk"], key["sk"]
