"""Units that chunking never splits, and the rank of each boundary between them."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import accumulate, pairwise
from typing import Final

from spinneret.content.chunking.models import ChunkType, TokenSpan
from spinneret.content.chunking.structure import TABLE_RULE, Line, Span, Structure

_BLANKS: Final = re.compile(r"\s+")
_WIDE_ENDS: Final = frozenset("\u3002\uff01\uff1f")  # full stop, exclamation, question mark
_SENTENCE_ENDS: Final = frozenset(".!?…") | _WIDE_ENDS
_CLOSERS: Final = "\"'\u201d\u2019)]*_`"  # quotes, brackets and markup after the end of a sentence
_FIRST_CJK: Final = "\u2e80"  # scripts from here on don't separate words by blanks


class Rank(IntEnum):
    """Quality of a boundary, in ascending order of preference."""

    KEPT = 0  # inside a block that should stay in one chunk
    INSIDE = 1  # inside a word, or between a heading and its text
    EDGE = 2  # before a word that punctuation joins to its predecessor
    BLANK = 3  # also between ideographs, which blanks don't separate
    LINE = 4
    SENTENCE = 5
    ITEM = 6
    HEADING = 7
    PARAGRAPH = 8
    SECTION = 9  # boundary of a paragraph that a heading follows


class Units:
    """Units of a text. Boundary `b` precedes unit `b`; boundary `count` follows the last unit.

    For every boundary, `position`, `tokens` and `bytes` hold the number of characters, tokens and
    UTF-8 bytes before it. They never decrease.
    """

    def __init__(self, markdown: str, tokens: Sequence[TokenSpan], *, max_bytes: int) -> None:
        pieces = list(_pieces(markdown, tokens, max_bytes))
        self.count = len(pieces)
        self.position = [start for start, _ in pieces] + [len(markdown)]
        self.tokens = list(accumulate((weight for _, weight in pieces), initial=0))
        sizes = (_size(markdown[start:end]) for start, end in pairwise(self.position))
        self.bytes = list(accumulate(sizes, initial=0))

    def at(self, position: int) -> int:
        """Return the first boundary at or after a character."""
        return bisect_left(self.position, position)

    def holding(self, position: int) -> int:
        """Return the unit that contains a character."""
        return bisect_right(self.position, position) - 1

    def reach(self, start: int, *, size: int, max_bytes: int) -> int:
        """Return the last boundary where a window from `start` can end."""
        by_tokens = bisect_right(self.tokens, self.tokens[start] + size) - 1
        by_bytes = bisect_right(self.bytes, self.bytes[start] + max_bytes) - 1
        return min(by_tokens, by_bytes, self.count)

    def back(self, end: int, *, size: int, max_bytes: int) -> int:
        """Return the first boundary where a window up to `end` can start."""
        by_tokens = bisect_left(self.tokens, self.tokens[end] - size)
        by_bytes = bisect_left(self.bytes, self.bytes[end] - max_bytes)
        return max(by_tokens, by_bytes, 0)

    def weight(self, start: int, end: int) -> int:
        """Return the number of tokens between two boundaries."""
        return self.tokens[end] - self.tokens[start]


def kept_blocks(structure: Structure, units: Units, *, size: int, max_bytes: int) -> list[Span]:
    """Return code fences, table heads, other table rows and headings that fit into a chunk, in
    order."""
    heads = [table.head for table in structure.tables]
    together = [head for head in heads if _fits(head, units, size, max_bytes)]
    starts = [head.start for head in together]

    def is_inside(line: Line) -> bool:
        index = bisect_right(starts, line.start) - 1
        return index >= 0 and line.end <= together[index].end

    lines = (
        Span(line.start, line.end)
        for line in structure.lines
        if line.heading is not None or (line.type is ChunkType.TABLE and not is_inside(line))
    )
    blocks = sorted([*structure.fences, *together, *lines], key=lambda span: span.start)
    return [span for span in blocks if _fits(span, units, size, max_bytes)]


def whole_blocks(
    structure: Structure, units: Units, kept: Sequence[Span], *, size: int, max_bytes: int
) -> list[Span]:
    """Return paragraphs and tables that fit into a chunk, and kept blocks outside them, in order.

    No chunk ends inside such a block; only the overlap may start there.
    """
    larger = [
        span
        for span in (*structure.paragraphs, *(table.span for table in structure.tables))
        if _fits(span, units, size, max_bytes)
    ]
    larger.sort(key=lambda span: span.start)
    starts = [span.start for span in larger]

    def is_inside(span: Span) -> bool:
        index = bisect_right(starts, span.start) - 1
        return index >= 0 and span.end <= larger[index].end

    rest = (span for span in kept if not is_inside(span))
    return sorted([*larger, *rest], key=lambda span: span.start)


def _fits(span: Span, units: Units, size: int, max_bytes: int) -> bool:
    first = units.back(units.at(span.end), size=size, max_bytes=max_bytes)
    return first <= units.holding(span.start)


def ranks(markdown: str, units: Units, structure: Structure, kept: Sequence[Span]) -> list[Rank]:
    """Return the rank of every boundary; the first and the last one have the best rank."""
    found = [Rank.SECTION] * (units.count + 1)
    blanks = _BLANKS.finditer(markdown)
    blank = next(blanks, None)
    blank_rank: Rank | None = None
    blocks = iter(kept)
    block = next(blocks, None)
    for boundary in range(1, units.count):
        position = units.position[boundary]
        while block is not None and block.end <= position:
            block = next(blocks, None)
        while blank is not None and blank.end() < position:
            blank, blank_rank = next(blanks, None), None
        if position in (0, len(markdown)):
            found[boundary] = Rank.INSIDE  # next to tokens without characters
        elif block is not None and block.start < position:
            found[boundary] = Rank.KEPT
        elif blank is None or position < blank.start():
            found[boundary] = _rank_of_edge(markdown, position)
        else:
            blank_rank = blank_rank or _rank_of_blank(markdown, blank, structure)
            found[boundary] = blank_rank
    return found


def _pieces(
    markdown: str, tokens: Sequence[TokenSpan], max_bytes: int
) -> Iterator[tuple[int, int]]:
    """Yield the start and token count of each unit; together, units cover the text."""
    clusters = list(_clusters(tokens, len(markdown))) or [(0, 0, 0)]
    clusters[0] = (0, *clusters[0][1:])
    ends = [start for start, _, _ in clusters[1:]] + [len(markdown)]
    for (start, covered, weight), end in zip(clusters, ends, strict=True):
        yield start, weight
        if end - start > max_bytes // 4:  # a character has at most 4 bytes
            for cut in _cuts(markdown, start, end, max_bytes):
                yield cut, int(cut < covered)  # a token that is cut counts on both sides


def _clusters(tokens: Sequence[TokenSpan], length: int) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and token count of each group of tokens that share characters.

    A token that starts before its predecessors, such as an end mark at (0, 0), moves behind them.
    """
    start = end = weight = 0
    for token in tokens:
        token_start = min(token.start if token.start >= start else end, length)
        token_end = min(max(token.end, token_start), length)
        if weight and token_start >= end:
            yield start, end, weight
            weight = 0
        if not weight:
            start = token_start
        weight += 1
        end = max(end, token_end)
    if weight:
        yield start, end, weight


