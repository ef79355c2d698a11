"""Rotation: choose the server of a fetch, and report the fetch's end."""

import logging
from collections.abc import Callable
from typing import Final

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable, FeatureDisabled, ProxyFailed
from spinneret.kernel.service import service
from spinneret.web.fetching.models import FetchedPage, FetchRequest, Proxy
from spinneret.web.fetching.ports import Fetcher
from spinneret.web.proxies import rules
from spinneret.web.proxies.models import ProxyConfig, RotationStrategy, Route, Usage
from spinneret.web.proxies.ports import ProxyStore, ProxyUsageStore
from spinneret.web.proxies.service import CredentialSeal

# Workers that count at the same server conflict; the next round reads the others' counts.
_ROUNDS: Final = 8

logger = logging.getLogger(__name__)


@service
class ProxyRotation:
    """Chooses servers for all workers together."""

    store: ProxyStore
    usage: ProxyUsageStore
    seal: CredentialSeal
    clock: Clock
    random: Callable[[], float]

    def choose(self, tenant: str, config_id: str) -> Route | None:
        """Return the next server, or None for a direct connection.

        The connection is direct if the config is unknown, inactive or without servers. Raises
        DependencyUnavailable and SecretUnreadable.
        """
        config = self.store.get(tenant, config_id)
        if config is None or not config.is_active or not config.servers:
            return None
        now = self._now()
        position, usage = self._next(config, now)
        return self._route(config, position, usage, now)

    def route(self, config: ProxyConfig, position: int) -> Route:
        """Return a route through a given server, outside the rotation."""
        return self._route(config, position, self.usage.read(config), self._now())

    def report(self, route: Route, *, succeeded: bool) -> None:
        """Count the proxy's outcome, not the host's. A report that can't be stored is logged."""
        try:
            if not succeeded:
                self.usage.add_failure(route.config, route.position, self._now())
            elif route.had_failed:
                self.usage.clear_failures(route.config, route.position)
        except DependencyUnavailable:
            logger.warning("proxy_report_lost", extra={"proxy_id": route.config.id})

    def _next(self, config: ProxyConfig, now: int) -> tuple[int, Usage]:
        if config.strategy is RotationStrategy.ROUND_ROBIN:
            usage = self.usage.count_pick(config, now)
            return rules.round_robin(rules.candidates(config, usage, now), usage.picks), usage
        usage = self.usage.read(config)
        if config.strategy is RotationStrategy.LEAST_USED:
            return self._least_used(config, usage, now)
        return rules.at_random(rules.candidates(config, usage, now), self.random()), usage

    def _least_used(self, config: ProxyConfig, usage: Usage, now: int) -> tuple[int, Usage]:
        """Choose a least used server and count the use.

        Counts only rise within the hour, so an unchanged count is still the least. After too many
        conflicts the server is used without being counted.
        """
        position = 0
        for _ in range(_ROUNDS):
            positions = rules.candidates(config, usage, now)
            position = rules.least_used(positions, usage, now, self.random())
            standing = self.usage.count_use(config, position, usage, now)
            if standing is None:
                break
            usage = standing
        return position, usage

    def _route(self, config: ProxyConfig, position: int, usage: Usage, now: int) -> Route:
        server = config.servers[position]
        sealed = server.sealed_credentials
        credentials = None if sealed is None else self.seal.open(config.tenant, sealed)
        return Route(
            config=config,
            position=position,
            proxy=rules.proxy_of(server.url, credentials),
            had_failed=rules.failures_of(usage, position, now) > 0,
        )

    def _now(self) -> int:
        return int(self.clock().timestamp())


@service
class RotatingFetcher:
    """Fetches through the tenant's proxies.

    A response through a proxy says nothing about the host: a tenant's proxy can return anything,
    while all tenants share breaker and Retry-After. Callers report `HostOutcome.NOT_TRIED` for
    such a fetch.
    """

    rotation: ProxyRotation
    direct: Fetcher
    through: Callable[[Proxy], Fetcher]
    enabled: bool

    def choose(self, tenant: str, config_id: str | None) -> Route | None:
        """See ProxyRotation.choose; returns None for None.

        Raises FeatureDisabled, because a request meant for a proxy must not come from our address.
        """
        if config_id is None:
            return None
        if not self.enabled:
            raise FeatureDisabled("proxies are switched off")
        return self.rotation.choose(tenant, config_id)

    def fetch(self, route: Route | None, request: FetchRequest) -> FetchedPage:
        """See Fetcher.fetch; a failure of the proxy raises ProxyFailed and is counted."""
        if route is None:
            return self.direct.fetch(request)
        try:
            page = self.through(route.proxy).fetch(request)
        except ProxyFailed:
            self.rotation.report(route, succeeded=False)
            raise
        self.rotation.report(route, succeeded=True)
        return page
