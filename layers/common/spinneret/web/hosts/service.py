"""Host settings service: settings, blocks and the checks based on them."""

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import CircuitOpen, DomainBlocked
from spinneret.kernel.paging import Page
from spinneret.kernel.recent import Recent
from spinneret.kernel.service import service
from spinneret.web import limits
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.hosts import rules
from spinneret.web.hosts.models import (
    EffectiveSettings,
    HostBlock,
    HostSettings,
    HostState,
    Override,
)
from spinneret.web.hosts.ports import HostStore
from spinneret.web.politeness.models import Circuit, PaceLimits
from spinneret.web.politeness.rules import host_key
from spinneret.web.politeness.service import HostRateLimiter


@service
class HostService:
    """Host settings; they can only slow down or forbid a tenant's own requests.

    All tenants share the breaker. A tenant's threshold and time only make its own requests stop
    sooner and pause longer. `host` is the host of any URL, or a result of `named`; `port` is a port
    other than the scheme's default. All methods raise DependencyUnavailable.
    """

    store: HostStore
    pace: HostRateLimiter
    policy: AddressPolicy
    clock: Clock
    default: PaceLimits = rules.USUAL

    def __post_init__(self) -> None:
        self._recent = Recent[tuple[str, str], EffectiveSettings](
            limits.SETTINGS_KNOWN_SECONDS, limits.SETTINGS_KNOWN_MAX
        )

    # ------------------------------------------------------------ For submissions and fetches

    def effective(self, tenant: str, host: str) -> EffectiveSettings:
        """Return block and pace of a host, read by one BatchGetItem."""
        return self._effective(tenant, host_key(host))

    def recent(self, tenant: str, host: str) -> EffectiveSettings:
        """Return block and pace of a host, read at most SETTINGS_KNOWN_SECONDS ago.

        A block is read again, because it fails a job for good.
        """
        name = host_key(host)
        known = self._recent.get(
            (tenant, name), self.clock(), lambda: self._effective(tenant, name)
        )
        return known if known.blocked_by is None else self._effective(tenant, name)

    def check_submission(self, tenant: str, host: str, port: int | None = None) -> None:
        """Raise DomainBlocked, or CircuitOpen while the breaker is open for the tenant.

        For a worker an open breaker is only a wait, because an accepted URL isn't rejected later.
        """
        effective = self.effective(tenant, host)
        self.require_unblocked(effective)
        breaker = self.pace.state(host, port, effective.pace.breaker)
        if breaker.circuit is Circuit.OPEN:
            raise CircuitOpen(
                f"{host} failed too often recently",
                details={"domain": host},
                retry_after=breaker.retry_after,
            )

    def pace_under(self, override: Override) -> PaceLimits:
        """Return the stage's pace, slowed down by an override."""
        return rules.pace_of(override, self.default)

    def limits(self, tenant: str, host: str) -> PaceLimits:
        """Return the slower one of the default pace and the host's override."""
        return self.effective(tenant, host).pace

    # ------------------------------------------------------------ For the routes

    def named(self, text: str) -> str:
        """Return the name of a host in a request. Raises ValidationFailed and UrlBlocked."""
        return rules.parse_host(text, self.policy)

    def get(self, tenant: str, host: str, port: int | None = None) -> HostState:
        """Return the settings, or the defaults, and the breaker of a host."""
        effective = self._effective(tenant, host)
        breaker = self.pace.state(host, port, effective.pace.breaker)
        return HostState(effective=effective, breaker=breaker)

    def page(
        self, tenant: str, blocked: bool | None, after: str | None, limit: int
    ) -> Page[HostSettings]:
        """See HostStore.page."""
        return self.store.page(tenant, blocked, after, limit)

    def put(self, tenant: str, host: str, override: Override, notes: str | None) -> HostSettings:
        """Replace all settings of a host except its block.

        Raises ValidationFailed for faster ones.
        """
        rules.require_slower(override, self.default)
        return self.store.put(tenant, host, override, notes, self.clock())

    def block(self, tenant: str, host: str, reason: str) -> HostSettings:
        """Block the host and all names below it.

        Submissions are refused at once, fetches after SETTINGS_KNOWN_SECONDS at the latest.
        """
        return self.store.block(tenant, host, HostBlock(reason=reason, since=self.clock()))

    def unblock(self, tenant: str, host: str) -> HostSettings:
        """End the host's own block; the block of a parent host stays. May be repeated."""
        stored = self.store.unblock(tenant, host, self.clock())
        return stored or HostSettings(tenant=tenant, host=host)

    def reset(self, tenant: str, host: str, port: int | None = None) -> HostState:
        """Close the host's breaker for all tenants."""
        self.pace.reset(host, port)
        return self.get(tenant, host, port)

    def _effective(self, tenant: str, host: str) -> EffectiveSettings:
        return rules.effective(
            tenant, host, self.store.find(tenant, rules.host_and_parents(host)), self.default
        )

    @staticmethod
    def require_unblocked(effective: EffectiveSettings) -> None:
        """Raise DomainBlocked if a block applies."""
        settings = effective.blocked_by
        if settings is None or settings.block is None:
            return
        raise DomainBlocked(
            f"{settings.host} is blocked",
            details={"domain": settings.host, "reason": settings.block.reason},
        )
