"""Searches: embed the query, search both legs, fuse, drop outdated chunks, return a page.

Results are cached with the generation of the tenant's documents, which is read before the index. A
write reaches the index before its commit, and the commit changes the generation. A cached result is
returned only if its generation is the one that this search reads. No result from before a commit is
therefore returned after it. A ranking of more than a page is cached as a whole; its cursor
continues in it, regardless of later writes.

Calls that don't depend on each other are made at once, in two threads.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from spinneret.content.caches.models import CacheKey, CacheName, EntryLock
from spinneret.content.caches.service import Caches
from spinneret.content.documents.models import DocumentFilter, chunk_id
from spinneret.content.documents.ports import DocumentStore, Embedder
from spinneret.content.search import limits, packing, rules
from spinneret.content.search.at_once import AtOnce
from spinneret.content.search.fusion import fuse, profile_of, single_leg_ranking
from spinneret.content.search.models import (
    Filters,
    FoundChunk,
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
from spinneret.content.search.result_cache import ResultCache
from spinneret.content.search.run import SearchRun
from spinneret.kernel import metrics
from spinneret.kernel.clock import Clock, Remaining, limit_remaining, utc_now
from spinneret.kernel.errors import (
    DependencyUnavailable,
    EmbeddingRefused,
    FeatureDisabled,
    ValidationFailed,
)
from spinneret.kernel.ids import NewId, id_maker
from spinneret.kernel.service import service

logger = logging.getLogger(__name__)


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


@service
class SearchService:
    """Searches one tenant's current documents. Cursors require caches."""

    embedder: Embedder
    index: ChunkIndex
    documents: DocumentStore
    caches: Caches | None = None
    reranker: Reranker | None = None
    new_id: NewId | None = None
    clock: Clock = utc_now
    timer: Callable[[], float] = time.perf_counter
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        self._at_once = AtOnce()
        self._vectors = QueryVectors(embedder=self.embedder, caches=self.caches)
        self._results = None
        if self.caches is not None:
            self._results = ResultCache(
                caches=self.caches,
                documents=self.documents,
                vectors=self._vectors,
                at_once=self._at_once,
                new_id=self.new_id or id_maker(self.clock),
                sleep=self.sleep,
            )

    def search(self, query: Query, remaining: Remaining) -> SearchResult:
        """Search a tenant's documents. Raise DependencyUnavailable, ValidationFailed for a bad
        cursor, or FeatureDisabled."""
        if query.use_reranker and self.reranker is None:
            raise FeatureDisabled("this stage has no reranker")
        run = SearchRun(query=query, remaining=remaining, timer=self.timer)
        asked = rules.query_fingerprint(query)
        if self.caches is not None and query.cursor is not None:
            page = self._continued(run, asked, query.cursor, self.caches)
            return self._found(run, page, cached=False)
        model_id = self._vectors.begin(run)
        if self.caches is None or self._results is None:
            self._vectors.prepare(run, None)
            return self._found(run, self._made(run, asked), cached=False)
        key = CacheKey(CacheName.QUERY, rules.digest(asked, model_id, query.limit))
        return self._cached_or_made(run, asked, key, self.caches, self._results)

    # ---------------------------------------------------------------- Caches

    def _cached_or_made(
        self, run: SearchRun, asked: str, key: CacheKey, caches: Caches, results: ResultCache
    ) -> SearchResult:
        """Return the cached page, or make it. Of concurrent equal searches, only one queries the
        index; the others wait for its result."""
        tenant = run.query.tenant
        page = results.page_or_lock(run, key)
        if not isinstance(page, EntryLock):
            caches.uses.used(tenant, CacheName.QUERY, hits=1, misses=0)
            return self._found(run, packing.unpacked_page(page), cached=True)
        caches.uses.used(tenant, CacheName.QUERY, hits=0, misses=1)
        try:
            made = self._made(run, asked)
            if not made.degraded and not made.rerank_failed:
                run.kept[key] = packing.packed_page(made)
            results.keep(run)
        finally:
            results.end(run, page)
        if run.ranking_key not in run.stored:
            made = replace(made, next_cursor=None)
        return self._found(run, made, cached=False)

    def _continued(self, run: SearchRun, asked: str, cursor: str, caches: Caches) -> ShownPage:
        """Return a page of a ranking that was cached by the first page's search."""
        name, shown = rules.place_of(cursor)
        key = CacheKey(CacheName.QUERY, name)
        with run.step("cache"):
            value = caches.read(run.query.tenant, [key]).entries.get(key)
        ranking = None if value is None else packing.unpacked_ranking(value)
        if ranking is None:
            raise _refused_cursor("the cursor has expired: search again")
        if ranking.asked != asked:
            raise _refused_cursor("the cursor belongs to another search")
        return self._page(run, ranking, name, shown)

    def _found(self, run: SearchRun, page: ShownPage, *, cached: bool) -> SearchResult:
        taken = round((self.timer() - run.started) * 1000, 1)
        metrics.SEARCHES.add()
        metrics.SEARCH_DURATION.add(taken)
        if self.caches is not None:
            self.caches.uses.searched(run.query.tenant, taken, run.timings.get("embed"))
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
        """Rank and return the first page; a ranking of more than a page will be cached."""
        ranking = replace(self._ranking(run), asked=asked)
        name = None
        if len(ranking.entries) > run.query.limit and self._keeps_rankings(run):
            packed = packing.packed_ranking(ranking)
            name = rules.named(packed)
            run.ranking_key = CacheKey(CacheName.QUERY, name)
            run.kept[run.ranking_key] = packed
        return self._page(run, ranking, name, 0)

    def _keeps_rankings(self, run: SearchRun) -> bool:
        return self.caches is not None and self.caches.keeps(CacheName.QUERY, run.epochs)

    def _ranking(self, run: SearchRun) -> Ranking:
        """Return all candidates in order. If outdated ones fill the windows and leave too few,
        exclude them and search again."""
        query = run.query
        if run.vector is None and not query.ranks_by_words:
            raise DependencyUnavailable("embedder")
        text = rules.cut_to_terms(query.text)
        run.truncated |= text != query.text
        wanted = IndexQuery(
            tenant=query.tenant,
            words=ParsedQuery.of(text),
            vector=run.vector,
            legs=query.legs,
            filters=query.filters,
        )
        for _ in range(limits.SEARCH_ROUNDS):
            with run.step("index"):
                legs = self._legs(run, wanted)
            entries, fusion = self._fused(run, legs)
            outdated, _ = self._at_once.both(
                partial(self._outdated, run, entries), partial(self._read_likely, run, entries)
            )
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
            return self.index.search(wanted, limits.SEARCH_WINDOW, run.remaining)
        except IndexMissing:
            if not self.documents.page(DocumentFilter(tenant=wanted.tenant), None, 1).items:
                return dict.fromkeys(wanted.legs, ())
            logger.error("index_missing")
            metrics.INDEX_MISSING.add()
            if wanted.vector is None or not run.query.ranks_by_words:
                raise
        run.degraded = True
        return self.index.search(replace(wanted, vector=None), limits.SEARCH_WINDOW, run.remaining)

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
        size = run.query.limit
        if run.query.use_reranker:
            size = max(size, run.query.rerank_top_n)
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
        likely = rules.likely_places(entries[start:], size, collapse=run.query.collapse)
        until = start + likely[-1] + 1 if len(likely) == size else len(entries)
        while end < len(entries) and len(shown) < size:
            self._look_up(run, entries[end:until])  # once, unless an entry is outdated
            for each in entries[end:until]:
                end += 1
                if not rules.may_show(each, run.rows, run.query.filters):
                    continue
                if run.query.collapse and not distinct.is_new(each.candidate.signature):
                    continue
                if end > start:
                    shown.append(each)
                if len(shown) == size:
                    break
            until += 2 * size
        return shown, end

    def _read_likely(self, run: SearchRun, entries: Sequence[Ranked]) -> None:
        """Read the chunks of the first page as if no entry were outdated, while versions are
        looked up. The reranker chooses other ones."""
        if run.query.use_reranker or run.asked_chunks:
            return
        likely = rules.likely_places(entries, run.query.limit, collapse=run.query.collapse)
        self._read_chunks(run, [entries[place].candidate.chunk_id for place in likely])

    def _read_chunks(self, run: SearchRun, ids: Sequence[str]) -> Mapping[str, FoundChunk]:
        """Return the chunks that were read so far, with these and, if requested, their
        neighbours."""
        around = [one for each in ids for one in _neighbours(each)] if run.query.expand else []
        wanted = [each for each in dict.fromkeys([*ids, *around]) if each not in run.asked_chunks]
        if wanted:
            with run.step("chunks"):
                words = ParsedQuery.of(rules.cut_to_terms(run.query.text))
                found = self.index.chunks(run.query.tenant, wanted, words, run.remaining)
            run.asked_chunks.update(wanted)
            run.chunks.update(found)
        return run.chunks

    def _look_up(self, run: SearchRun, entries: Sequence[Ranked]) -> None:
        ids = sorted({each.candidate.document_id for each in entries} - run.looked_up)
        with run.step("versions"):
            for first in range(0, len(ids), 100):
                run.rows |= self.documents.shown(run.query.tenant, ids[first : first + 100])
        run.looked_up |= set(ids)

    def _reranked(self, run: SearchRun, ranking: Ranking) -> Ranking:
        """Return the first candidates in the reranker's order, then the others; keep the fused
        order if it fails."""
        query = run.query
        assert self.reranker is not None  # checked by search()
        first, _ = self._current(run, ranking.entries, 0, query.rerank_top_n)
        with run.step("chunks"):
            chunks = self.index.chunks(
                query.tenant, [each.candidate.chunk_id for each in first], None, run.remaining
            )
        first = [each for each in first if each.candidate.chunk_id in chunks]
        texts = [chunks[each.candidate.chunk_id].text for each in first]
        try:
            with run.step("rerank"):
                left = limit_remaining(run.remaining, limits.RERANK_SECONDS)
                scores = self.reranker.rerank(query.text, texts, left) if texts else []
        except (DependencyUnavailable, EmbeddingRefused):
            logger.warning("rerank_failed")
            kept = tuple(each for each in ranking.entries if each.score >= query.min_score)
            return replace(ranking, entries=kept, rerank_failed=True)
        scored = [each.reranked(score) for each, score in zip(first, scores, strict=True)]
        scored.sort(key=lambda each: (-each.score, each.candidate.chunk_id))
        ordered = {each.candidate.chunk_id for each in scored}
        others = [each for each in ranking.entries if each.candidate.chunk_id not in ordered]
        kept = tuple(each for each in [*scored, *others] if each.score >= query.min_score)
        return replace(ranking, entries=kept)

    # ---------------------------------------------------------------- Pages

    def _page(self, run: SearchRun, ranking: Ranking, name: str | None, start: int) -> ShownPage:
        """Return a page of the ranking with its chunks; `name` is the ranking's cache name."""
        query = run.query
        entries, end = self._current(run, ranking.entries, start, query.limit)
        if query.collapse:
            entries = rules.with_similar(entries, ranking.entries)
        ids = [each.candidate.chunk_id for each in entries]
        chunks = self._read_chunks(run, ids)
        hits = tuple(
            Hit(
                ranked=each,
                chunk=chunks[each.candidate.chunk_id],
                around=_around(each.candidate.chunk_id, chunks) if query.expand else None,
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


def _around(of: str, chunks: Mapping[str, FoundChunk]) -> tuple[FoundChunk, ...]:
    return tuple(chunks[each] for each in _neighbours(of) if each in chunks)


def _neighbours(of: str) -> tuple[str, ...]:
    """Return the ids of the previous and the next chunk, which may not exist."""
    document_id, version, index = of.rsplit(":", 2)
    around = (int(index) - 1, int(index) + 1)
    return tuple(chunk_id(document_id, version, each) for each in around if each >= 0)


def _refused_cursor(why: str) -> ValidationFailed:
    return ValidationFailed.of_field("cursor", why)
