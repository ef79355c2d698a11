"""Tokens, chunks and what chunks hold."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ChunkType(StrEnum):
    """What a chunk mostly holds."""

    PROSE = "prose"
    CODE = "code"
    TABLE = "table"
    LIST = "list"


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
