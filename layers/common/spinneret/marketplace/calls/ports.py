"""Ports of the marketplace client."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from spinneret.marketplace.connections.models import AccessToken


class SellerRateLimiter(Protocol):
    """Rate limiter of each seller's calls to a marketplace. Raises DependencyUnavailable."""

    def take(self, tenant: str, marketplace: str, now: datetime) -> datetime:
        """Return `now` if the call may be sent, else the time to ask again."""

    def hold(self, tenant: str, marketplace: str, until: datetime) -> None:
        """Block calls until then, as the marketplace demanded."""


class TokenProvider(Protocol):
    """Access tokens of connections. Raises DependencyUnavailable and ReauthNeeded."""

    def access(self, tenant: str, marketplace: str) -> AccessToken:
        """Return a token that is valid for some minutes; refresh it if necessary."""

    def refresh(self, tenant: str, marketplace: str, refused: AccessToken) -> AccessToken:
        """Return a token other than the refused one."""

    def application(self, marketplace: str, refused: AccessToken | None = None) -> AccessToken:
        """Return the application's own token, other than the refused one. Raises
        MarketplaceUnavailable, also when the marketplace grants none, because that isn't the
        seller's fault."""

    def remember(
        self,
        tenant: str,
        marketplace: str,
        settings: Mapping[str, Any],
        account: str | None = None,
    ) -> None:
        """Store facts found about the account. If a concurrent write wins, they are looked up again
        later."""
