"""Tokens, chunks and what chunks hold."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from spinneret.kernel import bounds


class ChunkType(StrEnum):
    """What a chunk mostly holds."""

    PROSE = "prose"
    CODE = "code"
    TABLE = "table"
    LIST = "list"


class ChunkingStrategy(StrEnum):
    """Where chunks begin and end."""

    SLIDING_WINDOW = "sliding_window"
    """Wherever the text is best cut, with an overlap."""
    BY_HEADING = "by_heading"
    """At headings; no chunk holds the end of a section and the beginning of the next, unless
    sections are shorter than the minimum."""
    BY_BLOCK = "by_block"
    """The same with paragraphs, lists, tables and blocks of code."""


@dataclass(frozen=True, kw_only=True)
class Chunking:
    """How a text is cut; sizes in the embedder's tokens, which may read fewer at once."""

    strategy: ChunkingStrategy = ChunkingStrategy.SLIDING_WINDOW
    size: int = bounds.CHUNK_TOKENS
    overlap: int = bounds.CHUNK_OVERLAP_TOKENS
    minimum: int = bounds.CHUNK_MIN_TOKENS

    def within(self, size: int) -> Chunking:
        """The same for an embedder that reads so many tokens, at least two."""
        most = min(self.size, size)
        return Chunking(
            strategy=self.strategy,
            size=most,
            overlap=min(self.overlap, most // 2),
            minimum=min(self.minimum, most),
        )


USUAL_CHUNKING: Final = Chunking()  # C-04


@dataclass(frozen=True, kw_only=True)
class TokenSpan:
    """One token as characters [start, end) of the text that was tokenised."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """A slice of a document's markdown: `markdown[start:end] == text`."""

    index: int
    start: int
    end: int
    text: str
    token_count: int
    section: str | None
    """The nearest heading above the chunk's start (or the one it starts with)."""
    type: ChunkType
    head: str | None = None
    """The header rows of the table that the chunk goes on with; they aren't part of `text`."""

    @property
    def standing_alone(self) -> str:
        """The text as it can be understood without the chunk before it."""
        return self.text if self.head is None else f"{self.head}\n{self.text}"
