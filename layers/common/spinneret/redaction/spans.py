"""Spans of a text to replace, and patterns that find them."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

MARK: Final = "[redacted]"
"""Replaces a secret."""


class Span(NamedTuple):
    """Range from `start` up to but excluding `end`, to replace by `replacement`."""

    start: int
    end: int
    replacement: str = MARK


class Form(NamedTuple):
    """A pattern with a group `secret`, applied to texts that contain `literal`."""

    literal: str
    pattern: re.Pattern[str]
    accepts: Callable[[re.Match[str]], bool] | None = None


def matches(forms: Iterable[Form], text: str) -> Iterator[Span]:
    """Yield the secrets that the forms match."""
    for literal, pattern, accepts in forms:
        if literal in text:
            for match in pattern.finditer(text):
                if accepts is None or accepts(match):
                    yield Span(*match.span("secret"))


def replace(text: str, spans: Iterable[Span]) -> str:
    """Return the text with all spans replaced.

    Overlapping spans are merged; the widest one's replacement is used.
    """
    parts: list[str] = []
    done = 0
    for span in _merged(spans):
        parts += (text[done : span.start], span.replacement)
        done = span.end
    return "".join((*parts, text[done:]))


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order, with overlapping ones merged."""
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
