"""Settings of functions that fetch from hosts."""

from __future__ import annotations

from dataclasses import dataclass

from spinneret.kernel import bounds
from spinneret.kernel.settings import Settings
from spinneret.web import limits
from spinneret.web.politeness.models import BreakerLimits, PaceLimits


@dataclass(frozen=True, kw_only=True)
class SessionSettings(Settings):
    """Lock and throttle of sessions (F-04, F-05)."""

    domain_lock_ttl_seconds: int = 300
    domain_throttle_ttl_seconds: int = 60
    """Maximum age of a session's end that still throttles the next session."""
    domain_min_delay_ms: int = 2000
    disable_throttle: bool = False
    disable_locks: bool = False
    """Also disables the throttle."""


@dataclass(frozen=True, kw_only=True)
class PolitenessSettings(SessionSettings):
    """Settings of sessions, plus the ledger's table."""

    domains_table: str
    rate_limit__default_rps: float = bounds.DOMAIN_RATE
    """Requests per second to one host, unless settings slow it down."""
    domain_burst: int = bounds.DOMAIN_BURST
    circuit_breaker__threshold: int = limits.BREAKER_FAILURES
    circuit_breaker__timeout_s: float = limits.BREAKER_OPEN_SECONDS

    @property
    def pace(self) -> PaceLimits:
        """The stage's pace at a host without slower settings."""
        return PaceLimits(
            rate=self.rate_limit__default_rps,
            burst=self.domain_burst,
            breaker=BreakerLimits(
                threshold=self.circuit_breaker__threshold,
                open_seconds=self.circuit_breaker__timeout_s,
            ),
        )