def _cuts(markdown: str, start: int, end: int, max_bytes: int) -> Iterator[int]:
    size = 0
    for position in range(start, end):
        width = _size(markdown[position])
        if size + width > max_bytes:
            yield position
            size = 0
        size += width


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _rank_of_edge(markdown: str, position: int) -> Rank:
    before, after = markdown[position - 1], markdown[position]
    if before in _WIDE_ENDS:
        return Rank.SENTENCE
    if not after.isalnum():
        return Rank.INSIDE  # closing punctuation belongs to its word
    if before >= _FIRST_CJK or after >= _FIRST_CJK:
        return Rank.BLANK
    return Rank.INSIDE if before.isalnum() else Rank.EDGE


def _rank_of_blank(markdown: str, blank: re.Match[str], structure: Structure) -> Rank:
    if blank.start() == 0 or blank.end() == len(markdown):
        return Rank.BLANK
    before = structure.line_at(blank.start() - 1)
    breaks = blank[0].count("\n")
    if breaks:
        rank = _rank_of_break(markdown, breaks, before, structure.line_at(blank.end()))
        if rank is not Rank.LINE:
            return rank
    if before.type is not ChunkType.CODE and _ends_sentence(markdown, blank.start()):
        return Rank.SENTENCE
    return Rank.LINE if breaks else Rank.BLANK


def _rank_of_break(markdown: str, breaks: int, before: Line, after: Line) -> Rank:
    if before.heading is not None:
        return Rank.INSIDE
    if TABLE_RULE.match(markdown, after.start):
        return Rank.BLANK  # a table's header stays with its body
    if after.heading is not None:
        return Rank.SECTION if breaks > 1 else Rank.HEADING
    if breaks > 1:
        return Rank.PARAGRAPH
    return Rank.ITEM if after.starts_item else Rank.LINE


def _ends_sentence(markdown: str, end: int) -> bool:
    last = markdown[max(0, end - 4) : end].rstrip(_CLOSERS)
    return last[-1:] in _SENTENCE_ENDS if last else False
