"""Routes: crawls of pages, batches and websites."""

from typing import Any

from aws_lambda_powertools.event_handler import Response

from crawl.crawl_examples import BATCH, CRAWL, DEEP
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.crawl.deep.models import CrawledPageList, DeepCrawlRequest, DeepCrawlView
from spinneret.crawl.models import (
    BatchRequest,
    BatchSubmission,
    BatchView,
    CrawlRequest,
    CrawlView,
    Submission,
)
from spinneret.crawl.wiring import crawl_api
from spinneret.jobs.api_models import Moved
from spinneret.jobs.models import Transition
from spinneret.kernel import bounds
from spinneret.kernel.errors import (
    CircuitOpen,
    Conflict,
    Contended,
    DomainBlocked,
    FeatureDisabled,
    IdempotencyMismatch,
    NotFound,
    UrlBlocked,
    UrlInvalid,
)
from spinneret.kernel.paging import position_of
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.job_responses import moved, waited
from spinneret.runtime.http.requests import request_key, submitted
from spinneret.runtime.http.routes import Limit, Routes
from spinneret.web.exploring.frontier.keys import is_position
from spinneret.web.exploring.frontier.models import PageState

routes = Routes(crawl_api)
router = routes.router

REFUSALS = (UrlInvalid, UrlBlocked, DomainBlocked, CircuitOpen)
"""Errors that reject a URL."""


@router.post(
    "/api/v1/crawl",
    **declared(
        Scope.WRITE,
        Permission.CRAWL,
        {200: CrawlView | DeepCrawlView, 202: Submission | BatchSubmission},
        *REFUSALS,
        Conflict,
        FeatureDisabled,
        IdempotencyMismatch,
        idempotent=True,
        examples=CRAWL,
    ),
)
def submit_crawl(request: CrawlRequest) -> Response[dict[str, Any]]:
    """Crawl one or several URLs and return their jobs.

    With `wait`, the response is the finished crawl (200), as its own route returns it, unless it
    takes longer (202). A waiting request counts once against the key's rate.
    """
    caller, services = routes.principal, routes.services
    key = request_key(router, caller, "/api/v1/crawl", "wait")
    outcome = services.crawl.submit(caller.tenant, request, key)
    return waited(
        router, services.waits, caller, outcome, request.wait, lambda job: _page_or_site(job.id)
    )


@router.post(
    "/api/v1/crawl/batch",
    **declared(
        Scope.WRITE,
        Permission.CRAWL,
        {202: BatchSubmission},
        *REFUSALS,
        Conflict,
        FeatureDisabled,
        IdempotencyMismatch,
        idempotent=True,
        examples=BATCH,
    ),
)
def submit_batch(request: BatchRequest) -> Response[dict[str, Any]]:
    """Crawl up to 100 URLs as one batch, which counts its crawls and ends with the last one."""
    caller = routes.principal
    key = request_key(router, caller, "/api/v1/crawl/batch")
    return submitted(routes.services.crawl.submit_batch(caller.tenant, request, key))


@router.post(
    "/api/v1/crawl/deep",
    **declared(
        Scope.WRITE,
        Permission.CRAWL,
        {202: Submission},
        *REFUSALS,
        FeatureDisabled,
        IdempotencyMismatch,
        idempotent=True,
        examples=DEEP,
    ),
)
def submit_deep_crawl(request: DeepCrawlRequest) -> Response[dict[str, Any]]:
    """Crawl a website by following its links.

    Crawls above the tenant's limit (5 by default) wait.
    """
    caller = routes.principal
    key = request_key(router, caller, "/api/v1/crawl/deep")
    return submitted(routes.services.deep.submit(caller.tenant, request, key))


@router.get("/api/v1/crawl/<job_id>", **declared(Scope.READ, Permission.VIEW_CRAWLS))
def get_crawl(job_id: str) -> CrawlView | BatchView | DeepCrawlView:
    """Return a crawl's state.

    A completed crawl has its result; a batch or deep crawl has counters.
    """
    return _page_or_site(job_id)


@router.get("/api/v1/crawl/<job_id>/pages", **declared(Scope.READ, Permission.VIEW_CRAWLS))
def list_crawled_pages(
    job_id: str,
    status: PageState | None = None,
    limit: Limit = bounds.LIST_LIMIT_DEFAULT,
    cursor: str | None = None,
) -> CrawledPageList:
    """List the URLs of a deep crawl in crawl order; `status` filters them."""
    return routes.services.deep.pages(
        routes.tenant, job_id, status, position_of(cursor, is_position), limit
    )


@router.get("/api/v1/crawl/<job_id>/errors", **declared(Scope.READ, Permission.VIEW_CRAWLS))
def list_crawl_errors(
    job_id: str, limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None
) -> CrawledPageList:
    """List the failed URLs of a deep crawl, including URLs that robots.txt disallows."""
    return routes.services.deep.pages(
        routes.tenant, job_id, PageState.FAILED, position_of(cursor, is_position), limit
    )


@router.post(
    "/api/v1/crawl/<job_id>/cancel",
    **declared(Scope.WRITE, Permission.CRAWL, {200: Moved}, Conflict, Contended),
)
def cancel_crawl(job_id: str) -> Moved:
    """Cancel a crawl that isn't finished."""
    return moved(routes.services.jobs, routes.principal, job_id, Transition.CANCEL)


def _page_or_site(job_id: str) -> CrawlView | BatchView | DeepCrawlView:
    tenant = routes.tenant
    try:  # the most frequent case first, so that it is read once
        return routes.services.crawl.get(tenant, job_id)
    except NotFound:
        if (deep := routes.services.deep.get(tenant, job_id)) is None:
            raise
        return deep
