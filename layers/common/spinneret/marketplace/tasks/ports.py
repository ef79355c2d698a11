"""Ports of the tasks."""

from collections.abc import Sequence
from typing import Protocol

from spinneret.jobs.models import Lease
from spinneret.marketplace.tasks.models import Task


class TaskStore(Protocol):
    """Tasks by tenant and job. Raises DependencyUnavailable."""

    def of_job(self, tenant: str, job_id: str) -> list[Task]:
        """Return a job's tasks by position."""

    def save(self, lease: Lease, tasks: Sequence[Task]) -> None:
        """Write these tasks, at most 90, atomically. Raises LeaseLost when the claim has ended."""

    def drop(self, lease: Lease, tasks: Sequence[Task]) -> None:
        """Remove tasks that a new plan doesn't contain. Raises LeaseLost."""
