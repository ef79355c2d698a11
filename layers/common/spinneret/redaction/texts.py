"""Redaction of one text: run all readers and replace what they find."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from spinneret.redaction import encodings, leaves, names
from spinneret.redaction.assignments import assigned
from spinneret.redaction.commands import commanded
from spinneret.redaction.documents import documented
from spinneret.redaction.formats import private_keys, tokens
from spinneret.redaction.patterns import patterns
from spinneret.redaction.spans import MARK, Span, replace
from spinneret.redaction.walk import Walk

_READERS: Final = (tokens, private_keys, patterns, commanded, assigned, documented)
_SHORTEST: Final = 6  # characters of the shortest assignment, `pin=12`
_QUIET: Final = re.compile(  # too short for any form, and without separators
    r"[A-Za-z0-9_.,/*+\-]{0,15}"
)
_PASSES: Final = 4  # a replacement may reveal secrets to the next pass …
_LARGE: Final = 100_000  # … but longer texts (in characters) get one pass
_VIEWS: Final = 3  # nested escapes are decoded up to this depth
_LAYERS: Final = 2  # nested base64 is decoded up to this depth


def redact(value: Any) -> Any:
    """Return a copy without secrets, of the same shape; an exception becomes its text.

    Never raises.
    """
    try:
        return Walk(_leaf, _key).copy(value)
    except Exception:  # noqa: BLE001 (reporting must not fail; the value stays hidden)
        return leaves.UNREADABLE


def redact_text(text: str) -> str:
    """Return the text without secrets, even if they are quoted or encoded. Never raises."""
    try:
        return _clean(text)
    except Exception:  # noqa: BLE001 (same reason)
        return leaves.UNREADABLE


def _leaf(value: Any, hidden: bool, lead: str) -> Any:
    if hidden:
        return leaves.mask_like(value)
    if lead:
        return leaves.redacted(value, lambda text: _clean(lead + text).removeprefix(lead))
    return _clean(value) if type(value) is str else leaves.redacted(value, _clean)


def _key(key: Any, hidden: bool) -> Any:
    if hidden and isinstance(key, str) and not names.is_plain(key):
        return MARK
    if type(key) is str:
        return _clean_key(key) if len(key) <= names.LONGEST else _clean(key)
    return Walk(_leaf, _key).copy(key)


def _clean(text: str) -> str:
    text = encodings.uncoloured(text, encodings.COLOUR)
    for _ in range(_PASSES if len(text) <= _LARGE else 1):
        clean = _scanned(text, 0).replace(encodings.COLOUR, "")
        if clean == text:
            break
        text = clean
    return text


_clean_key = lru_cache(maxsize=4096)(_clean)


def _scanned(text: str, layer: int) -> str:
    """Return the text with every secret replaced that is recognisable without other context."""
    if len(text) < _SHORTEST or _QUIET.fullmatch(text):
        return text
    spans = list(_found(text, _VIEWS))
    if layer < _LAYERS:
        spans += (
            Span(start, end)
            for start, end, meaning in encodings.hidden_texts(text)
            if _scanned(meaning, layer + 1) != meaning
        )
    return replace(text, spans) if spans else text


def _found(text: str, views: int) -> Iterator[Span]:
    """Yield the findings of all readers in the text, and in the text with escapes decoded."""
    for reader in _READERS:
        yield from reader(text)
    view = encodings.decoded(text) if views else None
    if view is not None:
        yield from map(view.origin, _found(view.text, views - 1))
