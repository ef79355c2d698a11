"""Domain events: what happened in one domain that others may want to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from spinneret.kernel.canonical import fingerprint


@dataclass(frozen=True, kw_only=True)
class DomainEvent:
    """One thing that happened to one subject of one tenant.

    Its id follows from tenant, subject, sequence and type: a change that is written again, or an
    event that is handed on again, keeps it, so that receivers can tell repetitions.
    """

    tenant: str
    type: str
    """A name that a domain declares, such as `crawl.completed`."""
    subject: str
    """The id of what it is about: a job, a target; without `#`."""
    sequence: int
    """Rises with every change of the subject; of two events of one subject the higher happened
    later. The version that the subject's row has anyway will do."""
    occurred_at: datetime
    data: Mapping[str, Any]
    """What the tenant may see of it, JSON; without secrets."""
    targets: tuple[str, ...] = field(default=(), repr=False)
    """Webhooks of this one subject (as `Job.notify` has them), beside the tenant's endpoints that
    subscribe to the type."""

    @property
    def id(self) -> str:
        """`evt_` and 32 hexadecimal digits."""
        named = [self.tenant, self.subject, self.sequence, self.type]
        return f"evt_{fingerprint(named)[:32]}"


@dataclass(frozen=True, kw_only=True)
class SubjectRef:
    """Names the subject of events; all its events are handed on in one order."""

    tenant: str
    subject: str


@dataclass(frozen=True, kw_only=True)
class PendingEvent:
    """A stored event that not every sink has taken, and what became of it so far."""

    event: DomainEvent
    due_at: datetime
    """When the sweep looks at it, and the sinks that failed are tried next."""
    taken: frozenset[str] = frozenset()
    """The names of the sinks that have it."""
    tries: int = 0
    """Passes in which a sink failed at it."""
    failing_since: datetime | None = None
    """When a sink first failed at it, or at an earlier event of its subject that it waits for."""

    @property
    def ref(self) -> SubjectRef:
        """Its subject."""
        return SubjectRef(tenant=self.event.tenant, subject=self.event.subject)
