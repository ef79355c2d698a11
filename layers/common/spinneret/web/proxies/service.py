"""Use cases of a tenant's proxy configs, called by the routes."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import FeatureDisabled, ValidationFailed, existing
from spinneret.kernel.ids import NewId
from spinneret.kernel.paging import Page
from spinneret.kernel.races import changing, until_written
from spinneret.kernel.sealing import Sealer
from spinneret.kernel.service import service
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.proxies import rules
from spinneret.web.proxies.models import (
    Credentials,
    ProxyConfig,
    ProxyServer,
    ProxyState,
    RotationStrategy,
)
from spinneret.web.proxies.ports import ProxyStore, ProxyUsageStore

_PURPOSE: Final = "proxy"


@dataclass(frozen=True, kw_only=True)
class ServerDraft:
    """A submitted server."""

    url: str
    credentials: Credentials | None = None
    keep_credentials: bool = False
    """Keep the stored credentials of the server with this URL."""


@dataclass(frozen=True, kw_only=True)
class ConfigDraft:
    """A submitted config."""

    name: str
    servers: tuple[ServerDraft, ...]
    strategy: RotationStrategy
    is_active: bool


@service
class CredentialSeal:
    """Encrypts credentials for the store, and decrypts them for use."""

    sealer: Sealer

    def close(self, tenant: str, credentials: Credentials) -> bytes:
        """Encrypt credentials. Raises DependencyUnavailable."""
        text = json.dumps([credentials.username, credentials.password], ensure_ascii=False)
        return self.sealer.seal(text.encode(), tenant=tenant, purpose=_PURPOSE)

    def open(self, tenant: str, sealed: bytes) -> Credentials:
        """Decrypt credentials. Raises DependencyUnavailable and SecretUnreadable."""
        text = self.sealer.unseal(sealed, tenant=tenant, purpose=_PURPOSE)
        username, password = json.loads(text)
        return Credentials(username=username, password=password)


@service
class ProxyService:
    """Proxy configs. An unknown id and a foreign one raise the same NotFound.

    Configs can be created and tested while rotation is disabled.
    """

    store: ProxyStore
    usage: ProxyUsageStore
    seal: CredentialSeal
    policy: AddressPolicy
    clock: Clock
    new_id: NewId
    enabled: bool

    def create(self, tenant: str, draft: ConfigDraft) -> ProxyConfig:
        """Create a config. Raises ValidationFailed, and Conflict when the name is taken."""
        now = self.clock()
        config = ProxyConfig(
            tenant=tenant,
            id=self.new_id("proxy"),
            name=draft.name,
            servers=self._servers(tenant, draft.servers, ()),
            strategy=draft.strategy,
            is_active=draft.is_active,
            created_at=now,
            updated_at=now,
        )
        self.store.add(config)
        return config

    def get(self, tenant: str, config_id: str) -> ProxyState:
        """Return a config with the failures of its servers."""
        config = self._config(tenant, config_id)
        usage, now = self.usage.read(config), int(self.clock().timestamp())
        failures = (
            rules.failures_of(usage, position, now) for position in range(len(config.servers))
        )
        return ProxyState(config=config, failures=tuple(failures))

    def page(self, tenant: str, after: str | None, limit: int) -> Page[ProxyConfig]:
        """See ProxyStore.page."""
        return self.store.page(tenant, after, limit)

    def replace(self, tenant: str, config_id: str, draft: ConfigDraft) -> ProxyConfig:
        """Replace a config; picks, uses and failures restart at 0.

        Raises ValidationFailed, NotFound, and Conflict when the name is taken.
        """

        def replaced() -> ProxyConfig | None:
            former = self._config(tenant, config_id)
            config = ProxyConfig(
                tenant=tenant,
                id=former.id,
                name=draft.name,
                servers=self._servers(tenant, draft.servers, former.servers),
                strategy=draft.strategy,
                is_active=draft.is_active,
                created_at=former.created_at,
                updated_at=self.clock(),
                version=former.version + 1,
            )
            return config if self.store.replace(former, config) else None

        return until_written(replaced, changing("the proxy config"))

    def remove(self, tenant: str, config_id: str) -> None:
        """Remove a config and its credentials; later fetches that name it use no proxy."""
        until_written(
            lambda: self.store.remove(self._config(tenant, config_id)), changing("the proxy config")
        )

    def require(self, tenant: str, config_id: str) -> None:
        """Raise FeatureDisabled if proxies are off, and ValidationFailed for an unknown config."""
        if not self.enabled:
            raise FeatureDisabled("proxies are switched off")
        if self.store.get(tenant, config_id) is None:
            raise ValidationFailed.of_field("proxy_config_id", "no such proxy config")

    def _config(self, tenant: str, config_id: str) -> ProxyConfig:
        return existing(self.store.get(tenant, config_id), "proxy config")

    def _servers(
        self, tenant: str, drafts: Sequence[ServerDraft], former: Sequence[ProxyServer]
    ) -> tuple[ProxyServer, ...]:
        """Build the servers; check all URLs before the first secret is sealed."""
        urls = [
            rules.server_url(draft.url, self.policy, f"servers.{number}.url")
            for number, draft in enumerate(drafts)
        ]
        kept = [
            _kept(urls, former, number) if draft.keep_credentials else None
            for number, draft in enumerate(drafts)
        ]
        return tuple(
            ProxyServer(
                url=url,
                sealed_credentials=self.seal.close(tenant, draft.credentials)
                if draft.credentials
                else sealed,
            )
            for draft, url, sealed in zip(drafts, urls, kept, strict=True)
        )


def _kept(urls: Sequence[str], former: Sequence[ProxyServer], number: int) -> bytes | None:
    """Return the former credentials of a server. Raises ValidationFailed if they are ambiguous."""
    url = urls[number]
    before = [server.sealed_credentials for server in former if server.url == url]
    if not any(before):
        return None
    if len(before) > 1 or urls.count(url) > 1:
        reason = "several servers have this URL: set the credentials of each, or null"
        raise ValidationFailed.of_field(
            f"servers.{number}.username", reason, error=f"servers.{number}: {reason}"
        )
    return before[0]
