"""Ports of the outbox: where events are stored, and the sinks that take them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from spinneret.outbox.models import DomainEvent, PendingEvent, SubjectRef

RelayEvents = Callable[[str, str], None]
"""Function (tenant, subject) that relays the subject's events after the commit; raises nothing."""
Position = Mapping[str, str]
"""End of a page; only the store that created it reads it."""


@dataclass(frozen=True, kw_only=True)
class PendingPage:
    """Pending events of a subject in order; no `after` on the last page."""

    events: tuple[PendingEvent, ...]
    after: Position | None


@dataclass(frozen=True, kw_only=True)
class DueSubjectPage:
    """Subjects of due events, oldest first; no `after` on the last page."""

    subjects: tuple[SubjectRef, ...]
    after: Position | None


class OutboxStore(Protocol):
    """Events that some sink still lacks. All methods raise DependencyUnavailable.

    Events are stored in the transactions of the changes that they report, not by this port.
    """

    def pending(self, ref: SubjectRef, after: Position | None, limit: int) -> PendingPage:
        """Return the subject's pending events by sequence, then type (consistent read)."""

    def postpone(self, pending: PendingEvent) -> None:
        """Store the time of the next try, the failures so far, and the sinks in `taken`.

        Sinks that were stored as taken remain taken. No-op for a finished event.
        """

    def close(self, event: DomainEvent, now: datetime) -> None:
        """Finish an event that every sink has; it is purged after OUTBOX_KEPT_SECONDS.

        No-op for a finished event.
        """

    def to_wake(
        self, shard: int, until: datetime, limit: int, after: Position | None
    ) -> DueSubjectPage:
        """Return the subjects of pending events of a shard with `due_at` up to `until`.

        Returns one entry per event, so that a page may repeat a subject. Eventually consistent: the
        page may contain finished events and lack new ones.
        """


class Sink(Protocol):
    """A destination of events: the bus, webhooks, live subscribers."""

    @property
    def name(self) -> str:
        """Name stored with every event that the sink has taken; must never change."""

    def take(self, event: DomainEvent) -> None:
        """Take an event; repeating it is harmless.

        Raises PermanentError for an event that it can never take. After any other exception it may
        take the event later.
        """
