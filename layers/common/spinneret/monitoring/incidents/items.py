"""Convert incidents to DynamoDB items and back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from spinneret.kernel.clock import parse_optional_stamp, parse_stamp
from spinneret.monitoring.incidents.models import Incident, TimelineEntry
from spinneret.monitoring.targets.models import Status


def partition(tenant: str, target_id: str) -> str:
    """Return the partition key of a target's incidents."""
    return f"T#{tenant}#INCIDENTS#{target_id}"


def entry_text(entry: TimelineEntry) -> str:
    """Encode a timeline entry as JSON."""
    return _entry().dump_json(entry).decode()


def incident_of(item: Mapping[str, Any]) -> Incident:
    """Parse an incident from its item."""
    return Incident(
        id=item["id"],
        started_at=parse_stamp(item["started_at"]),
        ended_at=parse_optional_stamp(item.get("ended_at")),
        status=Status(item["status"]),
        timeline=tuple(_entry().validate_json(entry) for entry in item["timeline"]),
    )


@cache
def _entry() -> TypeAdapter[TimelineEntry]:
    return TypeAdapter(TimelineEntry)
