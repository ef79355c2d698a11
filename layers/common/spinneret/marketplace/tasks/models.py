"""Data types of tasks."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

_TASK_ID: Final = re.compile(r"task_([0-9a-f]{32})-([0-9]{3})")


class TaskStatus(StrEnum):
    """State of a task; `reason` explains waits and failures."""

    PENDING = "pending"
    PROCESSING = "processing"
    SUCCESS = "success"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"


class TaskType(StrEnum):
    """Target of a task's calls."""

    PLUGIN_HTTP = "plugin_http"
    DIRECT_HTTP = "direct_http"
    DB_OPERATION = "db_operation"
    FILE_OPERATION = "file_operation"


class Reason(StrEnum):
    """Reason why a task waits or failed, unless the status shows it."""

    UNSUPPORTED = "unsupported"
    NEEDS_INPUT = "needs_input"
    NEEDS_REAUTH = "needs_reauth"
    RECONCILING = "reconciling"
    """An earlier call may have succeeded: the marketplace is checked before anything is done."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One step of a marketplace job."""

    tenant: str
    job_id: str
    position: int
    key: str
    """Key of the step within its job."""
    task_type: TaskType
    description: str
    platform: str
    product_id: str | None
    http_method: str | None = None
    path: str | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""
    """Digest of the step's inputs; a success counts only while it is unchanged."""
    status: TaskStatus = TaskStatus.PENDING
    reason: Reason | None = None
    result: Mapping[str, Any] | None = None
    unsettled_since: datetime | None = None
    """Time since which it repeats after read-backs; None if it doesn't."""
    retry_count: int = 0
    error_message: str | None = None
    error_details: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime
    started_at: datetime | None = None
    completed_at: datetime | None = None

    @property
    def id(self) -> str:
        """Id that combines job and position."""
        return f"task_{self.job_id.removeprefix('job_')}-{self.position:03}"


def place_of(task_id: str) -> tuple[str, int] | None:
    """Return job and position of a task's id; None for anything else."""
    found = _TASK_ID.fullmatch(task_id)
    return (f"job_{found[1]}", int(found[2])) if found else None
