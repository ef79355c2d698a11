"""Convert incidents to DynamoDB items and back."""

import json
from functools import cache
from typing import Final

from pydantic import TypeAdapter

from spinneret.aws.codec import Codec, Column
from spinneret.monitoring.incidents.models import Incident, TimelineEntry


def partition(tenant: str, target_id: str) -> str:
    """Return the partition key of a target's incidents."""
    return f"T#{tenant}#INCIDENTS#{target_id}"


def entry_text(entry: TimelineEntry) -> str:
    """Encode a timeline entry as JSON."""
    return _entry().dump_json(entry).decode()


@cache
def _entry() -> TypeAdapter[TimelineEntry]:
    return TypeAdapter(TimelineEntry)


INCIDENTS: Final = Codec(
    Incident,
    columns={"timeline": Column(decode=lambda texts: [json.loads(text) for text in texts])},
)
"""Incidents, read only: checks and pauses write them by `dynamo.incident_write`."""
