"""Domain events of audits."""

from __future__ import annotations

from typing import Final

COMPLETED: Final = "audit.completed"
FAILED: Final = "audit.failed"

EVENT_TYPES: Final = {
    COMPLETED: "An audit has a result: its score, and what changed since the audit before.",
    FAILED: "An audit has ended without a result.",
}
