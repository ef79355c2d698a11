"""Routes: files of URLs that are crawled as they arrive."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response, content_types

from crawl.inbox_examples import INBOX
from spinneret.access.keys.models import Scope
from spinneret.crawl.inbox.models import InboxFileView, InboxRequest, InboxView
from spinneret.crawl.inbox.service import InboxService
from spinneret.crawl.inbox.wiring import inbox_service
from spinneret.kernel import bounds
from spinneret.kernel.clock import to_iso
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.routes import Routes

routes = Routes(inbox_service)
router = routes.router


@router.post("/api/v1/inbox", **declared(Scope.WRITE, {201: InboxView}, examples=INBOX))
def begin_inbox_file(request: InboxRequest) -> Response[InboxView]:
    """Begin the upload of a file of up to 100,000 URLs, which is crawled as soon as it is there.

    A line that can't be crawled is in the file's report. A file that isn't text or has no column
    of URLs fails its job with CONTENT_REFUSED, one that is gone with NOT_FOUND, one that is too
    large with BODY_TOO_LARGE.
    """
    inbox_id, form = _inbox().begin(routes.principal.tenant, request.name)
    body = InboxView(
        inbox_id=inbox_id,
        key=form.key,
        url=form.url,
        fields=dict(form.fields),
        max_bytes=bounds.INBOX_MAX_BYTES,
        expires_at=to_iso(form.expires_at),
    )
    return Response(
        status_code=201,
        content_type=content_types.APPLICATION_JSON,
        body=body,
        headers={"Cache-Control": "no-store"},
    )


@router.get("/api/v1/inbox/<job_id>", **declared(Scope.READ))
def get_inbox_file(job_id: str) -> InboxFileView:
    """A file of URLs by its job: how its crawls stand, and its report."""
    return _inbox().get(routes.principal.tenant, job_id)


def _inbox() -> InboxService:
    return routes.services
