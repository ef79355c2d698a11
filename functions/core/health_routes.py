"""Routes: liveness and readiness."""

from aws_lambda_powertools.event_handler import Response, content_types

from spinneret.operations.models import Health, Readiness
from spinneret.operations.wiring import core_api
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.routes import Routes

routes = Routes(core_api)
router = routes.router

READINESS = declared(None, None, {200: Readiness, 503: Readiness})


@router.get("/health", operation_id="liveness_probe", **declared(None, None))
@router.get("/api/v1/health", **declared(None, None))
def liveness() -> Health:
    """Check that the function responds."""
    return Health()


@router.get("/health/ready", operation_id="readiness_probe", **READINESS)
@router.get("/api/v1/health/ready", **READINESS)
def readiness() -> Response[Readiness]:
    """Check all dependencies; 503 names the unavailable ones."""
    services = routes.services
    ready = services.health.ready()
    return Response(
        status_code=200 if ready.status == "ok" else 503,
        content_type=content_types.APPLICATION_JSON,
        body=ready,
    )
