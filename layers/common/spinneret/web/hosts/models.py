"""Values of host settings."""

from dataclasses import dataclass, field
from datetime import datetime

from spinneret.web.politeness.models import BreakerView, PaceLimits


@dataclass(frozen=True, kw_only=True)
class Override:
    """A slower pace and a more careful breaker; None keeps the default."""

    requests_per_second: float | None = None
    burst: int | None = None
    min_gap_seconds: float | None = None
    breaker_failures: int | None = None
    breaker_seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class HostBlock:
    """A tenant's block of a name and all names below it."""

    reason: str
    since: datetime


@dataclass(frozen=True, kw_only=True)
class HostSettings:
    """One tenant's settings for one name; defaults without a stored row."""

    tenant: str
    host: str
    """Result of `HostService.named`."""
    override: Override = field(default_factory=Override)
    notes: str | None = None
    block: HostBlock | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class EffectiveSettings:
    """A tenant's settings as they apply to one host."""

    settings: HostSettings
    """Settings of the host itself."""
    blocked_by: HostSettings | None
    """Settings with the effective block: the host's own, or that of the nearest parent."""
    pace: PaceLimits
    """Default pace, slowed down by the override for exactly this host."""


@dataclass(frozen=True, kw_only=True)
class HostState:
    """A host from one tenant's view: its settings, and the breaker by the tenant's limits."""

    effective: EffectiveSettings
    breaker: BreakerView
