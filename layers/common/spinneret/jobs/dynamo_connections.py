"""WebSocket connections on DynamoDB.

Jobs table
    pk `CONN#<id>`, sk `CONN`                        one connection: its tenant, the job that its
    ticket names, and the jobs that it watches
    pk `T#<tenant>#JOB#<id>`, sk `WATCH#<conn id>`   a watcher of a job; query by prefix
    attribute `watchers` of the job row              how many there are

The three change in one transaction. `purge_at` removes what a lost $disconnect left behind.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from spinneret.adapters import dynamo
from spinneret.adapters.aws import translated
from spinneret.jobs import keys
from spinneret.jobs.models import Connection, JobRef
from spinneret.kernel import limits
from spinneret.kernel.clock import epoch_seconds
from spinneret.kernel.errors import Conflict, NotFound
from spinneret.kernel.ids import is_id

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

_JOB: Final = 0
_WATCH: Final = 1
_CONNECTION: Final = 2


class DynamoConnectionStore:
    """Implements ConnectionStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def open(self, connection: Connection, now: datetime) -> None:
        """See ConnectionStore."""
        item: dict[str, Any] = {
            **keys.connection_key(connection.id),
            "tenant": connection.tenant,
            "purge_at": _purge_at(now),
        }
        if connection.only_job is not None:
            item["only_job"] = connection.only_job
        with translated("dynamodb"):
            self._client.put_item(TableName=self._table, Item=item)

    def find(self, connection_id: str) -> Connection | None:
        """See ConnectionStore."""
        with translated("dynamodb"):
            answer = self._client.get_item(
                TableName=self._table, Key=keys.connection_key(connection_id), ConsistentRead=True
            )
        item = answer.get("Item")
        if not item:
            return None
        return Connection(
            id=connection_id,
            tenant=str(item["tenant"]),
            only_job=str(item["only_job"]) if "only_job" in item else None,
            jobs=frozenset(item.get("jobs", ())),
        )

    def subscribe(self, connection_id: str, ref: JobRef, now: datetime) -> None:
        """See ConnectionStore."""
        if not is_id(ref.job_id):
            raise NotFound("no such job")
        watch = {**keys.watch_key(ref, connection_id), "purge_at": _purge_at(now)}
        room: dynamo.Condition = ("#watchers < :most", {":most": limits.WATCHERS_PER_JOB})
        few: dynamo.Condition = (
            "attribute_exists(#pk) AND (attribute_not_exists(#jobs) OR size(#jobs) < :most)",
            {":most": limits.JOBS_PER_CONNECTION},
        )
        writes = [
            dynamo.change(
                self._table, keys.job_key(ref), ("ADD #watchers :one", {":one": 1}), room
            ),
            dynamo.put(self._table, watch, ("attribute_not_exists(#pk)", {})),
            dynamo.change(
                self._table,
                keys.connection_key(connection_id),
                ("ADD #jobs :job", {":job": {ref.job_id}}),
                few,
            ),
        ]
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed as failed:
            if _WATCH in failed.standing:
                return
            if not failed.standing.get(_JOB, {"exists": True}):
                raise NotFound("no such job") from failed
            if not failed.standing.get(_CONNECTION, {"exists": True}):
                raise NotFound("the connection is closed") from failed
            raise Conflict("too many subscriptions") from failed

    def unsubscribe(self, connection_id: str, ref: JobRef) -> None:
        """See ConnectionStore."""
        exists: dynamo.Condition = ("attribute_exists(#pk)", {})
        writes = [
            dynamo.change(
                self._table, keys.job_key(ref), ("ADD #watchers :less", {":less": -1}), exists
            ),
            dynamo.delete(self._table, keys.watch_key(ref, connection_id), exists),
            dynamo.change(
                self._table,
                keys.connection_key(connection_id),
                ("DELETE #jobs :job", {":job": {ref.job_id}}),
                exists,
            ),
        ]
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed:
            return  # it wasn't subscribed, or the job or the connection is gone

    def close(self, connection_id: str) -> None:
        """See ConnectionStore."""
        connection = self.find(connection_id)
        if connection is None:
            return
        for job_id in sorted(connection.jobs):
            self.unsubscribe(connection_id, JobRef(tenant=connection.tenant, job_id=job_id))
        with translated("dynamodb"):
            self._client.delete_item(TableName=self._table, Key=keys.connection_key(connection_id))

    def watching(self, ref: JobRef) -> list[str]:
        """See ConnectionStore."""
        with translated("dynamodb"):
            answer = self._client.query(
                TableName=self._table,
                KeyConditionExpression="pk = :pk AND begins_with(sk, :watch)",
                ExpressionAttributeValues={
                    ":pk": keys.job_partition(ref),
                    ":watch": keys.WATCH_PREFIX,
                },
                ProjectionExpression="sk",
                Limit=limits.WATCHERS_PER_JOB,
            )
        return [str(item["sk"]).removeprefix(keys.WATCH_PREFIX) for item in answer["Items"]]


def _purge_at(now: datetime) -> int:
    return epoch_seconds(now + timedelta(seconds=limits.CONNECTION_SECONDS))
