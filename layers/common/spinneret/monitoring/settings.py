"""Environment variables of monitoring functions."""

from __future__ import annotations

from dataclasses import dataclass

from spinneret.kernel.settings import Settings
from spinneret.monitoring import limits


@dataclass(frozen=True, kw_only=True)
class TargetSettings(Settings):
    """Settings of the target table."""

    targets_table: str


@dataclass(frozen=True, kw_only=True)
class NewTargetSettings(TargetSettings):
    """Settings for creating targets."""

    targets_per_tenant: int = limits.TARGETS_PER_TENANT


@dataclass(frozen=True, kw_only=True)
class MonitoringSettings(TargetSettings):
    """Settings of the result table and of the default check interval."""

    checks_table: str
    check_interval: int = limits.CHECK_INTERVAL_SECONDS
    """Check interval in seconds (M-02)."""
