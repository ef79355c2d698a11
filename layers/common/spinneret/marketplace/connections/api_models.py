"""Answers about connections."""

from __future__ import annotations

from pydantic import BaseModel

from spinneret.kernel.clock import optional_stamp, to_iso
from spinneret.marketplace.connections.models import Connection, ConnectionStatus


class ConsentView(BaseModel):
    """Where the seller agrees."""

    authorization_url: str
    expires_in: int
    """Seconds."""


class ConnectionView(BaseModel):
    """A seller's leave for a marketplace; never its tokens."""

    marketplace: str
    status: ConnectionStatus
    account: str | None
    scopes: list[str]
    connected_at: str
    expires_at: str
    """Of the access token, which is refreshed before."""
    refresh_expires_at: str | None
    """After this the seller has to connect again."""


def connection_view(connection: Connection) -> ConnectionView:
    """A connection as its tenant sees it."""
    return ConnectionView(
        marketplace=connection.marketplace,
        status=connection.status,
        account=connection.account,
        scopes=list(connection.scopes),
        connected_at=to_iso(connection.connected_at),
        expires_at=to_iso(connection.expires_at),
        refresh_expires_at=optional_stamp(connection.refresh_expires_at),
    )
