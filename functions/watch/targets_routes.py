"""Routes: monitored targets, their results, uptime and incidents."""

import json
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler import Response, content_types
from aws_lambda_powertools.event_handler.openapi.params import Query

from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.kernel import bounds
from spinneret.kernel.errors import (
    Conflict,
    Contended,
    IdempotencyMismatch,
    UrlBlocked,
    UrlInvalid,
)
from spinneret.kernel.paging import position_of
from spinneret.monitoring.checks.api_models import ResultList, result_list
from spinneret.monitoring.incidents.api_models import IncidentList, IncidentView
from spinneret.monitoring.rollups.api_models import (
    UptimeDayList,
    UptimeView,
    uptime_days,
    uptime_view,
)
from spinneret.monitoring.rollups.models import Window
from spinneret.monitoring.targets.api_models import (
    Seal,
    TargetChange,
    TargetRequest,
    changes_of,
    options_of,
    subject_of,
)
from spinneret.monitoring.targets.models import Status
from spinneret.monitoring.targets.rules import host_named
from spinneret.monitoring.targets.service import RequestId
from spinneret.monitoring.targets.views import (
    HeartbeatView,
    TargetList,
    TargetView,
    target_list,
    target_view,
)
from spinneret.monitoring.times import is_position, moment_of, one_cursor
from spinneret.monitoring.wiring import target_api
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.requests import REPLAYED, request_key
from spinneret.runtime.http.responses import created_secret
from spinneret.runtime.http.routes import Limit, Routes
from watch.targets_examples import CHANGE, TARGET

routes = Routes(target_api)
router = routes.router

Host = Annotated[str, Query(min_length=1, max_length=255)]


@router.post(
    "/v1/targets",
    **declared(
        Scope.WRITE,
        Permission.EDIT_TARGETS,
        {201: TargetView, 200: TargetView},
        UrlInvalid,
        UrlBlocked,
        IdempotencyMismatch,
        Conflict,
        Contended,
        idempotent=True,
        examples=TARGET,
    ),
)
def create_target(request: TargetRequest) -> Response[dict[str, Any]]:
    """Monitor a URL, a TCP port, a DNS record, or a job that calls.

    Returns 200 and the existing target if the same is monitored already.
    """
    caller = routes.principal
    key = request_key(router, caller, "/v1/targets")
    outcome = routes.services.targets.create(
        caller.tenant,
        subject_of(request),
        options_of(request, routes.services.default_interval, _seal()),
        None if key is None else RequestId(scope=key.scope, payload=key.payload),
    )
    return Response(
        status_code=outcome.status,
        content_type=content_types.APPLICATION_JSON,
        body=json.loads(outcome.body),
        headers={REPLAYED: "true"} if outcome.replayed else {},
    )


@router.get("/v1/targets", **declared(Scope.READ, Permission.VIEW_TARGETS))
def list_targets(
    limit: Limit = bounds.LIST_LIMIT_DEFAULT,
    host: Host | None = None,
    status: Status | None = None,
    cursor: str | None = None,
    page_token: str | None = None,
) -> TargetList:
    """List targets in order of creation, optionally of one host or status.

    With `status`, a page may be short or empty though more follow. `page_token` is an alias of
    `cursor`.
    """
    after = position_of(one_cursor(cursor, page_token), is_position)
    host = None if host is None else host_named(host)
    tenant = routes.tenant
    return target_list(routes.services.targets.page(tenant, host, status, after, limit))


@router.get("/v1/targets/<target_id>", **declared(Scope.READ, Permission.VIEW_TARGETS))
def get_target(target_id: str) -> TargetView:
    """Return one target and its current status."""
    return target_view(routes.services.targets.get(routes.tenant, target_id))


@router.patch(
    "/v1/targets/<target_id>",
    **declared(Scope.WRITE, Permission.EDIT_TARGETS, {200: TargetView}, Contended, examples=CHANGE),
)
def change_target(target_id: str, request: TargetChange) -> TargetView:
    """Change options; omitted options are kept."""
    changes = changes_of(request, _seal())
    return target_view(routes.services.targets.update(routes.tenant, target_id, changes))


