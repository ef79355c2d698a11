"""Tasks on DynamoDB.

Marketplace table
    pk `T#<tenant>#TASKS#<job id>`, sk `<position, three digits>`   a task; sorted within its job

Every write checks the fence of its claim. `purge_at` is DynamoDB's TTL.
"""

from collections.abc import Sequence
from typing import Final

from spinneret.aws import dynamo
from spinneret.aws.codec import JSON, Codec, Column, tenant_of
from spinneret.aws.dynamo import Item
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient
from spinneret.jobs.dynamo import transact_under_lease
from spinneret.jobs.models import Lease
from spinneret.kernel import bounds
from spinneret.kernel.clock import epoch_seconds
from spinneret.kernel.ids import is_id
from spinneret.marketplace.tasks.models import Task


class DynamoTaskStore(DynamoAdapter):
    """Implements TaskStore."""

    def __init__(self, client: DynamoDBClient, table: str, jobs_table: str) -> None:
        super().__init__(client, table)
        self._rows = Table(client, table, TASKS)
        self._jobs = jobs_table

    def of_job(self, tenant: str, job_id: str) -> list[Task]:
        if not is_id(job_id):
            return []
        return self._rows.query_all("pk = :pk", {":pk": _partition(tenant, job_id)})

    def save(self, lease: Lease, tasks: Sequence[Task]) -> None:
        transact_under_lease(
            self._client, self._jobs, lease, [self._rows.put_write(task) for task in tasks]
        )

    def drop(self, lease: Lease, tasks: Sequence[Task]) -> None:
        drops = [dynamo.delete(self._table, TASKS.key(task)) for task in tasks]
        transact_under_lease(self._client, self._jobs, lease, drops)


def _partition(tenant: str, job_id: str) -> str:
    return f"T#{tenant}#TASKS#{job_id}"


def _purge_at(task: Task) -> Item:
    times = (task.created_at, task.started_at, task.completed_at, task.unsettled_since)
    last = max(each for each in times if each is not None)
    return {"purge_at": epoch_seconds(last) + bounds.JOB_ROWS_SECONDS}


TASKS: Final = Codec(
    Task,
    key=lambda task: {"pk": _partition(task.tenant, task.job_id), "sk": f"{task.position:03}"},
    keyed=("tenant", "job_id", "position"),
    from_key=lambda item: {
        "tenant": tenant_of(item),
        "job_id": item["pk"].split("#", 3)[3],
        "position": item["sk"],
    },
    columns={
        "key": Column(attribute="step"),
        "payload": JSON,
        "result": JSON,
        "error_details": JSON,
    },
    derived=_purge_at,
)
