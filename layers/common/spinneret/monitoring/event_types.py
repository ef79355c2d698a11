"""Domain event types of monitoring."""

from collections.abc import Mapping
from typing import Final

TARGET_DOWN: Final = "target.down"
TARGET_UP: Final = "target.up"
TARGET_DEGRADED: Final = "target.degraded"
TARGET_REMINDER: Final = "target.reminder"
TARGET_SKIPPED: Final = "target.skipped"
CERTIFICATE_EXPIRING: Final = "certificate.expiring"
CONTENT_CHANGED: Final = "content.changed"

EVENT_TYPES: Final[Mapping[str, str]] = {
    TARGET_DOWN: "A target failed `failure_threshold` consecutive checks.",
    TARGET_UP: "A target that was down or degraded passed `recovery_threshold` checks.",
    TARGET_DEGRADED: "A target was too slow in `failure_threshold` consecutive checks.",
    TARGET_REMINDER: "A target is still down or degraded `reminder_minutes` after the last report.",
    TARGET_SKIPPED: "A target could not be checked in time, because its host was busy.",
    CERTIFICATE_EXPIRING: "The certificate of a target ends soon.",
    CONTENT_CHANGED: "The body of a target differs from the previous check.",
}
