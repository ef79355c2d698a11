"""The audit trail on DynamoDB.

Tenancy table
    pk `T#<tenant>#TRAIL`, sk `<sequence, 20 digits>#<user id>#<type>`   one event

Each event is also put into the outbox, in the same transaction.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

from spinneret.access import limits
from spinneret.aws import dynamo
from spinneret.aws.codec import JSON, SPARSE, Codec
from spinneret.aws.dynamo import Item
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient, TransactWriteItemTypeDef
from spinneret.kernel.clock import epoch_seconds
from spinneret.kernel.paging import Page
from spinneret.outbox.dynamo import event_write
from spinneret.outbox.models import DomainEvent

Recorded = Callable[[DomainEvent], list[TransactWriteItemTypeDef]]
"""Writes of an event, for the transaction of the change that it reports."""
_KEPT: Final = timedelta(seconds=limits.TRAIL_SECONDS)
_UNKNOWN: Final = "NOBODY#TRAIL"
_UNKNOWN_KEPT: Final = timedelta(hours=1)


def recorded(table: str, events: str) -> Recorded:
    """Return the function that writes an event to the trail and to the outbox."""
    return lambda event: [dynamo.put(table, TRAIL.encode(event)), event_write(events, event)]


class DynamoTrail(DynamoAdapter):
    """Implements Trail."""

    def __init__(self, client: DynamoDBClient, table: str, events: str) -> None:
        super().__init__(client, table)
        self._events = events
        self._rows = Table(client, table, TRAIL)

    def record(self, event: DomainEvent, *, known: bool) -> None:
        if known:
            writes = recorded(self._table, self._events)(event)
        else:
            end = epoch_seconds(event.occurred_at + _UNKNOWN_KEPT)
            row = {"pk": _UNKNOWN, "sk": f"{event.sequence:020d}", "purge_at": end}
            writes = [dynamo.put(table, row) for table in (self._table, self._events)]
        dynamo.transact(self._client, writes)

    def page(self, tenant: str, after: str | None, limit: int) -> Page[DomainEvent]:
        return self._rows.page(_partition(tenant), after, limit, newest_first=True)


def _partition(tenant: str) -> str:
    return f"T#{tenant}#TRAIL"


def _key(event: DomainEvent) -> Item:
    place = f"{event.sequence:020d}#{event.subject}#{event.type}"
    return {"pk": _partition(event.tenant), "sk": place}


def _from_key(item: Item) -> dict[str, Any]:
    sequence, subject, event_type = item["sk"].split("#")
    tenant = item["pk"].split("#")[1]
    return {"tenant": tenant, "sequence": int(sequence), "subject": subject, "type": event_type}


TRAIL: Final = Codec(
    DomainEvent,
    key=_key,
    keyed=("tenant", "subject", "sequence", "type"),
    from_key=_from_key,
    columns={"data": JSON, "targets": SPARSE},
    derived=lambda event: {"purge_at": epoch_seconds(event.occurred_at + _KEPT)},
)
