"""Requests and responses of searches."""

import re
from collections.abc import Sequence
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
from spinneret.content.tags.api_models import TagName
from spinneret.kernel import bounds
from spinneret.kernel.unicode import composed
from spinneret.web.fetching.urls import wanted_host

_UNREADABLE: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def _readable(text: object) -> object:
    """Replace control characters and noncharacters by blanks, and compose accented letters."""
    if not isinstance(text, str):
        return text
    return composed(_UNREADABLE.sub(" ", text))


def _utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:  # the first or last hours that have a date
        raise ValueError("must be between the years 1 and 9999 in UTC") from error


QueryText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=bounds.QUERY_MAX_CHARS),
    BeforeValidator(_readable),  # the last is the first
]
Weight = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False, strict=True)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=80)]
Host = Annotated[str, StringConstraints(min_length=1, max_length=253), AfterValidator(wanted_host)]
Language = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z]{2,3}$", to_lower=True)]
Moment = Annotated[AwareDatetime, AfterValidator(_utc)]
_MANY: Final = Field(max_length=limits.SEARCH_FILTER_VALUES)


class SourceType(StrEnum):
    """Channel through which a document arrived; `api` is an alias of `upload`."""

    CRAWL = "crawl"
    UPLOAD = "upload"
    API = "api"
    S3 = "s3"

    @property
    def source(self) -> DocumentSource:
        """Return the source without its alias."""
        return DocumentSource.UPLOAD if self is SourceType.API else DocumentSource(self.value)


class FusionName(StrEnum):
    """Fusion method of the two rankings."""

    RRF = "rrf"
    MIN_MAX = "min_max"
    AUTO = "auto"


class SearchRequest(BaseModel):
    """Body of a search. The values of a filter are alternatives; null disables a filter.

    Searches by one leg accept the same fields, but ignore the fields about fusion.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: QueryText
    """Words in quotation marks form a phrase, which must occur literally."""
    collection_ids: Annotated[tuple[Id, ...] | None, _MANY] = None
    """Ids of collections; one that doesn't exist matches no document."""
    tag_ids: Annotated[tuple[Id, ...] | None, _MANY] = None
    """Ids of tags; a document needs one of them. One that doesn't exist matches no document."""
    tags: Annotated[tuple[TagName, ...] | None, _MANY] = None
    """Names of tags, in addition to `tag_ids`; an unknown name is rejected."""
    domains: Annotated[tuple[Host, ...] | None, _MANY] = None
    """Hosts of the documents' URLs, without a port."""
    date_from: Moment | None = None
    """Earliest last change of a document's content, inclusive."""
    date_to: Moment | None = None
    """Latest last change of a document's content, inclusive."""
    source_types: Annotated[tuple[SourceType, ...] | None, _MANY] = None
    """Channels through which the documents arrived."""
    languages: Annotated[tuple[Language, ...] | None, _MANY] = None
    """Languages of the documents (ISO 639), such as `en`."""
    content_types: Annotated[tuple[ChunkType, ...] | None, _MANY] = None
    """Kinds of chunks, such as prose or code."""
    limit: Annotated[int, Field(ge=1, le=limits.SEARCH_LIMIT_MAX, strict=True)] = (
        limits.SEARCH_LIMIT_DEFAULT
    )
    """Maximum number of hits on a page."""
    cursor: Annotated[str, StringConstraints(max_length=200)] | None = None
    """`next_cursor` of the previous page; all other fields must be unchanged."""
    min_score: Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)] = 0.0
    """Minimum of `score`."""
    expand_chunks: Annotated[bool, Field(strict=True)] = False
    """Whether each hit includes the chunks before and after it."""
    collapse_duplicates: Annotated[bool, Field(strict=True)] = True
    """Whether only the best of several near-identical chunks is returned."""
    use_reranker: Annotated[bool, Field(strict=True)] = False
    """Whether a second model orders the first hits again."""
    rerank_top_n: Annotated[int, Field(ge=1, le=limits.RERANK_TOP_N_MAX, strict=True)] = (
        limits.RERANK_TOP_N
    )
    """Number of hits that the reranker orders; the others follow in their former order."""
    fusion: FusionName = FusionName.AUTO
    """`auto` weights each leg by the lead of its first hit; the weights apply to all methods."""
    rrf_k: Annotated[int, Field(ge=1, le=1000, strict=True)] = limits.RRF_K
    """Constant of reciprocal rank fusion; a greater one flattens the ranks."""
    vector_weight: Weight = 1.0
    """Weight of the vector search in the fusion."""
    keyword_weight: Weight = 1.0
    """Weight of the keyword search in the fusion."""

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

    def hybrid_of(self, tenant: str, tagged: Sequence[str]) -> Query:
        """Return the tenant's query for both legs; `tagged` are the ids of `tags`."""
        weights = (self.vector_weight, self.keyword_weight)
        return self._query(tenant, tagged, BOTH, Fusion(self.fusion.value), self.rrf_k, weights)

    def query_of(self, tenant: str, tagged: Sequence[str], leg: Leg) -> Query:
        """Return the tenant's query for one leg; `tagged` are the ids of `tags`."""
        return self._query(tenant, tagged, (leg,), Fusion.AUTO, limits.RRF_K, (1.0, 1.0))

    def _query(
        self,
        tenant: str,
        tagged: Sequence[str],
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
                tag_ids=tuple(dict.fromkeys((*(self.tag_ids or ()), *tagged))),
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
    """One chunk. Score and rank of a leg are null if it didn't find the chunk."""

    document_id: str
    chunk_id: str
    """Id of the chunk."""
    url: str
    """URL of the chunk's document."""
    title: str | None
    """Title of the chunk's document; null without one."""
    content: str
    section_header: str | None
    """Nearest heading above the chunk; the document's title before the first heading."""
    content_type: ChunkType
    chunk_index: int
    start_char: int
    end_char: int
    score: float
    """Score of the reranker, of the fusion, or of the only leg."""
    vector_score: float | None
    """Score of the vector search."""
    vector_rank: int | None
    """Rank in the vector search, from 1."""
    keyword_score: float | None
    """Score of the keyword search."""
    keyword_rank: int | None
    """Rank in the keyword search, from 1."""
    rerank_score: float | None
    """Score of the reranker; null for a hit that it didn't order."""
    source: str
    """Leg that found the chunk: `vector`, `keyword`, or `fused` for both."""
    highlights: list[tuple[int, int]]
    """Character ranges of `content` that matched the query's words."""
    similar_count: int
    """Number of lower-ranked, near-identical candidates that are omitted."""
    expanded_chunks: list[str] | None
    """The chunks before and after it, as far as there are any; null if they weren't requested."""


class SearchResponse(BaseModel):
    """The hits, best first."""

    results: list[SearchHit]
    """Hits of this page."""
    total_count: int
    """Number of candidates; outdated ones are dropped from their page."""
    next_cursor: str | None
    """Cursor for the next page of this ranking, valid for one hour."""
    fusion: Fusion | None
    """Method that was used; null for a single leg."""
    degraded: bool = False
    """Whether only keywords were searched, because the embedder was unavailable."""
    query_truncated: bool = False
    """Whether only the beginning of a too long query was searched."""
    rerank_failed: bool = False
    """Whether reranking failed, so that hits keep their previous order."""
    query_embedding_cached: bool
    """Whether the query's vector came from the cache."""
    result_cached: bool
    """Whether the ranking came from the cache."""
    latency_ms: float
    """Duration of the search in milliseconds."""
    timings: dict[str, float]
    """Duration of each step in milliseconds."""
