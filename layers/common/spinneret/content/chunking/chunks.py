"""Splits Markdown into overlapping chunks of bounded size, along its structure.

1. The text is divided into units that are never cut: single tokens, or groups of tokens that share
   characters (tokenizers split one emoji into several tokens). Text between two tokens belongs to
   the first one. Only a unit of more than `max_bytes` is cut inside.
2. Every boundary between units gets a rank. From best to worst: blank line, heading, list item,
   sentence, line, blank, inside a word. Boundaries inside a heading, code fence, table row or table
   header that fits into a chunk rank last.
3. From left to right, a window takes as many units as fit. It ends at the best boundary of its
   last quarter; the latest one wins a tie. If all of these cut a word or a block, the window ends
   at the latest earlier boundary that doesn't. An end that would split a paragraph or table that
   fits into a chunk moves to its start. A window that continues a table reserves room for the
   header rows. Each window leaves at least `minimum` tokens for the next one.
4. The next window starts where the last one ended, moved back by up to `overlap` tokens. It starts
   at the best boundary in the first half of that stretch, else at any that cuts no word or block.

All steps are linear in the text; a window only examines its own units.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from spinneret.content.chunking.boundaries import Rank, Units, kept_blocks, ranks, whole_blocks
from spinneret.content.chunking.models import Chunk, TokenSpan
from spinneret.content.chunking.structure import Span, Structure


def chunk(
    markdown: str,
    tokens: Sequence[TokenSpan],
    *,
    size: int,
    overlap: int,
    minimum: int,
    max_bytes: int,
) -> list[Chunk]:
    """Return chunks in order; together, they hold every non-blank character.

    `tokens` are in the order of the text. They may have gaps, be empty or share characters. `size`,
    `overlap` and `minimum` are in tokens, `max_bytes` in bytes of UTF-8.

    A chunk exceeds `size` only if more than `size` tokens share characters. It has fewer than
    `minimum` tokens only if the text is shorter, `max_bytes` is reached, or tokens that share
    characters allow no other cut, or if `minimum` exceeds three quarters of `size` and a table
    comes before: a repeated header takes up to a quarter. To reach `minimum`, the last chunk may
    overlap by more. Chunk texts are stripped; their token count is that of the window and of a
    repeated table header.

    Raises ValueError unless 0 <= overlap < size, 1 <= minimum <= size and max_bytes >= 4.
    """
    if not (0 <= overlap < size and 1 <= minimum <= size and max_bytes >= 4):
        raise ValueError("invalid chunk sizes")
    structure = Structure(markdown)
    units = Units(markdown, tokens, max_bytes=max_bytes)
    kept = kept_blocks(structure, units, size=size, max_bytes=max_bytes)
    windows = _Windows(
        units=units,
        ranks=ranks(markdown, units, structure, kept),
        whole=whole_blocks(structure, units, kept, size=size, max_bytes=max_bytes),
        structure=structure,
        size=size,
        overlap=overlap,
        minimum=minimum,
        max_bytes=max_bytes,
    )
    return _chunks(markdown, units, structure, windows, size)


def _chunks(
    markdown: str,
    units: Units,
    structure: Structure,
    windows: Iterable[tuple[int, int]],
    size: int,
) -> list[Chunk]:
    chunks: list[Chunk] = []
    for first, last in windows:
        window = markdown[units.position[first] : units.position[last]]
        text = window.strip()
        start = units.position[first] + len(window) - len(window.lstrip())
        end = start + len(text)
        if not text or (chunks and end <= chunks[-1].end):
            continue  # the window only adds blanks
        head = continued_head(units, structure, first, size)
        chunks.append(
            Chunk(
                index=len(chunks),
                start=start,
                end=end,
                text=text,
                token_count=units.weight(first, last) + _weight(units, head),
                section=structure.section_at(start),
                type=structure.type_of(start, end),
                head=markdown[head.start : head.end] if head is not None else None,
            )
        )
    return chunks


def continued_head(units: Units, structure: Structure, start: int, size: int) -> Span | None:
    """Return the header rows of the table that the window from `start` continues.

    Return None without such a table, or if its header takes more than a quarter of a chunk: it
    would leave too little room for the rows.
    """
    position = units.position[start]
    head = structure.head_above(position)
    if head is None:
        return None
    return head if _weight(units, head) <= size // 4 else None


def _weight(units: Units, head: Span | None) -> int:
    """Return the number of tokens of repeated header rows."""
    return 0 if head is None else units.weight(units.holding(head.start), units.at(head.end))


@dataclass(frozen=True, kw_only=True)
class _Windows:
    """Pairs of boundaries; each window starts at or before the end of its predecessor."""

    units: Units
    ranks: Sequence[Rank]
    whole: Sequence[Span]
    structure: Structure
    size: int
    overlap: int
    minimum: int
    max_bytes: int

    def __iter__(self) -> Iterator[tuple[int, int]]:
        start = new = 0
        while new < self.units.count:
            end = self._end(start, new)
            yield start, end
            start, new = self._start(start, end), end

    def _end(self, start: int, new: int) -> int:
        """Return the end of a window from `start`; units from `new` on are in no earlier window."""
        reach = max(new + 1, self._reach(start))
        if reach >= self.units.count:
            return self.units.count
        tokens = self.units.tokens
        least = max(new + 1, bisect_left(tokens, tokens[start] + self.minimum))
        latest = bisect_right(tokens, tokens[-1] - self.minimum) - 1
        if least <= latest:
            reach = min(reach, latest)
        least = min(least, reach)
        quarter = tokens[reach] - (tokens[reach] - tokens[start]) // 4
        low = min(reach, max(least, bisect_left(tokens, quarter)))
        best = self._best(range(reach, low - 1, -1))
        if self.ranks[best] >= Rank.BLANK:
            return self._before_whole(best, least)
        earlier = range(low - 1, least - 1, -1)
        found = next((b for b in earlier if self.ranks[b] >= Rank.BLANK), None)
        if found is None:
            return self._best(range(reach, least - 1, -1))
        return self._before_whole(found, least)

    def _before_whole(self, end: int, least: int) -> int:
        """Return this end, or the start of the paragraph or table that it would split."""
        position = self.units.position[end]
        index = bisect_right(self.whole, position, key=lambda block: block.start) - 1
        if index < 0 or self.whole[index].end <= position:
            return end
        first = self.units.at(self.whole[index].start)
        return first if least <= first < end else end

    def _start(self, previous: int, new: int) -> int:
        """Return the start of the window whose first new unit is `new`."""
        if new == self.units.count:
            return new
        tokens = self.units.tokens
        first = max(
            previous + 1,
            bisect_left(tokens, tokens[new] - self.overlap),
            self._back(self._whole_from(new)),
        )
        # A later start would leave fewer than `minimum` tokens for the rest of the text.
        last = min(new, bisect_right(tokens, tokens[-1] - self.minimum) - 1)
        if first >= last:
            return min(new, max(last, previous + 1, self._back(self.units.count)))
        half = bisect_right(tokens, tokens[new] - self.overlap / 2) - 1
        best = self._best(range(first, max(first, min(half, last - 1)) + 1))
        if self.ranks[best] >= Rank.BLANK:
            return best
        anywhere = (b for b in range(best, last) if self.ranks[b] >= Rank.BLANK)
        return next(anywhere, last if self.ranks[last] >= Rank.BLANK else first)

    def _whole_from(self, new: int) -> int:
        """Return the end of what the next window should hold: a unit, or the block starting there.

        A heading stays with the block below it if both fit.
        """
        last = new + 1
        index = bisect_right(self.whole, self.units.position[new], key=lambda block: block.end)
        below = new
        while index < len(self.whole) and self.units.holding(self.whole[index].start) <= below:
            below = self.units.at(self.whole[index].end)
            if self._back(below) > new:
                break
            last = max(last, below)
            if self.ranks[below] is not Rank.INSIDE:
                break
            index += 1
        return last

    def _best(self, boundaries: range) -> int:
        """Return the boundary with the best rank; the first one wins a tie."""
        return max(boundaries, key=self.ranks.__getitem__)

    def _reach(self, start: int) -> int:
        """Return the last possible end, with room for the header rows of a continued table."""
        head = continued_head(self.units, self.structure, start, self.size)
        if head is None:
            return self.units.reach(start, size=self.size, max_bytes=self.max_bytes)
        first, last = self.units.holding(head.start), self.units.at(head.end)
        return self.units.reach(
            start,
            size=self.size - self.units.weight(first, last),
            max_bytes=self.max_bytes - (self.units.bytes[last] - self.units.bytes[first]) - 1,
        )

    def _back(self, end: int) -> int:
        return self.units.back(end, size=self.size, max_bytes=self.max_bytes)
