"""Values of proxies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from spinneret.kernel.errors import DomainError
from spinneret.web.fetching.models import Proxy


class RotationStrategy(StrEnum):
    """Which server of a config is next."""

    ROUND_ROBIN = "round_robin"
    LEAST_USED = "least_used"
    RANDOM = "random"


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """What a server wants to know (RFC 7617)."""

    username: str = field(repr=False)
    password: str = field(default="", repr=False)


@dataclass(frozen=True, kw_only=True)
class ProxyServer:
    """One server of a config, known by its position in it."""

    url: str
    """`scheme://host:port`, as `rules.server_url` answers it."""
    sealed_credentials: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class ProxyConfig:
    """A tenant's servers and their rotation."""

    tenant: str
    id: str
    name: str
    servers: tuple[ProxyServer, ...]
    strategy: RotationStrategy
    is_active: bool
    created_at: datetime
    updated_at: datetime
    version: int = 1
    """Rises with every change; picks, uses and failures belong to one version."""


@dataclass(frozen=True, kw_only=True)
class Failures:
    """Of one server, in a row."""

    count: int
    last_at: int
    """Epoch seconds."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Usage of the servers of one version of a config, by position."""

    picks: int = 0
    """By round robin."""
    counted_since: int | None = None
    """When the hour began in which uses are counted, in epoch seconds."""
    uses: Mapping[int, int] = field(default_factory=dict)
    failures: Mapping[int, Failures] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Route:
    """The server that was chosen for one fetch."""

    config: ProxyConfig
    position: int
    proxy: Proxy
    had_failed: bool
    """Whether its last requests failed: only then a success has to be written."""


@dataclass(frozen=True, kw_only=True)
class ProxyState:
    """A config and the failures of its servers."""

    config: ProxyConfig
    failures: tuple[int, ...]
    """In a row, by position."""


@dataclass(frozen=True, kw_only=True)
class ProxyTestResult:
    """The outcome of one request through a server."""

    server_url: str
    reachable: bool
    """Whether an answer of the host came through."""
    status_code: int | None = None
    duration_ms: int | None = None
    error: DomainError | None = None
    """Why there is no page: the fault of the proxy, of the host, or of the page itself."""
