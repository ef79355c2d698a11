"""Responses about connections."""

from pydantic import BaseModel

from spinneret.kernel.views import Timestamp, View
from spinneret.marketplace.connections.models import ConnectionStatus


class ConsentView(BaseModel):
    """URL at which the seller authorizes access."""

    authorization_url: str
    """URL at the marketplace where the seller consents."""
    expires_in: int
    """Lifetime of the URL in seconds."""


class ConnectionView(View):
    """A seller's authorization for a marketplace, without its tokens."""

    marketplace: str
    status: ConnectionStatus
    """State of the authorization."""
    account: str | None
    """Name of the seller's account; null if it is unknown."""
    scopes: list[str]
    """Rights that the seller granted."""
    connected_at: Timestamp
    """Time of the seller's consent (RFC 3339, UTC)."""
    expires_at: Timestamp
    """Expiry of the access token, which is refreshed before."""
    refresh_expires_at: Timestamp | None
    """Time after which the seller must connect again."""
