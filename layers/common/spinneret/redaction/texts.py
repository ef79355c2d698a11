"""One text: everything that reads it, and what it found replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from spinneret.redaction import encodings, leaves, names
from spinneret.redaction.assignments import assigned
from spinneret.redaction.documents import documented
from spinneret.redaction.formats import private_keys, tokens
from spinneret.redaction.patterns import patterns
from spinneret.redaction.spans import MARK, Span, replace
from spinneret.redaction.walk import Walk

_READERS: Final = (tokens, private_keys, patterns, assigned, documented)
_SHORTEST: Final = 6  # characters of a name with a value, `pin=12`
_QUIET: Final = re.compile(  # shorter than any form, without separators
    r"[A-Za-z0-9_.,/*+\-]{0,15}"
)
_PASSES: Final = 4  # what one replacement brings to light, the next pass sees …
_LARGE: Final = 100_000  # … but for texts of more characters, which get one
_VIEWS: Final = 3  # escapes of escapes of escapes are undone, no deeper
_LAYERS: Final = 2  # base64 of base64 is opened, no deeper


def redact(value: Any) -> Any:
    """A copy without secrets, of the same shape; an exception becomes its text. Never raises."""
    try:
        return Walk(_leaf, _key).copy(value)
    except Exception:  # noqa: BLE001 (reporting must not fail; nothing of the value is shown)
        return leaves.UNREADABLE


def redact_text(text: str) -> str:
    """A text without secrets, however they are quoted or encoded in it. Never raises."""
    try:
        return _clean(text)
    except Exception:  # noqa: BLE001 (as above)
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
    """The text with every secret replaced that its own characters betray."""
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
    """What all readers find in the text, and in the text as it reads without its escapes."""
    for reader in _READERS:
        yield from reader(text)
    view = encodings.decoded(text) if views else None
    if view is not None:
        yield from map(view.origin, _found(view.text, views - 1))
