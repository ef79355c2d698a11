"""Routes: a tenant's public status page and badges, and metrics for Prometheus."""

from typing import Final

from aws_lambda_powertools.event_handler import Response

from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.kernel.errors import Conflict, Contended
from spinneret.monitoring.status_page.api_models import (
    StatusPageChange,
    StatusPageList,
    StatusPageRequest,
    StatusPageView,
    groups_of,
    status_page_view,
)
from spinneret.monitoring.status_page.feed import CONTENT_TYPE as ATOM
from spinneret.monitoring.status_page.feed import atom_feed
from spinneret.monitoring.status_page.html import POLICY, page_html
from spinneret.monitoring.status_page.models import BadgeKind
from spinneret.monitoring.status_page.prometheus import CONTENT_TYPE
from spinneret.monitoring.status_page.svg import badge_svg
from spinneret.monitoring.wiring import status_pages
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.responses import created
from spinneret.runtime.http.routes import Routes
from watch.status_examples import NEW_STATUS_PAGE, STATUS_PAGE, STATUS_PAGE_AT

routes = Routes(status_pages)
router = routes.router

_OPEN: Final = {
    "Cache-Control": "public, max-age=60",
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
}


@router.get("/v1/status-pages", **declared(Scope.READ, Permission.VIEW_TARGETS))
def list_status_pages() -> StatusPageList:
    """List all status pages, at most ten."""
    found = routes.services.pages.all(routes.tenant)
    return StatusPageList(items=[status_page_view(each) for each in found])


@router.get("/v1/status-pages/<slug>", **declared(Scope.READ, Permission.VIEW_TARGETS))
def get_status_page_at(slug: str) -> StatusPageView:
    """Return one status page."""
    return status_page_view(routes.services.page_at(routes.tenant, slug))


@router.post(
    "/v1/status-pages",
    **declared(
        Scope.WRITE,
        Permission.EDIT_TARGETS,
        {201: StatusPageView},
        Conflict,
        Contended,
        examples=NEW_STATUS_PAGE,
    ),
)
def create_status_page(request: StatusPageRequest) -> Response[StatusPageView]:
    """Publish a further status page, up to ten in all."""
    tenant = routes.tenant
    page = routes.services.add(tenant, request.slug, request.title, groups_of(request))
    return created(status_page_view(page))


@router.put(
    "/v1/status-pages/<slug>",
    **declared(
        Scope.WRITE,
        Permission.EDIT_TARGETS,
        {200: StatusPageView},
        Contended,
        examples=STATUS_PAGE_AT,
    ),
)
def put_status_page_at(slug: str, request: StatusPageChange) -> StatusPageView:
    """Change title and groups of a status page."""
    tenant = routes.tenant
    page = routes.services.change(tenant, slug, request.title, groups_of(request))
    return status_page_view(page)


@router.delete(
    "/v1/status-pages/<slug>",
    **declared(Scope.WRITE, Permission.EDIT_TARGETS, {204: None}, Contended),
)
def delete_status_page_at(slug: str) -> Response[None]:
    """Remove a status page."""
    routes.services.remove_at(routes.tenant, slug)
    return Response(status_code=204)


@router.get("/v1/status-page", **declared(Scope.READ, Permission.VIEW_TARGETS))
def get_status_page() -> StatusPageView:
    """Return the main status page."""
    return status_page_view(routes.services.get(routes.tenant))


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
    """Publish the main status page, of targets with `public` set, under a slug of your choice."""
    tenant = routes.tenant
    page = routes.services.put(tenant, request.slug, request.title, groups_of(request))
    return status_page_view(page)


@router.delete(
    "/v1/status-page", **declared(Scope.WRITE, Permission.EDIT_TARGETS, {204: None}, Contended)
)
def delete_status_page() -> Response[None]:
    """Remove the main status page."""
    routes.services.remove(routes.tenant)
    return Response(status_code=204)


@router.get("/status/<slug>", **declared(None, None, {200: "text/html"}))
def show_status_page(slug: str) -> Response[str]:
    """Show the public status page as HTML without scripts."""
    html = page_html(routes.services.shown(slug))
    return Response(
        status_code=200, content_type="text/html; charset=utf-8", body=html, headers=dict(_OPEN)
    )


@router.get("/status/<slug>/feed.xml", **declared(None, None, {200: "application/atom+xml"}))
def show_status_feed(slug: str) -> Response[str]:
    """Show the notices of a status page as an Atom feed, one entry for each update."""
    text = atom_feed(*routes.services.feed(slug))
    return Response(status_code=200, content_type=ATOM, body=text, headers=dict(_OPEN))


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
    text = routes.services.metrics(routes.tenant)
    return Response(status_code=200, content_type=CONTENT_TYPE, body=text)
