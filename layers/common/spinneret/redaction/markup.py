"""Secrets in the fixed forms of XML and HTML, SQL and validators' errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from spinneret.redaction import names, values
from spinneret.redaction.spans import MARK, Span

_TAG: Final = r"<(?P<name>[A-Za-z_][\w.:\-]{1,60}+)(?:\s[^<>]{0,200})?>"
_ELEMENTS: Final = (
    re.compile(rf"{_TAG}(?P<secret>[^<>]++)</(?P=name)\s*>"),
    re.compile(rf"{_TAG}(?P<secret>[^<>\s]++)\Z"),  # cut off
    re.compile(rf"{_TAG}\s{{0,80}}<!\[CDATA\[(?P<secret>[^\]]{{1,4096}}+)\]\]>"),
    re.compile(  # Apple's property lists, tables and lists of HTML
        r"<(?P<tag>key|th|dt)(?:\s[^<>]{0,200})?>(?P<name>[^<>]{2,100}+)</(?P=tag)>\s{0,80}"
        r"<(?:string|td|dd)(?:\s[^<>]{0,200})?>(?P<secret>[^<>]++)"
    ),
)
_LITERAL: Final = re.compile(
    r"[PpIi](?<!\w.)(?i:(?<=p)(?:assword for [^=\n]{1,100}=|assword|asswd|wd)"
    r"|(?<=i)dentified(?: with \w{1,40})? (?:by|as))\s{1,4}(?=\\*['\"])"
)
_COLUMNS: Final = re.compile(
    r"\((?P<columns>[^()]{1,1000})\)\s{0,20}VALUES\s{0,20}\((?P<row>[^()]{1,4000})\)",
    re.IGNORECASE,
)
_NEXT_ROW: Final = re.compile(r"\s{0,20},\s{0,20}\((?P<row>[^()]{1,4000})\)")
_ITEM: Final = re.compile(r"\s*(?P<item>'(?:[^']|'')*'|\"[^\"]*\"|[^,'\"]+)\s*(?:,|$)")
_VALIDATIONS: Final = (
    ("input_value=", re.compile(  # pydantic
        r"^(?P<name>[\w.\-\[\]]{1,200}+)\n[ ]{2}[^\n]{1,300}?"
        r"\[type=\w+, input_value=(?P<secret>[^\n]{1,300}), input_type",
        re.MULTILINE,
    )),
    (", value: ", re.compile(  # botocore
        r"for parameter (?P<name>[\w.\-\[\]]{1,200}+), value: "
        r"(?P<secret>(?:[^\n,]|,(?! type: <| valid ))++)"
    )),
    ("Value '", re.compile(  # services of AWS
        r"Value '(?P<secret>[^\n']++)' at '(?P<name>[\w.\-\[\]]{1,200}+)' failed"
    )),
    ("Duplicate entry '", re.compile(  # MySQL
        r"Duplicate entry '(?P<secret>[^\n']++)' for key '(?P<name>[\w.\-]{1,200}+)'"
    )),
)  # fmt: skip


def marked_up(text: str) -> Iterator[Span]:
    """All of this module."""
    lowered = text.lower()
    if "<" in text and ">" in text:
        yield from _elements(text)
    if "'" in text or '"' in text:
        yield from _literals(text)
    if "values" in lowered:
        yield from _rows(text)
    for anchor, pattern in _VALIDATIONS:
        if anchor in text:
            for match in pattern.finditer(text):
                if names.kind_of(match["name"]).certain:
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
        columns = [names.kind_of(name).certain for name in match["columns"].split(",")]
        row: re.Match[str] | None = match
        while any(columns) and row is not None:
            for secret, item in zip(columns, _ITEM.finditer(row["row"]), strict=False):
                if secret:
                    start, end = item.span("item")
                    offset = row.start("row")
                    yield Span(offset + start, offset + end, f"'{MARK}'")
            row = _NEXT_ROW.match(text, row.end())
