"""Values of host settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from spinneret.web.politeness.models import BreakerView, PaceLimits


@dataclass(frozen=True, kw_only=True)
class Override:
    """A pace slower than the default, a breaker more careful; None leaves the default as it is."""

    requests_per_second: float | None = None
    burst: int | None = None
    min_gap_seconds: float | None = None
    breaker_failures: int | None = None
    breaker_seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class Block:
    """The tenant blocks a name and all names below it."""

    reason: str
    since: datetime


@dataclass(frozen=True, kw_only=True)
class HostSettings:
    """One tenant's settings for one name; the defaults where nothing is stored."""

    tenant: str
    host: str
    """As `HostService.named` answers it."""
    override: Override = field(default_factory=Override)
    notes: str | None = None
    block: Block | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class EffectiveSettings:
    """What a tenant's settings mean for one host."""

    settings: HostSettings
    """Of the host itself."""
    blocked_by: HostSettings | None
    """The settings with the block that holds: the host's own, or the nearest above it."""
    pace: PaceLimits
    """The default, slowed down by the override for this very host."""


@dataclass(frozen=True, kw_only=True)
class HostState:
    """A host as one tenant sees it: its settings, and the breaker by the tenant's limits."""

    effective: EffectiveSettings
    breaker: BreakerView
