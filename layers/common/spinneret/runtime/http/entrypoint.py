"""Resolver factory: admission, errors and logs, the same for every API function."""

import logging
import os
import time
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver
from aws_lambda_powertools.event_handler.api_gateway import Route
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from aws_lambda_powertools.utilities.typing import LambdaContext

from spinneret.access.wiring import admitting as admitting_of_stage
from spinneret.aws.stage import Builder, Stage
from spinneret.kernel import metrics
from spinneret.kernel.caller import bind_caller
from spinneret.kernel.canonical import parse_json
from spinneret.kernel.errors import (
    DomainError,
    NotFound,
)
from spinneret.runtime.http.access import AccessTable, RouteAccess, access_of, routes_of
from spinneret.runtime.http.admission import (
    TICKET_PARAMETER,
    Admission,
    Event,
    identify,
    rate_headers,
    require_permission,
)
from spinneret.runtime.http.bodies import (
    with_body,
    with_headers,
    with_plain_body,
    with_upload,
    without_body,
)
from spinneret.runtime.http.error_responses import as_response, refusal
from spinneret.runtime.http.origins import cors_headers, preflight
from spinneret.runtime.http.routes import PRINCIPAL, SERVICES, Routes
from spinneret.runtime.http.validation import invalid, refuse_unknown
from spinneret.runtime.logs import configure
from spinneret.runtime.metrics import write as write_metrics

logger = logging.getLogger(__name__)


def resolver() -> APIGatewayRestResolver:
    """Return a resolver that validates, parses strictly and returns uniform errors."""
    app = APIGatewayRestResolver(enable_validation=True, json_body_deserializer=parse_json)
    app.exception_handler(DomainError)(lambda error: as_response(app, error))
    app.exception_handler(RequestValidationError)(
        lambda error: as_response(app, invalid(error, _body_type(app)))
    )
    app.not_found(lambda _: as_response(app, NotFound("no such route")))
    app.exception_handler(Exception)(lambda error: as_response(app, error))
    return app


class Api:
    """An API function: its resolver `app`, and its Lambda handler.

    `make` creates the services of a builder, once each; tests pass fakes through it.
    """

    def __init__(
        self, name: str, *routes: Routes[Any], make: Callable[[Builder[Any]], Any] | None = None
    ) -> None:
        self.name = name
        self.routes = routes
        self.app = resolver()
        for each in routes:
            self.app.include_router(each.router)
        self._make = make or cache(lambda build: build(self._stage))
        self._is_configured = False

    def handler(self, event: Event, context: LambdaContext) -> dict[str, Any]:
        """Admit the request, serve it, and log its start and end.

        HEAD is served on GET routes, without the body (RFC 9110, section 9.3.2). Preflights of
        allowed origins need no credential.
        """
        started = time.perf_counter()
        facts = _facts(event)
        bare = event["httpMethod"] == "HEAD"
        if bare:
            event = {**event, "httpMethod": "GET"}
        admission = Admission()
        origins: frozenset[str] = frozenset()
        event = with_headers(event)
        try:
            self._configured()
            admitting = self._make(admitting_of_stage)
            origins, path = admitting.origins, event["path"]
            methods = self._table.methods(path)
            row = self._table.find(event["httpMethod"], path)
            route = None if row is None else self._routes[row]
            reads = route is not None and bool(route.dependant.body_params)
            if row is not None and row.signed:
                event = with_plain_body(event)
            elif not reads:
                event = without_body(event)
            asked = preflight(event["httpMethod"], event["headers"], origins, methods)
            if asked is None:
                admission = identify(event, row, admitting.keys)
                facts["tenant"] = admission.principal.tenant if admission.principal else None
                require_permission(admission, path, methods)
            if route is not None and row is not None:
                _refuse_unknown_query(event, row, route)
            if reads:
                event = with_body(with_upload(event, admission.principal, admitting.uploads))
        except Exception as error:  # noqa: BLE001 - returned as a uniform error and logged there
            logger.info("request_received", extra=facts)
            answer = refusal(error, facts["request_id"])
        else:
            logger.info("request_received", extra=facts)
            bind_caller(admission.principal.key_id if admission.principal else None)
            self.app.context.update({SERVICES: self._make, PRINCIPAL: admission.principal})
            answer = asked or self.app.resolve(event, context)
        _add_headers(answer, rate_headers(admission.allowance))
        _add_headers(answer, cors_headers(event["headers"], origins))
        if bare:
            answer["body"] = ""
        duration = round((time.perf_counter() - started) * 1000, 1)
        logger.info(
            "request_done", extra={**facts, "status": answer["statusCode"], "duration_ms": duration}
        )
        metrics.REQUESTS.add(of=self.name.removesuffix("-api"))
        write_metrics(self.name)
        return answer

    @cached_property
    def _stage(self) -> Stage:
        """All builders share one stage, which checks the variables of all of them."""
        builders = [admitting_of_stage, *(each.build for each in self.routes)]
        return Stage(os.environ, [each for builder in builders for each in builder.reads])

    @cached_property
    def _table(self) -> AccessTable:
        return AccessTable(self._routes)

    @cached_property
    def _routes(self) -> Mapping[RouteAccess, Route]:
        return {access_of(route): route for route in routes_of(self.app)}

    def _configured(self) -> None:
        if not self._is_configured:
            configure(self.name)
            self._is_configured = True


def _body_type(app: APIGatewayRestResolver) -> Any:
    """Return the annotation of the current route's body; None if it reads none."""
    route: Route | None = app.context.get("_route")
    parameters = [] if route is None else route.dependant.body_params
    return parameters[0].field_info.annotation if parameters else None


def _refuse_unknown_query(event: Event, row: RouteAccess, route: Route) -> None:
    """Raise ValidationFailed for unknown query parameters."""
    known = [str(each.alias) for each in route.dependant.query_params]
    given = event.get("multiValueQueryStringParameters") or event.get("queryStringParameters")
    refuse_unknown(given or (), [*known, TICKET_PARAMETER] if row.ticket else known)


def _add_headers(answer: dict[str, Any], headers: Mapping[str, str]) -> None:
    """Add headers to the answer, in the form of its existing headers."""
    if "multiValueHeaders" in answer:
        answer["multiValueHeaders"].update({name: [value] for name, value in headers.items()})
    else:
        answer["headers"].update(headers)


def _facts(event: Event) -> dict[str, Any]:
    request = event.get("requestContext") or {}
    return {
        "method": event["httpMethod"],
        "path": event["path"],
        "client_ip": (request.get("identity") or {}).get("sourceIp"),
        "request_id": request.get("requestId"),
    }
