"""Values of scheduled audits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class AuditSchedule:
    """An audit that is submitted whenever its cron line says."""

    tenant: str
    id: str
    url: str
    recipe: str
    options: Mapping[str, int] = field(default_factory=dict)
    schedule_cron: str
    timezone: str
    is_active: bool
    created_at: datetime
    updated_at: datetime
    next_run_at: datetime | None
    """None while it isn't active."""
    last_run_at: datetime | None = None
    last_audit_id: str | None = None
    last_error: str | None = None
    """Why the last run was no audit."""
    version: int = 1
    """Goes up by one with every change; the condition of the next one."""


@dataclass(frozen=True, kw_only=True)
class ScheduleTickResult:
    """What one pass did."""

    submitted: int = 0
    skipped: int = 0
    """Their last audit is under way."""
    refused: int = 0
    left: int = 0
    """For the next pass: a part of ours didn't answer."""
