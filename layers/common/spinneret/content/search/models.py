"""Data classes of searches, index responses and hits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from spinneret.content.chunking.models import ChunkType
from spinneret.content.documents.models import DocumentSource, chunk_parts
from spinneret.content.search import limits

_QUOTED: Final = re.compile(r'"([^"]*)"')


class Leg(StrEnum):
    """One of the two rankings to fuse."""

    VECTOR = "vector"
    KEYWORD = "keyword"


BOTH: Final = (Leg.KEYWORD, Leg.VECTOR)


class Fusion(StrEnum):
    """Fusion method; `auto` selects the best one measured (`fusion.fuse`)."""

    RRF = "rrf"
    MIN_MAX = "min_max"
    CONFIDENCE = "confidence"
    AUTO = "auto"


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Conditions on a chunk's document; an empty tuple or None matches everything.

    Values within a tuple are alternatives; all filters must match.
    """

    collection_ids: tuple[str, ...] = ()
    tag_ids: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    date_from: datetime | None = None
    date_to: datetime | None = None
    """`date_from` and `date_to` bound the last change of its content, both inclusive."""
    sources: tuple[DocumentSource, ...] = ()
    languages: tuple[str, ...] = ()
    content_types: tuple[ChunkType, ...] = ()
    """Predominant content of the chunk."""


@dataclass(frozen=True, kw_only=True)
class ParsedQuery:
    """A parsed query text."""

    text: str
    """The text without quotation marks."""
    phrases: tuple[str, ...] = ()
    """Quoted phrases; each must occur literally."""
    loose: str = ""
    """The text outside the phrases; the whole text if there are none."""

    @classmethod
    def of(cls, query: str) -> ParsedQuery:
        """Parse `"…"` as phrases; replace an unmatched quotation mark by a blank."""
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
    limit: int = limits.SEARCH_LIMIT_DEFAULT
    rrf_k: int = limits.RRF_K
    vector_weight: float = 1.0
    keyword_weight: float = 1.0
    min_score: float = 0.0
    """Lower bound of the final score: the reranker's, the fused one, or that of a single leg."""
    use_reranker: bool = False
    rerank_top_n: int = limits.RERANK_TOP_N
    expand: bool = False
    collapse: bool = True
    """Whether near-duplicate chunks are collapsed into the best one."""
    cursor: str | None = None

    @property
    def ranks_by_words(self) -> bool:
        """Whether the keyword leg alone can rank, because it is searched and has a weight."""
        return Leg.KEYWORD in self.legs and (len(self.legs) == 1 or self.keyword_weight > 0)


@dataclass(frozen=True, kw_only=True)
class IndexQuery:
    """Parameters of one round trip to the index."""

    tenant: str
    words: ParsedQuery
    vector: tuple[float, ...] | None
    legs: tuple[Leg, ...]
    """Legs to search; the vector leg requires a vector."""
    filters: Filters
    left_out: frozenset[str] = frozenset()
    """`<document>:<version>` of chunks known to be outdated."""


@dataclass(frozen=True, kw_only=True)
class LegCandidate:
    """A chunk as ranked by one leg."""

    chunk_id: str
    score: float
    """The leg's own score: cosine similarity mapped to [0, 1], or BM25."""
    signature: str | None = None
    """Signature of the chunk's words; near-equal for near-equal chunks (`documents.signatures`)."""

    @property
    def document_id(self) -> str:
        """Document that contains the chunk."""
        return chunk_parts(self.chunk_id)[0]

    @property
    def version(self) -> str:
        """Version of the document that contains the chunk."""
        return chunk_parts(self.chunk_id)[1]

    @property
    def index(self) -> int:
        """Index of the chunk in its document, from 0."""
        return chunk_parts(self.chunk_id)[2]


@dataclass(frozen=True, kw_only=True)
class LegRank:
    """Rank and score of a chunk in one leg."""

    rank: int
    """Rank, from 1."""
    score: float


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A chunk after fusion; `places` has an entry for each leg that found it."""

    candidate: LegCandidate
    score: float
    places: Mapping[Leg, LegRank]
    rerank_score: float | None = None
    similar: int = 0
    """Number of lower-ranked near-duplicates."""

    @property
    def found_by(self) -> str:
        """`fused` if both legs found the chunk, else `vector` or `keyword`."""
        return "fused" if len(self.places) > 1 else next(iter(self.places)).value

    def reranked(self, score: float) -> Ranked:
        """Return a copy with the reranker's score as the final score."""
        return replace(self, score=score, rerank_score=score)


@dataclass(frozen=True, kw_only=True)
class FoundChunk:
    """Chunk data of a hit."""

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
    """A chunk in the search result."""

    ranked: Ranked
    chunk: FoundChunk
    around: tuple[FoundChunk, ...] | None = None
    """Neighbouring chunks in the document's order; None if they weren't requested."""


@dataclass(frozen=True, kw_only=True)
class IndexCoverage:
    """Indexed part of a document's current version."""

    chunks: int = 0
    labelled: bool = True
    """Whether all chunks have the row's labels. Excludes the title, which is fixed per version."""


@dataclass(frozen=True, kw_only=True)
class IndexedVersion:
    """A document version with chunks in the index."""

    tenant: str
    document_id: str
    version: str
    written_at: datetime
    """Write time of its newest chunk, to the second."""


@dataclass(frozen=True, kw_only=True)
class VersionPage:
    """A page of versions. `after` is the position to continue after; None at the end."""

    versions: tuple[IndexedVersion, ...]
    after: Mapping[str, str] | None
