"""Searches, what the index answers to them, and their hits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from spinneret.content.chunking.models import ChunkType
from spinneret.content.documents.models import DocumentSource, chunk_parts
from spinneret.kernel import bounds

_QUOTED: Final = re.compile(r'"([^"]*)"')


class Leg(StrEnum):
    """One of the two rankings that are fused."""

    VECTOR = "vector"
    KEYWORD = "keyword"


BOTH: Final = (Leg.KEYWORD, Leg.VECTOR)


class Fusion(StrEnum):
    """How two rankings become one; `auto` takes what was measured to be best (`fusion.fuse`)."""

    RRF = "rrf"
    MIN_MAX = "min_max"
    CONFIDENCE = "confidence"
    AUTO = "auto"


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What a chunk's document must have; an empty tuple and None ask for nothing.

    Values of one tuple are alternatives, the filters together all hold.
    """

    collection_ids: tuple[str, ...] = ()
    tag_ids: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    date_from: datetime | None = None
    date_to: datetime | None = None
    """Of the last change of its content, both inclusive."""
    sources: tuple[DocumentSource, ...] = ()
    languages: tuple[str, ...] = ()
    content_types: tuple[ChunkType, ...] = ()
    """What the chunk mostly holds."""


@dataclass(frozen=True, kw_only=True)
class ParsedQuery:
    """A query's text as the index is asked for it."""

    text: str
    """Without quotation marks."""
    phrases: tuple[str, ...] = ()
    """What stood between quotation marks: each must occur as it stands."""
    loose: str = ""
    """What stands outside the phrases."""

    @classmethod
    def of(cls, query: str) -> ParsedQuery:
        """Reads `"…"` as phrases; an odd quotation mark is a blank."""
        phrases = tuple(
            each for part in _QUOTED.findall(query) if any(map(str.isalnum, each := part.strip()))
        )
        loose = " ".join(_QUOTED.sub(" ", query).replace('"', " ").split())
        text = " ".join(query.replace('"', " ").split())
        return cls(text=text, phrases=phrases, loose=loose if phrases else text)


@dataclass(frozen=True, kw_only=True)
class Query:
    """A search of one tenant's documents."""

    tenant: str
    text: str
    legs: tuple[Leg, ...] = BOTH
    filters: Filters = field(default_factory=Filters)
    fusion: Fusion = Fusion.AUTO
    limit: int = bounds.SEARCH_LIMIT_DEFAULT
    rrf_k: int = bounds.RRF_K
    vector_weight: float = 1.0
    keyword_weight: float = 1.0
    min_score: float = 0.0
    """Of the final score: the reranker's, the fused one, or that of the only leg."""
    use_reranker: bool = False
    rerank_top_n: int = bounds.RERANK_TOP_N
    expand: bool = False
    collapse: bool = True
    """Whether of chunks that say nearly the same only the best one is a hit."""
    cursor: str | None = None


@dataclass(frozen=True, kw_only=True)
class IndexQuery:
    """What one round trip asks the index for."""

    tenant: str
    words: ParsedQuery
    vector: tuple[float, ...] | None
    legs: tuple[Leg, ...]
    """The vector leg is only asked for with a vector."""
    filters: Filters
    left_out: frozenset[str] = frozenset()
    """`<document>:<version>` of chunks that are known to be outdated."""


@dataclass(frozen=True, kw_only=True)
class LegCandidate:
    """One chunk as one leg ranked it."""

    chunk_id: str
    score: float
    """The leg's own score: cosine similarity mapped to [0, 1], or BM25."""
    signature: str | None = None
    """Of the chunk's words; nearly equal for nearly equal chunks (`documents.signatures`)."""

    @property
    def document_id(self) -> str:
        """The document that the chunk belongs to."""
        return chunk_parts(self.chunk_id)[0]

    @property
    def version(self) -> str:
        """The document's version that the chunk belongs to."""
        return chunk_parts(self.chunk_id)[1]

    @property
    def index(self) -> int:
        """The chunk's place in its document, from 0."""
        return chunk_parts(self.chunk_id)[2]


@dataclass(frozen=True, kw_only=True)
class LegRank:
    """Where a leg has a chunk."""

    rank: int
    """From 1."""
    score: float


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A chunk after fusion; `places` names the legs that found it."""

    candidate: LegCandidate
    score: float
    places: Mapping[Leg, LegRank]
    rerank_score: float | None = None
    similar: int = 0
    """Candidates further down that say nearly the same."""

    @property
    def found_by(self) -> str:
        """`vector`, `keyword` or `fused` when both legs found it."""
        return "fused" if len(self.places) > 1 else next(iter(self.places)).value

    def reranked(self, score: float) -> Ranked:
        """The same with the reranker's score as the final one."""
        return replace(self, score=score, rerank_score=score)


@dataclass(frozen=True, kw_only=True)
class FoundChunk:
    """What a hit shows of its chunk."""

    id: str
    url: str
    title: str | None
    text: str
    section: str | None
    type: ChunkType
    index: int
    start: int
    end: int
    token_count: int
    highlights: tuple[tuple[int, int], ...] = ()
    """Character ranges of the text that match the query's words."""


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A chunk that is shown."""

    ranked: Ranked
    chunk: FoundChunk
    around: tuple[FoundChunk, ...] = ()
    """Its neighbours, if they were asked for, in the document's order."""


@dataclass(frozen=True, kw_only=True)
class IndexCoverage:
    """What an index has of a document's current version."""

    chunks: int = 0
    labelled: bool = True
    """Whether all of them bear its row's labels. The title is none here: a version has but one."""


@dataclass(frozen=True, kw_only=True)
class IndexedVersion:
    """A version of a document that the index has chunks of."""

    tenant: str
    document_id: str
    version: str
    written_at: datetime
    """The newest of its chunks, to the second."""


@dataclass(frozen=True, kw_only=True)
class VersionPage:
    """Versions, and the place to go on after; None when there are no more."""

    versions: tuple[IndexedVersion, ...]
    after: Mapping[str, str] | None
