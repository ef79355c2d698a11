"""Valid access tokens, refreshed before they expire and by one caller at a time."""

import base64
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, NotRequired, TypedDict

from pydantic import ConfigDict, Field, with_config

from spinneret.jobs.worker import Defer
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable, MarketplaceUnavailable, ReauthNeeded
from spinneret.kernel.service import service
from spinneret.marketplace import limits
from spinneret.marketplace.calls.models import MarketAnswer, MarketRequest, form_body
from spinneret.marketplace.calls.service import LATER, MarketplaceTransport, asked_wait
from spinneret.marketplace.connections.models import (
    AccessToken,
    ClientSecrets,
    ConnectionStatus,
    OAuthApp,
    SellerConnection,
    TokenGrant,
)
from spinneret.marketplace.connections.ports import SellerConnectionStore
from spinneret.marketplace.connections.secrets import ConfiguredSecrets
from spinneret.marketplace.connections.vault import TokenVault

ACCESS: Final = "access"
REFRESH: Final = "refresh"
_EARLY: Final = timedelta(seconds=limits.TOKEN_EARLY_SECONDS)
_RACES: Final = 5  # concurrent writers of one connection
_SETTLE: Final = timedelta(seconds=2)  # approximate duration of another caller's refresh


@service
class TokenEndpoint:
    """Client of the marketplaces' token endpoints."""

    transport: MarketplaceTransport

    def ask(
        self, app: OAuthApp, client: ClientSecrets, form: Mapping[str, str], now: datetime
    ) -> TokenGrant:
        """Request tokens. Raises ReauthNeeded if the marketplace refuses, Defer for a 429, and
        MarketplaceUnavailable."""
        fields = dict(form) if app.basic else {"client_id": client.client_id, **form}
        answer = self._sent(app, client, app.grant_path, fields)
        if answer.status == 429:
            raise Defer(now + asked_wait(answer, now), "the limits of the token endpoint")
        return _grant(app, answer)

    def revoke(self, app: OAuthApp, client: ClientSecrets, token: str) -> None:
        """Revoke the authorization if the marketplace has an endpoint for that."""
        if app.revoke_path is not None:
            fields = {"token": token, "token_type_hint": "refresh_token"}
            self._sent(app, client, app.revoke_path, fields)

    def _sent(
        self, app: OAuthApp, client: ClientSecrets, path: str, fields: Mapping[str, str]
    ) -> MarketAnswer:
        body, headers = form_body(fields)
        request = MarketRequest(
            host=app.grant_host,
            method="POST",
            path=path,
            headers={**headers, **_basic(app, client)},
            body=body,
            authorised=False,
        )
        return self.transport.send(request, limits.MARKETPLACE_CALL_SECONDS)


