"""Routes: incidents and maintenance that a tenant posts on its status pages."""

from aws_lambda_powertools.event_handler import Response

from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.kernel import bounds
from spinneret.kernel.errors import Conflict, Contended
from spinneret.kernel.paging import position_of
from spinneret.monitoring.notices.api_models import (
    NoticeList,
    NoticeRequest,
    NoticeUpdateRequest,
    NoticeView,
    draft_of,
)
from spinneret.monitoring.wiring import notice_service
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.responses import created
from spinneret.runtime.http.routes import Limit, Routes
from watch.status_examples import NOTICE, NOTICE_UPDATE

routes = Routes(notice_service)
router = routes.router


@router.get("/v1/status-notices", **declared(Scope.READ, Permission.VIEW_TARGETS))
def list_notices(limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None) -> NoticeList:
    """List notices, newest first."""
    page = routes.services.page(routes.tenant, position_of(cursor), limit)
    return NoticeList.page(page, NoticeView.of)


@router.post(
    "/v1/status-notices",
    **declared(Scope.WRITE, Permission.EDIT_TARGETS, {201: NoticeView}, examples=NOTICE),
)
def post_notice(request: NoticeRequest) -> Response[NoticeView]:
    """Post an incident or maintenance on status pages."""
    posted = routes.services.post(routes.tenant, draft_of(request))
    return created(NoticeView.of(posted))


@router.get("/v1/status-notices/<notice_id>", **declared(Scope.READ, Permission.VIEW_TARGETS))
def get_notice(notice_id: str) -> NoticeView:
    """Return one notice with its updates."""
    return NoticeView.of(routes.services.get(routes.tenant, notice_id))


@router.post(
    "/v1/status-notices/<notice_id>/updates",
    **declared(
        Scope.WRITE,
        Permission.EDIT_TARGETS,
        {201: NoticeView},
        Conflict,
        Contended,
        examples=NOTICE_UPDATE,
    ),
)
def update_notice(notice_id: str, request: NoticeUpdateRequest) -> Response[NoticeView]:
    """Add an update to a notice, up to 20 in all; `resolved` or `completed` ends it."""
    tenant = routes.tenant
    changed = routes.services.update(tenant, notice_id, request.status, request.text)
    return created(NoticeView.of(changed))


@router.delete(
    "/v1/status-notices/<notice_id>",
    **declared(Scope.WRITE, Permission.EDIT_TARGETS, {204: None}, Contended),
)
def delete_notice(notice_id: str) -> Response[None]:
    """Remove a notice from all pages."""
    routes.services.remove(routes.tenant, notice_id)
    return Response(status_code=204)
