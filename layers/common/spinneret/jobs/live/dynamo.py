"""WebSocket connections on DynamoDB.

Jobs table
    pk `CONN#<id>`, sk `CONN`                        one connection: its tenant, its key and when
    that ends, the job of its ticket, the jobs that it subscribes to, and whether it is `closing`
    pk `T#<tenant>#KEY#<key id>#CONNS`, sk `<conn id>`   a connection of a key; query by partition
    pk `T#<tenant>#JOB#<id>`, sk `SUBSCRIBER#<conn id>`   a subscriber of a job; query by prefix
    attribute `watchers` of the job row              how many there are

A connection, its subscription and the count change in one transaction. `purge_at` removes what a
lost $disconnect left behind.
"""

from contextlib import suppress
from datetime import datetime
from typing import Final

from spinneret.aws import dynamo
from spinneret.aws.reads import page_of
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient
from spinneret.jobs import keys, limits
from spinneret.jobs.live import items
from spinneret.jobs.models import Connection, JobRef, Subscriber
from spinneret.kernel import bounds
from spinneret.kernel.errors import Conflict, NotFound
from spinneret.kernel.ids import is_id

_JOB: Final = 0
_SUBSCRIPTION: Final = 1
_CONNECTION: Final = 2
_ROUNDS: Final = 3  # a recount, and a second one if a subscription raced the first
_OPEN_WITH_ROOM: Final = (
    "attribute_exists(#pk) AND attribute_not_exists(#closing)"
    " AND (attribute_not_exists(#jobs) OR size(#jobs) < :most)"
)


