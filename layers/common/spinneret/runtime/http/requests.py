"""Request data that routes read beyond the validated body."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from spinneret.access.keys.models import Principal
from spinneret.jobs.models import RequestKey
from spinneret.jobs.service import Submitted
from spinneret.kernel.canonical import fingerprint, parse_json
from spinneret.kernel.errors import ValidationFailed
from spinneret.runtime import limits

REPLAYED = "Idempotent-Replayed"  # name of the marker header, as in Stripe's API


def request_key(router: Router, caller: Principal, route: str) -> RequestKey | None:
    """Return the request's Idempotency-Key in its scope (P-05); None without the header.

    Two requests are the same if their bodies are; no route that takes the header has a query.
    Raises ValidationFailed for an empty or overlong key.
    """
    event = router.current_event
    text = event.headers.get("Idempotency-Key")
    if text is None:
        return None
    if not 1 <= len(text) <= limits.IDEMPOTENCY_KEY_MAX_CHARS:
        raise ValidationFailed(
            f"an Idempotency-Key has 1 to {limits.IDEMPOTENCY_KEY_MAX_CHARS} characters",
            details={"fields": [{"field": "Idempotency-Key"}]},
        )
    return RequestKey(
        tenant=caller.tenant,
        scope=fingerprint([event.http_method, route, text]),
        payload=fingerprint(parse_json(event.body or "null")),
    )


def submitted(outcome: Submitted) -> Response[dict[str, Any]]:
    """Return a submission's response, marked if it is a replay."""
    reply = outcome.reply
    headers = {REPLAYED: "true"} if outcome.replayed else {}
    return Response(
        status_code=reply.status,
        content_type="application/json",
        body=dict(reply.body),
        headers=dict(headers),
    )
