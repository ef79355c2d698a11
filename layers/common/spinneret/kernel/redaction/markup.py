"""Secrets in the fixed forms of XML and HTML, SQL and validators' errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from spinneret.kernel.redaction import names, values
from spinneret.kernel.redaction.spans import MARK, Span

_TAG: Final = r"<(?P<name>[A-Za-z_][\w.:\-]{1,60}+)(?:\s[^<>]{0,200})?>"
_ELEMENTS: Final = (
    re.compile(rf"{_TAG}(?P<secret>[^<>]++)</(?P=name)\s*>"),
    re.compile(rf"{_TAG}(?P<secret>[^<>\s]++)\Z"),  # cut off
    re.compile(rf"{_TAG}\s{{0,80}}<!\[CDATA\[(?P<secret>[^\]]{{1,4096}}+)\]\]>"),
    re.compile(  # Apple's property lists
        r"<key>(?P<name>[^<>]{2,100}+)</key>\s{0,80}<string>(?P<secret>[^<>]++)</string>"
    ),
)
_LITERAL: Final = re.compile(
    r"\b(?:password for [^=\n]{1,100}=|password|passwd|pwd"
    r"|identified(?: with \w{1,40})? (?:by|as))\s{1,4}(?=\\*['\"])",
    re.IGNORECASE,
)
_COLUMNS: Final = re.compile(
    r"\((?P<columns>[^()]{1,1000})\)\s{0,20}VALUES\s{0,20}\((?P<row>[^()]{1,4000})\)",
    re.IGNORECASE,
)
_ITEM: Final = re.compile(r"\s*(?P<item>'(?:[^']|'')*'|\"[^\"]*\"|[^,'\"]+)\s*(?:,|$)")
_VALIDATION: Final = re.compile(  # the text of a pydantic error
    r"^(?P<name>[\w.\-\[\]]{1,200}+)\n[ ]{2}[^\n]{1,300}?"
    r"\[type=\w+, input_value=(?P<secret>[^\n]{1,300}), input_type",
    re.MULTILINE,
)


def marked_up(text: str) -> Iterator[Span]:
    """All of this module."""
    lowered = text.lower()
    if "<" in text and ">" in text:
        yield from _elements(text)
    if "'" in text or '"' in text:
        yield from _literals(text)
    if "values" in lowered:
        yield from _rows(text)
    if "input_value=" in text:
        for match in _VALIDATION.finditer(text):
            if names.kind_of(match["name"].rpartition(".")[2]).certain:
                yield Span(*match.span("secret"), MARK)


def _elements(text: str) -> Iterator[Span]:
    """`<password>…</password>`."""
    for pattern in _ELEMENTS:
        for match in pattern.finditer(text):
            kind = names.kind_of(match["name"].rpartition(":")[2])
            if match["secret"].strip() and values.is_secret(kind, match["secret"]):
                yield Span(*match.span("secret"), MARK)


def _literals(text: str) -> Iterator[Span]:
    """`PASSWORD 'x'`, `IDENTIFIED BY 'x'`."""
    for match in _LITERAL.finditer(text):
        quotation = values.quoted_end(text, match.end())
        if quotation is None or quotation[0] == quotation[1]:
            continue
        value = text[quotation[0] : min(quotation[1], quotation[0] + values.LONG)]
        statement = match[0].lower().startswith("identified")
        if not values.is_filler(value, "password") and (statement or " " not in value):
            yield Span(quotation[0], quotation[1], MARK)


def _rows(text: str) -> Iterator[Span]:
    """`INSERT INTO users (name, password) VALUES (…)`: by the place of the column."""
    for match in _COLUMNS.finditer(text):
        items = _ITEM.finditer(match["row"])
        for column, item in zip(match["columns"].split(","), items, strict=False):
            if names.kind_of(column).certain:
                start, end = item.span("item")
                offset = match.start("row")
                yield Span(offset + start, offset + end, f"'{MARK}'")
