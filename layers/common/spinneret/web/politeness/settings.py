"""The environment of functions that fetch from hosts."""

from __future__ import annotations

from dataclasses import dataclass

from spinneret.kernel import bounds
from spinneret.kernel.settings import Settings
from spinneret.web.politeness.models import BreakerLimits, PaceLimits


@dataclass(frozen=True, kw_only=True)
class SessionSettings(Settings):
    """Lock and throttle of sessions (F-04, F-05)."""

    domain_lock_ttl_seconds: int = 300
    domain_throttle_ttl_seconds: int = 60
    """An end of a session older than this no longer matters."""
    domain_min_delay_ms: int = 2000
    disable_throttle: bool = False
    disable_locks: bool = False
    """Skips the throttle too."""


@dataclass(frozen=True, kw_only=True)
class PolitenessSettings(SessionSettings):
    """The ledger's table besides."""

    domains_table: str
    rate_limit__default_rps: float = bounds.DOMAIN_RATE
    """Requests per second to one host, unless it is to be slower."""
    domain_burst: int = bounds.DOMAIN_BURST
    circuit_breaker__threshold: int = bounds.BREAKER_FAILURES
    circuit_breaker__timeout_s: float = bounds.BREAKER_OPEN_SECONDS

    @property
    def pace(self) -> PaceLimits:
        """The stage's pace at a host that nobody slows down."""
        return PaceLimits(
            rate=self.rate_limit__default_rps,
            burst=self.domain_burst,
            breaker=BreakerLimits(
                threshold=self.circuit_breaker__threshold,
                open_seconds=self.circuit_breaker__timeout_s,
            ),
        )
