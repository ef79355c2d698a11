"""Responses about tasks."""

from typing import Any

from pydantic import BaseModel

from spinneret.kernel.clock import optional_stamp, to_iso
from spinneret.kernel.views import ListOf
from spinneret.marketplace.tasks.models import Reason, Task, TaskStatus, TaskType


class TaskView(BaseModel):
    """A step of a marketplace job."""

    task_id: str
    """Id of the step."""
    job_id: str
    """Id of the step's job."""
    position: int
    """Place of the step in its job, from 1."""
    task_type: TaskType
    """Kind of the step."""
    description: str
    """Description for people."""
    status: TaskStatus
    """State of the step."""
    reason: Reason | None
    """Reason why it waits or failed: `unsupported`, `needs_input`, `needs_reauth` or
    `reconciling`."""
    product_id: str | None
    """Id of the product; null if the step isn't about one."""
    platform: str
    """Name of the marketplace."""
    http_method: str | None
    """Method of the step's request; null without one."""
    path: str | None
    """Path of the step's request; null without one."""
    payload: dict[str, Any]
    """Input of the step, without secrets."""
    result: dict[str, Any] | None
    """Result of the step; null before its end."""
    retry_count: int
    """Number of failed attempts so far."""
    error_message: str | None
    """Reason for the last failure; null without one."""
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
