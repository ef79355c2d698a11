"""Requests and responses of proxies. Responses never contain credentials."""

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from spinneret.kernel import bounds
from spinneret.kernel.clock import to_iso
from spinneret.kernel.views import ListOf
from spinneret.web.proxies import limits
from spinneret.web.proxies.models import (
    Credentials,
    ProxyConfig,
    ProxyServer,
    ProxyState,
    ProxyTestResult,
    RotationStrategy,
)
from spinneret.web.proxies.service import ConfigDraft, ServerDraft

UrlText = Annotated[str, StringConstraints(min_length=1, max_length=bounds.URL_MAX_CHARS)]
# RFC 7617, section 2: no control characters in either, no colon in the name.
Username = Annotated[
    str,
    StringConstraints(
        min_length=1,
        max_length=limits.PROXY_CREDENTIAL_MAX_CHARS,
        pattern=r"^[^:\x00-\x1f\x7f]*$",
    ),
]
Password = Annotated[
    str,
    StringConstraints(max_length=limits.PROXY_CREDENTIAL_MAX_CHARS, pattern=r"^[^\x00-\x1f\x7f]*$"),
]


class ServerRequest(BaseModel):
    """A server: `http://host:port` or `https://host:port`, with or without credentials."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    url: Annotated[UrlText, Field(repr=False)]  # people paste credentials into it
    """URL of the proxy: scheme, host and port."""
    username: Annotated[Username | None, Field(repr=False)] = None
    """If a PUT omits it, the server of this URL keeps its credentials; null removes them."""
    password: Annotated[Password | None, Field(repr=False)] = None
    """Password; stored encrypted and never returned."""

    @model_validator(mode="after")
    def _together(self) -> Self:
        if self.password is not None and self.username is None:
            raise ValueError("a password needs a username")
        return self

    @property
    def draft(self) -> ServerDraft:
        """Return the server as the service's input."""
        credentials = None
        if self.username is not None:
            credentials = Credentials(username=self.username, password=self.password or "")
        return ServerDraft(
            url=self.url,
            credentials=credentials,
            keep_credentials="username" not in self.model_fields_set,
        )


class ProxyRequest(BaseModel):
    """Body of `POST /api/v1/proxies` and `PUT /api/v1/proxies/{id}`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: Annotated[
        str,
        StringConstraints(
            strip_whitespace=True, min_length=1, max_length=limits.PROXY_NAME_MAX_CHARS
        ),
    ]
    """Name, unique within the tenant."""
    servers: Annotated[
        list[ServerRequest], Field(min_length=1, max_length=limits.PROXY_SERVERS_MAX)
    ]
    """Servers in their order."""
    rotation_strategy: Annotated[RotationStrategy, Field(strict=False)] = (
        RotationStrategy.ROUND_ROBIN
    )
    is_active: bool = True

    @property
    def draft(self) -> ConfigDraft:
        """Return the config as the service's input."""
        return ConfigDraft(
            name=self.name,
            servers=tuple(server.draft for server in self.servers),
            strategy=self.rotation_strategy,
            is_active=self.is_active,
        )


class TrialRequest(BaseModel):
    """Body of `POST /api/v1/proxies/test`: a server of a config, or an unstored one."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    url: UrlText
    """URL of the page to fetch."""
    proxy_id: str | None = None
    """Id of a stored proxy config; give either this or `server`."""
    position: Annotated[int, Field(ge=0, lt=limits.PROXY_SERVERS_MAX)] = 0
    """Index of the server in the config."""
    server: ServerRequest | None = None
    """Server to try; give either this or `proxy_id`."""

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.proxy_id is None) == (self.server is None):
            raise ValueError("give either proxy_id or server")
        return self


class ServerView(BaseModel):
    """A server, as shown to its tenant."""

    url: str
    """URL of the proxy without credentials."""
    has_credentials: bool
    """Whether a user name and password are stored."""


class ServerHealth(ServerView):
    """A server and its recent failures."""

    failures: int
    """Consecutive failures; reset one hour after the last one."""
    resting: bool
    """Whether the server is skipped because of its failures, as long as others work."""


class ProxyBase(BaseModel):
    """Fields of all views of a config."""

    proxy_id: str
    """Id of the proxy config."""
    name: str
    """Name, unique within the tenant."""
    rotation_strategy: RotationStrategy
    is_active: bool
    created_at: str
    updated_at: str


class ProxyView(ProxyBase):
    """A config, as shown to its tenant."""

    servers: list[ServerView]
    """Servers in their order."""


class ProxyDetail(ProxyBase):
    """A config with the health of its servers."""

    servers: list[ServerHealth]
    """Servers with their recent health."""


class ProxyList(ListOf[ProxyView]):
    """One page of configs, newest first."""


class TrialError(BaseModel):
    """Reason why a test fetched no page."""

    error: str
    code: str


class TrialView(BaseModel):
    """Result of a test."""

    server: str
    """URL of the tried server without credentials."""
    reachable: bool
    """Whether the site answered through the proxy."""
    status_code: int | None
    """HTTP status that came through the proxy; null without one."""
    latency_ms: int | None
    """Duration of the trial in milliseconds; null if it failed."""
    error: TrialError | None
    """Reason for the failure; null without one."""


def proxy_view(config: ProxyConfig) -> ProxyView:
    """Return the view of a config."""
    servers = [_server(server) for server in config.servers]
    return ProxyView(servers=servers, **_common(config))


def proxy_detail(state: ProxyState) -> ProxyDetail:
    """Return the view of a config and its servers' health."""
    servers = [
        ServerHealth(
            **_server(server).model_dump(),
            failures=failures,
            resting=failures >= limits.PROXY_FAILURES,
        )
        for server, failures in zip(state.config.servers, state.failures, strict=True)
    ]
    return ProxyDetail(servers=servers, **_common(state.config))


def trial_view(trial: ProxyTestResult) -> TrialView:
    """Return the view of a test, with the public part of its error."""
    error = trial.error
    return TrialView(
        server=trial.server_url,
        reachable=trial.reachable,
        status_code=trial.status_code,
        latency_ms=trial.duration_ms,
        error=TrialError(error=error.message, code=error.code) if error else None,
    )


def _server(server: ProxyServer) -> ServerView:
    return ServerView(url=server.url, has_credentials=server.sealed_credentials is not None)


def _common(config: ProxyConfig) -> dict[str, Any]:
    return {
        "proxy_id": config.id,
        "name": config.name,
        "rotation_strategy": config.strategy,
        "is_active": config.is_active,
        "created_at": to_iso(config.created_at),
        "updated_at": to_iso(config.updated_at),
    }
