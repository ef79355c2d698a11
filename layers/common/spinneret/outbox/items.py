"""Conversion of domain events to and from DynamoDB items; keys: see `dynamo`.

Data is stored as JSON text: DynamoDB would turn its numbers into decimals.
"""

import json
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.aws.codec import SPARSE, Codec, Column
from spinneret.aws.dynamo import Item
from spinneret.kernel import bounds
from spinneret.kernel.canonical import canonical_json
from spinneret.kernel.clock import epoch_seconds
from spinneret.kernel.sharding import shard_of
from spinneret.outbox import limits
from spinneret.outbox.models import DomainEvent, PendingEvent, SubjectRef


def event_key(event: DomainEvent) -> Item:
    """Primary key of an event."""
    ref = SubjectRef(tenant=event.tenant, subject=event.subject)
    return {"pk": subject_partition(ref), "sk": f"{event.sequence:020d}#{event.type}"}


def subject_partition(ref: SubjectRef) -> str:
    """Partition of the events of one subject."""
    return f"T#{ref.tenant}#SUBJECT#{ref.subject}"


def ref_of(partition: str) -> SubjectRef:
    """Parse the partition of `subject_partition`; tenants and subjects contain no `#`."""
    _, tenant, _, subject = partition.split("#")
    return SubjectRef(tenant=tenant, subject=subject)


def wake_shard(ref: SubjectRef) -> int:
    """Return the shard of the index `wake` that holds a subject's events."""
    return shard_of(subject_partition(ref), limits.OUTBOX_SHARDS)


def wake_partition(shard: int) -> str:
    """Partition of one shard of the index `wake`."""
    return f"WAKE#{shard}"


def new_item(event: DomainEvent) -> Item:
    """Return the item of a new event. Raise ValueError for data over OUTBOX_DATA_BYTES.

    An unpaired surrogate, which no store accepts, becomes the replacement character.
    """
    size = len(canonical_json(event.data))
    if size > bounds.OUTBOX_DATA_BYTES:
        raise ValueError(f"the data of {event.type} has {size} bytes")
    return PENDING.encode(PendingEvent(event=event, due_at=first_due(event)))


def first_due(event: DomainEvent) -> datetime:
    """Return when the sweep first looks at an event that its writer hasn't relayed."""
    return event.occurred_at + timedelta(seconds=limits.OUTBOX_GRACE_SECONDS)


def purge_at(now: datetime) -> int:
    """Return the TTL of an event that every sink has."""
    return epoch_seconds(now + timedelta(seconds=limits.OUTBOX_KEPT_SECONDS))


def _from_key(item: Item) -> dict[str, Any]:
    sequence, _, type_ = item["sk"].partition("#")
    return {**vars(ref_of(item["pk"])), "sequence": int(sequence), "type": type_}


def _pending(pending: PendingEvent) -> Item:
    """Return the event's attributes and the keys of the indexes `pending` and `wake`."""
    item = EVENTS.encode(pending.event)
    return {**item, "pending": item["sk"], "wake_shard": wake_partition(wake_shard(pending.ref))}


EVENTS: Final = Codec(
    DomainEvent,
    key=event_key,
    keyed=("tenant", "subject", "sequence", "type"),
    from_key=_from_key,
    columns={
        "data": Column(
            encode=lambda data: canonical_json(data).decode("utf-8", "replace"), decode=json.loads
        ),
        "targets": SPARSE,
    },
)

PENDING: Final = Codec(
    PendingEvent,
    keyed=("event",),
    from_key=lambda item: {"event": EVENTS.decode(item)},
    columns={"due_at": Column(attribute="wake_at"), "taken": Column(encode=set, sparse=True)},
    derived=_pending,
)
