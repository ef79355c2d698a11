"""Places in a text that have to be replaced."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

MARK: Final = "[redacted]"
"""Stands where a secret stood."""


class Span(NamedTuple):
    """From `start` to before `end`, to become `replacement`."""

    start: int
    end: int
    replacement: str


def replace(text: str, spans: Iterable[Span]) -> str:
    """The text with all spans replaced; what overlaps becomes one, named by the wider span."""
    parts: list[str] = []
    done = 0
    for span in merged(spans):
        parts += (text[done : span.start], span.replacement)
        done = span.end
    parts.append(text[done:])
    return "".join(parts)


def merged(spans: Iterable[Span]) -> list[Span]:
    """In order and apart from each other."""
    result: list[Span] = []
    for span in sorted(spans):
        if span.start >= span.end:
            continue
        if result and span.start < result[-1].end:
            last = result[-1]
            wider = max(last, span, key=lambda each: each.end - each.start)
            result[-1] = Span(last.start, max(last.end, span.end), wider.replacement)
        else:
            result.append(span)
    return result