@router.post(
    "/v1/targets/<target_id>/pause",
    **declared(Scope.WRITE, Permission.EDIT_TARGETS, {200: TargetView}, Contended),
)
def pause_target(target_id: str) -> TargetView:
    """Pause the checks of a target."""
    return target_view(routes.services.targets.pause(routes.tenant, target_id))


@router.post(
    "/v1/targets/<target_id>/resume",
    **declared(Scope.WRITE, Permission.EDIT_TARGETS, {200: TargetView}, Contended),
)
def resume_target(target_id: str) -> TargetView:
    """Resume the checks of a target."""
    return target_view(routes.services.targets.resume(routes.tenant, target_id))


@router.delete(
    "/v1/targets/<target_id>",
    **declared(Scope.WRITE, Permission.EDIT_TARGETS, {204: None}, Contended),
)
def delete_target(target_id: str) -> Response[None]:
    """Delete a target. Its results expire as usual."""
    routes.services.targets.remove(routes.tenant, target_id)
    return Response(status_code=204)


@router.get("/v1/targets/<target_id>/results", **declared(Scope.READ, Permission.VIEW_TARGETS))
def list_results(
    target_id: str,
    limit: Limit = bounds.LIST_LIMIT_DEFAULT,
    since: str | None = None,
    until: str | None = None,
    cursor: str | None = None,
    page_token: str | None = None,
) -> ResultList:
    """List check results of the last seven days, newest first.

    `since` and `until` are RFC 3339 times.
    """
    after = position_of(one_cursor(cursor, page_token), is_position)
    tenant = routes.tenant
    routes.services.targets.get(tenant, target_id)
    first, last = _moment("since", since), _moment("until", until)
    return result_list(
        routes.services.checks.results(
            tenant, target_id, since=first, until=last, after=after, limit=limit
        )
    )


@router.get("/v1/targets/<target_id>/uptime", **declared(Scope.READ, Permission.VIEW_TARGETS))
def get_uptime(
    target_id: str,
    window: Window = Window.DAY,
    maintenance: Literal["exclude", "include"] = "exclude",
) -> UptimeView:
    """Return uptime and latencies of a window that ends now.

    The window is the last hour, full hours (24h, 7d) or full UTC days (30d, 1y).
    """
    watched = routes.services.targets.get(routes.tenant, target_id)
    figures = routes.services.figures.figures(watched, window)
    return uptime_view(window, figures, with_maintenance=maintenance == "include")


@router.get("/v1/targets/<target_id>/days", **declared(Scope.READ, Permission.VIEW_TARGETS))
def list_uptime_days(target_id: str) -> UptimeDayList:
    """Return uptime and latencies of each of the last 90 UTC days that has checks."""
    watched = routes.services.targets.get(routes.tenant, target_id)
    return uptime_days(routes.services.figures.days(watched))


@router.get("/v1/targets/<target_id>/incidents", **declared(Scope.READ, Permission.VIEW_TARGETS))
def list_incidents(
    target_id: str,
    limit: Limit = bounds.LIST_LIMIT_DEFAULT,
    window: Window | None = None,
    cursor: str | None = None,
) -> IncidentList:
    """List a target's incidents with their timelines, newest first.

    With `window`, the list contains the incidents that lasted into it.
    """
    after = position_of(cursor, is_position)
    tenant = routes.tenant
    routes.services.targets.get(tenant, target_id)
    return IncidentList.page(
        routes.services.incidents.page(tenant, target_id, window, after, limit), IncidentView.of
    )


@router.post(
    "/v1/targets/<target_id>/heartbeat",
    **declared(Scope.WRITE, Permission.EDIT_TARGETS, {201: HeartbeatView}, Conflict, Contended),
)
def issue_heartbeat(target_id: str) -> Response[HeartbeatView]:
    """Issue the secret address that a heartbeat's job calls by GET or POST.

    It is shown once; an address that was issued before stops working.
    """
    token = routes.services.targets.issue_call(routes.tenant, target_id)
    return created_secret(HeartbeatView(path=f"/heartbeats?token={token}"))


def _seal() -> Seal:
    return partial(routes.services.targets.sealed, routes.tenant)


def _moment(name: str, text: str | None) -> datetime | None:
    return None if text is None else moment_of(name, text)
