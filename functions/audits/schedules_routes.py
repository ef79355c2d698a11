"""Routes: scheduled audits."""

from aws_lambda_powertools.event_handler import Response

from audits.schedules_examples import SCHEDULE
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.audits.schedules.api_models import (
    AuditScheduleList,
    AuditScheduleRequest,
    AuditScheduleView,
)
from spinneret.audits.schedules.service import ScheduleService
from spinneret.audits.wiring import audit_api
from spinneret.kernel import bounds
from spinneret.kernel.errors import Conflict, UrlBlocked, UrlInvalid
from spinneret.kernel.paging import position_of
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.responses import created
from spinneret.runtime.http.routes import Limit, Routes

routes = Routes(audit_api)
router = routes.router


@router.get("/audits/schedules", **declared(Scope.READ, Permission.VIEW_AUDITS))
def list_audit_schedules(
    limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None
) -> AuditScheduleList:
    """List scheduled audits, newest first."""
    return AuditScheduleList.page(
        _schedules().page(routes.tenant, position_of(cursor), limit), AuditScheduleView.of
    )


@router.post(
    "/audits/schedules",
    **declared(
        Scope.WRITE,
        Permission.RUN_AUDITS,
        {201: AuditScheduleView},
        UrlInvalid,
        UrlBlocked,
        Conflict,
        examples=SCHEDULE,
    ),
)
def create_audit_schedule(request: AuditScheduleRequest) -> Response[AuditScheduleView]:
    """Audit a site on a schedule. Audits don't overlap; a single audit replaces all missed ones."""
    made = _schedules().create(routes.tenant, request)
    return created(AuditScheduleView.of(made))


@router.get("/audits/schedules/<schedule_id>", **declared(Scope.READ, Permission.VIEW_AUDITS))
def get_audit_schedule(schedule_id: str) -> AuditScheduleView:
    """Return one schedule."""
    return AuditScheduleView.of(_schedules().get(routes.tenant, schedule_id))


@router.put(
    "/audits/schedules/<schedule_id>",
    **declared(
        Scope.WRITE,
        Permission.RUN_AUDITS,
        {200: AuditScheduleView},
        UrlInvalid,
        UrlBlocked,
        Conflict,
        examples=SCHEDULE,
    ),
)
def replace_audit_schedule(schedule_id: str, request: AuditScheduleRequest) -> AuditScheduleView:
    """Replace a schedule and compute its next run."""
    return AuditScheduleView.of(_schedules().update(routes.tenant, schedule_id, request))


@router.delete(
    "/audits/schedules/<schedule_id>",
    **declared(Scope.WRITE, Permission.RUN_AUDITS, {204: None}, Conflict),
)
def delete_audit_schedule(schedule_id: str) -> Response[None]:
    """Delete a schedule and keep its audits."""
    _schedules().remove(routes.tenant, schedule_id)
    return Response(status_code=204)


def _schedules() -> ScheduleService:
    return routes.services.schedules