@service
class SellerTokens:
    """Implements TokenProvider."""

    store: SellerConnectionStore
    secrets: ConfiguredSecrets
    vault: TokenVault
    endpoint: TokenEndpoint
    apps: Mapping[str, OAuthApp]
    clock: Clock

    def __post_init__(self) -> None:
        self._applications: dict[str, tuple[AccessToken, datetime]] = {}
        """Application tokens and their ends, by marketplace. The process caches them, since
        marketplaces limit how many they grant in a day."""

    def access(self, tenant: str, marketplace: str) -> AccessToken:
        """See TokenProvider; raises Defer while another caller refreshes the token."""
        if marketplace not in self.apps:  # a marketplace without tokens, such as a plug-in's
            return AccessToken(token="", client=_NO_CLIENT, account=None, settings={})
        connection = self._connection(tenant, marketplace)
        if connection.expires_at - _EARLY <= self.clock():
            connection = self._refreshed(connection)
        return self._opened(connection)

    def refresh(self, tenant: str, marketplace: str, refused: AccessToken) -> AccessToken:
        connection = self._connection(tenant, marketplace)
        opened = self._opened(connection)
        if opened.token != refused.token:  # another caller has refreshed it
            return opened
        return self._opened(self._refreshed(connection))

    def application(self, marketplace: str, refused: AccessToken | None = None) -> AccessToken:
        now = self.clock()
        token, end = self._applications.get(marketplace, (refused, now))
        if token is None or token == refused or end - _EARLY <= now:
            token, end = self._asked_for_itself(marketplace)
            self._applications[marketplace] = token, end
        return token

    def remember(
        self,
        tenant: str,
        marketplace: str,
        settings: Mapping[str, Any],
        account: str | None = None,
    ) -> None:
        connection = self._connection(tenant, marketplace)
        changed = replace(
            connection,
            settings={**connection.settings, **settings},
            account=account or connection.account,
            version=connection.version + 1,
        )
        self.store.replace(changed)

    def _asked_for_itself(self, marketplace: str) -> tuple[AccessToken, datetime]:
        app, client = self.apps[marketplace], self.secrets.client(marketplace)
        form = {"grant_type": "client_credentials", "scope": app.application_scope}
        try:
            grant = self.endpoint.ask(app, client, form, self.clock())
        except ReauthNeeded as refused:
            raise MarketplaceUnavailable(
                f"{marketplace} issued no application token", details=refused.details
            ) from refused
        access = AccessToken(token=grant.access_token, client=client, account=None, settings={})
        return access, self.clock() + timedelta(seconds=grant.seconds)

    def _connection(self, tenant: str, marketplace: str) -> SellerConnection:
        connection = self.store.get(tenant, marketplace)
        if connection is None or connection.status is not ConnectionStatus.ACTIVE:
            raise _unconnected(marketplace)
        return connection

    def _opened(self, connection: SellerConnection) -> AccessToken:
        tenant, marketplace = connection.tenant, connection.marketplace
        token = self.vault.unseal(tenant, marketplace, ACCESS, connection.sealed_access)
        return AccessToken(
            token=token,
            client=self.secrets.client(marketplace),
            account=connection.account,
            settings=connection.settings,
        )

    def _refreshed(self, connection: SellerConnection) -> SellerConnection:
        """Refresh the tokens; raise Defer while another caller does. A refresh that was lost is
        repeated after TOKEN_REFRESH_SECONDS."""
        tenant, marketplace = connection.tenant, connection.marketplace
        app, client = self.apps[marketplace], self.secrets.client(marketplace)
        former = self.vault.unseal(tenant, marketplace, REFRESH, connection.sealed_refresh)
        now = self.clock()  # the lease covers the work from here
        later = Defer(now + _SETTLE, f"a new token of {marketplace}")
        if connection.refreshing_until is not None and now < connection.refreshing_until:
            raise later
        until = now + timedelta(seconds=limits.TOKEN_REFRESH_SECONDS)
        mine = replace(connection, refreshing_until=until, version=connection.version + 1)
        if not self.store.replace(mine):
            raise later
        form = {"grant_type": "refresh_token", "refresh_token": former}
        if app.basic:
            form["scope"] = " ".join(connection.scopes)
        try:
            grant = self.endpoint.ask(app, client, form, now)
        except ReauthNeeded:
            after = self._settled(mine, replace(mine, status=ConnectionStatus.NEEDS_REAUTH))
            if after.status is ConnectionStatus.ACTIVE:  # the seller has consented again
                return after
            raise
        except (Defer, MarketplaceUnavailable):
            self._settled(mine, mine)
            raise
        return self._settled(mine, with_grant(mine, grant, self.vault, self.clock()))

    def _settled(self, mine: SellerConnection, after: SellerConnection) -> SellerConnection:
        """Store the result `after` of the refresh and return the stored connection.

        Other callers may have stored account facts meanwhile, or the refusal of the exchanged
        refresh token, if their clock is ahead. The result is merged into their version, since only
        the new token is accepted. A new consent is kept instead. Raises ReauthNeeded if the seller
        has disconnected, and DependencyUnavailable.
        """
        standing, down = mine, None
        for _ in range(_RACES):
            ours = replace(
                standing,
                status=after.status,
                sealed_access=after.sealed_access,
                sealed_refresh=after.sealed_refresh,
                expires_at=after.expires_at,
                refresh_expires_at=after.refresh_expires_at,
                refreshing_until=None,
                version=standing.version + 1,
            )
            try:
                if self.store.replace(ours):
                    return ours
                found = self.store.get(mine.tenant, mine.marketplace)
            except DependencyUnavailable as error:  # the write may have succeeded
                down = error
                continue
            if found is None:
                raise _unconnected(mine.marketplace)
            if found.sealed_refresh != mine.sealed_refresh:
                return found
            standing = found
        raise down or DependencyUnavailable("dynamodb", "the connection is changing")


