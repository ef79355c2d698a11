"""Environment variables of monitoring functions."""

from typing import Final

from spinneret.kernel.settings import integer, text
from spinneret.monitoring import limits

TARGETS_TABLE: Final = text("TARGETS_TABLE")
CHECKS_TABLE: Final = text("CHECKS_TABLE")
TARGETS_PER_TENANT: Final = integer("TARGETS_PER_TENANT", limits.TARGETS_PER_TENANT)
CHECK_INTERVAL: Final = integer("CHECK_INTERVAL", limits.CHECK_INTERVAL_SECONDS)
"""Default and minimum check interval in seconds (M-02)."""
MAX_CONCURRENCY: Final = integer("MAX_CONCURRENCY", limits.CHECK_CONCURRENCY)
"""Maximum number of concurrent checks in total (M-02)."""
