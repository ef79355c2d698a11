"""Domain events: changes in one domain that others may subscribe to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from spinneret.kernel.canonical import fingerprint


@dataclass(frozen=True, kw_only=True)
class DomainEvent:
    """One event of one subject of one tenant.

    The id follows from tenant, subject, sequence and type. It stays the same when a change is
    written again or an event is sent again, so that receivers can recognise repetitions.
    """

    tenant: str
    type: str
    """Event type that a domain declares, such as `crawl.completed`."""
    subject: str
    """Id of the subject, such as a job or a target; contains no `#`."""
    sequence: int
    """Rises with every change of the subject, so that it orders the subject's events. The version
    of the subject's row can be used."""
    occurred_at: datetime
    data: Mapping[str, Any]
    """JSON data that the tenant may see; without secrets."""
    targets: tuple[str, ...] = field(default=(), repr=False)
    """Webhooks of this subject only (see `Job.notify`), in addition to the tenant's endpoints that
    subscribe to the type."""

    @property
    def id(self) -> str:
        """Return `evt_` and 32 hexadecimal digits."""
        named = [self.tenant, self.subject, self.sequence, self.type]
        return f"evt_{fingerprint(named)[:32]}"


@dataclass(frozen=True, kw_only=True)
class SubjectRef:
    """Reference to the subject of events; all its events are relayed in one order."""

    tenant: str
    subject: str


@dataclass(frozen=True, kw_only=True)
class PendingEvent:
    """A stored event that not every sink has taken, and the state of its delivery."""

    event: DomainEvent
    due_at: datetime
    """Time at which the sweep looks at it and retries the failed sinks."""
    taken: frozenset[str] = frozenset()
    """Names of the sinks that have it."""
    tries: int = 0
    """Number of tries that began and didn't end: their process died, or couldn't store the end."""
    failing_since: datetime | None = None
    """Time of the first failure of a sink, at this event or at the earlier one that it waits
    for."""

    @property
    def ref(self) -> SubjectRef:
        """Reference to its subject."""
        return SubjectRef(tenant=self.event.tenant, subject=self.event.subject)
