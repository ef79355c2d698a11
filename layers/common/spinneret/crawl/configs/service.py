"""A tenant's crawl configs: the use cases behind the routes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from spinneret.crawl.configs.models import Config, ConfigOptions
from spinneret.crawl.configs.ports import ConfigStore
from spinneret.crawl.configs.rendering import Rendering
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import BrowserMissing, NotFound, ValidationFailed
from spinneret.kernel.ids import NewId
from spinneret.kernel.paging import Page
from spinneret.kernel.races import changing, until_written
from spinneret.kernel.service import service
from spinneret.web.headers import rules
from spinneret.web.headers.sealing import HeaderSeal
from spinneret.web.proxies.service import ProxyService


@dataclass(frozen=True, kw_only=True)
class ConfigDraft:
    """A requested config."""

    name: str
    options: ConfigOptions
    headers: Mapping[str, str] | None = field(default=None, repr=False)
    """None keeps the current headers."""
    is_default: bool = False


@service
class ConfigService:
    """Manages configs. Unknown ids and ids of other tenants raise the same NotFound.

    All methods raise DependencyUnavailable.
    """

    store: ConfigStore
    seal: HeaderSeal
    proxies: ProxyService
    user_agent: str
    """The stage's own."""
    clock: Clock
    new_id: NewId
    has_browser: bool
    """Whether the stage can render pages."""

    def create(self, tenant: str, draft: ConfigDraft) -> Config:
        """Create a config.

        Raises Conflict (the name is taken), ValidationFailed (headers, proxies) and FeatureDisabled
        (proxies).
        """
        shown, sealed = self._headers(tenant, draft.headers or {})
        self._check_proxy(tenant, draft.options)
        self.check_rendering(draft.options.rendering, sealed)
        now = self.clock()
        config = Config(
            tenant=tenant,
            id=self.new_id("config"),
            name=draft.name,
            options=draft.options,
            shown_headers=shown,
            sealed_headers=sealed,
            is_default=draft.is_default,
            created_at=now,
            updated_at=now,
        )
        self.store.add(config)
        return config

    def get(self, tenant: str, config_id: str) -> Config:
        """Return the config. Raises NotFound."""
        config = self.store.get(tenant, config_id)
        if config is None:
            raise NotFound.of_field("config_id", "no such crawl config")
        return config

    def in_force(self, tenant: str, config_id: str | None) -> Config | None:
        """Return the config that a crawl names, else the tenant's default, if any.

        Raises NotFound.
        """
        if config_id is not None:
            return self.get(tenant, config_id)
        return self.store.default(tenant)

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Config]:
        """See ConfigStore.page."""
        return self.store.page(tenant, after, limit)

    def update(self, tenant: str, config_id: str, draft: ConfigDraft) -> Config:
        """Replace a config; crawls that were submitted earlier keep the former one.

        Raises NotFound and the exceptions of `create`.
        """
        headers = None if draft.headers is None else self._headers(tenant, draft.headers)

        def updated() -> Config | None:
            former = self.get(tenant, config_id)
            if draft.options.proxy_config_id != former.options.proxy_config_id:
                self._check_proxy(tenant, draft.options)
            shown, sealed = headers or (former.shown_headers, former.sealed_headers)
            self.check_rendering(draft.options.rendering, sealed)
            config = Config(
                tenant=tenant,
                id=former.id,
                name=draft.name,
                options=draft.options,
                shown_headers=shown,
                sealed_headers=sealed,
                is_default=draft.is_default,
                created_at=former.created_at,
                updated_at=self.clock(),
                version=former.version + 1,
            )
            return config if self.store.replace(former, config) else None

        return until_written(updated, changing("the crawl config"))

    def remove(self, tenant: str, config_id: str) -> None:
        """Remove the config. Raises NotFound, and Conflict while a source refers to it."""
        until_written(
            lambda: self.store.remove(self.get(tenant, config_id)), changing("the crawl config")
        )

    def _headers(
        self, tenant: str, headers: Mapping[str, str]
    ) -> tuple[dict[str, str], bytes | None]:
        allowed = rules.allowed_headers(headers, self.user_agent)
        return rules.shown(allowed), self.seal.close(tenant, allowed)

    def check_rendering(self, rendering: Rendering | None, sealed_headers: bytes | None) -> None:
        """Raise BrowserMissing, or ValidationFailed for headers."""
        if rendering is None:
            return
        if not self.has_browser:
            raise BrowserMissing
        if sealed_headers is not None:
            raise ValidationFailed.of_field(
                "render", "a browser doesn't send a config's headers", "remove the headers"
            )

    def _check_proxy(self, tenant: str, options: ConfigOptions) -> None:
        if options.proxy_config_id is not None:
            self.proxies.require(tenant, options.proxy_config_id)
