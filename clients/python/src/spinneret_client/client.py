"""`Spinneret` and `AsyncSpinneret`: the API by resource."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Final

import httpx
from typing_extensions import Self

from spinneret_client import jobs
from spinneret_client.config import Connection, config_path, resolve
from spinneret_client.generated import async_resources, resources
from spinneret_client.retries import RETRIES
from spinneret_client.stored_session import StoredSession
from spinneret_client.transport import (
    TIMEOUT,
    AsyncTransport,
    Settings,
    Transport,
    new_call,
)

_CHANGEABLE: Final = frozenset({"timeout", "retries", "headers", "until"})


class Spinneret:
    """A client that blocks.

    The URL and the key come from the arguments, else from SPINNERET_URL and SPINNERET_API_KEY, else
    from a profile in config.toml. `timeout` is in seconds, for each attempt; `retries` is the
    number of attempts after the first.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        profile: str | None = None,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        http: httpx.Client | None = None,
    ) -> None:
        self.connection = resolve(url, key, profile)
        self._bind(Transport(_settings(self.connection, timeout, retries), http))

    def _bind(self, transport: Transport) -> None:
        self.transport = transport
        self.audits = jobs.Audits(transport)
        self.batches = resources.Batches(transport)
        self.caches = resources.Caches(transport)
        self.collections = resources.Collections(transport)
        self.configs = resources.Configs(transport)
        self.connections = resources.Connections(transport)
        self.crawls = jobs.Crawls(transport)
        self.discovery = jobs.Discovery(transport)
        self.documents = jobs.Documents(transport)
        self.domains = resources.Domains(transport)
        self.health = resources.Health(transport)
        self.heartbeats = resources.Heartbeats(transport)
        self.inbox = jobs.Inbox(transport)
        self.jobs = jobs.Jobs(transport)
        self.keys = resources.Keys(transport)
        self.marketplace = resources.Marketplace(transport)
        self.media = jobs.Media(transport)
        self.notices = resources.Notices(transport)
        self.products = resources.Products(transport)
        self.proxies = resources.Proxies(transport)
        self.schedules = resources.Schedules(transport)
        self.search = jobs.Search(transport)
        self.sessions = resources.Sessions(transport)
        self.sources = resources.Sources(transport)
        self.stats = resources.Stats(transport)
        self.status_page = resources.StatusPage(transport)
        self.tags = resources.Tags(transport)
        self.targets = resources.Targets(transport)
        self.uploads = resources.Uploads(transport)
        self.users = resources.Users(transport)
        self.webhooks = resources.Webhooks(transport)
        self.windows = resources.Windows(transport)

    def with_options(self, **changes: Any) -> Spinneret:
        """Return a client with another `timeout`, `retries` or `headers` on the same connections.

        No request waits beyond `until`, a time of `time.monotonic`.
        """
        changed = Spinneret.__new__(Spinneret)
        changed.connection = self.connection
        changed._bind(self.transport.with_settings(**_known(changes)))  # noqa: SLF001 - the same class
        return changed

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> httpx.Response:
        """Return the raw response of any route, with its headers. Raises ApiError."""
        return self.transport.send(new_call(method, path, query=query, body=body))

    def close(self) -> None:
        """Close all connections."""
        self.transport.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncSpinneret:
    """A client whose methods are awaited; otherwise like `Spinneret`."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        profile: str | None = None,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self.connection = resolve(url, key, profile)
        self._bind(AsyncTransport(_settings(self.connection, timeout, retries), http))

    def _bind(self, transport: AsyncTransport) -> None:
        self.transport = transport
        self.audits = jobs.AsyncAudits(transport)
        self.batches = async_resources.Batches(transport)
        self.caches = async_resources.Caches(transport)
        self.collections = async_resources.Collections(transport)
        self.configs = async_resources.Configs(transport)
        self.connections = async_resources.Connections(transport)
        self.crawls = jobs.AsyncCrawls(transport)
        self.discovery = jobs.AsyncDiscovery(transport)
        self.documents = jobs.AsyncDocuments(transport)
        self.domains = async_resources.Domains(transport)
        self.health = async_resources.Health(transport)
        self.heartbeats = async_resources.Heartbeats(transport)
        self.inbox = jobs.AsyncInbox(transport)
        self.jobs = jobs.AsyncJobs(transport)
        self.keys = async_resources.Keys(transport)
        self.marketplace = async_resources.Marketplace(transport)
        self.media = jobs.AsyncMedia(transport)
        self.notices = async_resources.Notices(transport)
        self.products = async_resources.Products(transport)
        self.proxies = async_resources.Proxies(transport)
        self.schedules = async_resources.Schedules(transport)
        self.search = jobs.AsyncSearch(transport)
        self.sessions = async_resources.Sessions(transport)
        self.sources = async_resources.Sources(transport)
        self.stats = async_resources.Stats(transport)
        self.status_page = async_resources.StatusPage(transport)
        self.tags = async_resources.Tags(transport)
        self.targets = async_resources.Targets(transport)
        self.uploads = async_resources.Uploads(transport)
        self.users = async_resources.Users(transport)
        self.webhooks = async_resources.Webhooks(transport)
        self.windows = async_resources.Windows(transport)

    def with_options(self, **changes: Any) -> AsyncSpinneret:
        """Return a client with another `timeout`, `retries` or `headers` on the same connections.

        No request waits beyond `until`, a time of `time.monotonic`.
        """
        changed = AsyncSpinneret.__new__(AsyncSpinneret)
        changed.connection = self.connection
        changed._bind(self.transport.with_settings(**_known(changes)))  # noqa: SLF001 - the same class
        return changed

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> httpx.Response:
        """Return the raw response of any route, with its headers. Raises ApiError."""
        return await self.transport.send(new_call(method, path, query=query, body=body))

    async def close(self) -> None:
        """Close all connections."""
        await self.transport.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


def _settings(connection: Connection, timeout: float, retries: int) -> Settings:
    if timeout <= 0 or retries < 0:
        raise ValueError("timeout must be above 0, and retries at least 0")
    return Settings(connection.url, _credential(connection), timeout, retries)


def _credential(connection: Connection) -> Callable[[], str | None]:
    name, stored = connection.profile, connection.stored
    if name is None or stored is None:
        return lambda: connection.key
    return StoredSession(config_path(), name, stored).credential


def _known(changes: Mapping[str, Any]) -> Mapping[str, Any]:
    if unknown := changes.keys() - _CHANGEABLE:
        raise TypeError(f"unknown options: {', '.join(sorted(unknown))}")
    return changes
