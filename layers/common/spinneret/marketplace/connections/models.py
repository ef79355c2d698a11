"""Values of connections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class ConnectionStatus(StrEnum):
    """Whether the seller's leave is good."""

    ACTIVE = "active"
    NEEDS_REAUTH = "needs_reauth"


@dataclass(frozen=True, kw_only=True)
class ClientSecrets:
    """What the marketplace knows this application by."""

    client_id: str
    client_secret: str = field(repr=False)
    redirect_uri: str
    """Where it sends sellers back to; for eBay the name that stands for that (RuName)."""
    webhook_secret: str = field(default="", repr=False)
    """What it signs its webhooks with; empty where it has none."""


@dataclass(frozen=True, kw_only=True)
class Grant:
    """What a token endpoint answered."""

    access_token: str = field(repr=False)
    refresh_token: str | None = field(repr=False)
    """None where the one before stays good."""
    seconds: int
    refresh_seconds: int | None
    account: str | None = None
    """The seller's own id there, where the answer has it."""


@dataclass(frozen=True, kw_only=True)
class AccessToken:
    """A token, and whose it is."""

    token: str = field(repr=False)
    client: ClientSecrets
    account: str | None
    settings: Mapping[str, Any]
    """What was found out about the account: policies, profiles, locations."""


@dataclass(frozen=True, kw_only=True)
class Connection:
    """A seller's leave for one marketplace."""

    tenant: str
    marketplace: str
    status: ConnectionStatus
    sealed_access: tuple[bytes, ...] = field(repr=False)
    sealed_refresh: tuple[bytes, ...] = field(repr=False)
    scopes: tuple[str, ...]
    account: str | None
    expires_at: datetime
    refresh_expires_at: datetime | None
    connected_at: datetime
    settings: Mapping[str, Any] = field(default_factory=dict)
    refreshing_until: datetime | None = None
    """A refresh is under way, and counts as lost after this."""
    version: int = 0
    """Goes up by one with every change; 0 isn't stored yet."""

    @property
    def first_version(self) -> int:
        """Of a new connection: its time in milliseconds, which is above the versions of one that
        the seller ended before."""
        return int(self.connected_at.timestamp() * 1000)


@dataclass(frozen=True, kw_only=True)
class Seller:
    """A connected seller, as the passes over all tenants see one."""

    tenant: str
    marketplace: str
    job_id: str | None = None
    """The job that was last to read the orders."""


@dataclass(frozen=True, kw_only=True)
class PendingConsent:
    """A seller who was sent to a marketplace and hasn't come back."""

    tenant: str
    state_hash: str
    marketplace: str
    sealed_verifier: tuple[bytes, ...] = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class OAuthApp:
    """How a marketplace grants leave."""

    authorize_host: str
    """Of the page that sellers see, by its name in the configuration."""
    authorize_path: str
    grant_host: str
    grant_path: str
    scopes: tuple[str, ...]
    pkce: bool
    """Whether it takes a code challenge (RFC 7636)."""
    basic: bool
    """Whether the client's id and secret go into an Authorization header, else the id into the
    form."""
    refresh_days: int
    sign: Callable[[AccessToken], Mapping[str, str]]
    """The headers of a call that carries the token."""
    account_of: Callable[[Mapping[str, Any]], str | None] = lambda _: None
    """The seller's id in a token endpoint's answer."""
    revoke_path: str | None = None
    application_scope: str = ""
    """Of the application's own token (client credentials), where something asks for one."""
