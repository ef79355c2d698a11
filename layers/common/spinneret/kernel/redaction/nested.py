"""Documents that stand in a text: JSON, and lists and dictionaries as Python shows them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from typing import Any, Final

from spinneret.kernel.redaction import values

_OPENING: Final = re.compile(r"[{\[(](?<!\w\()(?=\s{0,80}[bru]?[{\[(\"'])")
_DECODER: Final = json.JSONDecoder(strict=False)
_FALSE_OPENINGS: Final = 4  # per text; each may cost a look at all that follows
_PYTHON_LONGEST: Final = 20_000  # characters; Python's own parser takes a multiple of JSON's time


def in_documents(text: str, redacted: Callable[[Any], Any]) -> str:
    """The text with its documents redacted as values.

    Documents that were clean keep every character; others are written anew, JSON spaced as it was.
    """
    parts: list[str] = []
    done = position = failures = 0
    while failures < _FALSE_OPENINGS and (opening := _OPENING.search(text, position)) is not None:
        start = opening.start()
        try:
            end, clean = _document(text, start, redacted)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            failures += 1  # no document, or too deep for the parser
            position = start + 1
            continue
        if clean is not None:
            parts += (text[done:start], clean)
            done = end
        position = end
    return "".join((*parts, text[done:])) if parts else text


def _document(text: str, start: int, redacted: Callable[[Any], Any]) -> tuple[int, str | None]:
    """Where the document ends, and its clean text if it wasn't clean."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError:
        part = text[start : start + _PYTHON_LONGEST]
        end = values.group_end(part, 0)
        value = ast.literal_eval(part[:end])
        clean = repr(redacted(value))
        return start + end, None if clean == repr(value) else clean
    source = text[start:end]
    clean = redacted(value)
    if clean == value:
        return end, None
    comma = ", " if '", ' in source or "}, " in source else ","
    colon = ": " if '": ' in source else ":"
    return end, json.dumps(clean, separators=(comma, colon), ensure_ascii="\\u" in source)
