"""What calls need from outside."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from spinneret.marketplace.connections.models import AccessToken


class SellerRateLimiter(Protocol):
    """The pace of one seller at one marketplace. Raises DependencyUnavailable."""

    def take(self, tenant: str, marketplace: str, now: datetime) -> datetime:
        """When the call may go: `now` if it has its place, else the time to ask again."""
        ...

    def hold(self, tenant: str, marketplace: str, until: datetime) -> None:
        """No calls before that: the marketplace said so."""
        ...


class TokenProvider(Protocol):
    """Tokens of connections. Raises DependencyUnavailable and ReauthNeeded."""

    def access(self, tenant: str, marketplace: str) -> AccessToken:
        """A token that is good for some minutes; refreshed where it must be."""
        ...

    def refresh(self, tenant: str, marketplace: str, refused: AccessToken) -> AccessToken:
        """Another token than the one that was refused."""
        ...

    def application(self, marketplace: str, refused: AccessToken | None = None) -> AccessToken:
        """The application's own token, another one than the one that was refused. Raises
        MarketplaceUnavailable, also when the marketplace grants none: that is no seller's fault."""
        ...
