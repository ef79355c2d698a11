"""Routes: a tenant's proxies."""

from aws_lambda_powertools.event_handler import Response

from crawl.proxies_examples import PROXY, TRIAL
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.crawl.wiring import crawl_api
from spinneret.kernel import bounds
from spinneret.kernel.errors import (
    CircuitOpen,
    Conflict,
    DomainBlocked,
    NotFound,
    SecretUnreadable,
    UrlBlocked,
    UrlInvalid,
)
from spinneret.kernel.paging import position_of
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.requests import refuse_request_key
from spinneret.runtime.http.responses import created
from spinneret.runtime.http.routes import Limit, Routes
from spinneret.web.proxies.api_models import (
    ProxyDetail,
    ProxyList,
    ProxyRequest,
    ProxyView,
    TrialRequest,
    TrialView,
    proxy_detail,
    proxy_view,
    trial_view,
)

routes = Routes(crawl_api)
router = routes.router


@router.get("/api/v1/proxies", **declared(Scope.READ, Permission.VIEW_CRAWLS))
def list_proxies(limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None) -> ProxyList:
    """List proxy configs, newest first."""
    return ProxyList.page(
        routes.services.proxies.page(routes.tenant, position_of(cursor), limit), proxy_view
    )


@router.post(
    "/api/v1/proxies",
    **declared(
        Scope.WRITE,
        Permission.CONFIGURE_CRAWLS,
        {201: ProxyView},
        Conflict,
        UrlBlocked,
        examples=PROXY,
    ),
)
def create_proxy(request: ProxyRequest) -> Response[ProxyView]:
    """Create a proxy config. Its credentials are stored encrypted and never returned."""
    refuse_request_key(router, "names are unique, which makes this request safe to repeat")
    config = routes.services.proxies.create(routes.tenant, request.draft)
    return created(proxy_view(config))


@router.post(
    "/api/v1/proxies/test",
    **declared(
        Scope.WRITE,
        Permission.CONFIGURE_CRAWLS,
        {200: TrialView},
        NotFound,
        UrlInvalid,
        UrlBlocked,
        DomainBlocked,
        CircuitOpen,
        SecretUnreadable,
        examples=TRIAL,
    ),
)
def try_proxy(request: TrialRequest) -> TrialView:
    """Fetch a page through one server and return the result."""
    trials = routes.services.proxy_trials
    if request.server is not None:
        return trial_view(trials.try_server(routes.tenant, request.server.draft, request.url))
    proxy_id, position = request.proxy_id or "", request.position
    return trial_view(trials.try_config(routes.tenant, proxy_id, position, request.url))


@router.get("/api/v1/proxies/<proxy_id>", **declared(Scope.READ, Permission.VIEW_CRAWLS))
def get_proxy(proxy_id: str) -> ProxyDetail:
    """Return one proxy config and the health of its servers."""
    return proxy_detail(routes.services.proxies.get(routes.tenant, proxy_id))


@router.put(
    "/api/v1/proxies/<proxy_id>",
    **declared(
        Scope.WRITE,
        Permission.CONFIGURE_CRAWLS,
        {200: ProxyView},
        Conflict,
        UrlBlocked,
        examples=PROXY,
    ),
)
def replace_proxy(proxy_id: str, request: ProxyRequest) -> ProxyView:
    """Replace a proxy config.

    A server without `username` keeps the credentials of its URL; null removes them.
    """
    return proxy_view(routes.services.proxies.replace(routes.tenant, proxy_id, request.draft))


@router.delete(
    "/api/v1/proxies/<proxy_id>", **declared(Scope.WRITE, Permission.CONFIGURE_CRAWLS, {204: None})
)
def delete_proxy(proxy_id: str) -> Response[None]:
    """Delete a proxy config and its credentials."""
    routes.services.proxies.remove(routes.tenant, proxy_id)
    return Response(status_code=204)
