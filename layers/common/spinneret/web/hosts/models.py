"""Values of domain settings."""

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
    """The tenant's word that a domain, and all below it, is not to be asked."""

    reason: str
    since: datetime


@dataclass(frozen=True, kw_only=True)
class DomainSettings:
    """One tenant's settings for one domain; the defaults where nothing is stored."""

    tenant: str
    domain: str
    """As `rules.parse_domain` answers it."""
    override: Override = field(default_factory=Override)
    notes: str | None = None
    block: Block | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class SettingsPage:
    """A tenant's settings by domain; `after` is the domain to go on after, None at the end."""

    settings: tuple[DomainSettings, ...]
    after: str | None


@dataclass(frozen=True, kw_only=True)
class Site:
    """What a tenant's settings mean for one host."""

    settings: DomainSettings
    """Of the host itself."""
    blocked_by: DomainSettings | None
    """Whose block holds: the host's own, or the nearest above it."""
    pace: PaceLimits
    """The default, slowed down by the override for this very host."""


@dataclass(frozen=True, kw_only=True)
class DomainState:
    """A domain as one tenant finds it: its settings, and the breaker by the tenant's limits."""

    site: Site
    breaker: BreakerView
