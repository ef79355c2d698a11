"""Connect sellers to marketplaces, and disconnect them."""

import base64
import hashlib
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlencode

from spinneret.jobs.worker import Defer
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import (
    AuthRequired,
    MarketplaceUnavailable,
    NotFound,
    SecretUnreadable,
)
from spinneret.kernel.ids import is_id
from spinneret.kernel.service import service
from spinneret.marketplace.calls.service import Hosts
from spinneret.marketplace.connections.models import (
    ConnectionStatus,
    OAuthApp,
    PendingConsent,
    SellerConnection,
)
from spinneret.marketplace.connections.ports import SellerConnectionStore
from spinneret.marketplace.connections.secrets import ConfiguredSecrets
from spinneret.marketplace.connections.tokens import REFRESH, TokenEndpoint, with_grant
from spinneret.marketplace.connections.vault import TokenVault

_VERIFIER: Final = "verifier"


@service
class ConnectionService:
    """Use cases of a tenant's connections. All methods raise DependencyUnavailable."""

    store: SellerConnectionStore
    secrets: ConfiguredSecrets
    vault: TokenVault
    endpoint: TokenEndpoint
    apps: Mapping[str, OAuthApp]
    hosts: Hosts
    clock: Clock
    random: Callable[[int], bytes]

    def begin(self, tenant: str, marketplace: str) -> str:
        """Return the URL of the marketplace's consent page. Raises NotFound.

        The state names the tenant and holds 256 random bits, of which only a hash is stored. It is
        accepted once, within OAUTH_STATE_SECONDS, and proves that the returning seller is the one
        who was sent.
        """
        app = self._app(marketplace)
        client = self.secrets.client(marketplace)
        secret, verifier = _text(self.random(32)), _text(self.random(48))
        self.store.begin(
            PendingConsent(
                tenant=tenant,
                state_hash=_hash(secret),
                marketplace=marketplace,
                sealed_verifier=self.vault.seal(tenant, marketplace, _VERIFIER, verifier),
                expires_at=self.clock() + timedelta(seconds=bounds.OAUTH_STATE_SECONDS),
            )
        )
        query = {
            "response_type": "code",
            "client_id": client.client_id,
            "redirect_uri": client.redirect_uri,
            "scope": " ".join(app.scopes),
            "state": f"{tenant}.{secret}",
        }
        if app.pkce:
            challenge = _text(hashlib.sha256(verifier.encode()).digest())
            query |= {"code_challenge": challenge, "code_challenge_method": "S256"}
        return f"{self.hosts[app.authorize_host]}{app.authorize_path}?{urlencode(query)}"

    def finish(self, marketplace: str, state: str, code: str) -> SellerConnection:
        """Exchange the code for tokens and return the connection. Raises AuthRequired for a state
        that is unknown, used, expired or of another marketplace, and ReauthNeeded when the code is
        refused."""
        app = self._app(marketplace)
        tenant, _, secret = state.rpartition(".")
        consent = self.store.take(tenant, _hash(secret)) if is_id(tenant) and secret else None
        now = self.clock()
        if consent is None or consent.marketplace != marketplace or consent.expires_at <= now:
            raise AuthRequired("the state is unknown or expired: connect again")
        client = self.secrets.client(marketplace)
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": client.redirect_uri,
        }
        if app.pkce:
            sealed = consent.sealed_verifier
            form["code_verifier"] = self.vault.unseal(tenant, marketplace, _VERIFIER, sealed)
        try:
            grant = self.endpoint.ask(app, client, form, now)
        except Defer as busy:
            raise MarketplaceUnavailable(f"{marketplace} {busy}") from busy
        empty = _empty(tenant, marketplace, app, grant.account, now)
        connection = with_grant(empty, grant, self.vault, now)
        self.store.put(connection)
        return connection

    def get(self, tenant: str, marketplace: str) -> SellerConnection:
        """Return the connection. Raises NotFound."""
        self._app(marketplace)
        connection = self.store.get(tenant, marketplace)
        if connection is None:
            raise NotFound("not connected")
        return connection

    def end(self, tenant: str, marketplace: str) -> bool:
        """Revoke the authorization and delete the tokens. Raises NotFound.

        The tokens are deleted even if they can't be read or the marketplace can't be reached.
        Return whether it was.
        """
        connection = self.get(tenant, marketplace)
        app, client = self._app(marketplace), self.secrets.client(marketplace)
        sealed, is_revoked = connection.sealed_refresh, True
        try:
            token = self.vault.unseal(tenant, marketplace, REFRESH, sealed)
            self.endpoint.revoke(app, client, token)
        except (MarketplaceUnavailable, SecretUnreadable):
            is_revoked = False  # the seller can revoke it there, too
        self.store.remove(tenant, marketplace)
        return is_revoked

    def owner(self, marketplace: str, account: str) -> str | None:
        """Return the tenant whose account a verified webhook is about; None once it is
        disconnected."""
        tenant = self.store.owner(marketplace, account)
        if tenant is None:
            return None
        connection = self.store.get(tenant, marketplace)
        return tenant if connection is not None and connection.account == account else None

    def _app(self, marketplace: str) -> OAuthApp:
        app = self.apps.get(marketplace)
        if app is None:
            known = ", ".join(sorted(self.apps))
            raise NotFound(f"not a marketplace with OAuth connections: one of {known}")
        return app


def _empty(
    tenant: str, marketplace: str, app: OAuthApp, account: str | None, now: datetime
) -> SellerConnection:
    return SellerConnection(
        tenant=tenant,
        marketplace=marketplace,
        status=ConnectionStatus.ACTIVE,
        sealed_access=(),
        sealed_refresh=(),
        scopes=app.scopes,
        account=account,
        expires_at=now,
        refresh_expires_at=None,
        connected_at=now,
    )


def _text(raw: bytes) -> str:
    """Encode as URL-safe base64 without padding (RFC 7636, appendix A)."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
