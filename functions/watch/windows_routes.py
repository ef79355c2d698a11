"""Routes: maintenance windows."""

from aws_lambda_powertools.event_handler import Response

from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.kernel import bounds
from spinneret.kernel.errors import Conflict, Contended
from spinneret.kernel.paging import position_of
from spinneret.monitoring.windows.api_models import (
    WindowList,
    WindowRequest,
    WindowView,
    draft_of,
)
from spinneret.monitoring.wiring import window_service
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.responses import created
from spinneret.runtime.http.routes import Limit, Routes
from watch.windows_examples import WINDOW

routes = Routes(window_service)
router = routes.router


@router.get("/v1/maintenance-windows", **declared(Scope.READ, Permission.VIEW_TARGETS))
def list_windows(limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None) -> WindowList:
    """List maintenance windows, oldest first."""
    page = routes.services.page(routes.tenant, position_of(cursor), limit)
    return WindowList.page(page, WindowView.of)


@router.post(
    "/v1/maintenance-windows",
    **declared(Scope.WRITE, Permission.EDIT_TARGETS, {201: WindowView}, Conflict, examples=WINDOW),
)
def create_window(request: WindowRequest) -> Response[WindowView]:
    """Create a maintenance window, single or recurring, during which targets may fail."""
    made = routes.services.create(routes.tenant, draft_of(request))
    return created(WindowView.of(made))


@router.get("/v1/maintenance-windows/<window_id>", **declared(Scope.READ, Permission.VIEW_TARGETS))
def get_window(window_id: str) -> WindowView:
    """Return one maintenance window."""
    return WindowView.of(routes.services.get(routes.tenant, window_id))


@router.put(
    "/v1/maintenance-windows/<window_id>",
    **declared(Scope.WRITE, Permission.EDIT_TARGETS, {200: WindowView}, Contended, examples=WINDOW),
)
def replace_window(window_id: str, request: WindowRequest) -> WindowView:
    """Replace a maintenance window."""
    changed = routes.services.update(routes.tenant, window_id, draft_of(request))
    return WindowView.of(changed)


@router.delete(
    "/v1/maintenance-windows/<window_id>",
    **declared(Scope.WRITE, Permission.EDIT_TARGETS, {204: None}, Contended),
)
def delete_window(window_id: str) -> Response[None]:
    """Delete a maintenance window."""
    routes.services.remove(routes.tenant, window_id)
    return Response(status_code=204)
