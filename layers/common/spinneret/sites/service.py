"""Domain settings, and what they refuse."""

from __future__ import annotations

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import CircuitOpen, DomainBlocked
from spinneret.politeness.models import Circuit, PaceLimits
from spinneret.politeness.rules import site_of
from spinneret.politeness.service import Pace
from spinneret.sites import rules
from spinneret.sites.models import (
    Block,
    DomainSettings,
    DomainState,
    Override,
    SettingsPage,
    Site,
)
from spinneret.sites.ports import SiteStore


class SiteSettings:
    """Settings can only slow a tenant's own requests down or forbid them.

    Thresholds and times of the breaker aren't among them: it is shared by all tenants, and one
    that opens late or never would do harm in the others' name. `domain` is what
    `rules.parse_domain` answers, `host` the host of any URL. All methods raise
    DependencyUnavailable.
    """

    def __init__(
        self,
        *,
        store: SiteStore,
        pace: Pace,
        clock: Clock,
        default: PaceLimits = rules.USUAL,
    ) -> None:
        self._store = store
        self._default = default
        self._pace = pace
        self._clock = clock

    # ------------------------------------------------------------ For those who visit sites

    def site(self, tenant: str, host: str) -> Site:
        """Block and pace of a host together, by one BatchGetItem."""
        return self._site(tenant, site_of(host))

    def check(self, tenant: str, host: str) -> None:
        """Raises DomainBlocked."""
        self.require_unblocked(self.site(tenant, host))

    def check_submission(self, tenant: str, host: str) -> None:
        """Raises DomainBlocked, and CircuitOpen while the host is left alone.

        A worker meets an open breaker as a wait: what was accepted isn't refused.
        """
        self.check(tenant, host)
        breaker = self._pace.state(host)
        if breaker.circuit is Circuit.OPEN:
            raise CircuitOpen(
                f"{host} failed too often of late",
                details={"domain": host},
                retry_after=breaker.retry_after,
            )

    def pace_under(self, override: Override) -> PaceLimits:
        """The stage's pace, slowed down by an override."""
        return rules.pace_of(override, self._default)

    def limits(self, tenant: str, host: str) -> PaceLimits:
        """The slower one of the default pace and the host's override."""
        return self.site(tenant, host).pace

    # ------------------------------------------------------------ For the routes

    def get(self, tenant: str, domain: str) -> DomainState:
        """Settings, or the defaults, and the breaker of a domain."""
        return DomainState(site=self._site(tenant, domain), breaker=self._pace.state(domain))

    def page(
        self, tenant: str, blocked: bool | None, after: str | None, limit: int
    ) -> SettingsPage:
        """See SiteStore.page."""
        return self._store.page(tenant, blocked, after, limit)

    def put(
        self, tenant: str, domain: str, override: Override, notes: str | None
    ) -> DomainSettings:
        """Replace all settings of a domain but its block."""
        return self._store.put(tenant, domain, override, notes, self._clock())

    def block(self, tenant: str, domain: str, reason: str) -> DomainSettings:
        """Refuse the domain and everything below it, from the next submission or fetch on."""
        return self._store.block(tenant, domain, Block(reason=reason, since=self._clock()))

    def unblock(self, tenant: str, domain: str) -> DomainSettings:
        """End the domain's own block; one of a domain above it stays. Again is no error."""
        stored = self._store.unblock(tenant, domain, self._clock())
        return stored or DomainSettings(tenant=tenant, domain=domain)

    def reset(self, tenant: str, domain: str) -> DomainState:
        """Close the domain's breaker for all tenants."""
        self._pace.reset(domain)
        return self.get(tenant, domain)

    def _site(self, tenant: str, domain: str) -> Site:
        return rules.site(
            tenant, domain, self._store.find(tenant, rules.lineage(domain)), self._default
        )

    @staticmethod
    def require_unblocked(site: Site) -> None:
        """Raises DomainBlocked."""
        settings = site.blocked_by
        if settings is None or settings.block is None:
            return
        raise DomainBlocked(
            f"{settings.domain} is blocked",
            details={"domain": settings.domain, "reason": settings.block.reason},
        )
