"""Requests and answers of searching."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Final, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from spinneret.content.chunking.models import ChunkType
from spinneret.content.documents.models import DocumentSource
from spinneret.content.search import limits
from spinneret.content.search.models import BOTH, Filters, Fusion, Leg, Query
from spinneret.kernel import bounds

_UNREADABLE: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def _readable(text: object) -> object:
    """Control characters and what is no character are blanks; letters with marks in one form."""
    if not isinstance(text, str):
        return text
    return unicodedata.normalize("NFC", _UNREADABLE.sub(" ", text))


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


QueryText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=bounds.QUERY_MAX_CHARS),
    BeforeValidator(_readable),  # the last is the first
]
Weight = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False, strict=True)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=80)]
Host = Annotated[str, StringConstraints(min_length=1, max_length=253, to_lower=True)]
Language = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z]{2,3}$", to_lower=True)]
Moment = Annotated[AwareDatetime, AfterValidator(_utc)]
_MANY: Final = Field(max_length=limits.SEARCH_FILTER_VALUES)


class SourceType(StrEnum):
    """How a document came in; `api` is another word for `upload`."""

    CRAWL = "crawl"
    UPLOAD = "upload"
    API = "api"
    S3 = "s3"

    @property
    def source(self) -> DocumentSource:
        """The one word for it."""
        return DocumentSource.UPLOAD if self is SourceType.API else DocumentSource(self.value)


class FusionName(StrEnum):
    """How two rankings become one."""

    RRF = "rrf"
    MIN_MAX = "min_max"
    AUTO = "auto"


class SearchRequest(BaseModel):
    """Body of a search; values of one filter are alternatives, and null is no filter.

    A search by one leg takes the same fields; those of fusion have no effect on it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: QueryText
    """Words in quotation marks are a phrase, which must occur as it stands."""
    collection_ids: Annotated[tuple[Id, ...] | None, _MANY] = None
    tag_ids: Annotated[tuple[Id, ...] | None, _MANY] = None
    domains: Annotated[tuple[Host, ...] | None, _MANY] = None
    date_from: Moment | None = None
    date_to: Moment | None = None
    """Of the last change of a document's content, inclusive."""
    source_types: Annotated[tuple[SourceType, ...] | None, _MANY] = None
    languages: Annotated[tuple[Language, ...] | None, _MANY] = None
    content_types: Annotated[tuple[ChunkType, ...] | None, _MANY] = None
    limit: Annotated[int, Field(ge=1, le=limits.SEARCH_LIMIT_MAX, strict=True)] = (
        limits.SEARCH_LIMIT_DEFAULT
    )
    cursor: Annotated[str, StringConstraints(max_length=200)] | None = None
    """From the answer before; the other fields as they were."""
    min_score: Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)] = 0.0
    """Of `score`."""
    expand_chunks: Annotated[bool, Field(strict=True)] = False
    """Whether each hit comes with the chunks before and after it."""
    collapse_duplicates: Annotated[bool, Field(strict=True)] = True
    """Whether of chunks that say nearly the same only the best is a hit."""
    use_reranker: Annotated[bool, Field(strict=True)] = False
    rerank_top_n: Annotated[int, Field(ge=1, le=limits.RERANK_TOP_N_MAX, strict=True)] = (
        limits.RERANK_TOP_N
    )
    fusion: FusionName = FusionName.AUTO
    """`auto` weighs each leg by how clear its first hit is; weights hold for every method."""
    rrf_k: Annotated[int, Field(ge=1, le=1000, strict=True)] = limits.RRF_K
    vector_weight: Weight = 1.0
    keyword_weight: Weight = 1.0

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.date_from and self.date_to and self.date_from > self.date_to:
            raise ValueError("date_from is after date_to")
        return self

    @model_validator(mode="after")
    def _weighted(self) -> Self:
        if self.vector_weight == self.keyword_weight == 0:
            raise ValueError("one of the weights must be above 0")
        return self

    def hybrid_of(self, tenant: str) -> Query:
        """The search that `tenant` asks both legs for."""
        weights = (self.vector_weight, self.keyword_weight)
        return self._query(tenant, BOTH, Fusion(self.fusion.value), self.rrf_k, weights)

    def query_of(self, tenant: str, leg: Leg) -> Query:
        """The search that `tenant` asks one leg for."""
        return self._query(tenant, (leg,), Fusion.AUTO, limits.RRF_K, (1.0, 1.0))

    def _query(
        self,
        tenant: str,
        legs: tuple[Leg, ...],
        fusion: Fusion,
        rrf_k: int,
        weights: tuple[float, float],
    ) -> Query:
        return Query(
            tenant=tenant,
            text=self.query,
            legs=legs,
            filters=Filters(
                collection_ids=self.collection_ids or (),
                tag_ids=self.tag_ids or (),
                domains=self.domains or (),
                date_from=self.date_from,
                date_to=self.date_to,
                sources=tuple(dict.fromkeys(each.source for each in self.source_types or ())),
                languages=self.languages or (),
                content_types=self.content_types or (),
            ),
            fusion=fusion,
            limit=self.limit,
            rrf_k=rrf_k,
            vector_weight=weights[0],
            keyword_weight=weights[1],
            min_score=self.min_score,
            use_reranker=self.use_reranker,
            rerank_top_n=self.rerank_top_n,
            expand=self.expand_chunks,
            collapse=self.collapse_duplicates,
            cursor=self.cursor,
        )


class SearchHit(BaseModel):
    """One chunk. A leg that didn't find the chunk has neither score nor rank."""

    document_id: str
    chunk_id: str
    url: str
    title: str | None
    content: str
    section_header: str | None
    content_type: ChunkType
    chunk_index: int
    start_char: int
    end_char: int
    score: float
    """The reranker's, the fused one, or that of the only leg."""
    vector_score: float | None
    vector_rank: int | None
    keyword_score: float | None
    keyword_rank: int | None
    rerank_score: float | None
    source: str
    """Which leg found it: `vector`, `keyword`, or `fused` for both."""
    highlights: list[tuple[int, int]]
    """Character ranges of `content` that matched the query's words."""
    similar_count: int
    """Candidates further down that say nearly the same, and are no hits for that."""
    expanded_chunks: list[str] | None
    """The chunks before and after it, where they were asked for."""


class SearchResponse(BaseModel):
    """The hits, best first."""

    results: list[SearchHit]
    total_count: int
    """Candidates; outdated ones among them are dropped when their page is shown."""
    next_cursor: str | None
    """For the next page of this very ranking, for an hour."""
    fusion: Fusion | None
    """What ranked; null for one leg."""
    degraded: bool = False
    """The embedder was away: words alone have ranked."""
    query_truncated: bool = False
    """The query was longer than the model or the index takes: its beginning was searched."""
    rerank_failed: bool = False
    """The reranker was away: the order is that before it."""
    query_embedding_cached: bool
    result_cached: bool
    latency_ms: float
    timings: dict[str, float]
    """Milliseconds by step."""
