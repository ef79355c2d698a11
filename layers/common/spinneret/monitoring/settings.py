"""Environment variables of monitoring functions."""

from __future__ import annotations

from dataclasses import dataclass

from spinneret.kernel import bounds
from spinneret.kernel.settings import Settings


@dataclass(frozen=True, kw_only=True)
class TargetSettings(Settings):
    """Settings of the target table."""

    targets_table: str


@dataclass(frozen=True, kw_only=True)
class NewTargetSettings(TargetSettings):
    """Settings for creating targets."""

    targets_per_tenant: int = bounds.TARGETS_PER_TENANT


@dataclass(frozen=True, kw_only=True)
class MonitoringSettings(TargetSettings):
    """Settings of the result table and of the default check interval."""

    checks_table: str
    check_interval: int = bounds.CHECK_INTERVAL_SECONDS
    """Check interval in seconds (M-02)."""
