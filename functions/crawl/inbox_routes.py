"""Routes: files of URLs that are crawled after their upload."""

from aws_lambda_powertools.event_handler import Response

from crawl.inbox_examples import INBOX
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.crawl.inbox.models import InboxFileView, InboxRequest, InboxView
from spinneret.crawl.inbox.wiring import inbox_service
from spinneret.kernel import bounds
from spinneret.kernel.clock import to_iso
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.responses import created_secret
from spinneret.runtime.http.routes import Routes

routes = Routes(inbox_service)
router = routes.router


@router.post(
    "/api/v1/inbox", **declared(Scope.WRITE, Permission.CRAWL, {201: InboxView}, examples=INBOX)
)
def begin_inbox_file(request: InboxRequest) -> Response[InboxView]:
    """Start the upload of a file of up to 100,000 URLs, which is crawled after the upload.

    The job waits for the upload from the first moment; `GET /api/v1/inbox/{job_id}` shows it.

    The file's report contains the lines that can't be crawled. The file's job fails with
    CONTENT_REFUSED if the file isn't text or has no column of URLs, with NOT_FOUND if it is gone
    or didn't arrive within an hour, and with BODY_TOO_LARGE if it is too large.
    """
    job_id, form = routes.services.begin(routes.tenant, request.name)
    body = InboxView(
        job_id=job_id,
        inbox_id=job_id,
        key=form.key,
        url=form.url,
        fields=dict(form.fields),
        max_bytes=bounds.INBOX_MAX_BYTES,
        expires_at=to_iso(form.expires_at),
    )
    return created_secret(body)


@router.get("/api/v1/inbox/<job_id>", **declared(Scope.READ, Permission.VIEW_CRAWLS))
def get_inbox_file(job_id: str) -> InboxFileView:
    """Return a file of URLs by its job's id: the counts of its crawls, and its report."""
    return routes.services.get(routes.tenant, job_id)
