"""What the delivery log keeps of an endpoint's answer."""

from __future__ import annotations

from itertools import takewhile
from typing import Final

from spinneret.kernel import limits
from spinneret.redaction import redact_text
from spinneret.webhooks.models import RESPONSE_TEXT_MAX_CHARS

_AHEAD_BYTES: Final = 1024  # longer than all known tokens; what is left has 1000 characters


def excerpt_of(body: bytes) -> str:
    """The beginning of an answer of which WEBHOOK_EXCERPT_BYTES were read, without secrets.

    A body that fills the bound may end within a secret, which isn't recognised any more, or before
    the name that makes one of it. Its last bytes therefore only serve to judge the others: kept is
    what is redacted alike with and without them, up to the first difference.
    """
    clean = _redacted(body)
    if len(body) >= limits.WEBHOOK_EXCERPT_BYTES:
        clean = _common_beginning(clean, _redacted(body[:-_AHEAD_BYTES]))
    return clean[:RESPONSE_TEXT_MAX_CHARS]


def _redacted(body: bytes) -> str:
    return redact_text(body.decode("utf-8", "replace"))


def _common_beginning(one: str, other: str) -> str:
    pairs = zip(one, other, strict=False)  # one is longer
    return "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
