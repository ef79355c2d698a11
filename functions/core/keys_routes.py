"""Routes: the tenant's API keys, for its administrators."""

from __future__ import annotations

from typing import Annotated, Final

from aws_lambda_powertools.event_handler import Response, content_types
from aws_lambda_powertools.event_handler.openapi.params import Query

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
from spinneret.kernel import bounds
from spinneret.kernel.errors import Conflict, ValidationFailed
from spinneret.kernel.paging import position_of
from spinneret.operations.wiring import CoreApi, core_api
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.routes import Routes

routes = Routes(core_api)
router = routes.router

Limit = Annotated[int, Query(ge=1, le=bounds.LIST_LIMIT_MAX)]
_IDEMPOTENCY_KEY: Final = "Idempotency-Key"


@router.post("/api/v1/api-keys", **declared(Scope.ADMIN, {201: IssuedKey}, Conflict, examples=KEY))
def issue_key(request: KeyRequest) -> Response[IssuedKey]:
    """Issue a key. Its secret is in this answer and nowhere else."""
    _refuse_idempotency_key()
    caller = routes.principal
    key, secret = _keys().issue(
        caller.tenant,
        request.name,
        request.scopes,
        request.expires_at,
        requests_per_minute=request.requests_per_minute,
        issuer=caller,
    )
    return Response(
        status_code=201,
        content_type=content_types.APPLICATION_JSON,
        body=issued_key(key, secret),
        headers={"Cache-Control": "no-store"},
    )


@router.get("/api/v1/api-keys", **declared(Scope.ADMIN))
def list_keys(limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None) -> KeyList:
    """The tenant's keys, newest first; ended ones are shown for 30 days more."""
    return key_list(_keys().page(routes.principal.tenant, position_of(cursor), limit))


@router.get("/api/v1/api-keys/<key_id>", **declared(Scope.ADMIN))
def get_key(key_id: str) -> KeyView:
    """One key."""
    return key_view(_keys().get(routes.principal.tenant, key_id))


@router.delete("/api/v1/api-keys/<key_id>", **declared(Scope.ADMIN))
def revoke_key(key_id: str) -> KeyView:
    """Revoke a key, effective at once; answers the key, also when it was revoked before."""
    key = _keys().revoke(routes.principal.tenant, key_id)
    _services().live.end_all(key.tenant, key.id)
    return key_view(key)


def _refuse_idempotency_key() -> None:
    """A replay would have to show the secret again, so it would have to be stored.

    To ignore the header would let a client issue keys twice that relies on it.
    """
    if router.current_event.headers.get(_IDEMPOTENCY_KEY) is not None:
        raise ValidationFailed(
            "a key is shown once, so its issue can't be replayed: list the keys and revoke",
            details={"fields": [{"field": _IDEMPOTENCY_KEY}]},
        )


def _keys() -> KeyService:
    return _services().keys


def _services() -> CoreApi:
    return routes.services
