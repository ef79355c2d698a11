"""Values of scheduled audits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from spinneret.audits.request_headers import SealedHeaders


class ScheduleRef(NamedTuple):
    """Reference to a schedule."""

    tenant: str
    schedule_id: str


@dataclass(frozen=True, kw_only=True)
class AuditSchedule:
    """An audit that is submitted at the times of its cron line."""

    tenant: str
    id: str
    url: str
    recipe: str
    options: Mapping[str, int | tuple[str, ...]] = field(default_factory=dict)
    fail_under: float | None = None
    """Score below which an audit doesn't pass."""
    header_names: tuple[str, ...] = ()
    sealed_headers: bytes | None = field(default=None, repr=False)
    schedule_cron: str
    timezone: str
    is_active: bool
    created_at: datetime
    updated_at: datetime
    next_run_at: datetime | None
    """None while the schedule is inactive."""
    last_run_at: datetime | None = None
    last_audit_id: str | None = None
    last_error: str | None = None
    """Error code of the last run if no audit was submitted."""
    version: int = 1
    """Incremented by every change; the next change's condition."""

    @property
    def headers(self) -> SealedHeaders | None:
        """Encrypted request headers of each audit; None without any."""
        if self.sealed_headers is None:
            return None
        return SealedHeaders(names=self.header_names, data=self.sealed_headers)


@dataclass(frozen=True, kw_only=True)
class ScheduleTickResult:
    """Result of one pass."""

    submitted: int = 0
    skipped: int = 0
    """Number of schedules whose last audit is still running."""
    refused: int = 0
    left: int = 0
    """Number left for the next pass, as it failed."""
