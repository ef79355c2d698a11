"""What functions of monitoring read from their environment."""

from __future__ import annotations

from dataclasses import dataclass

from spinneret.kernel import bounds
from spinneret.kernel.settings import Settings


@dataclass(frozen=True, kw_only=True)
class TargetSettings(Settings):
    """Where targets are kept."""

    targets_table: str


@dataclass(frozen=True, kw_only=True)
class NewTargetSettings(TargetSettings):
    """What whoever makes targets reads besides."""

    targets_per_tenant: int = bounds.TARGETS_PER_TENANT


@dataclass(frozen=True, kw_only=True)
class MonitoringSettings(TargetSettings):
    """Where results are kept besides, and how often targets are checked unless they say so."""

    checks_table: str
    check_interval: int = bounds.CHECK_INTERVAL_SECONDS
    """Seconds (M-02)."""
