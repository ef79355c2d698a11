"""The part of an endpoint's answer that the delivery log keeps."""

from __future__ import annotations

from itertools import takewhile
from typing import Final

from spinneret.events.webhooks.models import RESPONSE_TEXT_MAX_CHARS
from spinneret.kernel import bounds
from spinneret.kernel.redaction import redact_text

_AHEAD_BYTES: Final = 1024  # longer than all known tokens; what is left has 1000 characters


def excerpt_of(body: bytes) -> str:
    """The beginning of an answer of which WEBHOOK_EXCERPT_BYTES were read, without secrets.

    A body that was cut at the bound may end inside a secret, or before the name that identifies
    one, so that redaction misses it. It is therefore redacted with and without its last bytes, and
    kept up to the first difference between the two.
    """
    clean = _redacted(body)
    if len(body) >= bounds.WEBHOOK_EXCERPT_BYTES:
        clean = _common_beginning(clean, _redacted(body[:-_AHEAD_BYTES]))
    return clean[:RESPONSE_TEXT_MAX_CHARS]


def _redacted(body: bytes) -> str:
    return redact_text(body.decode("utf-8", "replace"))


def _common_beginning(one: str, other: str) -> str:
    pairs = zip(one, other, strict=False)  # one is longer
    return "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
