"""When a target is due, and where it is listed: pure."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta
from typing import Final

from spinneret.kernel import bounds
from spinneret.kernel.clock import stamp
from spinneret.kernel.errors import ValidationFailed
from spinneret.kernel.ids import is_id
from spinneret.kernel.sharding import shard_of
from spinneret.monitoring.conditions.language import parse_conditions, reads_body
from spinneret.monitoring.targets.models import Method, Options, Target

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_POSITION: Final = re.compile(r"[0-9T:.-]{26}Z#[A-Za-z0-9_-]{1,80}")


def checked(options: Options) -> Options:
    """The options, if they can be read and go together. Raises ValidationFailed."""
    looks = reads_body(parse_conditions(options.conditions)) or options.watch_content
    if looks and options.method is Method.HEAD:
        raise ValidationFailed(
            "an answer to HEAD has no body to look at",
            details={"fields": [{"field": "method", "message": "must be GET for the body"}]},
        )
    return options


def require_interval(seconds: int, shortest: int) -> None:
    """Raises ValidationFailed for an interval that no tick would keep."""
    if seconds < shortest:
        message = f"must be at least {shortest}, the time between two ticks of this stage"
        raise ValidationFailed(
            f"interval_seconds {message}",
            details={"fields": [{"field": "interval_seconds", "message": message}]},
        )


def next_slot(target_id: str, interval_seconds: int, after: datetime) -> datetime:
    """The first of the target's times behind this moment.

    A target's times are an interval apart, at an offset that follows from its id, so that targets
    of one interval spread evenly over it. What was missed is not made up for.
    """
    interval = 1000 * interval_seconds
    offset = _number(target_id) % interval
    passed = (after - _EPOCH) // _MILLISECOND
    return _EPOCH + (passed - (passed - offset) % interval + interval) * _MILLISECOND


def due_shard_of(target_id: str) -> int:
    """The shard of the due index that a target is in."""
    return shard_of(f"shard/{target_id}", bounds.CHECK_SHARDS)


def position_of_target(target: Target) -> str:
    """Its place in lists, whose order is that of time and id."""
    return f"{stamp(target.created_at)}#{target.id}"


def is_position(text: str) -> bool:
    """Whether this can be a place in a list."""
    return _POSITION.fullmatch(text) is not None and is_id(text.partition("#")[2])


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
