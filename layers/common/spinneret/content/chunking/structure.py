"""Lines of a Markdown text, classified as headings, code, table rows and list items."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from spinneret.content.chunking.models import ChunkType

# Fences inside list items are indented, so any indentation counts.
_FENCE: Final = re.compile(r" *(`{3,}|~{3,})([^\n]*)")
_HEADING: Final = re.compile(r" {0,3}#{1,6}[ \t]+(.*)")
_CLOSING_MARKS: Final = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
_HEADING_CHARS: Final = 500
"""Limit of a heading as the name of a section, which every chunk of the section has."""
TABLE_RULE: Final = re.compile(r" {0,3}\|[ \t:|-]+(?:\n|$)")
_ROW: Final = re.compile(r" {0,3}\|")


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its line break, as characters [start, end) of the text."""

    start: int
    end: int
    type: ChunkType
    heading: str | None = None
    starts_item: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """Characters [start, end)."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Table:
    """A table and its header rows, as characters of the text."""

    span: Span
    head: Span


class Structure:
    """Lines, fenced blocks, paragraphs and tables of a text."""

    def __init__(self, markdown: str) -> None:
        self.lines: list[Line] = []
        self.fences: list[Span] = []
        """Code blocks with their fences, in order; an unclosed block ends with the text."""
        self._read(markdown)
        self.paragraphs = list(_stretches(self.lines, _is_prose))
        self.tables = [
            Table(span, head)
            for span in _stretches(self.lines, _is_row)
            if (head := _head(markdown, span)) is not None
        ]
        self._table_starts = [table.span.start for table in self.tables]
        self._starts = [line.start for line in self.lines]
        headings = [line for line in self.lines if line.heading]
        self._heading_starts = [line.start for line in headings]
        self._headings = [line.heading for line in headings]

    def line_at(self, position: int) -> Line:
        """Return the line that contains a character."""
        return self.lines[bisect_right(self._starts, position) - 1]

    def section_at(self, position: int) -> str | None:
        """Return the nearest heading that starts at or before the line of this character."""
        line = self.line_at(position)
        index = bisect_right(self._heading_starts, line.start) - 1
        return self._headings[index] if index >= 0 else None

    def head_above(self, position: int) -> Span | None:
        """Return the header rows of the table whose body contains this character."""
        index = bisect_right(self._table_starts, position) - 1
        if index < 0:
            return None
        table = self.tables[index]
        return table.head if table.head.end < position < table.span.end else None

    def type_of(self, start: int, end: int) -> ChunkType:
        """Return the type of most of the characters [start, end); prose in a tie."""
        counts: Counter[ChunkType] = Counter({ChunkType.PROSE: 0})
        index = bisect_right(self._starts, start) - 1
        while index < len(self.lines) and self.lines[index].start < end:
            line = self.lines[index]
            counts[line.type] += max(0, min(end, line.end) - max(start, line.start))
            index += 1
        return counts.most_common(1)[0][0]

    def _read(self, markdown: str) -> None:
        start, fence, opened, in_list = 0, "", 0, False
        for text in markdown.split("\n"):
            end = start + len(text)
            if fence:
                self.lines.append(Line(start, end, ChunkType.CODE))
                if _closes(text, fence):
                    self.fences.append(Span(opened, end))
                    fence = ""
            elif text and (opening := _FENCE.match(text)) is not None and "`" not in opening[2]:
                fence, opened = opening[1], start
                self.lines.append(Line(start, end, ChunkType.CODE))
            else:
                line = _line(text, start, end, in_list=in_list)
                in_list = line.type is ChunkType.LIST
                self.lines.append(line)
            start = end + 1
        if fence:
            self.fences.append(Span(opened, len(markdown)))


def _stretches(lines: Sequence[Line], belongs: Callable[[Line], bool]) -> Iterator[Span]:
    """Yield runs of successive lines for which `belongs` is true."""
    for together, group in groupby(lines, belongs):
        if together:
            found = list(group)
            yield Span(found[0].start, found[-1].end)


def _is_prose(line: Line) -> bool:
    return line.type is ChunkType.PROSE and line.heading is None and line.end > line.start


def _is_row(line: Line) -> bool:
    return line.type is ChunkType.TABLE


def _head(markdown: str, table: Span) -> Span | None:
    """Return the first row and the rule below it."""
    row_end = markdown.find("\n", table.start, table.end)
    if row_end < 0 or (rule := TABLE_RULE.match(markdown, row_end + 1)) is None:
        return None
    return Span(table.start, min(table.end, row_end + 1 + len(rule[0].rstrip("\n"))))


def _closes(text: str, fence: str) -> bool:
    mark = text.strip()
    return len(mark) >= len(fence) and not mark.strip(fence[0])


def _line(text: str, start: int, end: int, *, in_list: bool) -> Line:
    if not text:  # every second line of many texts
        return Line(start, end, ChunkType.LIST if in_list else ChunkType.PROSE)
    heading = _HEADING.match(text)
    if heading is not None:
        title = _CLOSING_MARKS.sub("", heading[1]).strip()[:_HEADING_CHARS].rstrip()
        return Line(start, end, ChunkType.PROSE, heading=title or None)
    if _ROW.match(text):
        return Line(start, end, ChunkType.TABLE)
    if _ITEM.match(text):
        return Line(start, end, ChunkType.LIST, starts_item=True)
    # Indented or blank lines below a list item belong to it.
    if in_list and (not text.strip() or text[0] in " \t"):
        return Line(start, end, ChunkType.LIST)
    return Line(start, end, ChunkType.PROSE)
