"""Finds the words of a page that an engine chose, given only the text that it returned.

Engines return trees of their own, without the page's attributes. Their words are located in the
page, so that the page's own elements are rendered. Both sides are in document order, except for
words that an engine drops, adds or moves.

Sequences that are rare on both sides anchor the alignment (patience diff); text between two anchors
is aligned by shorter sequences. Every level is linear in the words, except for a sort.
"""

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_LENGTHS: Final = (8, 3, 1)
"""Words per compared sequence, level by level: long sequences rarely match by chance."""

_REPEATS: Final = 3
"""A sequence that occurs more often on either side doesn't identify a position."""


_MOVED: Final = 4
"""Words per sequence where an engine has changed the order."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Words [start, end) of the page, paired with words [low, high) of the engine's text."""

    start: int
    end: int
    low: int
    high: int


def chosen_words(page: Sequence[Hashable], found: Sequence[Hashable]) -> bytearray:
    """Mark every word of the page that is among those found, in their order."""
    marks = bytearray(len(page))
    stretches = [_Stretch(0, len(page), 0, len(found))]
    for length in _LENGTHS:
        rest: list[_Stretch] = []
        for stretch in stretches:
            rest += _align(page, found, stretch, length, marks)
        stretches = rest
    return marks


def moved_words(page: Sequence[Hashable], found: Sequence[Hashable]) -> bytearray:
    """Mark every word of the page in a sequence of four that is among those found, in any order."""
    marks = bytearray(len(page))
    known = set(_sequences(found))
    for at, sequence in enumerate(_sequences(page)):
        if sequence in known:
            marks[at : at + _MOVED] = b"\1" * _MOVED
    return marks


def _sequences(words: Sequence[Hashable]) -> Iterator[tuple[Hashable, ...]]:
    return zip(*(words[shift:] for shift in range(_MOVED)), strict=False)


def _align(
    page: Sequence[Hashable],
    found: Sequence[Hashable],
    stretch: _Stretch,
    length: int,
    marks: bytearray,
) -> list[_Stretch]:
    """Mark the words around each anchor of a stretch; return the stretches between them."""
    rest: list[_Stretch] = []
    start, low = stretch.start, stretch.low
    for at, to in _anchors(page, found, stretch, length):
        if at < start or to < low:
            continue  # already reached by the previous anchor
        first, first_found = at, to
        while first > start and first_found > low and page[first - 1] == found[first_found - 1]:
            first, first_found = first - 1, first_found - 1
        end, high = at, to
        while end < stretch.end and high < stretch.high and page[end] == found[high]:
            end, high = end + 1, high + 1
        marks[first:end] = b"\1" * (end - first)
        if first > start and first_found > low:
            rest.append(_Stretch(start, first, low, first_found))
        start, low = end, high
    if start < stretch.end and low < stretch.high:
        rest.append(_Stretch(start, stretch.end, low, stretch.high))
    return rest


def _anchors(
    page: Sequence[Hashable], found: Sequence[Hashable], stretch: _Stretch, length: int
) -> list[tuple[int, int]]:
    """Return positions of sequences on both sides; both positions increase."""
    here = _places(page, stretch.start, stretch.end, length)
    there = _places(found, stretch.low, stretch.high, length)
    pairs = [
        (at, -to)
        for words, ats in here.items()
        if len(ats) <= _REPEATS and len(there.get(words, ())) <= _REPEATS
        for at in ats
        for to in there.get(words, ())
    ]
    pairs.sort()  # sorts later `to` first for equal `at`, so that a rise takes only one of them
    return _rising([(at, -to) for at, to in pairs])


def _places(
    words: Sequence[Hashable], start: int, end: int, length: int
) -> dict[tuple[Hashable, ...], list[int]]:
    part = words[start:end]
    places: dict[tuple[Hashable, ...], list[int]] = {}
    for at, sequence in enumerate(
        zip(*(part[shift:] for shift in range(length)), strict=False), start
    ):
        places.setdefault(sequence, []).append(at)
    return places


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of pairs, sorted by first number, whose second number
    rises."""
    ends: list[int] = []
    last: list[int] = []
    before = [-1] * len(pairs)
    for index, (_, to) in enumerate(pairs):
        place = bisect_left(ends, to)
        if place:
            before[index] = last[place - 1]
        if place == len(ends):
            ends.append(to)
            last.append(index)
        else:
            ends[place], last[place] = to, index
    rising: list[tuple[int, int]] = []
    index = last[-1] if last else -1
    while index >= 0:
        rising.append(pairs[index])
        index = before[index]
    return rising[::-1]
