"""Routes: events of jobs as server-sent events."""

from aws_lambda_powertools.event_handler import Response

from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.audits.kinds import AUDIT
from spinneret.jobs.wiring import job_waits
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.job_responses import event_stream
from spinneret.runtime.http.routes import Routes

routes = Routes(job_waits)
router = routes.router

STREAM = declared(
    Scope.READ, Permission.VIEW_JOBS, {200: "text/event-stream", 204: None}, ticket=True
)


@router.get("/api/v1/jobs/<job_id>/stream", **STREAM)
def stream_job(job_id: str) -> Response[str]:
    """Stream a job's events as server-sent events.

    A response ends with the first events; without any, after 25 seconds. `EventSource` reconnects.
    """
    return event_stream(router, routes.services, routes.principal, job_id)


@router.get("/api/v1/crawl/<job_id>/stream", **STREAM)
def stream_crawl(job_id: str) -> Response[str]:
    """Stream a crawl's events as server-sent events, as for any job."""
    return event_stream(router, routes.services, routes.principal, job_id)


@router.get("/audits/<audit_id>/stream", **STREAM)
def stream_audit(audit_id: str) -> Response[str]:
    """Stream an audit's events as server-sent events, as for any job."""
    return event_stream(router, routes.services, routes.principal, audit_id, AUDIT)