def _unconnected(marketplace: str) -> ReauthNeeded:
    return ReauthNeeded(f"connect {marketplace} first: POST /api/marketplace/{marketplace}/connect")


def with_grant(
    connection: SellerConnection, grant: TokenGrant, vault: TokenVault, now: datetime
) -> SellerConnection:
    """Return the connection with new tokens; a refresh token that isn't renewed is kept."""
    tenant, marketplace = connection.tenant, connection.marketplace
    sealed = connection.sealed_refresh
    if grant.refresh_token is not None:
        sealed = vault.seal(tenant, marketplace, REFRESH, grant.refresh_token)
    end = connection.refresh_expires_at
    if grant.refresh_seconds is not None:
        end = now + timedelta(seconds=grant.refresh_seconds)
    return replace(
        connection,
        status=ConnectionStatus.ACTIVE,
        sealed_access=vault.seal(tenant, marketplace, ACCESS, grant.access_token),
        sealed_refresh=sealed,
        expires_at=now + timedelta(seconds=grant.seconds),
        refresh_expires_at=end,
    )


_NO_CLIENT: Final = ClientSecrets(client_id="", client_secret="", redirect_uri="")


def _basic(app: OAuthApp, client: ClientSecrets) -> dict[str, str]:
    if not app.basic:
        return {}
    pair = f"{client.client_id}:{client.client_secret}".encode()
    return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}


@with_config(ConfigDict(extra="allow"))  # a marketplace may name the account, see `account_of`
class _Tokens(TypedDict):
    """Success of a token endpoint (RFC 6749, section 5.1)."""

    access_token: Annotated[str, Field(min_length=1)]
    refresh_token: NotRequired[str | None]
    expires_in: NotRequired[int | None]
    refresh_token_expires_in: NotRequired[int | None]


_NOT_THE_SELLERS: Final = frozenset({"invalid_client", "server_error", "temporarily_unavailable"})
"""Errors that a new consent wouldn't mend."""


class _Refusal(TypedDict):
    """Error of a token endpoint (RFC 6749, section 5.2)."""

    error: str


def _grant(app: OAuthApp, answer: MarketAnswer) -> TokenGrant:
    if answer.status >= 500 or answer.status in LATER:
        raise MarketplaceUnavailable(f"the token endpoint answered {answer.status}")
    if not answer.ok:
        said = answer.read_error(_Refusal)
        reason = str(answer.status) if said is None else said["error"]
        message, details = "the marketplace issued no token", {"reason": reason}
        if said is None or reason in _NOT_THE_SELLERS:  # an intermediary's answer proves nothing
            raise MarketplaceUnavailable(message, details=details)
        raise ReauthNeeded(message, details=details)
    data = answer.read(_Tokens)
    renewed = data.get("refresh_token") or None
    lasts = data.get("refresh_token_expires_in")
    if lasts is None and renewed is not None:
        lasts = app.refresh_days * 24 * 3600
    return TokenGrant(
        access_token=data["access_token"],
        refresh_token=renewed,
        seconds=data.get("expires_in") or 3600,
        refresh_seconds=lasts,
        account=app.account_of(data),
    )
