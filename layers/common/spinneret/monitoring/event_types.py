"""Domain event types of monitoring."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TARGET_DOWN: Final = "target.down"
TARGET_UP: Final = "target.up"
TARGET_DEGRADED: Final = "target.degraded"
TARGET_SKIPPED: Final = "target.skipped"
CERTIFICATE_EXPIRING: Final = "certificate.expiring"
CONTENT_CHANGED: Final = "content.changed"

EVENT_TYPES: Final[Mapping[str, str]] = {
    TARGET_DOWN: "A target failed as many checks in a row as its owner allows.",
    TARGET_UP: "A target that was down or degraded passed as many checks in a row as it has to.",
    TARGET_DEGRADED: "A target answers, but was too slow for as many checks in a row as allowed.",
    TARGET_SKIPPED: "A target could not be checked in time, since its host was busy.",
    CERTIFICATE_EXPIRING: "The certificate of a target ends soon.",
    CONTENT_CHANGED: "The body of a target isn't what it was at the check before.",
}