class DynamoConnectionStore(DynamoAdapter):
    """Implements ConnectionStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        super().__init__(client, table)
        self._subscribers = Table(client, table, items.SUBSCRIBERS)

    def open(self, connection: Connection, now: datetime) -> None:
        """See ConnectionStore. Writes both rows or none, so that no connection outlives its key."""
        writes = [
            dynamo.put(self._table, items.connection_item(connection, now)),
            dynamo.put(self._table, items.opened_item(connection, now)),
        ]
        dynamo.transact(self._client, writes)

    def find(self, connection_id: str) -> Connection | None:
        item = dynamo.get(self._client, self._table, keys.connection_key(connection_id))
        if not item or "closing" in item:
            return None
        return items.CONNECTIONS.decode(item)

    def subscribe(self, connection: Connection, ref: JobRef, now: datetime) -> None:
        if not is_id(ref.job_id):
            raise NotFound("no such job")
        room: dynamo.Condition = ("#watchers < :most", {":most": bounds.SUBSCRIBERS_PER_JOB})
        few: dynamo.Condition = (_OPEN_WITH_ROOM, {":most": limits.JOBS_PER_CONNECTION})
        writes = [
            dynamo.change(
                self._table, keys.job_key(ref), ("ADD #watchers :one", {":one": 1}), room
            ),
            dynamo.put(
                self._table,
                items.subscriber_item(ref, connection, now),
                dynamo.ABSENT,
            ),
            dynamo.change(
                self._table,
                keys.connection_key(connection.id),
                ("ADD #jobs :job", {":job": {ref.job_id}}),
                few,
            ),
        ]
        for _ in range(_ROUNDS):
            try:
                dynamo.transact(self._client, writes)
            except dynamo.ConditionFailed as failed:
                if not self._recounted(ref, failed):
                    return _raise_unless_subscribed(failed)
            else:
                return None
        raise Conflict("too many subscriptions")

    def _recounted(self, ref: JobRef, failed: dynamo.ConditionFailed) -> bool:
        """Recount the subscribers; return whether there is room. Purged rows of lost clients were
        not subtracted.
        """
        job = failed.standing.get(_JOB)
        if not job or set(failed.standing) != {_JOB}:
            return False
        number = len(self.subscribers(ref))
        if number >= job["watchers"]:
            return False
        counted = dynamo.update(
            self._table,
            keys.job_key(ref),
            {"watchers": number},
            dynamo.equals(watchers=job["watchers"]),
        )
        with suppress(dynamo.ConditionFailed):  # a subscription changed; the next try reads it
            dynamo.transact(self._client, [counted])
        return True

    def subscribe_to_events(self, connection: Connection, ref: JobRef, now: datetime) -> None:
        """See ConnectionStore. The subscriber limit isn't exact, since no row counts them."""
        if not is_id(ref.job_id):
            raise NotFound("no such subject")
        if len(self.subscribers(ref)) >= bounds.SUBSCRIBERS_PER_JOB:
            raise Conflict("too many subscriptions")
        few: dynamo.Condition = (_OPEN_WITH_ROOM, {":most": limits.JOBS_PER_CONNECTION})
        writes = [
            dynamo.check(self._table, keys.job_key(ref), dynamo.ABSENT),
            dynamo.put(self._table, items.subscriber_item(ref, connection, now), dynamo.ABSENT),
            dynamo.change(
                self._table,
                keys.connection_key(connection.id),
                ("ADD #jobs :job", {":job": {ref.job_id}}),
                few,
            ),
        ]
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed as failed:
            if _JOB in failed.standing:
                raise Conflict("a job is subscribed to by its job_id") from failed
            _raise_unless_subscribed(failed)

    def unsubscribe(self, connection_id: str, ref: JobRef) -> None:
        if not is_id(ref.job_id):
            return
        uncounted = dynamo.change(
            self._table, keys.job_key(ref), ("ADD #watchers :less", {":less": -1}), dynamo.PRESENT
        )
        writes = [
            dynamo.delete(self._table, keys.subscriber_key(ref, connection_id), dynamo.PRESENT),
            dynamo.change(
                self._table,
                keys.connection_key(connection_id),
                ("DELETE #jobs :job", {":job": {ref.job_id}}),
                dynamo.PRESENT,
            ),
        ]
        try:
            dynamo.transact(self._client, [uncounted, *writes])
        except dynamo.ConditionFailed as failed:
            if failed.standing.get(_JOB) != {}:
                return  # it wasn't subscribed, or the connection is gone
            with suppress(dynamo.ConditionFailed):  # same as above
                dynamo.transact(
                    self._client, writes
                )  # no job: the subject of events, which has no count

    def close(self, connection_id: str) -> None:
        """See ConnectionStore. An interrupted call can be repeated."""
        connection = self._closing(connection_id)
        if connection is None:
            return
        for job_id in sorted(connection.jobs):
            self.unsubscribe(connection_id, JobRef(tenant=connection.tenant, job_id=job_id))
        for place in (keys.opened_key(connection), keys.connection_key(connection_id)):
            dynamo.delete_item(self._client, self._table, place)

    def opened_with(self, tenant: str, key_id: str, after: str | None, limit: int) -> list[str]:
        partition = keys.opened_partition(tenant, key_id)
        page = page_of(self._client, self._table, partition, after, limit)
        return [str(item["sk"]) for item in page.items]

    def subscribers(self, ref: JobRef) -> list[Subscriber]:
        return self._subscribers.query_all(
            "pk = :pk AND begins_with(sk, :prefix)",
            {":pk": keys.job_partition(ref), ":prefix": keys.SUBSCRIBER_PREFIX},
            bounds.SUBSCRIBERS_PER_JOB,
        )

    def _closing(self, connection_id: str) -> Connection | None:
        """Mark the connection as closing, so that it accepts no subscriptions; return None if
        unknown.
        """
        row, close = keys.connection_key(connection_id), "SET #closing = :yes"
        condition = "attribute_exists(#pk)"
        closing = dynamo.update_if(self._client, self._table, row, close, {":yes": True}, condition)
        return None if closing is None else items.CONNECTIONS.decode(closing)


def _raise_unless_subscribed(failed: dynamo.ConditionFailed) -> None:
    """Raise the reason of a refused subscription; return if it already exists."""
    connection = failed.standing.get(_CONNECTION, {"exists": True})
    if not connection or "closing" in connection:
        raise NotFound("the connection is closed") from failed
    if _SUBSCRIPTION in failed.standing:
        return
    if not failed.standing.get(_JOB, {"exists": True}):
        raise NotFound("no such job") from failed
    raise Conflict("too many subscriptions") from failed
