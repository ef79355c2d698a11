"""Request data that routes read beyond the validated body."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from spinneret.access.keys.models import Principal
from spinneret.jobs.models import RequestKey
from spinneret.jobs.service import Submitted
from spinneret.kernel.canonical import fingerprint, parse_json
from spinneret.kernel.errors import ValidationFailed
from spinneret.runtime import limits

REPLAYED = "Idempotent-Replayed"  # name of the marker header, as in Stripe's API
_KEY: Final = "Idempotency-Key"


def request_key(router: Router, caller: Principal, route: str, *apart: str) -> RequestKey | None:
    """Return the request's Idempotency-Key in its scope (P-05); None without the header.

    Two requests are the same if their bodies are, without the fields `apart`; no route that takes
    the header has a query.
    Raises ValidationFailed for an empty or overlong key.
    """
    event = router.current_event
    text = event.headers.get(_KEY)
    if text is None:
        return None
    if not 1 <= len(text) <= limits.IDEMPOTENCY_KEY_MAX_CHARS:
        raise ValidationFailed.of_field(
            _KEY,
            f"an Idempotency-Key has 1 to {limits.IDEMPOTENCY_KEY_MAX_CHARS} characters",
        )
    return RequestKey(
        tenant=caller.tenant,
        scope=fingerprint([event.http_method, route, text]),
        payload=fingerprint(_without(parse_json(event.body or "null"), apart)),
    )


def refuse_request_key(
    router: Router, reason: str = "a secret is shown once, so its answer can't be replayed"
) -> None:
    """Raise ValidationFailed for an Idempotency-Key on a route whose answers aren't stored.

    If the header were ignored, a client that relies on it could get two secrets.
    """
    if router.current_event.headers.get(_KEY) is not None:
        raise ValidationFailed.of_field(_KEY, reason, "leave the header out")


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


def deadline(router: Router, now: datetime, seconds: float) -> datetime:
    """Return the time of `seconds` after API Gateway received the request, since its limit counts
    from then.

    Counts from `now` if the gateway's time can't belong to this request, as in a stored event.
    """
    context = router.current_event.get("requestContext") or {}
    age = now.timestamp() - context.get("requestTimeEpoch", 0) / 1000
    waited = age if 0 < age < limits.GATEWAY_SECONDS else 0.0
    return now + timedelta(seconds=seconds - waited)


def _without(body: Any, apart: Collection[str]) -> Any:
    if not isinstance(body, Mapping):
        return body
    return {name: value for name, value in body.items() if name not in apart}
