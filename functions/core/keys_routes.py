"""Routes: API keys of the tenant, for its administrators."""

from aws_lambda_powertools.event_handler import Response

from core.keys_examples import KEY
from spinneret.access.keys.api_models import (
    IssuedKey,
    KeyList,
    KeyRequest,
    KeyView,
    issued_key,
    key_list,
    key_view,
)
from spinneret.access.keys.models import Scope
from spinneret.access.keys.service import KeyService
from spinneret.access.permissions import Permission
from spinneret.kernel import bounds
from spinneret.kernel.errors import Conflict
from spinneret.kernel.paging import position_of
from spinneret.operations.wiring import core_api
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.requests import refuse_request_key
from spinneret.runtime.http.responses import created_secret
from spinneret.runtime.http.routes import Limit, Routes

routes = Routes(core_api)
router = routes.router


@router.post(
    "/api/v1/api-keys",
    **declared(Scope.ADMIN, Permission.MANAGE_KEYS, {201: IssuedKey}, Conflict, examples=KEY),
)
def issue_key(request: KeyRequest) -> Response[IssuedKey]:
    """Issue a key. Only this response contains its secret."""
    refuse_request_key(router)
    caller = routes.principal
    key, secret = _keys().issue(
        caller.tenant,
        request.name,
        request.scopes,
        request.expires_at,
        rate_limit_rpm=request.rate_limit_rpm,
        permissions=request.permissions,
        issuer=caller,
    )
    return created_secret(issued_key(key, secret))


@router.get("/api/v1/api-keys", **declared(Scope.ADMIN, Permission.MANAGE_KEYS))
def list_keys(limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None) -> KeyList:
    """List the tenant's keys, newest first. Expired and revoked keys stay listed for 30 days."""
    page = _keys().page(routes.tenant, position_of(cursor), limit)
    return key_list(page, _keys().now())


@router.get("/api/v1/api-keys/<key_id>", **declared(Scope.ADMIN, Permission.MANAGE_KEYS))
def get_key(key_id: str) -> KeyView:
    """Return one key."""
    return key_view(_keys().get(routes.tenant, key_id), _keys().now())


@router.delete(
    "/api/v1/api-keys/<key_id>", **declared(Scope.ADMIN, Permission.MANAGE_KEYS, {204: None})
)
def revoke_key(key_id: str) -> Response[None]:
    """Revoke a key within five seconds. Revoking it again returns the same response."""
    key = _keys().revoke(routes.tenant, key_id)
    routes.services.live.end_all(key.tenant, key.id)
    return Response(status_code=204)


def _keys() -> KeyService:
    return routes.services.keys
