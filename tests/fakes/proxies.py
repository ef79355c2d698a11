"""Proxies in memory."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from threading import Lock

from spinneret.kernel.errors import Conflict, DomainError
from spinneret.kernel.paging import Page
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.models import FetchedPage, FetchRequest, Proxy
from spinneret.web.fetching.ports import Fetcher
from spinneret.web.proxies import rules
from spinneret.web.proxies.models import Failures, ProxyConfig, Usage
from spinneret.web.proxies.rotation import ProxyRotation, RotatingFetcher
from spinneret.web.proxies.service import CredentialSeal, ProxyService
from spinneret.web.proxies.trials import ProxyTrials
from tests.fakes.dependency import FakeDependency
from tests.fakes.fetching import FakeFetcher
from tests.fakes.hosts import Hosts
from tests.fakes.sealing import FakeSealer
from tests.fakes.time import HandClock

NUMBERED = AddressPolicy(
    frozenset(
        f"{host}:{number}" for host in ("proxy.example", "a.example") for number in range(1, 99)
    )
)
"""Policy that allows the tests' proxies; their ports are their numbers, from 1."""


class FakeProxyStore(FakeDependency):
    """Implements ProxyStore."""

    def __init__(self) -> None:
        self._configs: dict[tuple[str, str], ProxyConfig] = {}

    def add(self, config: ProxyConfig) -> None:
        self._require_name(config)
        if (config.tenant, config.id) in self._configs:
            raise Conflict("the id is taken")
        self._configs[config.tenant, config.id] = config

    def get(self, tenant: str, config_id: str) -> ProxyConfig | None:
        self._require()
        return self._configs.get((tenant, config_id))

    def page(self, tenant: str, after: str | None, limit: int) -> Page[ProxyConfig]:
        self._require()
        found = sorted(
            (
                config
                for config in self._configs.values()
                if config.tenant == tenant and (after is None or config.id < after)
            ),
            key=lambda config: config.id,
            reverse=True,
        )
        return Page.cut(found, limit, lambda each: each.id)

    def replace(self, former: ProxyConfig, config: ProxyConfig) -> bool:
        if not self._stands(former):
            return False
        self._require_name(config)
        self._configs[config.tenant, config.id] = config
        return True

    def remove(self, config: ProxyConfig) -> bool:
        if not self._stands(config):
            return False
        del self._configs[config.tenant, config.id]
        return True

    def _stands(self, config: ProxyConfig) -> bool:
        standing = self.get(config.tenant, config.id)
        return standing is not None and standing.version == config.version

    def _require_name(self, config: ProxyConfig) -> None:
        self._require()
        for each in self._configs.values():
            if (each.tenant, each.name) == (config.tenant, config.name) and each.id != config.id:
                raise Conflict.of_field("name", "the name is taken")


class FakeProxyUsageStore(FakeDependency):
    """Implements ProxyUsageStore under one lock."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._usage: defaultdict[tuple[str, str, int], Usage] = defaultdict(Usage)

    def read(self, config: ProxyConfig) -> Usage:
        with self._lock:
            self._require()
            return self._usage[_key(config)]

    def count_pick(self, config: ProxyConfig, now: int) -> Usage:
        with self._lock:
            self._require()
            usage = self._usage[_key(config)]
            usage = self._usage[_key(config)] = replace(usage, picks=usage.picks + 1)
            return usage

    def count_use(self, config: ProxyConfig, position: int, seen: Usage, now: int) -> Usage | None:
        with self._lock:
            self._require()
            usage = self._usage[_key(config)]
            if usage.counted_since != seen.counted_since:
                return usage
            if rules.hour_is_over(seen, now):
                usage = replace(usage, counted_since=now, uses={position: 1})
            elif usage.uses.get(position) != seen.uses.get(position):
                return usage
            else:
                uses = {**usage.uses, position: usage.uses.get(position, 0) + 1}
                usage = replace(usage, uses=uses)
            self._usage[_key(config)] = usage
            return None

    def add_failure(self, config: ProxyConfig, position: int, now: int) -> None:
        with self._lock:
            self._require()
            usage = self._usage[_key(config)]
            count = rules.failures_of(usage, position, now) + 1
            failures = {**usage.failures, position: Failures(count=count, last_at=now)}
            self._usage[_key(config)] = replace(usage, failures=failures)

    def clear_failures(self, config: ProxyConfig, position: int) -> None:
        with self._lock:
            self._require()
            usage = self._usage[_key(config)]
            left = {each: of for each, of in usage.failures.items() if each != position}
            self._usage[_key(config)] = replace(usage, failures=left)


def _key(config: ProxyConfig) -> tuple[str, str, int]:
    return config.tenant, config.id, config.version


class Ways:
    """Make fetchers that use a proxy: each returns the same pages, or raises its proxy's error."""

    def __init__(self, pages: Mapping[str, FetchedPage | DomainError]) -> None:
        self._pages = pages
        self.broken: dict[int, DomainError] = {}
        """Errors by the port of the proxy."""
        self.taken: list[Proxy] = []
        self.requests: list[FetchRequest] = []

    def __call__(self, proxy: Proxy) -> Ways.By:
        return Ways.By(self, proxy)

    class By:
        """Implements Fetcher."""

        def __init__(self, ways: Ways, proxy: Proxy) -> None:
            self._ways = ways
            self._proxy = proxy

        def fetch(self, request: FetchRequest) -> FetchedPage:
            self._ways.taken.append(self._proxy)
            self._ways.requests.append(request)
            if failure := self._ways.broken.get(self._proxy.port):
                raise failure
            return FakeFetcher(self._ways._pages).fetch(request)


class Proxies:
    """The proxy services over fakes, which are the attributes."""

    def __init__(
        self,
        clock: HandClock,
        pages: dict[str, FetchedPage | DomainError] | None = None,
        *,
        enabled: bool = True,
    ) -> None:
        self.clock = clock
        self.store = FakeProxyStore()
        self.usage = FakeProxyUsageStore()
        self.sealer = FakeSealer()
        self.hosts = Hosts(clock)
        self.pages = {} if pages is None else pages
        self.ways = Ways(self.pages)
        self.chance = 0.0
        numbers = itertools.count(1)
        seal = CredentialSeal(sealer=self.sealer)
        self.service = ProxyService(
            store=self.store,
            usage=self.usage,
            seal=seal,
            policy=NUMBERED,
            clock=clock,
            new_id=lambda prefix: f"{prefix}_{next(numbers):04}",
            enabled=enabled,
        )
        self.rotation = ProxyRotation(
            store=self.store,
            usage=self.usage,
            seal=seal,
            clock=clock,
            random=lambda: self.chance,
        )
        self.enabled = enabled
        self.trials = ProxyTrials(
            store=self.store,
            rotation=self.rotation,
            hosts=self.hosts.service,
            pace=self.hosts.pace,
            policy=NUMBERED,
            through=self.ways,
            clock=clock,
        )

    def fetcher(self, direct: Fetcher) -> RotatingFetcher:
        """Return a fetcher that uses the proxies, or `direct` without one."""
        return RotatingFetcher(
            rotation=self.rotation, direct=direct, through=self.ways, enabled=self.enabled
        )
