"""Crawl configs in memory."""

import itertools
from dataclasses import replace

from spinneret.crawl.configs.models import Config
from spinneret.crawl.configs.service import ConfigService
from spinneret.kernel.paging import Page
from spinneret.web.headers.sealing import CRAWL_CONFIGS, HeaderSeal
from spinneret.web.proxies.service import ProxyService
from tests.fakes.named import FakeNamedStore
from tests.fakes.sealing import FakeSealer
from tests.fakes.time import HandClock

USER_AGENT = "Spinneret/0.1 (+https://spinneret.example/bot)"


def _page(rows: tuple[Config, ...], after: str | None) -> Page[Config]:
    return Page(items=rows, after=after)


class FakeConfigStore:
    """Implements ConfigStore; a test can make `rows` unavailable."""

    def __init__(self) -> None:
        self.rows: FakeNamedStore[Config] = FakeNamedStore(_page)
        self._defaults: dict[str, str] = {}

    def add(self, config: Config) -> None:
        self.rows.add(config)
        self._point(config, config)

    def get(self, tenant: str, config_id: str) -> Config | None:
        found = self.rows.get(tenant, config_id)
        return None if found is None else self._marked(found)

    def default(self, tenant: str) -> Config | None:
        return self.get(tenant, self._defaults.get(tenant, ""))

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Config]:
        page: Page[Config] = self.rows.page(tenant, after, limit)
        return Page(items=tuple(map(self._marked, page.items)), after=page.after)

    def replace(self, former: Config, config: Config) -> bool:
        if former.is_default and self._defaults.get(former.tenant) != former.id:
            return False
        replaced = self.rows.replace(former, config)
        if replaced:
            self._point(former, config)
        return replaced

    def remove(self, config: Config) -> bool:
        removed = self.rows.remove(config)
        if removed:
            self._point(config, replace(config, is_default=False))
        return removed

    def _marked(self, config: Config) -> Config:
        return replace(config, is_default=self._defaults.get(config.tenant) == config.id)

    def _point(self, former: Config, config: Config) -> None:
        if config.is_default:
            self._defaults[config.tenant] = config.id
        elif former.is_default:
            self._defaults.pop(config.tenant, None)


class Configs:
    """The service of crawl configs over fakes, which are the attributes."""

    def __init__(self, clock: HandClock, proxies: ProxyService) -> None:
        self.store = FakeConfigStore()
        self.sealer = FakeSealer()
        self.seal = HeaderSeal(self.sealer, CRAWL_CONFIGS)
        numbers = itertools.count(1)
        self.service = ConfigService(
            store=self.store,
            seal=self.seal,
            proxies=proxies,
            user_agent=USER_AGENT,
            clock=clock,
            new_id=lambda prefix: f"{prefix}_{next(numbers):04}",
            has_browser=True,
        )
