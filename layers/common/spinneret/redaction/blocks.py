"""Private keys in armour: PEM (RFC 7468), OpenSSH, OpenPGP (RFC 9580), PuTTY; also cut off."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from spinneret.redaction.spans import MARK, Span

_BEGIN: Final = re.compile(r"-{4,5}\s?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?\s?-{4,5}")
_ANY_BEGIN: Final = re.compile(r"-----BEGIN ")
_END: Final = re.compile(r"-{4,5}\s?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?\s?-{4,5}")
_BREAK: Final = r"(?:\s|\\{1,15}[nrt]|%0[AaDd]|<br ?/?>)"
_CUT_OFF: Final = re.compile(  # lines of base64 and of headers as far as they go
    rf"(?:{_BREAK}{{0,8}}(?:[A-Za-z\-]{{1,30}}: [^\r\n\\\"']{{0,200}}(?=[\r\n\\])"
    rf"|[A-Za-z0-9+/=]{{16,}}+|(?<=[nr\n])[A-Za-z0-9+/=]{{1,64}}+(?=[\s\\\"']|$)))+"
)
_PUTTY: Final = re.compile(r"Private-Lines: \d{1,4}\s+((?:[A-Za-z0-9+/=]{1,80}\s+)+)")
# The same in front of an end whose beginning is cut off; read backwards, so that it is linear.
_BREAK_BACK: Final = r"(?:\s|[nrt]\\{1,15}|[AaDd]0%|>/?[ ]?rb<)"
_BASE64_BACK: Final = r"(?:[A-Za-z0-9+/=](?!\\|0%)|/\\{1,15})"
_HEADLESS: Final = re.compile(
    rf"(?P<body>{_BREAK_BACK}{{0,8}}+{_BASE64_BACK}++(?:{_BREAK_BACK}{{1,8}}+{_BASE64_BACK}{{40,}}+)*+)"
    rf"(?:{_BREAK_BACK}{{1,8}}+(?P<cut>(?=[^\d\s]*\d){_BASE64_BACK}{{1,80}}+))?"
)
_LONGEST: Final = 20_000  # characters of a key
_LEAST: Final = 16  # of what is left of one


def private_keys(text: str) -> Iterator[Span]:
    """What stands between the lines that begin and end a private key."""
    if "PRIVATE KEY" in text:
        yield from _armoured(text)
    if "Private-Lines: " in text:
        for match in _PUTTY.finditer(text):
            yield Span(*match.span(1), f"{MARK}\n")


def _armoured(text: str) -> Iterator[Span]:
    ends = [match.start() for match in _END.finditer(text)]
    begins = [match.start() for match in _ANY_BEGIN.finditer(text)]
    for match in _BEGIN.finditer(text):
        start = match.end()
        following = bisect_left(ends, start)
        next_begin = bisect_left(begins, start)
        limit = begins[next_begin] if next_begin < len(begins) else len(text)
        if following < len(ends) and ends[following] <= limit:
            yield Span(start, ends[following], MARK)
        elif (cut_off := _CUT_OFF.match(text, start)) is not None:
            yield Span(start, cut_off.end(), MARK)
    yield from _headless(text, sorted([*begins, *(match.end() for match in _END.finditer(text))]))


def _headless(text: str, borders: list[int]) -> Iterator[Span]:
    """The lines in front of an end that no beginning belongs to."""
    for match in _END.finditer(text):
        end = match.start()
        before = bisect_left(borders, end)
        border = borders[before - 1] if before else 0
        if text.startswith("-----BEGIN ", border):
            continue
        key = _HEADLESS.match(text[max(border, end - _LONGEST) : end][::-1])
        if key is not None and len(key[0]) >= _LEAST:
            yield Span(end - key.end(), end, MARK)
