"""Routes: sign-in and passwords."""

from aws_lambda_powertools.event_handler import Response

from sign_in.sign_in_examples import ACCEPT, LOGIN, PASSWORD
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.access.sessions.api_models import LoginRequest, TokenView
from spinneret.access.users.api_models import AcceptRequest, PasswordRequest, UserView, user_view
from spinneret.access.wiring import sign_in_api
from spinneret.kernel.errors import (
    AuthRequired,
    DependencyUnavailable,
    Forbidden,
    RateLimited,
    TenantSuspended,
)
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.origins import require_own_page
from spinneret.runtime.http.refresh_cookie import with_tokens
from spinneret.runtime.http.routes import Routes

routes = Routes(sign_in_api)
router = routes.router


@router.post(
    "/api/v1/auth/login",
    **declared(
        None,
        None,
        {200: TokenView},
        AuthRequired,
        Forbidden,
        TenantSuspended,
        RateLimited,
        DependencyUnavailable,
        examples=LOGIN,
    ),
)
def sign_in(request: LoginRequest) -> Response[TokenView]:
    """Sign a person in.

    From the fifth failure of an account at an address, the next attempt has to wait. An unknown
    account, a wrong password and an account that waits get the same answer. With `cookie` the
    refresh token comes as a cookie, which scripts can't read; the header `Origin` must then name a
    page that may use it.
    """
    event = router.current_event
    if request.cookie:
        require_own_page(event.headers, routes.services.origins)
    tokens = routes.services.sign_in.sign_in(
        request.tenant,
        request.email,
        request.password.get_secret_value(),
        event.request_context.identity.source_ip or "",
    )
    return with_tokens(tokens, event.headers, cookie=request.cookie)


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
        routes.services.passwords.accept(request.invitation, request.password.get_secret_value())
    )


@router.post(
    "/api/v1/auth/password",
    **declared(Scope.READ, Permission.USE_ACCOUNT, {200: UserView}, examples=PASSWORD),
)
def change_password(request: PasswordRequest) -> UserView:
    """Change one's own password and end all of one's sessions.

    A wrong current password counts as a failed sign-in.
    """
    caller = routes.principal
    if caller.role is None:
        raise Forbidden("a key has no password")
    user = routes.services.passwords.change(
        caller.tenant,
        caller.key_id,
        request.current_password.get_secret_value(),
        request.new_password.get_secret_value(),
        router.current_event.request_context.identity.source_ip or "",
    )
    return user_view(user)
