"""Values of proxies."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from spinneret.kernel.errors import DomainError
from spinneret.web.fetching.models import Proxy


class RotationStrategy(StrEnum):
    """Rule that chooses the next server of a config."""

    ROUND_ROBIN = "round_robin"
    LEAST_USED = "least_used"
    RANDOM = "random"


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """Credentials of a server (RFC 7617)."""

    username: str = field(repr=False)
    password: str = field(default="", repr=False)


@dataclass(frozen=True, kw_only=True)
class ProxyServer:
    """One server of a config, identified by its position."""

    url: str
    """Result of `rules.server_url`: `scheme://host:port`."""
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
    """Consecutive failures of one server."""

    count: int
    last_at: int
    """Epoch seconds."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Usage of the servers of one version of a config, by position."""

    picks: int = 0
    """Number of picks by round robin."""
    counted_since: int | None = None
    """Start of the hour in which uses are counted, in epoch seconds."""
    uses: Mapping[int, int] = field(default_factory=dict)
    failures: Mapping[int, Failures] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Route:
    """Server chosen for one fetch."""

    config: ProxyConfig
    position: int
    proxy: Proxy
    had_failed: bool
    """Whether its last requests failed; only then must a success be written."""


@dataclass(frozen=True, kw_only=True)
class ProxyState:
    """A config and the failures of its servers."""

    config: ProxyConfig
    failures: tuple[int, ...]
    """Consecutive failures, by position."""


@dataclass(frozen=True, kw_only=True)
class ProxyTestResult:
    """Outcome of one request through a server."""

    server_url: str
    reachable: bool
    """Whether a response of the host came through."""
    status_code: int | None = None
    duration_ms: int | None = None
    error: DomainError | None = None
    """Why there is no page: a fault of the proxy, of the host, or of the page itself."""
