"""Data types of connections."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class ConnectionStatus(StrEnum):
    """Status of the seller's authorization."""

    ACTIVE = "active"
    NEEDS_REAUTH = "needs_reauth"


@dataclass(frozen=True, kw_only=True)
class ClientSecrets:
    """Credentials of this application at a marketplace."""

    client_id: str
    client_secret: str = field(repr=False)
    redirect_uri: str
    """Address to which it sends sellers back; for eBay the name of that address (RuName)."""
    webhook_secret: str = field(default="", repr=False)
    """Secret with which it signs its webhooks; empty if it has none."""


@dataclass(frozen=True, kw_only=True)
class TokenGrant:
    """Response of a token endpoint."""

    access_token: str = field(repr=False)
    refresh_token: str | None = field(repr=False)
    """Refresh token; None if the previous one stays valid."""
    seconds: int
    refresh_seconds: int | None
    account: str | None = None
    """Id of the seller at the marketplace, if the response has it."""


@dataclass(frozen=True, kw_only=True)
class AccessToken:
    """An access token, with its client and account."""

    token: str = field(repr=False)
    client: ClientSecrets
    account: str | None
    settings: Mapping[str, Any]
    """Facts found about the account: policies, profiles, locations."""


@dataclass(frozen=True, kw_only=True)
class SellerConnection:
    """A seller's OAuth authorization for one marketplace."""

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
    """End of the lease of a running refresh, after which it counts as lost; None if none runs."""
    version: int = 0
    """Version, increased by one with every change; 0 means not stored yet."""

    @property
    def first_version(self) -> int:
        """Version of a new connection: its time in milliseconds, which exceeds the versions of a
        connection that the seller ended before."""
        return int(self.connected_at.timestamp() * 1000)


@dataclass(frozen=True, kw_only=True)
class Seller:
    """A connected seller, as listed for the passes over all tenants."""

    tenant: str
    marketplace: str
    job_id: str | None = None
    """Last job that read the seller's orders."""


@dataclass(frozen=True, kw_only=True)
class PendingConsent:
    """Pending consent of a seller who was sent to a marketplace and hasn't returned."""

    tenant: str
    state_hash: str
    marketplace: str
    sealed_verifier: tuple[bytes, ...] = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class OAuthApp:
    """OAuth configuration of a marketplace."""

    authorize_host: str
    """Host of the consent page, by its name in the configuration."""
    authorize_path: str
    grant_host: str
    grant_path: str
    scopes: tuple[str, ...]
    pkce: bool
    """Whether it supports code challenges (PKCE, RFC 7636)."""
    basic: bool
    """Whether the client's id and secret are sent in an Authorization header. Otherwise the id is
    sent in the form."""
    refresh_days: int
    sign: Callable[[AccessToken], Mapping[str, str]]
    """Function that returns the headers of a call with the token."""
    account_of: Callable[[Mapping[str, Any]], str | None] = lambda _: None
    """Function that returns the seller's id from a token endpoint's response."""
    revoke_path: str | None = None
    application_scope: str = ""
    """Scope of the application's own token (client credentials); empty if no call needs one."""
