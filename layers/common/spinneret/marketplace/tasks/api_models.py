"""Responses about tasks."""

from typing import Annotated, Any

from pydantic import Field

from spinneret.kernel.views import ListOf, Timestamp, View
from spinneret.marketplace.tasks.models import Reason, TaskStatus, TaskType


class TaskView(View):
    """A step of a marketplace job."""

    task_id: Annotated[str, Field(validation_alias="id")]
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
    created_at: Timestamp
    started_at: Timestamp | None
    completed_at: Timestamp | None


class TaskList(ListOf[TaskView]):
    """A page of tasks."""
