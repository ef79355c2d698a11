"""Chunks that follow the parts of a text: its sections or its blocks.

A part shorter than the minimum is merged with the next one, the last part with the previous one. A
part larger than a chunk is split like a text of its own.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from spinneret.content.chunking.chunks import chunk
from spinneret.content.chunking.models import Chunk, Chunking, ChunkingStrategy, TokenSpan
from spinneret.content.chunking.structure import Line, Structure


@dataclass(frozen=True, kw_only=True)
class Block:
    """A heading, paragraph, list, table or code block: characters [start, end)."""

    type: str
    """`heading`, or a ChunkType value."""
    start: int
    end: int


def chunked(
    markdown: str, tokens: Sequence[TokenSpan], chunking: Chunking, *, max_bytes: int
) -> list[Chunk]:
    """Return chunks in order (see `chunks.chunk`); they overlap only within a part."""
    if chunking.strategy is ChunkingStrategy.SLIDING_WINDOW:
        return _cut(markdown, tokens, chunking, max_bytes)
    structure = Structure(markdown)
    tokens = sorted(tokens, key=lambda token: token.start)
    chunks: list[Chunk] = []
    for start, end in _parts(markdown, structure, tokens, chunking):
        inside = tokens[_index(tokens, start) : _index(tokens, end)]
        moved = [TokenSpan(start=t.start - start, end=min(t.end, end) - start) for t in inside]
        for each in _cut(markdown[start:end], moved, chunking, max_bytes):
            first, last = each.start + start, each.end + start
            section, kind = structure.section_at(first), structure.type_of(first, last)
            placed = replace(each, start=first, end=last, section=section, type=kind)
            chunks.append(replace(placed, index=len(chunks)))
    return chunks


def blocks_of(markdown: str) -> list[Block]:
    """Return the blocks of a text in order; only blanks separate them."""
    structure = Structure(markdown)
    fences = {fence.start: fence.end for fence in structure.fences}
    found: list[Block] = []
    behind = 0
    for line in structure.lines:
        if line.start < behind or not markdown[line.start : line.end].strip():
            continue
        if line.start in fences:
            behind = fences[line.start]
            found.append(Block(type=line.type, start=line.start, end=behind))
        elif found and _goes_on(markdown, found[-1], line):
            found[-1] = replace(found[-1], end=line.end)
        else:
            kind = "heading" if line.heading is not None else line.type.value
            found.append(Block(type=kind, start=line.start, end=line.end))
    return found


def _goes_on(markdown: str, block: Block, line: Line) -> bool:
    """Return whether a line belongs to the block above it; only lists may contain blank lines."""
    if line.heading is not None or block.type != line.type:
        return False
    return block.type == "list" or markdown.count("\n", block.end, line.start) < 2


def _cut(
    markdown: str, tokens: Sequence[TokenSpan], chunking: Chunking, max_bytes: int
) -> list[Chunk]:
    return chunk(
        markdown,
        tokens,
        size=chunking.size,
        overlap=chunking.overlap,
        minimum=chunking.minimum,
        max_bytes=max_bytes,
    )


def _parts(
    markdown: str, structure: Structure, tokens: Sequence[TokenSpan], chunking: Chunking
) -> Iterable[tuple[int, int]]:
    """Return consecutive stretches that cover the text. Each has at least `minimum` tokens, unless
    it is the only one."""
    if chunking.strategy is ChunkingStrategy.BY_HEADING:
        starts = [line.start for line in structure.lines if line.heading is not None]
    else:
        starts = list(_block_starts(blocks_of(markdown)))
    edges = [0, *(start for start in starts if start > 0), len(markdown)]
    merged: list[tuple[int, int]] = []
    begin = 0
    for _, end in pairwise(edges):
        if _index(tokens, end) - _index(tokens, begin) >= chunking.minimum:
            merged.append((begin, end))
            begin = end
    if begin < len(markdown):
        first = merged.pop()[0] if merged else begin
        merged.append((first, len(markdown)))
    return merged


def _block_starts(blocks: Iterable[Block]) -> Iterator[int]:
    """Yield block starts; a heading stays with the block below it."""
    above = ""
    for block in blocks:
        if above != "heading":
            yield block.start
        above = block.type


def _index(tokens: Sequence[TokenSpan], position: int) -> int:
    """Return the index of the first token at or after a character."""
    return bisect_left(tokens, position, key=lambda token: token.start)
