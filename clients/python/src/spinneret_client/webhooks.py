"""Verification of webhook deliveries by Standard Webhooks 1.0.0."""

from __future__ import annotations

import base64
import hmac
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from spinneret_client.errors import WebhookInvalid

TOLERANCE_SECONDS: Final = 300
_DIGITS: Final = 15  # of a time in seconds; every real time has fewer
_PREFIX: Final = "whsec_"


@dataclass(frozen=True)
class Webhook:
    """A genuine delivery; process each id only once, because retries repeat it."""

    id: str
    data: dict[str, Any]


def verify_webhook(
    headers: Mapping[str, str],
    body: bytes,
    secrets: str | Sequence[str],
    *,
    now: Callable[[], float] = time.time,
) -> Webhook:
    """Return the delivery if one of the secrets signed it and its time is within five minutes.

    `body` must be the received bytes, not JSON that was parsed and serialized again. Raises
    WebhookInvalid.
    """
    named = {name.lower(): value for name, value in headers.items()}
    try:
        message_id = named["webhook-id"]
        timestamp, given = named["webhook-timestamp"], named["webhook-signature"]
    except KeyError:
        raise WebhookInvalid("missing_header") from None
    if not timestamp.isascii() or not timestamp.isdecimal() or len(timestamp) > _DIGITS:
        raise WebhookInvalid("malformed_header")
    age = now() - int(timestamp)
    if not -TOLERANCE_SECONDS <= age <= TOLERANCE_SECONDS:
        raise WebhookInvalid("too_old" if age > 0 else "too_new")
    content = _octets(f"{message_id}.{timestamp}.") + body
    signatures = [_octets(part) for part in given.split(" ") if part.startswith("v1,")]
    genuine = False
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        expected = b"v1," + base64.b64encode(hmac.digest(_key(secret), content, "sha256"))
        for signature in signatures:
            genuine |= hmac.compare_digest(signature, expected)
    if not genuine:
        raise WebhookInvalid("no_matching_signature")
    try:
        return Webhook(message_id, json.loads(body))
    except ValueError:
        raise WebhookInvalid("malformed_body") from None


def _octets(text: str) -> bytes:
    return text.encode(errors="surrogatepass")  # some servers decode headers to surrogates


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except ValueError:
        key = b""
    if not key:
        raise WebhookInvalid("malformed_secret")
    return key
