"""Responses about connections."""

from __future__ import annotations

from pydantic import BaseModel

from spinneret.kernel.clock import optional_stamp, to_iso
from spinneret.marketplace.connections.models import Connection, ConnectionStatus


class ConsentView(BaseModel):
    """URL at which the seller authorizes access."""

    authorization_url: str
    expires_in: int
    """Lifetime of the URL in seconds."""


class ConnectionView(BaseModel):
    """A seller's authorization for a marketplace, without its tokens."""

    marketplace: str
    status: ConnectionStatus
    account: str | None
    scopes: list[str]
    connected_at: str
    expires_at: str
    """Expiry of the access token, which is refreshed before."""
    refresh_expires_at: str | None
    """Time after which the seller must connect again."""


def connection_view(connection: Connection) -> ConnectionView:
    """Return the view of a connection."""
    return ConnectionView(
        marketplace=connection.marketplace,
        status=connection.status,
        account=connection.account,
        scopes=list(connection.scopes),
        connected_at=to_iso(connection.connected_at),
        expires_at=to_iso(connection.expires_at),
        refresh_expires_at=optional_stamp(connection.refresh_expires_at),
    )
