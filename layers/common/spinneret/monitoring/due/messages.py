"""Messages of the tick and check queues."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from spinneret.kernel.clock import parse_stamp, to_iso
from spinneret.monitoring.due.models import DueTarget


def tick_message(at: datetime) -> str:
    """Build the message of a tick."""
    return json.dumps({"at": to_iso(at)})


def tick_of(body: str) -> datetime:
    """Parse the time of a tick message. Raises ValueError for other text."""
    match _parsed(body):
        case {"at": str(at)}:
            return parse_stamp(at)
    raise ValueError("not a tick")


def list_message(ticked_at: datetime, targets: Sequence[DueTarget]) -> str:
    """Build the message with a worker's list: at most 40 KB of SQS's 256."""
    rows = [[each.tenant, each.target_id, each.host, to_iso(each.due_at)] for each in targets]
    return json.dumps({"at": to_iso(ticked_at), "targets": rows}, separators=(",", ":"))


def list_of(body: str) -> tuple[datetime, list[DueTarget]]:
    """Parse the tick's time and targets of a list message. Raises ValueError for other text."""
    match _parsed(body):
        case {"at": str(at), "targets": list(rows)}:
            return parse_stamp(at), [_due(row) for row in rows]
    raise ValueError("not a list of targets")


def _due(row: Any) -> DueTarget:
    match row:
        case [str(tenant), str(target_id), str(host), str(due_at)]:
            return DueTarget(
                tenant=tenant, target_id=target_id, host=host, due_at=parse_stamp(due_at)
            )
    raise ValueError("not a target")


def _parsed(body: str) -> Any:
    return json.loads(body)
