"""The resolver factory: admission, errors and logs, the same for every API function."""

from __future__ import annotations

import base64
import binascii
import json
import logging
import math
import os
import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, Protocol

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response, content_types
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from aws_lambda_powertools.utilities.typing import LambdaContext

from spinneret.access.keys.models import Principal
from spinneret.access.keys.service import KeyService
from spinneret.access.uploads.service import UploadService
from spinneret.kernel.canonical import parse_json
from spinneret.kernel.errors import (
    AuthRequired,
    DomainError,
    MalformedRequest,
    NotFound,
    TransientError,
    ValidationFailed,
)
from spinneret.runtime.http.access import Access, access_table, routes_of
from spinneret.runtime.http.admission import (
    Admission,
    Event,
    identify,
    rate_headers,
    require_permission,
)
from spinneret.runtime.logs import configure

logger = logging.getLogger(__name__)

_JSON: Final = content_types.APPLICATION_JSON
_UPLOAD_ID: Final = "Upload-Id"

ApiHandler = Callable[[Event, LambdaContext], dict[str, Any]]


class Services(Protocol):
    """What every API function's wiring provides; the rest is its own."""

    @property
    def keys(self) -> KeyService:
        """Checks credentials."""
        ...

    @property
    def uploads(self) -> UploadService:
        """Has the bodies that came before their request."""
        ...


def resolver() -> APIGatewayRestResolver:
    """A resolver that validates, parses strictly and answers errors in the one shape."""
    app = APIGatewayRestResolver(enable_validation=True, json_body_deserializer=parse_json)
    app.exception_handler(DomainError)(lambda error: _as_response(app, error))
    app.exception_handler(RequestValidationError)(lambda error: _as_response(app, _invalid(error)))
    app.not_found(lambda _: _as_response(app, NotFound("no such route")))
    app.exception_handler(Exception)(lambda error: _as_response(app, error))
    return app


def entrypoint(
    app: APIGatewayRestResolver, build: Callable[[Mapping[str, str]], Services], name: str
) -> ApiHandler:
    """The Lambda handler; `build` makes the services from the environment at the first request.

    Routes find them in `context["services"]` and the caller in `context["principal"]`.
    """

    table = cache(lambda: access_table(app))

    @cache
    def services() -> Services:
        configure(name)
        return build(os.environ)

    def handler(event: Event, context: LambdaContext) -> dict[str, Any]:
        started = time.perf_counter()
        facts = _facts(event)
        admission = Admission()
        try:
            made = services()
            row = table().find(event["httpMethod"], event["path"])
            reads = row is not None and _reads_body(app, row)
            event = _with_headers(event) if reads else _without_body(_with_headers(event))
            admission = identify(event, row, made.keys)
            facts["tenant"] = admission.principal.tenant if admission.principal else None
            require_permission(admission, event["path"])
            if reads:
                event = _with_body(_with_upload(event, admission.principal, made))
        except Exception as error:  # noqa: BLE001 - answered in the one shape and logged there
            logger.info("request_received", extra=facts)
            answer = _refusal(error, facts["request_id"])
        else:
            logger.info("request_received", extra=facts)
            app.context.update(services=made, principal=admission.principal)
            answer = app.resolve(event, context)
        _add_headers(answer, rate_headers(admission.allowance))
        duration = round((time.perf_counter() - started) * 1000, 1)
        logger.info(
            "request_done", extra={**facts, "status": answer["statusCode"], "duration_ms": duration}
        )
        return answer

    return handler


def _reads_body(app: APIGatewayRestResolver, row: Access) -> bool:
    """Whether the route declares a body."""
    return any(
        route.dependant.body_params
        for route in routes_of(app)
        if (route.method, route.path) == (row.method, row.route)
    )


def _with_headers(event: Event) -> Event:
    """The event with its header names in lower case."""
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    return {**event, "headers": headers, "multiValueHeaders": None}


