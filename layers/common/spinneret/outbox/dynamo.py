"""The outbox on DynamoDB.

Events table
    pk `T#<tenant>#SUBJECT#<subject>`, sk `<sequence, 20 digits>#<type>`   one event
    local index `pending`: pk, sk `pending` (the event's sk), sparse: the events of a subject that
    not every sink has, in order. Only a local index supports consistent reads; rows of finished
    events aren't read.
    index `wake`: pk `wake_shard` (`WAKE#0` … `WAKE#7`, by subject), sk `wake_at`, keys only,
    sparse: the same events by the time at which the sweep looks at them. Query: wake_at <= now.

`purge_at` (epoch seconds), DynamoDB's TTL attribute, is set once every sink has an event. `taken`
is a set that only grows while an event is pending, so that two processes that relay it at once
lose nothing of each other's.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from spinneret.aws import dynamo
from spinneret.aws.reads import fill
from spinneret.aws.table import DynamoAdapter
from spinneret.aws.types import TransactWriteItemTypeDef
from spinneret.kernel.clock import optional_stamp, to_iso
from spinneret.outbox import items
from spinneret.outbox.models import DomainEvent, PendingEvent, SubjectRef
from spinneret.outbox.ports import DueSubjectPage, PendingPage, Position

_IS_PENDING: Final = "attribute_exists(#pending)"
_POSTPONE: Final = "SET #tries = :tries, #wake_at = :wake_at, #failing_since = :failing_since"
_CLOSE: Final = (
    "SET #purge_at = :purge_at REMOVE #pending, #wake_shard, #wake_at, #tries, #failing_since"
)


def event_write(table: str, event: DomainEvent) -> TransactWriteItemTypeDef:
    """Return the write of an event, for the transaction of the change that it reports.

    It has no condition, so that it never makes the change fail. An event that is written again
    after its delivery is delivered again, under the same id.
    """
    return dynamo.put(table, items.new_item(event))


class DynamoOutboxStore(DynamoAdapter):
    """Implements OutboxStore; see the module's docstring for the key design."""

    def pending(self, ref: SubjectRef, after: Position | None, limit: int) -> PendingPage:
        request = {
            "TableName": self._table,
            "IndexName": "pending",
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": items.subject_partition(ref)},
            "ConsistentRead": True,
        }
        found, last = fill(self._client.query, request, limit, after)
        return PendingPage(events=tuple(map(items.PENDING.decode, found)), after=last)

    def postpone(self, pending: PendingEvent) -> None:
        values: dict[str, Any] = {
            ":tries": pending.tries,
            ":wake_at": to_iso(pending.due_at),
            ":failing_since": optional_stamp(pending.failing_since),
        }
        expression = _POSTPONE
        if pending.taken:
            expression += " ADD #taken :taken"
            values[":taken"] = set(pending.taken)
        self._update(pending.event, expression, values)

    def close(self, event: DomainEvent, now: datetime) -> None:
        self._update(event, _CLOSE, {":purge_at": items.purge_at(now)})

    def to_wake(
        self, shard: int, until: datetime, limit: int, after: Position | None
    ) -> DueSubjectPage:
        request = {
            "TableName": self._table,
            "IndexName": "wake",
            "KeyConditionExpression": "wake_shard = :shard AND wake_at <= :until",
            "ExpressionAttributeValues": {
                ":shard": items.wake_partition(shard),
                ":until": to_iso(until),
            },
        }
        found, last = fill(self._client.query, request, limit, after)
        return DueSubjectPage(
            subjects=tuple(items.ref_of(item["pk"]) for item in found), after=last
        )

    def _update(self, event: DomainEvent, expression: str, values: Mapping[str, Any]) -> None:
        """Update a pending event; do nothing if it was finished meanwhile."""
        row = items.event_key(event)
        dynamo.update_if(self._client, self._table, row, expression, values, _IS_PENDING)
