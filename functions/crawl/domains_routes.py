"""Routes: a tenant's settings for domains."""

from typing import Annotated, Final

from aws_lambda_powertools.event_handler.openapi.params import Query

from crawl.domains_examples import BLOCK, PUT_DOMAIN
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.crawl.wiring import crawl_api
from spinneret.kernel import bounds
from spinneret.kernel.errors import UrlBlocked, ValidationFailed
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.routes import Limit, Routes
from spinneret.web.hosts.api_models import (
    BlockRequest,
    DomainDetail,
    DomainList,
    DomainUpdate,
    DomainView,
    domain_detail,
    domain_list,
    domain_of,
    domain_view,
)
from spinneret.web.hosts.models import HostSettings
from spinneret.web.hosts.service import HostService

routes = Routes(crawl_api)
router = routes.router

Port = Annotated[int | None, Query(ge=1, le=65535)]
_NO_HOST: Final = (ValidationFailed, UrlBlocked)


@router.get("/api/v1/domains", **declared(Scope.READ, Permission.VIEW_CRAWLS))
def list_domains(
    blocked: bool | None = None,
    limit: Limit = bounds.LIST_LIMIT_DEFAULT,
    cursor: str | None = None,
) -> DomainList:
    """List domains with settings, sorted by name.

    The filter examines a bounded number of domains per page.
    """
    page = _hosts().page(routes.tenant, blocked, domain_of(cursor), limit)
    return domain_list(page, _hosts().pace_under)


@router.get(
    "/api/v1/domains/<domain>",
    **declared(Scope.READ, Permission.VIEW_CRAWLS, {200: DomainDetail}, *_NO_HOST),
)
def get_domain(domain: str, port: Port = None) -> DomainDetail:
    """Return a domain's settings, or the defaults, and its circuit breaker.

    `port` selects the circuit breaker of a port; the default ports of http and https share one.
    """
    return domain_detail(_hosts().get(routes.tenant, _hosts().named(domain), _unusual(port)))


@router.put(
    "/api/v1/domains/<domain>",
    **declared(
        Scope.WRITE, Permission.CONFIGURE_CRAWLS, {200: DomainView}, *_NO_HOST, examples=PUT_DOMAIN
    ),
)
def put_domain(domain: str, update: DomainUpdate) -> DomainView:
    """Replace the settings for one host.

    Settings are a lower rate limit, a more sensitive circuit breaker and notes. A block isn't
    changed. Fetches obey new settings within five seconds.
    """
    name = _hosts().named(domain)
    return _view(_hosts().put(routes.tenant, name, update.override, update.notes))


@router.post(
    "/api/v1/domains/<domain>/block",
    **declared(
        Scope.WRITE, Permission.CONFIGURE_CRAWLS, {200: DomainView}, *_NO_HOST, examples=BLOCK
    ),
)
def block_domain(domain: str, request: BlockRequest) -> DomainView:
    """Block a domain and all its subdomains.

    Submissions are refused at once, and no fetch begins after five seconds.
    """
    return _view(_hosts().block(routes.tenant, _hosts().named(domain), request.reason))


@router.post(
    "/api/v1/domains/<domain>/unblock",
    **declared(Scope.WRITE, Permission.CONFIGURE_CRAWLS, {200: DomainView}, *_NO_HOST),
)
def unblock_domain(domain: str) -> DomainView:
    """Remove a domain's own block and return its settings, even if it wasn't blocked."""
    return _view(_hosts().unblock(routes.tenant, _hosts().named(domain)))


@router.post(
    "/api/v1/domains/<domain>/reset",
    **declared(Scope.ADMIN, Permission.CONFIGURE_CRAWLS, {200: DomainDetail}, *_NO_HOST),
)
def reset_domain(domain: str, port: Port = None) -> DomainDetail:
    """Close the circuit breaker of a domain, or of one of its ports, for all tenants."""
    return domain_detail(_hosts().reset(routes.tenant, _hosts().named(domain), _unusual(port)))


def _view(settings: HostSettings) -> DomainView:
    return domain_view(settings, _hosts().pace_under(settings.override))


def _unusual(port: int | None) -> int | None:
    return None if port in {80, 443} else port


def _hosts() -> HostService:
    return routes.services.hosts
