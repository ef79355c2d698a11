"""Tasks on DynamoDB.

Marketplace table
    pk `T#<tenant>#TASKS#<job id>`, sk `<position, three digits>`   a task; a job's in their order

Every write carries the fence of the claim that makes it. `purge_at` is DynamoDB's TTL.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from spinneret.aws import dynamo
from spinneret.aws.clients import translated
from spinneret.jobs.dynamo import lease_check
from spinneret.jobs.models import Lease
from spinneret.kernel import bounds
from spinneret.kernel.canonical import json_text
from spinneret.kernel.clock import (
    epoch_seconds,
    optional_stamp,
    parse_optional_stamp,
    parse_stamp,
    stamp,
)
from spinneret.kernel.errors import LeaseLost
from spinneret.kernel.ids import is_id
from spinneret.marketplace.tasks.models import Reason, Task, TaskStatus, TaskType

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import TransactWriteItemTypeDef


class DynamoTaskStore:
    """Implements TaskStore."""

    def __init__(self, client: DynamoDBClient, table: str, jobs_table: str) -> None:
        self._client = client
        self._table = table
        self._jobs = jobs_table

    def of_job(self, tenant: str, job_id: str) -> list[Task]:
        """See TaskStore."""
        if not is_id(job_id):
            return []
        with translated("dynamodb"):
            answer = self._client.query(
                TableName=self._table,
                KeyConditionExpression="pk = :pk",
                ExpressionAttributeValues={":pk": _partition(tenant, job_id)},
                ConsistentRead=True,
            )
        return [_task(tenant, job_id, item) for item in answer["Items"]]

    def get(self, tenant: str, job_id: str, position: int) -> Task | None:
        """See TaskStore."""
        key = {"pk": _partition(tenant, job_id), "sk": f"{position:03}"}
        with translated("dynamodb"):
            answer = self._client.get_item(TableName=self._table, Key=key, ConsistentRead=True)
        found = answer.get("Item")
        return _task(tenant, job_id, found) if found else None

    def save(self, lease: Lease, tasks: Sequence[Task]) -> None:
        """See TaskStore."""
        self._write(lease, [dynamo.put(self._table, _item(task)) for task in tasks])

    def drop(self, lease: Lease, tasks: Sequence[Task]) -> None:
        """See TaskStore."""
        always: dynamo.Condition = ("attribute_exists(#pk)", {})
        self._write(
            lease,
            [
                dynamo.delete(
                    self._table,
                    {"pk": _partition(task.tenant, task.job_id), "sk": f"{task.position:03}"},
                    always,
                )
                for task in tasks
            ],
        )

    def _write(self, lease: Lease, writes: list[TransactWriteItemTypeDef]) -> None:
        try:
            dynamo.transact(self._client, [lease_check(self._jobs, lease), *writes])
        except dynamo.ConditionFailed as failed:
            raise LeaseLost(f"job {lease.job_id} has moved on") from failed


def _partition(tenant: str, job_id: str) -> str:
    return f"T#{tenant}#TASKS#{job_id}"


def _item(task: Task) -> dict[str, Any]:
    kept = {
        "pk": _partition(task.tenant, task.job_id),
        "sk": f"{task.position:03}",
        "step": task.key,
        "task_type": task.task_type.value,
        "description": task.description,
        "platform": task.platform,
        "product_id": task.product_id,
        "http_method": task.http_method,
        "path": task.path,
        "payload": json_text(task.payload),
        "digest": task.digest,
        "status": task.status.value,
        "reason": task.reason.value if task.reason else None,
        "result": None if task.result is None else json_text(task.result),
        "retry_count": task.retry_count,
        "error_message": task.error_message,
        "error_details": json_text(task.error_details),
        "created_at": stamp(task.created_at),
        "started_at": optional_stamp(task.started_at),
        "completed_at": optional_stamp(task.completed_at),
        "purge_at": epoch_seconds(
            task.created_at + timedelta(seconds=bounds.JOB_RETENTION_SECONDS)
        ),
    }
    return {name: value for name, value in kept.items() if value is not None}


def _task(tenant: str, job_id: str, item: dict[str, Any]) -> Task:
    reason, result = item.get("reason"), item.get("result")
    return Task(
        tenant=tenant,
        job_id=job_id,
        position=int(item["sk"]),
        key=item["step"],
        task_type=TaskType(item["task_type"]),
        description=item["description"],
        platform=item["platform"],
        product_id=item.get("product_id"),
        http_method=item.get("http_method"),
        path=item.get("path"),
        payload=json.loads(item["payload"]),
        digest=item["digest"],
        status=TaskStatus(item["status"]),
        reason=None if reason is None else Reason(reason),
        result=None if result is None else json.loads(result),
        retry_count=int(item["retry_count"]),
        error_message=item.get("error_message"),
        error_details=json.loads(item["error_details"]),
        created_at=parse_stamp(item["created_at"]),
        started_at=parse_optional_stamp(item.get("started_at")),
        completed_at=parse_optional_stamp(item.get("completed_at")),
    )
