"""The entry point of the WebSocket API: `$connect`, `$disconnect` and `$default`."""

import logging
import os
from collections.abc import Callable
from typing import Any, Final, Protocol

from aws_lambda_powertools.utilities.typing import LambdaContext

from spinneret.access.keys.models import Scope
from spinneret.access.keys.service import KeyService
from spinneret.access.permissions import Permission
from spinneret.aws.stage import Builder
from spinneret.jobs.live.service import LiveService
from spinneret.jobs.models import Connection
from spinneret.kernel.errors import DomainError
from spinneret.runtime.http.admission import require_room, socket_caller
from spinneret.runtime.logs import configure
from spinneret.runtime.metrics import measured

logger = logging.getLogger(__name__)

Event = dict[str, Any]
SocketHandler = Callable[[Event, LambdaContext], dict[str, Any]]
_FOLLOWED: Final = {"t": Permission.VIEW_TARGETS, "source": Permission.VIEW_CRAWLS}
"""Permissions to read the events of subjects, by the prefix of their ids."""


class Services(Protocol):
    """Services that the WebSocket API's wiring provides."""

    @property
    def keys(self) -> KeyService:
        """The service that checks credentials."""

    @property
    def live(self) -> LiveService:
        """The service of subscriptions."""


def socket_entrypoint(build: Builder[Services], name: str) -> SocketHandler:
    """Return the Lambda handler; its result for `$connect` is the response to the handshake."""
    built: list[Services] = []

    def handler(event: Event, _context: LambdaContext) -> dict[str, Any]:
        if not built:
            configure(name)
            built.append(build.of(os.environ))
        request = event["requestContext"]
        facts = {
            "route": request["routeKey"],
            "connection_id": request["connectionId"],
            "client_ip": (request.get("identity") or {}).get("sourceIp"),
            "request_id": request["requestId"],
        }
        try:
            with measured(name):
                _serve(event, built[0])
        except DomainError as error:
            logger.warning("socket_refused", extra={**facts, "code": error.code})
            return {"statusCode": error.status}
        logger.info("socket_served", extra=facts)
        return {"statusCode": 200}

    return handler


def _serve(event: Event, services: Services) -> None:
    """Serve one event. Raises AuthRequired, RateLimited and DependencyUnavailable."""
    connection_id = event["requestContext"]["connectionId"]
    match event["requestContext"]["eventType"]:
        case "CONNECT":
            caller = socket_caller(event, services.keys)
            services.live.connect(
                Connection(
                    id=connection_id,
                    tenant=caller.tenant,
                    key_id=caller.key_id,
                    ends_at=caller.expires_at,
                    only_job=caller.job_id,
                )
            )
        case "DISCONNECT":
            services.live.disconnect(connection_id)
        case _:
            text = event.get("body") or ""

            def may_follow(tenant: str, key_id: str, subject: str) -> bool:
                needed = _FOLLOWED.get(subject.partition("_")[0], Permission.VIEW_JOBS)
                return services.keys.allows(tenant, key_id, Scope.READ, needed)

            def count(tenant: str, key_id: str) -> None:
                require_room(services.keys.take_message(tenant, key_id))

            services.live.receive(connection_id, text, services.keys.is_active, may_follow, count)
