"""Responses about tasks."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from spinneret.kernel.clock import optional_stamp, to_iso
from spinneret.kernel.views import ListOf
from spinneret.marketplace.tasks.models import Reason, Task, TaskStatus, TaskType


class TaskView(BaseModel):
    """A step of a marketplace job."""

    task_id: str
    job_id: str
    position: int
    task_type: TaskType
    description: str
    status: TaskStatus
    reason: Reason | None
    """Reason why it waits or failed: `unsupported`, `needs_input`, `needs_reauth` or
    `reconciling`."""
    product_id: str | None
    platform: str
    http_method: str | None
    path: str | None
    payload: dict[str, Any]
    result: dict[str, Any] | None
    retry_count: int
    error_message: str | None
    error_details: dict[str, Any]
    """Faulty fields with cause and remedy."""
    created_at: str
    started_at: str | None
    completed_at: str | None


class TaskList(ListOf[TaskView]):
    """A page of tasks."""


def task_view(task: Task) -> TaskView:
    """Return the view of a task."""
    return TaskView(
        task_id=task.id,
        job_id=task.job_id,
        position=task.position,
        task_type=task.task_type,
        description=task.description,
        status=task.status,
        reason=task.reason,
        product_id=task.product_id,
        platform=task.platform,
        http_method=task.http_method,
        path=task.path,
        payload=dict(task.payload),
        result=None if task.result is None else dict(task.result),
        retry_count=task.retry_count,
        error_message=task.error_message,
        error_details=dict(task.error_details),
        created_at=to_iso(task.created_at),
        started_at=optional_stamp(task.started_at),
        completed_at=optional_stamp(task.completed_at),
    )
