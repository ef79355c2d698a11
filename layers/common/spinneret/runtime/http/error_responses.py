"""Error responses: `{error, code, details, request_id}`."""

import json
import logging
import math
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response, content_types

from spinneret.kernel.errors import (
    AuthRequired,
    DomainError,
    MethodNotAllowed,
    TransientError,
)

logger = logging.getLogger(__name__)


def as_response(app: APIGatewayRestResolver, error: Exception) -> Response[str]:
    request_id = app.current_event.request_context.request_id
    refused = refusal(error, request_id)
    return Response(
        status_code=refused["statusCode"],
        content_type=content_types.APPLICATION_JSON,
        body=refused["body"],
        headers={k: v for k, v in refused["headers"].items() if k != "Content-Type"},
    )


def refusal(error: Exception, request_id: str | None) -> dict[str, Any]:
    """Return `{error, code, details, request_id}`; an unexpected error discloses no details."""
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
    if isinstance(error, MethodNotAllowed):
        headers["Allow"] = ", ".join(error.details.get("allowed", ()))  # RFC 9110, section 15.5.6
    if isinstance(error, TransientError) and error.retry_after is not None:
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after)))
    body = {
        "error": error.message,
        "code": error.code,
        "details": error.details,
        "request_id": request_id,
    }
    return {"statusCode": error.status, "headers": headers, "body": json.dumps(body)}
