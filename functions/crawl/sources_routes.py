"""Routes: sources, their runs and their webhooks."""

from typing import Final

from aws_lambda_powertools.event_handler import Response, content_types

from crawl.sources_examples import SOURCE, WEBHOOK
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.events.webhooks.api_models import (
    EndpointList,
    IssuedEndpoint,
    endpoint_list,
    issued_endpoint,
)
from spinneret.kernel import bounds
from spinneret.kernel.errors import (
    Conflict,
    FeatureDisabled,
    NotFound,
    UrlBlocked,
    UrlInvalid,
)
from spinneret.kernel.paging import Page, position_of
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.requests import refuse_request_key
from spinneret.runtime.http.responses import created, created_secret
from spinneret.runtime.http.routes import Limit, Routes
from spinneret.sources.api_models import (
    RunDetail,
    RunListView,
    SourceList,
    SourceRequest,
    SourceView,
    SourceWebhookRequest,
    TriggeredRun,
    run_detail,
    run_view,
    source_view,
)
from spinneret.sources.service import SourceService
from spinneret.sources.wiring import SourceApi, source_api

routes = Routes(source_api)
router = routes.router

_REFUSALS: Final = (NotFound, UrlInvalid, UrlBlocked)


@router.get("/api/v1/sources", **declared(Scope.READ, Permission.VIEW_CRAWLS))
def list_sources(limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None) -> SourceList:
    """List sources, newest first."""
    return SourceList.page(_sources().page(routes.tenant, position_of(cursor), limit), source_view)


@router.post(
    "/api/v1/sources",
    **declared(
        Scope.WRITE,
        Permission.CONFIGURE_CRAWLS,
        {201: SourceView},
        *_REFUSALS,
        Conflict,
        examples=SOURCE,
    ),
)
def create_source(request: SourceRequest) -> Response[SourceView]:
    """Create a source, whose pages are crawled repeatedly."""
    made = _sources().create(routes.tenant, request.draft)
    return created(source_view(made))


@router.get("/api/v1/sources/<source_id>", **declared(Scope.READ, Permission.VIEW_CRAWLS))
def get_source(source_id: str) -> SourceView:
    """Return one source."""
    return source_view(_sources().get(routes.tenant, source_id))


@router.put(
    "/api/v1/sources/<source_id>",
    **declared(
        Scope.WRITE,
        Permission.CONFIGURE_CRAWLS,
        {200: SourceView},
        *_REFUSALS,
        Conflict,
        examples=SOURCE,
    ),
)
def replace_source(source_id: str, request: SourceRequest) -> SourceView:
    """Replace a source. A run under way continues by the new settings."""
    return source_view(_sources().update(routes.tenant, source_id, request.draft))


@router.delete(
    "/api/v1/sources/<source_id>",
    **declared(Scope.WRITE, Permission.CONFIGURE_CRAWLS, {204: None}, Conflict),
)
def delete_source(source_id: str) -> Response[None]:
    """Delete a source and its webhooks; keep its documents."""
    _sources().remove(routes.tenant, source_id)
    return Response(status_code=204)


@router.post(
    "/api/v1/sources/<source_id>/trigger",
    **declared(Scope.WRITE, Permission.CRAWL, {202: TriggeredRun}, Conflict),
)
def trigger_source(source_id: str) -> Response[TriggeredRun]:
    """Start a run now, or return the run under way."""
    run, begun = _sources().trigger(routes.tenant, source_id)
    body = TriggeredRun(
        run_id=run.id, status=run.stage, message="accepted" if begun else "already under way"
    )
    return Response(status_code=202, content_type=content_types.APPLICATION_JSON, body=body)


@router.get("/api/v1/sources/<source_id>/runs", **declared(Scope.READ, Permission.VIEW_CRAWLS))
def list_runs(
    source_id: str, limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None
) -> RunListView:
    """List a source's runs, newest first.

    Each run has its numbers of new, changed, unchanged and gone pages.
    """
    return RunListView.page(
        _sources().runs(routes.tenant, source_id, position_of(cursor), limit), run_view
    )


@router.get(
    "/api/v1/sources/<source_id>/runs/<run_id>", **declared(Scope.READ, Permission.VIEW_CRAWLS)
)
def get_run(source_id: str, run_id: str) -> RunDetail:
    """Return one run. Its pages and their documents are included after its end."""
    return run_detail(*_sources().run(routes.tenant, source_id, run_id))


@router.get(
    "/api/v1/sources/<source_id>/webhooks",
    **declared(Scope.READ, Permission.VIEW_WEBHOOKS, {200: EndpointList}, FeatureDisabled),
)
def list_source_webhooks(source_id: str) -> EndpointList:
    """List a source's webhooks, newest first."""
    services = _with_webhooks(source_id)
    found = services.webhooks.of_source(routes.tenant, source_id)
    page = Page(items=found, after=None)
    return endpoint_list(
        page, whole_url=routes.principal.may_use(Scope.WRITE, Permission.MANAGE_WEBHOOKS)
    )


@router.post(
    "/api/v1/sources/<source_id>/webhooks",
    **declared(
        Scope.WRITE,
        Permission.MANAGE_WEBHOOKS,
        {201: IssuedEndpoint},
        UrlInvalid,
        UrlBlocked,
        Conflict,
        FeatureDisabled,
        examples=WEBHOOK,
    ),
)
def create_source_webhook(
    source_id: str, request: SourceWebhookRequest
) -> Response[IssuedEndpoint]:
    """Create a webhook that is notified when a run of the source ends.

    Only this response contains its secret, given or generated. The webhook is deleted together with
    the source.
    """
    refuse_request_key(router)
    services = _with_webhooks(source_id)
    source = services.sources.get(routes.tenant, source_id)
    made = services.webhooks.create(routes.tenant, request.endpoint(source), request.secret)
    return created_secret(issued_endpoint(*made))


def _with_webhooks(source_id: str) -> SourceApi:
    """Return the services. Raises FeatureDisabled, and NotFound if the source doesn't exist."""
    services = routes.services
    services.webhooks.require_enabled()
    services.sources.get(routes.tenant, source_id)
    return services


def _sources() -> SourceService:
    return routes.services.sources
