"""Messages of the queue of checks."""

import json
from collections.abc import Sequence
from typing import Any

from spinneret.kernel.clock import parse_stamp, to_iso
from spinneret.monitoring.due.models import DueTarget


def checks_message(checks: Sequence[DueTarget]) -> str:
    """Build the message of some checks: at most 1 KB for each."""
    rows = [
        [
            each.tenant,
            each.target_id,
            each.host,
            to_iso(each.due_at),
            to_iso(each.until),
            each.paced_seconds,
            each.reservation,
        ]
        for each in checks
    ]
    return json.dumps({"checks": rows}, separators=(",", ":"))


def checks_of(body: str) -> list[DueTarget]:
    """Parse the checks of a message. Raises ValueError for other text."""
    match json.loads(body):
        case {"checks": list(rows)}:
            return [_due(row) for row in rows]
    raise ValueError("not a list of checks")


def _due(row: Any) -> DueTarget:
    match row:
        case [
            str(tenant),
            str(target_id),
            str(host),
            str(due_at),
            str(until),
            int() | None as paced_seconds,
            str() | None as reservation,
        ]:
            return DueTarget(
                tenant=tenant,
                target_id=target_id,
                host=host,
                due_at=parse_stamp(due_at),
                until=parse_stamp(until),
                paced_seconds=paced_seconds,
                reservation=reservation,
            )
    raise ValueError("not a check")
