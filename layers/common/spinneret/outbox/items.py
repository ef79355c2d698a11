"""Conversion of domain events to and from DynamoDB items; keys: see `dynamo`.

Data is stored as JSON text: DynamoDB would turn its numbers into decimals.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from spinneret.kernel import bounds
from spinneret.kernel.canonical import canonical_json
from spinneret.kernel.clock import (
    epoch_seconds,
    parse_optional_stamp,
    parse_stamp,
    to_iso,
)
from spinneret.kernel.sharding import shard_of
from spinneret.outbox import limits
from spinneret.outbox.models import DomainEvent, PendingEvent, SubjectRef

Item = dict[str, Any]


def event_key(event: DomainEvent) -> dict[str, str]:
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
    key = event_key(event)
    ref = SubjectRef(tenant=event.tenant, subject=event.subject)
    data = canonical_json(event.data)
    if len(data) > bounds.OUTBOX_DATA_BYTES:
        raise ValueError(f"the data of {event.type} has {len(data)} bytes")
    item = {
        **key,
        "occurred_at": to_iso(event.occurred_at),
        "data": data.decode("utf-8", "replace"),
        "targets": list(event.targets) or None,
        "tries": 0,
        "pending": key["sk"],
        "wake_shard": wake_partition(wake_shard(ref)),
        "wake_at": to_iso(first_due(event)),
    }
    return {name: value for name, value in item.items() if value is not None}


def first_due(event: DomainEvent) -> datetime:
    """Return when the sweep first looks at an event that its writer hasn't relayed."""
    return event.occurred_at + timedelta(seconds=limits.OUTBOX_GRACE_SECONDS)


def purge_at(now: datetime) -> int:
    """Return the TTL of an event that every sink has."""
    return epoch_seconds(now + timedelta(seconds=limits.OUTBOX_KEPT_SECONDS))


def pending_from_item(item: Mapping[str, Any]) -> PendingEvent:
    """Parse a stored pending event."""
    ref = ref_of(item["pk"])
    sequence, _, type_ = item["sk"].partition("#")
    event = DomainEvent(
        tenant=ref.tenant,
        type=type_,
        subject=ref.subject,
        sequence=int(sequence),
        occurred_at=parse_stamp(item["occurred_at"]),
        data=json.loads(item["data"]),
        targets=tuple(item.get("targets", ())),
    )
    return PendingEvent(
        event=event,
        due_at=parse_stamp(item["wake_at"]),
        taken=frozenset(item.get("taken", ())),
        tries=int(item["tries"]),
        failing_since=parse_optional_stamp(item.get("failing_since")),
    )
