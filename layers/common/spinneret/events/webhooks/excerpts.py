"""Excerpts of a message and of its answer for the delivery log."""

from collections.abc import Mapping
from itertools import takewhile
from typing import Any, Final

from spinneret.events.webhooks import limits
from spinneret.events.webhooks.models import RESPONSE_BODY_MAX_CHARS
from spinneret.kernel.canonical import canonical_json
from spinneret.redaction import redact, redact_text

_AHEAD_BYTES: Final = 1024  # longer than all known tokens; the remainder still has 1000 characters


def excerpt_of(body: bytes) -> str:
    """Return the beginning of an answer, without secrets; WEBHOOK_EXCERPT_BYTES of it were read.

    A body that was cut at the bound may end inside a secret, or before the name that identifies
    one, so that redaction misses it. So the body is redacted with and without its last bytes, and
    kept up to the first difference between the two.
    """
    clean = _redacted(body)
    if len(body) >= limits.WEBHOOK_EXCERPT_BYTES:
        clean = _common_beginning(clean, _redacted(body[:-_AHEAD_BYTES]))
    return clean[:RESPONSE_BODY_MAX_CHARS]


def logged_payload(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message without secrets; over WEBHOOK_LOG_PAYLOAD_BYTES without its result.

    A shortened message has `truncated`, like one that would be too large to be sent with its
    result. All other fields are bounded.
    """
    clean: dict[str, Any] = redact(content)
    if len(canonical_json(clean)) <= limits.WEBHOOK_LOG_PAYLOAD_BYTES:
        return clean
    rest = {name: value for name, value in clean["data"].items() if name != "result"}
    return {**clean, "data": {**rest, "truncated": True}}


def _redacted(body: bytes) -> str:
    return redact_text(body.decode("utf-8", "replace"))


def _common_beginning(one: str, other: str) -> str:
    pairs = zip(one, other, strict=False)  # one is longer
    return "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
