"""Documents that stand in a text: JSON, and lists and dictionaries as Python shows them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from typing import Any, Final

from spinneret.redaction import truncated, values

_OPENING: Final = re.compile(r"[{\[(](?<!\w\()(?=\s{0,80}[bru]?[{\[(\"'])")
_DECODER: Final = json.JSONDecoder(strict=False)
_FALSE_OPENINGS: Final = 4  # per text; each may cost a look at all that follows
_LITERALS: Final = re.compile(  # what Python's parser reads without a word on stderr
    r"""(?:[^'"\\\w] | [^\W\d]\w*+ | \d[\d_]*+(?:\.\d*+)?(?:[eE][+\-]?\d++)?j?(?!\w)
        | '(?:[^'\\]|\\[\n\\'"abfnrtvxNuU0-7])*+' | "(?:[^"\\]|\\[\n\\'"abfnrtvxNuU0-7])*+")*+""",
    re.VERBOSE,
)
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
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError, Warning):
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
        return _cut_off(text, start, redacted) or _python(text, start, redacted)
    clean = redacted(value)
    return end, None if clean == value else _written(clean, text[start:end])


def _cut_off(
    text: str, start: int, redacted: Callable[[Any], Any]
) -> tuple[int, str | None] | None:
    """JSON that the text's end cuts off."""
    whole = truncated.completed(text, start)
    if whole is None:
        return None
    source = text[start : whole.end]
    value = json.loads(source + whole.closing, strict=False)
    clean = redacted(value)
    if clean == value:
        return len(text), None
    return whole.end, _written(clean, source).removesuffix(whole.closing)


def _python(text: str, start: int, redacted: Callable[[Any], Any]) -> tuple[int, str | None]:
    """A list or dictionary as Python shows it."""
    part = text[start : start + _PYTHON_LONGEST]
    end = values.group_end(part, 0)
    if _LITERALS.fullmatch(part, 0, end) is None:
        raise ValueError
    value = ast.literal_eval(part[:end])
    clean = repr(redacted(value))
    return start + end, None if clean == repr(value) else clean


def _written(value: Any, source: str) -> str:
    """JSON, spaced and escaped as the source is."""
    comma = ", " if '", ' in source or "}, " in source else ","
    colon = ": " if '": ' in source else ":"
    return json.dumps(value, separators=(comma, colon), ensure_ascii="\\u" in source)
