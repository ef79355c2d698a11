"""Responses about connections."""

from __future__ import annotations

from pydantic import BaseModel

from spinneret.kernel.views import Timestamp, View
from spinneret.marketplace.connections.models import ConnectionStatus


class ConsentView(BaseModel):
    """URL at which the seller authorizes access."""

    authorization_url: str
    expires_in: int
    """Lifetime of the URL in seconds."""


class ConnectionView(View):
    """A seller's authorization for a marketplace, without its tokens."""

    marketplace: str
    status: ConnectionStatus
    account: str | None
    scopes: list[str]
    connected_at: Timestamp
    expires_at: Timestamp
    """Expiry of the access token, which is refreshed before."""
    refresh_expires_at: Timestamp | None
    """Time after which the seller must connect again."""
