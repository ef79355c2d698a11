"""Searches: embed the query, search both legs, fuse, drop outdated chunks, return a page.

Results are cached under the generation of the tenant's documents, which is read first. A write
reaches the index before its commit, and the commit changes the generation. No result from before a
commit is therefore returned after it. A ranking of more than a page is cached as a whole; its
cursor continues in it, regardless of later writes.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from spinneret.content.caches.models import CacheKey, CacheName, Read
from spinneret.content.caches.service import Caches, vector_of
from spinneret.content.documents.models import DocumentFilter, chunk_id
from spinneret.content.documents.ports import DocumentStore, Embedder
from spinneret.content.search import limits, packing, rules
from spinneret.content.search.fusion import fuse, profile_of, single_leg_ranking
from spinneret.content.search.models import (
    Filters,
    Fusion,
    Hit,
    IndexQuery,
    Leg,
    LegCandidate,
    ParsedQuery,
    Query,
    Ranked,
)
from spinneret.content.search.packing import Ranking, ShownPage
from spinneret.content.search.ports import ChunkIndex, IndexMissing, Reranker
from spinneret.content.search.query_vectors import QueryVectors
from spinneret.content.search.run import SearchRun
from spinneret.kernel.clock import Clock, Remaining, limit_remaining, utc_now
from spinneret.kernel.errors import (
    DependencyUnavailable,
    EmbeddingRefused,
    FeatureDisabled,
    ValidationFailed,
)
from spinneret.kernel.ids import NewId
from spinneret.kernel.metrics import emf_fields

logger = logging.getLogger(__name__)

_UNITS: Final = {"index_missing": "Count"}


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """Result of a search: hits, best first."""

    hits: tuple[Hit, ...]
    total_count: int
    """Number of candidates in the windows, before outdated ones are dropped and the limit
    applies."""
    next_cursor: str | None = None
    fusion: Fusion | None = None
    """Fusion method used; None for a single leg."""
    degraded: bool = False
    """Whether only the keyword leg ranked, because the embedder failed or refused the query, or
    its model's index is missing."""
    truncated: bool = False
    """Whether the query exceeded the limit of the model or the index and was truncated."""
    rerank_failed: bool = False
    """Whether the reranker failed, so that the order is the fused one."""
    result_cached: bool = False
    embedding_cached: bool = False
    timings: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds by step."""


class SearchService:
    """Searches one tenant's current documents. Cursors require caches."""

    def __init__(
        self,
        *,
        embedder: Embedder,
        index: ChunkIndex,
        documents: DocumentStore,
        caches: Caches | None = None,
        reranker: Reranker | None = None,
        new_id: NewId | None = None,
        clock: Clock = utc_now,
        timer: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._vectors = QueryVectors(embedder=embedder, caches=caches)
        self._index = index
        self._documents = documents
        self._caches = caches
        self._reranker = reranker
        self._new_id = new_id
        self._clock = clock
        self._timer = timer
        self._sleep = sleep

    def search(self, query: Query, remaining: Remaining) -> SearchResult:
        """Search a tenant's documents. Raise DependencyUnavailable, ValidationFailed for a bad
        cursor, or FeatureDisabled."""
        if query.use_reranker and self._reranker is None:
            raise FeatureDisabled("this stage has no reranker")
        run = SearchRun(query=query, remaining=remaining, timer=self._timer)
        asked = rules.query_fingerprint(query)
        if self._caches is not None and query.cursor is not None:
            page = self._continued(run, asked, query.cursor, self._caches)
            return self._found(run, page, cached=False)
        model_id = self._vectors.begin(run)
        if self._caches is None:
            return self._found(run, self._made(run, asked), cached=False)
        with run.step("generation"):
            generation = self._documents.generation(query.tenant)
        key = CacheKey(CacheName.QUERY, rules.digest(asked, model_id, generation, query.limit))
        return self._cached_or_made(run, asked, key, self._caches)

    # ---------------------------------------------------------------- Caches

    def _cached_or_made(
        self, run: SearchRun, asked: str, key: CacheKey, caches: Caches
    ) -> SearchResult:
        """Return the cached page, or make it. Of concurrent equal searches, only one queries the
        index; the others wait for its result."""
        tenant = run.query.tenant
        read = self._read(run, caches, key)
        page = read.entries.get(key)
        owner = None
        if page is None and self._new_id is not None:
            owner = self._new_id("search")
            if not caches.lock(tenant, key, owner):
                with run.step("waited"):
                    page = self._awaited(run, caches, key, owner)
        caches.used(tenant, CacheName.QUERY, hits=int(page is not None), misses=int(page is None))
        if page is not None:
            return self._found(run, packing.unpacked_page(page), cached=True)
        try:
            run.known_vector = self._known_vector(run, read)
            made = self._made(run, asked)
            if not made.degraded and not made.rerank_failed:
                with run.step("cache"):
                    caches.keep(tenant, {key: packing.packed_page(made)}, read.epochs)
        finally:
            if owner is not None:
                caches.unlock(tenant, key, owner)
        return self._found(run, made, cached=False)

    def _read(self, run: SearchRun, caches: Caches, key: CacheKey) -> Read:
        keys = [key] if run.vector_key is None else [key, run.vector_key]
        with run.step("cache"):
            read = caches.read(run.query.tenant, keys)
        run.epochs = read.epochs
        return read

    def _known_vector(self, run: SearchRun, read: Read) -> tuple[float, ...] | None:
        value = read.entries.get(run.vector_key) if run.vector_key else None
        return None if value is None else vector_of(value)

    def _awaited(self, run: SearchRun, caches: Caches, key: CacheKey, owner: str) -> bytes | None:
        """Wait for another search's page. Return None if it doesn't arrive, or if this search took
        the lock."""
        waited = limit_remaining(run.remaining, limits.STAMPEDE_WAIT_SECONDS)
        while waited() > 0:
            self._sleep(limits.STAMPEDE_POLL_SECONDS)
            page = caches.read(run.query.tenant, [key]).entries.get(key)
            if page is not None:
                return page
            if caches.lock(run.query.tenant, key, owner):
                # The former owner may have stored its page between the two calls above.
                return caches.read(run.query.tenant, [key]).entries.get(key)
        return None

    def _continued(self, run: SearchRun, asked: str, cursor: str, caches: Caches) -> ShownPage:
        """Return a page of a ranking that was cached by the first page's search."""
        name, shown = rules.place_of(cursor)
        key = CacheKey(CacheName.QUERY, name)
        with run.step("cache"):
            value = caches.read(run.query.tenant, [key]).entries.get(key)
        if value is None:
            raise _refused_cursor("the cursor has expired: search again")
        ranking = packing.unpacked_ranking(value)
        if ranking.asked != asked:
            raise _refused_cursor("the cursor belongs to another search")
        return self._page(run, ranking, name, shown)

    def _found(self, run: SearchRun, page: ShownPage, *, cached: bool) -> SearchResult:
        return SearchResult(
            hits=page.hits,
            total_count=page.total_count,
            next_cursor=page.next_cursor,
            fusion=page.fusion,
            degraded=page.degraded,
            truncated=page.truncated,
            rerank_failed=page.rerank_failed,
            result_cached=cached,
            embedding_cached=run.embedding_cached,
            timings=dict(run.timings),
        )

    # ---------------------------------------------------------------- Ranking

    def _made(self, run: SearchRun, asked: str) -> ShownPage:
        """Rank, cache the ranking if it has more than a page, and return the first page."""
        ranking = replace(self._ranking(run), asked=asked)
        more = len(ranking.entries) > run.query.limit
        return self._page(run, ranking, self._kept(run, ranking) if more else None, 0)

    def _kept(self, run: SearchRun, ranking: Ranking) -> str | None:
        """Cache the ranking; return its name, or None if it couldn't be stored."""
        if self._caches is None:
            return None
        packed = packing.packed_ranking(ranking)
        name = rules.named(packed)
        entry = {CacheKey(CacheName.QUERY, name): packed}
        with run.step("cache"):
            return name if self._caches.keep(run.query.tenant, entry, run.epochs) else None

    def _ranking(self, run: SearchRun) -> Ranking:
        """Return all candidates in order. If outdated ones fill the windows and leave too few,
        exclude them and search again."""
        query = run.query
        vector = self._vectors.vector(run) if Leg.VECTOR in query.legs else None
        if Leg.KEYWORD not in query.legs and vector is None:
            raise DependencyUnavailable("embedder")
        text = rules.cut_to_terms(query.text)
        run.truncated |= text != query.text
        wanted = IndexQuery(
            tenant=query.tenant,
            words=ParsedQuery.of(text),
            vector=vector,
            legs=query.legs,
            filters=query.filters,
        )
        for _ in range(limits.SEARCH_ROUNDS):
            with run.step("index"):
                legs = self._legs(run, wanted)
            entries, fusion = self._fused(run, legs)
            outdated = self._outdated(run, entries)
            full = any(len(found) >= limits.SEARCH_WINDOW for found in legs.values())
            if not (full and outdated):
                break
            wanted = replace(wanted, left_out=wanted.left_out | outdated)
        ranking = Ranking(
            asked="",
            entries=tuple(entries),
            fusion=fusion,
            truncated=run.truncated,
            degraded=run.degraded,
        )
        return self._reranked(run, ranking) if query.use_reranker else ranking

    def _legs(self, run: SearchRun, wanted: IndexQuery) -> Mapping[Leg, Sequence[LegCandidate]]:
        """Search the index. Without the model's index, search keywords in a former model's.

        Return no hits for a tenant without documents, whose index may not exist yet. Raises
        IndexMissing if there is no index of the tenant's documents.
        """
        try:
            return self._index.search(wanted, limits.SEARCH_WINDOW, run.remaining)
        except IndexMissing:
            if not self._documents.page(DocumentFilter(tenant=wanted.tenant), None, 1).items:
                return dict.fromkeys(wanted.legs, ())
            logger.error(
                "index_missing", extra={"index_missing": 1, **emf_fields(self._clock(), _UNITS)}
            )
            if wanted.vector is None or Leg.KEYWORD not in wanted.legs:
                raise
        run.degraded = True
        return self._index.search(replace(wanted, vector=None), limits.SEARCH_WINDOW, run.remaining)

    def _fused(
        self, run: SearchRun, legs: Mapping[Leg, Sequence[LegCandidate]]
    ) -> tuple[list[Ranked], Fusion | None]:
        query = run.query
        weights = {Leg.VECTOR: query.vector_weight, Leg.KEYWORD: query.keyword_weight}
        fusion: Fusion | None
        if len(query.legs) == 1:
            [(leg, found)] = legs.items()
            entries, fusion = single_leg_ranking(leg, found), None
        else:
            profile = profile_of(run.model_id)
            entries, fusion = fuse(legs, query.fusion, weights, query.rrf_k, profile)
        if not query.use_reranker:
            entries = [each for each in entries if each.score >= query.min_score]
        return entries, fusion

    def _outdated(self, run: SearchRun, entries: Sequence[Ranked]) -> frozenset[str]:
        """Return the candidates' outdated versions; empty if the first page is full without
        them."""
        size = run.query.rerank_top_n if run.query.use_reranker else run.query.limit
        if len(self._current(run, entries, 0, size)[0]) >= size:
            return frozenset()
        return frozenset(
            f"{each.candidate.document_id}:{each.candidate.version}"
            for each in entries
            if not rules.may_show(each, run.rows, Filters())
        )

    def _current(
        self, run: SearchRun, entries: Sequence[Ranked], start: int, size: int
    ) -> tuple[list[Ranked], int]:
        """Return the first `size` visible entries from `start` on, and the position after them."""
        shown: list[Ranked] = []
        distinct = rules.NearDuplicateFilter()
        # Near-duplicates of entries on earlier pages must be hidden here.
        end = 0 if run.query.collapse else start
        part = max(2 * size, start - end)  # usually one look-up suffices
        while end < len(entries) and len(shown) < size:
            self._look_up(run, entries[end : end + part])
            for each in entries[end : end + part]:
                end += 1
                if not rules.may_show(each, run.rows, run.query.filters):
                    continue
                if run.query.collapse and not distinct.is_new(each.candidate.signature):
                    continue
                if end > start:
                    shown.append(each)
                if len(shown) == size:
                    break
        return shown, end

    def _look_up(self, run: SearchRun, entries: Sequence[Ranked]) -> None:
        ids = sorted({each.candidate.document_id for each in entries} - run.looked_up)
        with run.step("versions"):
            for first in range(0, len(ids), 100):
                run.rows |= self._documents.shown(run.query.tenant, ids[first : first + 100])
        run.looked_up |= set(ids)

    def _reranked(self, run: SearchRun, ranking: Ranking) -> Ranking:
        """Return the first candidates in the reranker's order; keep the fused order if it fails."""
        query = run.query
        assert self._reranker is not None  # checked by search()
        first, _ = self._current(run, ranking.entries, 0, query.rerank_top_n)
        with run.step("chunks"):
            chunks = self._index.chunks(
                query.tenant, [each.candidate.chunk_id for each in first], None, run.remaining
            )
        first = [each for each in first if each.candidate.chunk_id in chunks]
        texts = [chunks[each.candidate.chunk_id].text for each in first]
        try:
            with run.step("rerank"):
                left = limit_remaining(run.remaining, limits.RERANK_SECONDS)
                scores = self._reranker.rerank(query.text, texts, left) if texts else []
        except (DependencyUnavailable, EmbeddingRefused):
            logger.warning("rerank_failed")
            kept = tuple(each for each in ranking.entries if each.score >= query.min_score)
            return replace(ranking, entries=kept, rerank_failed=True)
        scored = [each.reranked(score) for each, score in zip(first, scores, strict=True)]
        scored.sort(key=lambda each: (-each.score, each.candidate.chunk_id))
        kept = tuple(each for each in scored if each.score >= query.min_score)
        return replace(ranking, entries=kept)

    # ---------------------------------------------------------------- Pages

    def _page(self, run: SearchRun, ranking: Ranking, name: str | None, start: int) -> ShownPage:
        """Return a page of the ranking with its chunks; `name` is the ranking's cache name."""
        query = run.query
        entries, end = self._current(run, ranking.entries, start, query.limit)
        if query.collapse:
            entries = rules.with_similar(entries, ranking.entries)
        ids = [each.candidate.chunk_id for each in entries]
        around = {each: _neighbours(each) for each in ids} if query.expand else {}
        wanted = list(dict.fromkeys([*ids, *(one for both in around.values() for one in both)]))
        with run.step("chunks"):
            words = ParsedQuery.of(rules.cut_to_terms(query.text))
            chunks = self._index.chunks(query.tenant, wanted, words, run.remaining)
        hits = tuple(
            Hit(
                ranked=each,
                chunk=chunks[each.candidate.chunk_id],
                around=tuple(
                    chunks[one] for one in around.get(each.candidate.chunk_id, ()) if one in chunks
                ),
            )
            for each in entries
            if each.candidate.chunk_id in chunks  # a missing chunk was replaced after it was ranked
        )
        more = end < len(ranking.entries)
        return ShownPage(
            hits=hits,
            total_count=len(ranking.entries),
            next_cursor=rules.cursor_at(name, end) if name is not None and more else None,
            fusion=ranking.fusion,
            truncated=ranking.truncated,
            degraded=ranking.degraded,
            rerank_failed=ranking.rerank_failed,
        )


def _neighbours(of: str) -> tuple[str, ...]:
    """Return the ids of the previous and the next chunk, which may not exist."""
    document_id, version, index = of.rsplit(":", 2)
    around = (int(index) - 1, int(index) + 1)
    return tuple(chunk_id(document_id, version, each) for each in around if each >= 0)


def _refused_cursor(why: str) -> ValidationFailed:
    return ValidationFailed.of_field("cursor", why)
