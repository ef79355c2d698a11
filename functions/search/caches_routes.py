"""Routes: caches."""

from aws_lambda_powertools.event_handler import Response

from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.content.caches.api_models import CacheStats, cache_stats
from spinneret.content.caches.models import CacheName
from spinneret.content.caches.wiring import cache_clearing
from spinneret.kernel.errors import UrlInvalid
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.routes import Routes
from spinneret.web.fetching.urls import bare_host

routes = Routes(cache_clearing)
router = routes.router


@router.get("/api/v1/cache/stats", **declared(Scope.READ, Permission.VIEW_DOCUMENTS))
def get_cache_stats() -> CacheStats:
    """Return entries, hits and misses of each cache."""
    return cache_stats(routes.services.counts(routes.tenant))


@router.delete(
    "/api/v1/cache/crawl", **declared(Scope.WRITE, Permission.EDIT_DOCUMENTS, {204: None})
)
def clear_crawl_cache() -> Response[None]:
    """Delete the cached pages of crawls."""
    return _cleared(CacheName.CRAWL)


@router.delete(
    "/api/v1/cache/query", **declared(Scope.WRITE, Permission.EDIT_DOCUMENTS, {204: None})
)
def clear_query_cache() -> Response[None]:
    """Delete the cached search results; their cursors become invalid."""
    return _cleared(CacheName.QUERY)


@router.delete(
    "/api/v1/cache/embeddings", **declared(Scope.WRITE, Permission.EDIT_DOCUMENTS, {204: None})
)
def clear_embedding_caches() -> Response[None]:
    """Delete the cached vectors of queries and chunks; indexed chunks are kept."""
    return _cleared(CacheName.QUERY_EMBEDDINGS, CacheName.EMBEDDINGS)


@router.delete(
    "/api/v1/cache/domain/<domain>",
    **declared(Scope.WRITE, Permission.EDIT_DOCUMENTS, {204: None}, UrlInvalid),
)
def clear_domain_caches(domain: str) -> Response[None]:
    """Delete the cached pages of a host and all cached search results."""
    routes.services.clear_host(routes.tenant, bare_host(domain))
    return Response(status_code=204)


def _cleared(*caches: CacheName) -> Response[None]:
    routes.services.clear(routes.tenant, *caches)
    return Response(status_code=204)
