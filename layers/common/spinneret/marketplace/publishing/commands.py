"""Payload of a marketplace job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from spinneret.jobs.worker import Defer
from spinneret.kernel.clock import parse_stamp, to_iso

SCHEDULED: Final = "its scheduled time"
"""Name of the wait of a job with `publish_at`."""
ASKED: Final = "is_asked"
"""Mark in the payload of a job that no seller asked for."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """Payload of a marketplace job."""

    marketplace: str
    action_code: str
    product_id: str | None
    input_data: Mapping[str, Any]
    publish_at: datetime | None = None
    """Time before which the job does nothing."""

    @classmethod
    def of(cls, payload: Mapping[str, Any]) -> Command:
        """Build from a job's payload."""
        at = payload.get("publish_at")
        return cls(
            marketplace=payload["marketplace"],
            action_code=payload["action_code"],
            product_id=payload.get("product_id"),
            input_data=payload.get("input_data") or {},
            publish_at=None if at is None else parse_stamp(at),
        )

    @property
    def payload(self) -> dict[str, Any]:
        """Payload as the job's row holds it."""
        return {
            "marketplace": self.marketplace,
            "action_code": self.action_code,
            "product_id": self.product_id,
            "input_data": dict(self.input_data),
            **({} if self.publish_at is None else {"publish_at": to_iso(self.publish_at)}),
        }

    @property
    def full_code(self) -> str:
        """Key of its plan in the registry."""
        return f"{self.action_code}_{self.marketplace}"


def require_time(payload: Mapping[str, Any], now: datetime) -> None:
    """Raise Defer before the `publish_at` of a job or batch.

    One that was paused and resumed is due before it.
    """
    at = payload.get("publish_at")
    if at is not None and now < (time := parse_stamp(at)):
        raise Defer(time, SCHEDULED, appointed=True)
