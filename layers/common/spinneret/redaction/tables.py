"""Columns whose header names a secret: CSV, TSV, Markdown and what database clients print."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from itertools import zip_longest
from typing import Final

from spinneret.redaction import names, values
from spinneret.redaction.names import Kind
from spinneret.redaction.spans import MARK, Span

_TITLE: Final = r'"?[A-Za-z_][\w.\-]{0,40}"?'
_HEADER: Final = re.compile(  # RFC 4180, section 2, with names that need no blanks
    rf"\n(?P<titles>{_TITLE}(?P<sign>[,;\t]){_TITLE}(?:(?P=sign){_TITLE}){{0,60}})\r?(?=\n)"
)
_RULE: Final = re.compile(r"\n[ \t]*[|+]?[ \t]*:?-{2,}:?(?:[ \t]*[|+][ \t:]*-{2,}:?)+[ \t|+]*\r?\n")
_NAMED_ROW: Final = re.compile(  # a name and its value side by side
    r"(?:^|\n)[ \t]*[|\u2502][ \t]*[*`]{0,2}(?P<name>[\w.\-]{2,60}+)[*`]{0,2}[ \t]*[|\u2502]"
    r"[ \t]*`?(?P<value>[^\s|\u2502`]{4,})`?[ \t]*[|\u2502][ \t]*\r?(?=\n|$)"
)
_QUOTED_CELL: Final = re.compile(r'"(?:[^"]|"")*"')
_VALUE: Final = re.compile(r'[\s"]*(?P<value>.*?)[\s"]*', re.DOTALL)
_MIXED: Final = re.compile(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z]).{6,}")


def tabulated(text: str) -> Iterator[Span]:
    """The secret columns and rows of all tables in the text."""
    if "|" in text or "\u2502" in text:
        yield from _rows(text)
    if "\n" not in text:
        return
    for start, end in [*_separated(text), *_ruled(text)]:
        yield Span(start, end, MARK)


def _rows(text: str) -> Iterator[Span]:
    """`| password | hunter2 |`; a name in the second cell is a header's or a description's."""
    for match in _NAMED_ROW.finditer(text):
        value = match["value"]
        if names.kind_of(match["name"]).certain and not (
            names.is_plain(value) or values.is_filler(value[: values.LONG], match["name"])
        ):
            yield Span(*match.span("value"), MARK)


def _separated(text: str) -> Iterator[tuple[int, int]]:
    """Below the first line of a table in CSV."""
    lines = f"\n{text}"  # so that the first one begins like all others
    done = 0
    for header in _HEADER.finditer(lines):
        sign = header["sign"]
        columns = _secret_columns(header["titles"], sign)
        before = lines[lines.rfind("\n", 0, header.start()) + 1 : header.start()]
        starts = header.start() >= done and before.count(sign) != header["titles"].count(sign)
        if columns and starts:
            done = yield from _cells(text, header.end(), len(text), sign, columns)


def _ruled(text: str) -> Iterator[tuple[int, int]]:
    """Below a line of dashes, up to the next one."""
    rules = list(_RULE.finditer(text))
    for rule, following in zip_longest(rules, rules[1:]):
        titles = text[text.rfind("\n", 0, rule.start()) + 1 : rule.start()]
        columns = _secret_columns(titles, "|")
        if columns:
            limit = following.start() if following else len(text)
            yield from _cells(text, rule.end(), limit, "|", columns)


def _secret_columns(titles: str, sign: str) -> tuple[int, dict[int, Kind]] | None:
    """How many columns there are, and which of them hold secrets."""
    kinds = [names.kind_of(title.strip(' "')) for title in titles.split(sign)]
    secret = {place: kind for place, kind in enumerate(kinds) if kind.certain}
    return (len(kinds), secret) if secret else None


def _cells(
    text: str, start: int, limit: int, sign: str, columns: tuple[int, dict[int, Kind]]
) -> Generator[tuple[int, int], None, int]:
    """Places of the secrets in the rows, as far as these have as many cells as the header."""
    count, secret = columns
    while start < limit:
        end = text.find("\n", start)
        end = end if 0 <= end < limit else limit
        cells = _split(text[start:end], sign)
        if len(cells) != count:
            return start
        for place, kind in secret.items():
            value = _VALUE.fullmatch(cells[place][1])
            if value is not None and _is_secret(value["value"], kind):
                offset = start + cells[place][0]
                yield offset + value.start("value"), offset + value.end("value")
        start = end + 1
    return start


def _split(row: str, sign: str) -> list[tuple[int, str]]:
    """The cells and where they begin; a quoted cell may hold the sign."""
    masked = _QUOTED_CELL.sub(lambda match: "_" * len(match[0]), row) if '"' in row else row
    cells: list[tuple[int, str]] = []
    start = 0
    for cell in masked.split(sign):
        cells.append((start, row[start : start + len(cell)]))
        start += len(cell) + len(sign)
    return cells


def _is_secret(value: str, kind: Kind) -> bool:
    """Passwords may be words; of tokens there are also lists of words with their frequency."""
    if not value or values.is_filler(value[: values.LONG], ""):
        return False
    return kind is Kind.PASSWORD or _MIXED.match(value) is not None