def _without_body(event: Event) -> Event:
    """For a route that reads no body: whatever came is nothing that it could be refused for.

    Clients send `{}`, or an empty form, with a POST that has nothing to say.
    """
    return {**event, "body": None, "isBase64Encoded": False}


def _with_upload(event: Event, caller: Principal | None, services: Services) -> Event:
    """The event with the body that its Upload-Id names.

    Raises ValidationFailed, NotFound, BodyTooLarge, MalformedRequest and DependencyUnavailable.
    """
    upload_id = event["headers"].get(_UPLOAD_ID.lower())
    if upload_id is None or caller is None:
        return event
    if event.get("body"):
        raise ValidationFailed(
            "send either a body or an Upload-Id", details={"fields": [{"field": _UPLOAD_ID}]}
        )
    body = _decoded(services.uploads.body(caller.tenant, upload_id))
    return {**event, "body": body, "isBase64Encoded": False}


def _with_body(event: Event) -> Event:
    """The event with its body as text, whose content type is known to be JSON's.

    Raises MalformedRequest and ValidationFailed.
    """
    body = _text(event)
    headers = event["headers"]
    media_type = (headers.get("content-type") or _JSON).partition(";")[0].strip().lower()
    if body and media_type != _JSON:
        raise ValidationFailed(
            f"the body must be {_JSON}", details={"fields": [{"field": "content-type"}]}
        )
    headers = {**headers, "content-type": _JSON}
    return {**event, "headers": headers, "body": body, "isBase64Encoded": False}


def _text(event: Event) -> str | None:
    """The body as text; API Gateway and its emulators pass what isn't UTF-8 as base64."""
    body: str | None = event.get("body")
    if not body or not event.get("isBase64Encoded"):
        return body
    try:
        return _decoded(base64.b64decode(body, validate=True))
    except binascii.Error as error:
        raise MalformedRequest("the body is not base64") from error


def _decoded(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedRequest("the body is not UTF-8") from error


def _add_headers(answer: dict[str, Any], headers: Mapping[str, str]) -> None:
    """Add headers in the form that the answer has its own in."""
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


def _as_response(app: APIGatewayRestResolver, error: Exception) -> Response[str]:
    request_id = app.current_event.request_context.request_id
    refusal = _refusal(error, request_id)
    return Response(
        status_code=refusal["statusCode"],
        content_type=content_types.APPLICATION_JSON,
        body=refusal["body"],
        headers={k: v for k, v in refusal["headers"].items() if k != "Content-Type"},
    )


def _refusal(error: Exception, request_id: str | None) -> dict[str, Any]:
    """`{error, code, details, request_id}`; an unexpected error shows nothing of itself."""
    if not isinstance(error, DomainError):
        logger.error("request_failed", exc_info=error, extra={"request_id": request_id})
        error = DomainError("internal error")
    elif error.status >= 500:
        logger.error(
            "request_failed",
            extra={"request_id": request_id, "code": error.code, "reason": error.message},
        )
    headers = {"Content-Type": content_types.APPLICATION_JSON}
    if isinstance(error, AuthRequired):
        headers["WWW-Authenticate"] = "Bearer"  # RFC 9110, section 15.5.2; RFC 6750, section 3
    if isinstance(error, TransientError) and error.retry_after is not None:
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after)))
    body = {
        "error": error.message,
        "code": error.code,
        "details": error.details,
        "request_id": request_id,
    }
    return {"statusCode": error.status, "headers": headers, "body": json.dumps(body)}


def _invalid(error: RequestValidationError) -> ValidationFailed:
    """Names fields and rules; never repeats the values, which may be secrets."""
    fields = [
        {
            "field": ".".join(str(part) for part in each["loc"] if part != "body") or "body",
            "message": each["msg"],
        }
        for each in error.errors()
    ]
    return ValidationFailed(
        f"invalid: {', '.join(field['field'] for field in fields)}", details={"fields": fields}
    )
