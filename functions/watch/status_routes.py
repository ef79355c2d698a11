"""Routes: a tenant's public status page and badges, and metrics for Prometheus."""

from typing import Final

from aws_lambda_powertools.event_handler import Response

from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.kernel.errors import Conflict, Contended
from spinneret.monitoring.status_page.api_models import (
    StatusPageRequest,
    StatusPageView,
    status_page_view,
)
from spinneret.monitoring.status_page.html import POLICY, page_html
from spinneret.monitoring.status_page.models import BadgeKind
from spinneret.monitoring.status_page.prometheus import CONTENT_TYPE
from spinneret.monitoring.status_page.svg import badge_svg
from spinneret.monitoring.wiring import status_pages
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.routes import Routes
from watch.status_examples import STATUS_PAGE

routes = Routes(status_pages)
router = routes.router

_OPEN: Final = {
    "Cache-Control": "public, max-age=60",
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
}


@router.get("/v1/status-page", **declared(Scope.READ, Permission.VIEW_TARGETS))
def get_status_page() -> StatusPageView:
    """Return the address of the status page."""
    return status_page_view(routes.services.get(routes.principal.tenant))


@router.put(
    "/v1/status-page",
    **declared(
        Scope.WRITE,
        Permission.EDIT_TARGETS,
        {200: StatusPageView},
        Conflict,
        Contended,
        examples=STATUS_PAGE,
    ),
)
def put_status_page(request: StatusPageRequest) -> StatusPageView:
    """Publish a status page of the targets with `public` set, under a slug of your choice."""
    page = routes.services.put(routes.principal.tenant, request.slug, request.title)
    return status_page_view(page)


@router.delete(
    "/v1/status-page", **declared(Scope.WRITE, Permission.EDIT_TARGETS, {204: None}, Contended)
)
def delete_status_page() -> Response[None]:
    """Remove the status page."""
    routes.services.remove(routes.principal.tenant)
    return Response(status_code=204)


@router.get("/status/<slug>", **declared(None, None, {200: "text/html"}))
def show_status_page(slug: str) -> Response[str]:
    """Show the public status page as HTML without scripts."""
    html = page_html(routes.services.shown(slug))
    return Response(
        status_code=200, content_type="text/html; charset=utf-8", body=html, headers=dict(_OPEN)
    )


@router.get("/status/<slug>/badges/<target_id>.svg", **declared(None, None, {200: "image/svg+xml"}))
def show_badge(slug: str, target_id: str, kind: BadgeKind = BadgeKind.STATUS) -> Response[str]:
    """Show a target's public badge.

    It shows the status, or the uptime or median latency of the last 30 days.
    """
    svg = badge_svg(routes.services.line(slug, target_id), kind)
    return Response(status_code=200, content_type="image/svg+xml", body=svg, headers=dict(_OPEN))


@router.get("/metrics", **declared(Scope.READ, Permission.VIEW_TARGETS, {200: "text/plain"}))
def get_metrics() -> Response[str]:
    """Return all targets in Prometheus format, limited to 4 MB (about 2,000 targets).

    Omitted targets are counted. Prometheus sends the API key as bearer token.
    """
    text = routes.services.metrics(routes.principal.tenant)
    return Response(status_code=200, content_type=CONTENT_TYPE, body=text)
