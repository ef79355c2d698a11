"""Routes: screenshots, PDFs and scripts of pages in a browser."""

from typing import Any

from aws_lambda_powertools.event_handler import Response

from crawl.media_examples import PDF, SCREENSHOT, SCRIPTS
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.kernel.errors import (
    CircuitOpen,
    Conflict,
    DomainBlocked,
    FeatureDisabled,
    IdempotencyMismatch,
    UrlBlocked,
    UrlInvalid,
)
from spinneret.media.api_models import (
    MediaBatch,
    MediaSubmission,
    MediaView,
    PdfRequest,
    ScreenshotRequest,
    ScriptsRequest,
)
from spinneret.media.wiring import media_service
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.requests import request_key, submitted
from spinneret.runtime.http.routes import Routes

routes = Routes(media_service)
router = routes.router

REFUSALS = (
    *(UrlInvalid, UrlBlocked, DomainBlocked, CircuitOpen),
    *(Conflict, FeatureDisabled, IdempotencyMismatch),
)
"""Errors that reject a request, the last three because of its webhook or key."""


@router.post(
    "/api/v1/screenshot",
    **declared(
        Scope.WRITE,
        Permission.CRAWL,
        {202: MediaSubmission | MediaBatch},
        *REFUSALS,
        idempotent=True,
        examples=SCREENSHOT,
    ),
)
def take_screenshot(request: ScreenshotRequest) -> Response[dict[str, Any]]:
    """Take a screenshot of a page, or of up to 20 pages.

    503 if the stage has no browser.
    """
    caller = routes.principal
    key = request_key(router, caller, "/api/v1/screenshot")
    return submitted(routes.services.screenshot(caller.tenant, request, key))


@router.post(
    "/api/v1/pdf",
    **declared(
        Scope.WRITE,
        Permission.CRAWL,
        {202: MediaSubmission},
        *REFUSALS,
        idempotent=True,
        examples=PDF,
    ),
)
def print_page(request: PdfRequest) -> Response[dict[str, Any]]:
    """Print a page as a PDF. 503 if the stage has no browser."""
    caller = routes.principal
    key = request_key(router, caller, "/api/v1/pdf")
    return submitted(routes.services.pdf(caller.tenant, request, key))


@router.post(
    "/api/v1/execute-js",
    **declared(
        Scope.WRITE,
        Permission.CRAWL,
        {202: MediaSubmission},
        *REFUSALS,
        idempotent=True,
        examples=SCRIPTS,
    ),
)
def run_scripts(request: ScriptsRequest) -> Response[dict[str, Any]]:
    """Run scripts in a page, each with its own value or error.

    503 if the stage has no browser.
    """
    caller = routes.principal
    key = request_key(router, caller, "/api/v1/execute-js")
    return submitted(routes.services.scripts(caller.tenant, request, key))


@router.get("/api/v1/media/<job_id>", **declared(Scope.READ, Permission.VIEW_CRAWLS))
def get_media(job_id: str) -> MediaView:
    """Return a screenshot, a PDF or a run of scripts, with a URL of its object once it is there."""
    return routes.services.get(routes.tenant, job_id)
