"""Domain settings, and what they refuse."""

from __future__ import annotations

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import CircuitOpen, DomainBlocked
from spinneret.web.hosts import rules
from spinneret.web.hosts.models import (
    Block,
    DomainSettings,
    DomainState,
    Override,
    SettingsPage,
    Site,
)
from spinneret.web.hosts.ports import SiteStore
from spinneret.web.politeness.models import Circuit, PaceLimits
from spinneret.web.politeness.rules import site_of
from spinneret.web.politeness.service import Pace


class SiteSettings:
    """Settings can only slow a tenant's own requests down or forbid them.

    The breaker is shared by all tenants: a tenant's threshold and time make its own requests stay
    away sooner and for longer, and change nothing for others. `domain` is what
    `rules.parse_domain` answers, `host` the host of any URL, `port` one that isn't the scheme's
    own. All methods raise DependencyUnavailable.
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

    def check_submission(self, tenant: str, host: str, port: int | None = None) -> None:
        """Raises DomainBlocked, and CircuitOpen while the tenant leaves the host alone.

        A worker meets an open breaker as a wait: what was accepted isn't refused.
        """
        site = self.site(tenant, host)
        self.require_unblocked(site)
        breaker = self._pace.state(host, port, site.pace.breaker)
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

    def get(self, tenant: str, domain: str, port: int | None = None) -> DomainState:
        """Settings, or the defaults, and the breaker of a domain."""
        site = self._site(tenant, domain)
        breaker = self._pace.state(domain, port, site.pace.breaker)
        return DomainState(site=site, breaker=breaker)

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

    def reset(self, tenant: str, domain: str, port: int | None = None) -> DomainState:
        """Close the domain's breaker for all tenants."""
        self._pace.reset(domain, port)
        return self.get(tenant, domain, port)

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
