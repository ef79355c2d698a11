"""Convert incidents to DynamoDB items and back."""

import json
from datetime import datetime
from typing import Final

from spinneret.aws.codec import Codec, Column
from spinneret.aws.dynamo import Item
from spinneret.kernel.clock import to_iso
from spinneret.kernel.typed_json import TypedJson
from spinneret.monitoring.incidents.models import Incident, TimelineEntry


def partition(tenant: str, target_id: str) -> str:
    """Return the partition key of a target's incidents."""
    return f"T#{tenant}#INCIDENTS#{target_id}"


def incident_key(tenant: str, target_id: str, started_at: datetime, incident_id: str) -> Item:
    """Return the key of an incident."""
    return {"pk": partition(tenant, target_id), "sk": f"{to_iso(started_at)}#{incident_id}"}


ENTRIES: Final = TypedJson(TimelineEntry)
INCIDENTS: Final = Codec(
    Incident,
    columns={"timeline": Column(decode=lambda texts: [json.loads(text) for text in texts])},
)
"""Incidents, read only: checks and pauses write them by `dynamo.incident_write`."""
