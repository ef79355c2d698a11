"""Routes: calls of heartbeats, by a secret token in the query, which no log has."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from spinneret.kernel.errors import Contended, NotFound
from spinneret.monitoring.wiring import heartbeat_service
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.routes import Routes

routes = Routes(heartbeat_service)
router = routes.router

Token = Annotated[str, Query(min_length=1, max_length=100)]


@router.get("/heartbeats", **declared(None, None, {204: None}, NotFound, Contended))
def call_heartbeat(token: Token) -> Response[None]:
    """Call a heartbeat: the job that it watches has run. No key is needed."""
    return _called(token)


@router.post("/heartbeats", **declared(None, None, {204: None}, NotFound, Contended))
def post_heartbeat(token: Token) -> Response[None]:
    """Call a heartbeat: the same as by GET. A body is ignored."""
    return _called(token)


def _called(token: str) -> Response[None]:
    routes.services.call(token)
    return Response(status_code=204, headers={"Cache-Control": "no-store"})
