"""Routes: sessions of people, and the keys that sign access tokens."""

from aws_lambda_powertools.event_handler import Response, content_types

from people.people_examples import LOGOUT, REFRESH
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.access.sessions.api_models import (
    CallerView,
    KeySetView,
    LogoutRequest,
    RefreshRequest,
    SignedOut,
    TokenView,
    caller_view,
    key_set_view,
)
from spinneret.access.trail.api_models import AccountEventList, account_event_view
from spinneret.access.trail.rules import is_position
from spinneret.access.wiring import people_api
from spinneret.kernel import bounds
from spinneret.kernel.errors import AuthRequired, DependencyUnavailable, Forbidden, TenantSuspended
from spinneret.kernel.paging import position_of
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.origins import require_own_page
from spinneret.runtime.http.refresh_cookie import cleared_cookie, token_in_cookie, with_tokens
from spinneret.runtime.http.routes import Limit, Routes

routes = Routes(people_api)
router = routes.router


@router.post(
    "/api/v1/auth/refresh",
    **declared(
        None,
        None,
        {200: TokenView},
        AuthRequired,
        Forbidden,
        TenantSuspended,
        DependencyUnavailable,
        examples=REFRESH,
    ),
)
def refresh_session(request: RefreshRequest) -> Response[TokenView]:
    """Return a new access token and the next refresh token.

    For ten seconds a used refresh token returns the same next one again, and so does that one
    itself. A later use of the used one ends the session. The token of a cookie needs a header
    `Origin` of a page that may use it, and the next one comes as a cookie too.
    """
    headers = router.current_event.headers
    held = token_in_cookie(headers) if request.refresh_token is None else ""
    cookie = request.cookie or held != ""
    if cookie:
        require_own_page(headers, routes.services.origins)
    tokens = routes.services.sessions.refresh(request.refresh_token or held)
    return with_tokens(tokens, headers, cookie=cookie)


@router.post(
    "/api/v1/auth/logout",
    **declared(
        None,
        None,
        {200: SignedOut},
        AuthRequired,
        Forbidden,
        TenantSuspended,
        DependencyUnavailable,
        examples=LOGOUT,
    ),
)
def sign_out(request: LogoutRequest) -> Response[SignedOut]:
    """End the session of a refresh token, or all sessions of its user.

    Access tokens of an ended session are refused within a minute. The token of a cookie needs a
    header `Origin` of a page that may use it; the cookie is removed.
    """
    headers = router.current_event.headers
    held = token_in_cookie(headers) if request.refresh_token is None else ""
    if held:
        require_own_page(headers, routes.services.origins)
    routes.services.sessions.sign_out(request.refresh_token or held, everywhere=request.all)
    return Response(
        status_code=200,
        content_type=content_types.APPLICATION_JSON,
        body=SignedOut(all=request.all),
        cookies=[cleared_cookie(headers)] if held else [],
    )


@router.get("/api/v1/auth/me", **declared(Scope.READ, Permission.USE_ACCOUNT))
def get_caller() -> CallerView:
    """Return who calls, and what this caller may do."""
    return caller_view(routes.principal)


@router.get("/api/v1/auth/events", **declared(Scope.ADMIN, Permission.MANAGE_USERS))
def list_account_events(
    limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None
) -> AccountEventList:
    """List the events of the tenant's accounts, newest first, of a year.

    They also go to webhooks that subscribe to them.
    """
    after = position_of(cursor, is_position)
    page = routes.services.trail.page(routes.tenant, after, limit)
    return AccountEventList.page(page, account_event_view)


@router.get("/.well-known/jwks.json", **declared(None, None, {200: KeySetView}))
def get_signing_keys() -> Response[KeySetView]:
    """Return the public keys that verify access tokens (RFC 7517)."""
    return Response(
        status_code=200,
        content_type=content_types.APPLICATION_JSON,
        body=key_set_view(routes.services.verifier.published()),
        headers={"Cache-Control": "public, max-age=60"},
    )
