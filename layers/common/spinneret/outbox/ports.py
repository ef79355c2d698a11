"""Ports of the outbox: where events are stored, and the sinks that take them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from spinneret.outbox.models import DomainEvent, PendingEvent, SubjectRef

Position = Mapping[str, str]
"""Where a page ended; only the store that made it reads it."""


@dataclass(frozen=True, kw_only=True)
class PendingPage:
    """Pending events of a subject in order; no `after` on the last page."""

    events: tuple[PendingEvent, ...]
    after: Position | None


@dataclass(frozen=True, kw_only=True)
class DueSubjectPage:
    """Subjects of events whose time has come, oldest first; no `after` on the last page."""

    subjects: tuple[SubjectRef, ...]
    after: Position | None


class OutboxStore(Protocol):
    """Events that are not yet handed on. All methods raise DependencyUnavailable.

    Events get into it in the transactions of the changes that they report, not by this port.
    """

    def pending(self, ref: SubjectRef, after: Position | None, limit: int) -> PendingPage:
        """The subject's pending events by sequence, then type; read consistently."""
        ...

    def postpone(self, pending: PendingEvent) -> None:
        """Store when it is tried next, its failures so far, and the sinks in `taken`.

        Sinks that were stored as taken stay so. Harmless for an event that is handed on.
        """
        ...

    def close(self, event: DomainEvent, now: datetime) -> None:
        """Every sink has it: it is pending no more, and purged after OUTBOX_KEPT_SECONDS.

        Harmless for an event that is handed on already.
        """
        ...

    def to_wake(
        self, shard: int, until: datetime, limit: int, after: Position | None
    ) -> DueSubjectPage:
        """The subjects of pending events of a shard whose `due_at` is `until` or before.

        One entry an event, so that a page may name a subject several times. Eventually consistent:
        it may name events that were handed on, and not yet name others.
        """
        ...


class Sink(Protocol):
    """A place that events go to: the bus, webhooks, live subscribers."""

    @property
    def name(self) -> str:
        """Stored with every event that it has taken: never renamed."""
        ...

    def take(self, event: DomainEvent) -> None:
        """Take it; an event that it took before is harmless.

        Raises PermanentError for an event that it can never take; any other exception says that it
        may take it later.
        """
        ...
