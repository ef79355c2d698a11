"""Test a proxy by one request through one server."""

from collections.abc import Callable
from typing import Final

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import (
    BodyTooLarge,
    ContentRefused,
    FetchFailed,
    FetchTimeout,
    NotFound,
    ProxyFailed,
    RateLimited,
    TooManyRedirects,
    UrlBlocked,
    existing,
)
from spinneret.kernel.service import service
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.models import FetchRequest, Proxy
from spinneret.web.fetching.ports import Fetcher
from spinneret.web.fetching.rules import check_url_at_submission
from spinneret.web.fetching.urls import Url
from spinneret.web.hosts.service import HostService
from spinneret.web.politeness.models import HostOutcome, Wait
from spinneret.web.politeness.service import HostRateLimiter
from spinneret.web.proxies import limits, rules
from spinneret.web.proxies.models import ProxyTestResult
from spinneret.web.proxies.ports import ProxyStore
from spinneret.web.proxies.rotation import ProxyRotation
from spinneret.web.proxies.service import ServerDraft

_OWNER: Final = "proxy-test"


@service
class ProxyTrials:
    """Tests servers under the same rules as every fetch: addresses, blocks, breaker, pace.

    Blocks and breakers apply to the hosts of redirects too, the pace only to the first host. Both
    methods return the outcome of the request. They raise UrlInvalid, UrlBlocked, DomainBlocked,
    CircuitOpen, and RateLimited when the host's pace doesn't permit a request now.
    """

    store: ProxyStore
    rotation: ProxyRotation
    hosts: HostService
    pace: HostRateLimiter
    policy: AddressPolicy
    through: Callable[[Proxy], Fetcher]
    clock: Clock

    def try_config(self, tenant: str, config_id: str, position: int, url: str) -> ProxyTestResult:
        """Test one server of a config, active or not, and count the outcome. Raises NotFound."""
        config = existing(self.store.get(tenant, config_id), "proxy config")
        if position >= len(config.servers):
            raise NotFound("the config has no such server")
        route = self.rotation.route(config, position)
        trial = self._try(tenant, config.servers[position].url, route.proxy, url)
        if trial.reachable or isinstance(trial.error, ProxyFailed):
            self.rotation.report(route, succeeded=trial.reachable)
        return trial

    def try_server(self, tenant: str, server: ServerDraft, url: str) -> ProxyTestResult:
        """Test a server that isn't stored. Raises ValidationFailed."""
        server_url = rules.server_url(server.url, self.policy, "server.url")
        return self._try(tenant, server_url, rules.proxy_of(server_url, server.credentials), url)

    def _try(self, tenant: str, server_url: str, proxy: Proxy, url: str) -> ProxyTestResult:
        target = check_url_at_submission(url, self.policy)
        host, port = target.host, target.unusual_port
        self.hosts.check_submission(tenant, host, port)
        pace = self.hosts.limits(tenant, host)
        answer = self.pace.admit(host, port=port, owner=_OWNER, limits=pace)
        if isinstance(answer, Wait):
            wait = (answer.until - self.clock()).total_seconds()
            raise RateLimited(
                f"{host} was requested just now; retry later", retry_after=max(wait, 0.0)
            )
        try:
            return self._trial(tenant, server_url, proxy, target)
        finally:
            # A tenant's proxy can return anything, so the response says nothing about the host.
            self.pace.report(answer, HostOutcome.NOT_TRIED)

    def _trial(self, tenant: str, server_url: str, proxy: Proxy, url: Url) -> ProxyTestResult:
        request = FetchRequest(
            url=url,
            max_bytes=limits.PROXY_TEST_MAX_BYTES,
            total_seconds=limits.PROXY_TEST_SECONDS,
            before_redirect=lambda hop: self.hosts.check_submission(
                tenant, hop.host, hop.unusual_port
            ),
        )
        try:
            page = self.through(proxy).fetch(request)
        except (BodyTooLarge, ContentRefused, TooManyRedirects) as error:
            return ProxyTestResult(server_url=server_url, reachable=True, error=error)
        except (FetchFailed, FetchTimeout, UrlBlocked) as error:
            return ProxyTestResult(server_url=server_url, reachable=False, error=error)
        return ProxyTestResult(
            server_url=server_url,
            reachable=True,
            status_code=page.status_code,
            duration_ms=page.duration_ms,
        )
