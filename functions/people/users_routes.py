"""Routes: people of the tenant, for its administrators."""

from aws_lambda_powertools.event_handler import Response

from people.people_examples import INVITE, UPDATE
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.access.users.api_models import (
    InvitedUser,
    UserList,
    UserRequest,
    UserUpdate,
    UserView,
    invited_user,
    user_view,
)
from spinneret.access.wiring import people_api
from spinneret.kernel import bounds
from spinneret.kernel.errors import Conflict
from spinneret.kernel.paging import position_of
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.responses import created_secret
from spinneret.runtime.http.routes import Limit, Routes

routes = Routes(people_api)
router = routes.router


@router.post(
    "/api/v1/users",
    **declared(Scope.ADMIN, Permission.MANAGE_USERS, {201: InvitedUser}, Conflict, examples=INVITE),
)
def invite_user(request: UserRequest) -> Response[InvitedUser]:
    """Add a person. Only this response contains the invitation, which is valid for 72 hours."""
    caller = routes.principal
    user, invitation = routes.services.users.invite(
        caller.tenant, request.email, request.name, request.role, caller.permissions
    )
    return created_secret(invited_user(user, invitation))


@router.get("/api/v1/users", **declared(Scope.ADMIN, Permission.MANAGE_USERS))
def list_users(limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None) -> UserList:
    """List the tenant's people, oldest first."""
    page = routes.services.users.page(routes.tenant, position_of(cursor), limit)
    return UserList.page(page, user_view)


@router.get("/api/v1/users/<user_id>", **declared(Scope.ADMIN, Permission.MANAGE_USERS))
def get_user(user_id: str) -> UserView:
    """Return one person."""
    return user_view(routes.services.users.get(routes.tenant, user_id))


@router.put(
    "/api/v1/users/<user_id>",
    **declared(Scope.ADMIN, Permission.MANAGE_USERS, {200: UserView}, Conflict, examples=UPDATE),
)
def replace_user(user_id: str, request: UserUpdate) -> UserView:
    """Change a person. Another role or activity ends all of the person's sessions.

    The last active administrator keeps role and activity.
    """
    caller = routes.principal
    user = routes.services.users.replace(
        caller.tenant,
        user_id,
        request.name,
        request.role,
        is_active=request.is_active,
        by=caller.key_id,
        permissions=caller.permissions,
    )
    return user_view(user)


@router.delete(
    "/api/v1/users/<user_id>",
    **declared(Scope.ADMIN, Permission.MANAGE_USERS, {204: None}, Conflict),
)
def delete_user(user_id: str) -> Response[None]:
    """Delete a person and end all of the person's sessions; the last active administrator stays."""
    routes.services.users.remove(routes.tenant, user_id, routes.principal.key_id)
    return Response(status_code=204)
