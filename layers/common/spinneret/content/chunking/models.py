"""Data classes of tokens, chunks and chunking options."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from spinneret.kernel import bounds


class ChunkType(StrEnum):
    """Predominant content of a chunk."""

    PROSE = "prose"
    CODE = "code"
    TABLE = "table"
    LIST = "list"


class ChunkingStrategy(StrEnum):
    """Rule for where chunks begin and end."""

    SLIDING_WINDOW = "sliding_window"
    """Sliding window that ends at the best boundaries of the text, with an overlap."""
    BY_HEADING = "by_heading"
    """Split at headings. A chunk spans several sections only if they are shorter than the
    minimum."""
    BY_BLOCK = "by_block"
    """Split at the boundaries of paragraphs, lists, tables and code blocks, unless they are too
    short."""


@dataclass(frozen=True, kw_only=True)
class Chunking:
    """Chunking options. Sizes are in the embedder's tokens; its input limit may be lower."""

    strategy: ChunkingStrategy = ChunkingStrategy.SLIDING_WINDOW
    size: int = bounds.CHUNK_TOKENS
    overlap: int = bounds.CHUNK_OVERLAP_TOKENS
    minimum: int = bounds.CHUNK_MIN_TOKENS

    def within(self, size: int) -> Chunking:
        """Return these options, limited to an embedder's input of `size` tokens (at least 2)."""
        most = min(self.size, size)
        return Chunking(
            strategy=self.strategy,
            size=most,
            overlap=min(self.overlap, most // 2),
            minimum=min(self.minimum, most),
        )


USUAL_CHUNKING: Final = Chunking()  # requirement C-04


@dataclass(frozen=True, kw_only=True)
class TokenSpan:
    """Characters [start, end) of one token in the tokenised text."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """A slice of a document's Markdown: `markdown[start:end] == text`."""

    index: int
    start: int
    end: int
    text: str
    token_count: int
    """Tokens of `head` and `text`."""
    section: str | None
    """Nearest heading above the chunk's start, or the heading that the chunk starts with."""
    type: ChunkType
    head: str | None = None
    """Header rows of the table that the chunk continues; they aren't part of `text`."""

    @property
    def standing_alone(self) -> str:
        """Text that is understandable without the previous chunk: table header and `text`."""
        return self.text if self.head is None else f"{self.head}\n{self.text}"
