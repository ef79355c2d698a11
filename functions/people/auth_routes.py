"""Routes: sign-in of people, their sessions, and the keys that sign access tokens."""

from aws_lambda_powertools.event_handler import Response, content_types

from people.people_examples import ACCEPT, LOGIN, LOGOUT, PASSWORD, REFRESH
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.access.sessions.api_models import (
    CallerView,
    KeySetView,
    LoginRequest,
    LogoutRequest,
    RefreshRequest,
    SignedOut,
    TokenView,
    caller_view,
    key_set_view,
    token_view,
)
from spinneret.access.sessions.models import Tokens
from spinneret.access.users.api_models import AcceptRequest, PasswordRequest, UserView, user_view
from spinneret.access.wiring import people_api
from spinneret.kernel.errors import (
    AuthRequired,
    DependencyUnavailable,
    Forbidden,
    RateLimited,
    TenantSuspended,
)
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.routes import Routes

routes = Routes(people_api)
router = routes.router


@router.post(
    "/api/v1/auth/login",
    **declared(
        None,
        None,
        {200: TokenView},
        AuthRequired,
        TenantSuspended,
        RateLimited,
        DependencyUnavailable,
        examples=LOGIN,
    ),
)
def sign_in(request: LoginRequest) -> Response[TokenView]:
    """Sign a person in.

    From the fifth failure of an account at an address, the next attempt has to wait. An unknown
    account, a wrong password and an account that waits get the same answer.
    """
    address = router.current_event.request_context.identity.source_ip
    return _answer(
        routes.services.sessions.sign_in(
            request.tenant, request.email, request.password.get_secret_value(), address or ""
        )
    )


@router.post(
    "/api/v1/auth/refresh",
    **declared(
        None,
        None,
        {200: TokenView},
        AuthRequired,
        TenantSuspended,
        DependencyUnavailable,
        examples=REFRESH,
    ),
)
def refresh_session(request: RefreshRequest) -> Response[TokenView]:
    """Return a new access token and the next refresh token.

    For ten seconds a used refresh token returns the same next one again. Its later use ends the
    session.
    """
    return _answer(routes.services.sessions.refresh(request.refresh_token))


@router.post(
    "/api/v1/auth/logout",
    **declared(
        None,
        None,
        {200: SignedOut},
        AuthRequired,
        TenantSuspended,
        DependencyUnavailable,
        examples=LOGOUT,
    ),
)
def sign_out(request: LogoutRequest) -> SignedOut:
    """End the session of a refresh token, or all sessions of its user.

    Access tokens of an ended session are refused within a minute.
    """
    routes.services.sessions.sign_out(request.refresh_token, everywhere=request.all)
    return SignedOut(all=request.all)


@router.post(
    "/api/v1/auth/accept",
    **declared(
        None,
        None,
        {200: UserView},
        AuthRequired,
        TenantSuspended,
        DependencyUnavailable,
        examples=ACCEPT,
    ),
)
def accept_invitation(request: AcceptRequest) -> UserView:
    """Choose the password with an invitation, which is used up thereby."""
    return user_view(
        routes.services.users.accept(request.invitation, request.password.get_secret_value())
    )


@router.post(
    "/api/v1/auth/password",
    **declared(Scope.READ, Permission.USE_ACCOUNT, {200: UserView}, examples=PASSWORD),
)
def change_password(request: PasswordRequest) -> UserView:
    """Change one's own password and end all of one's sessions."""
    caller = routes.principal
    if caller.role is None:
        raise Forbidden("a key has no password")
    user = routes.services.users.change_password(
        caller.tenant,
        caller.key_id,
        request.current_password.get_secret_value(),
        request.new_password.get_secret_value(),
    )
    return user_view(user)


@router.get("/api/v1/auth/me", **declared(Scope.READ, Permission.USE_ACCOUNT))
def get_caller() -> CallerView:
    """Return who calls, and what this caller may do."""
    return caller_view(routes.principal)


@router.get("/.well-known/jwks.json", **declared(None, None, {200: KeySetView}))
def get_signing_keys() -> Response[KeySetView]:
    """Return the public keys that verify access tokens (RFC 7517)."""
    return Response(
        status_code=200,
        content_type=content_types.APPLICATION_JSON,
        body=key_set_view(routes.services.verifier.published()),
        headers={"Cache-Control": "public, max-age=60"},
    )


def _answer(tokens: Tokens) -> Response[TokenView]:
    return Response(
        status_code=200,
        content_type=content_types.APPLICATION_JSON,
        body=token_view(tokens),
        headers={"Cache-Control": "no-store"},
    )
