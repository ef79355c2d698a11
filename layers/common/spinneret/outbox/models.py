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
