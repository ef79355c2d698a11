"""Searching with caches, cursors, expansion, collapse and a reranker."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier, Event, Lock
from typing import Any

import pytest

from spinneret.aws.stage import Stage
from spinneret.content.caches import limits as caches_limits
from spinneret.content.caches.models import CacheName
from spinneret.content.caches.service import Caches
from spinneret.content.caches.wiring import QUERY_CACHES, query_kept
from spinneret.content.documents.signatures import signature
from spinneret.content.search import limits as search_limits
from spinneret.content.search.models import BOTH, Filters, Leg, Query
from spinneret.content.search.packing import (
    ShownPage,
    packed_page,
    unpacked_page,
)
from spinneret.content.search.rules import cursor_at, digest, query_fingerprint
from spinneret.content.search.service import SearchResult, SearchService
from spinneret.content.search.views import response_of
from spinneret.kernel.clock import Remaining
from spinneret.kernel.errors import (
    DependencyUnavailable,
    EmbeddingRefused,
    FeatureDisabled,
    ValidationFailed,
)
from tests import factories
from tests.factories import TENANT
from tests.fakes.caches import FakeCacheStore
from tests.fakes.time import plenty
from tests.metrics import recorded
from tests.unit.content.search.searching import VERSION, CachedSearch, ids

LONG = "spiders weave sticky silk between two branches every evening and take it down again " * 3


@pytest.fixture
def bench() -> CachedSearch:
    return CachedSearch()


# ---------------------------------------------------------------- Results


# covers S-04
def test_an_equal_search_is_answered_from_the_cache(bench: CachedSearch) -> None:
    bench.add("doc_1", "silk of spiders")
    first = bench.search("Spiders   silk")
    again = bench.search("spiders silk")
    assert (first.result_cached, again.result_cached) == (False, True)
    assert again.hits == first.hits
    assert (bench.searches, len(bench.embedder.embedded)) == (1, 1)


@pytest.mark.parametrize(
    "given",
    [
        {"limit": 3},
        {"filters": Filters(domains=("a.example",))},
        {"vector_weight": 2.0},
        {"rrf_k": 1},
        {"min_score": 0.1},
        {"expand": True},
        {"collapse": False},
        {"legs": (Leg.KEYWORD,)},
        {"use_reranker": True},
        {"tenant": "other"},
    ],
    ids=lambda given: next(iter(given)),
)
def test_another_option_is_another_search(bench: CachedSearch, given: dict[str, Any]) -> None:
    bench.search()
    assert not bench.search(**given).result_cached


# covers S-04
@pytest.mark.parametrize("write", ["commit", "relabel", "delete", "remove"])
def test_no_answer_from_before_a_write_is_shown_after_it(bench: CachedSearch, write: str) -> None:
    bench.add("doc_1", "silk")
    bench.search()
    current = bench.documents.get(TENANT, "doc_1")
    assert current is not None
    match write:
        case "commit":
            bench.add("doc_2", "silk too")
        case "remove":
            bench.documents.remove(current, bench.clock())
        case _:
            changed = {"deleted_at": bench.clock()} if write == "delete" else {"tag_ids": ("t",)}
            bench.documents.commit(replace(current, sequence=2, **changed), current)
    found = bench.search()
    assert not found.result_cached
    assert len(found.hits) == {"commit": 2, "relabel": 1, "delete": 0, "remove": 0}[write]


def test_a_write_while_a_search_is_under_way_makes_its_answer_the_last_of_its_kind(
    bench: CachedSearch,
) -> None:
    bench.add("doc_1", "silk")
    shown = bench.documents.shown

    def written_meanwhile(*given: Any) -> Any:
        bench.documents.shown = shown  # type: ignore[method-assign]  # once
        found = shown(*given)
        bench.add("doc_2", "silk too")
        return found

    bench.documents.shown = written_meanwhile  # type: ignore[method-assign]  # see above
    assert len(bench.search().hits) == 1
    assert len(bench.search().hits) == 2


# covers S-04
def test_an_answer_is_kept_for_an_hour_and_a_query_s_vector_for_a_day(bench: CachedSearch) -> None:
    bench.add("doc_1", "silk")
    bench.search()
    bench.clock.advance(caches_limits.QUERY_CACHE_SECONDS + 1)
    later = bench.search()
    assert (later.result_cached, later.embedding_cached) == (False, True)
    bench.clock.advance(caches_limits.QUERY_EMBEDDING_CACHE_SECONDS)
    assert not bench.search().embedding_cached
    assert bench.embedder.embedded == ["silk", "silk"]


def test_a_degraded_answer_is_not_kept(bench: CachedSearch) -> None:
    bench.add("doc_1", "silk")
    embed, bench.embedder.embed = bench.embedder.embed, _unavailable  # type: ignore[method-assign]
    assert bench.search().degraded
    bench.embedder.embed = embed  # type: ignore[method-assign]  # back again
    found = bench.search()
    assert (found.degraded, found.result_cached) == (False, False)


# covers P-12
def test_a_search_and_its_caches_are_recorded_as_metrics(bench: CachedSearch) -> None:
    bench.add("doc_1", "silk is strong")
    recorded()
    bench.search()
    bench.search()
    found = recorded()
    assert (found["searches_total"], len(found["search_duration_ms"])) == ([2], 2)
    assert (found["cache_hits.query"], found["cache_misses.query"]) == ([1], [1])


# ---------------------------------------------------------------- A lost index


@pytest.mark.parametrize("legs", [BOTH, (Leg.KEYWORD,), (Leg.VECTOR,)])
def test_a_search_without_its_index_fails_and_is_not_kept(
    bench: CachedSearch, legs: tuple[Leg, ...]
) -> None:
    bench.add("doc_1", "silk is strong")
    kept = bench.index.held_by_target
    bench.index.lose()
    recorded()
    with pytest.raises(DependencyUnavailable):
        bench.search(legs=legs)
    assert recorded()["index_missing"] == [1]
    bench.index.held_by_target = kept
    assert ids(bench.search(legs=legs)) == ["doc_1"]


def test_a_search_without_the_model_s_index_is_degraded_and_not_kept(bench: CachedSearch) -> None:
    bench.add("doc_1", "silk is strong")
    former, bench.index = bench.index, bench.index.of_another_model()
    bench.index.lose()
    for _ in range(2):
        found = bench.search()
        assert (ids(found), found.degraded, found.result_cached) == (["doc_1"], True, False)
    bench.index = former
    assert not bench.search().degraded


def test_a_tenant_without_documents_needs_no_index(bench: CachedSearch) -> None:
    bench.index.lose()
    for legs in (BOTH, (Leg.KEYWORD,), (Leg.VECTOR,)):
        found = bench.search(legs=legs)
        assert (ids(found), found.degraded) == ([], False)


def test_without_its_store_there_is_no_cache_and_every_search_is_answered(
    bench: CachedSearch,
) -> None:
    for number in range(3):
        bench.add(f"doc_{number}", "silk")
    bench.cache_store.available = False
    for _ in range(2):
        found = bench.search(limit=2)
        assert (len(found.hits), found.result_cached, found.next_cursor) == (2, False, None)


def test_a_stage_says_how_long_caches_keep(bench: CachedSearch) -> None:
    for number in range(3):
        bench.add(f"doc_{number}", "silk")
    env = {"CACHES_TABLE": "t", "CACHE__QUERY_TTL_S": "60", "CACHE__QUERY_EMBED_TTL_S": "0"}
    kept = query_kept(Stage(env, QUERY_CACHES))
    service = bench.service(caches=Caches(store=bench.cache_store, clock=bench.clock, kept=kept))
    query = Query(tenant=TENANT, text="silk", limit=2)
    service.search(query, plenty)
    bench.clock.advance(59)
    assert service.search(query, plenty).result_cached
    bench.clock.advance(2)
    later = service.search(query, plenty)
    assert (later.result_cached, later.embedding_cached) == (False, False)


def test_a_stage_that_keeps_no_answers_has_one_page(bench: CachedSearch) -> None:
    for number in range(3):
        bench.add(f"doc_{number}", "silk")
    env = {"CACHES_TABLE": "t", "CACHE__QUERY_TTL_S": "0"}
    kept = query_kept(Stage(env, QUERY_CACHES))
    service = bench.service(caches=Caches(store=bench.cache_store, clock=bench.clock, kept=kept))
    for _ in range(2):
        found = service.search(Query(tenant=TENANT, text="silk", limit=2), plenty)
        assert (len(found.hits), found.next_cursor, found.result_cached) == (2, None, False)


def test_a_cache_that_keeps_nothing_is_neither_asked_nor_waited_for(bench: CachedSearch) -> None:
    bench.add("doc_1", "silk")
    env = {"CACHES_TABLE": "t", "CACHE__QUERY_TTL_S": "0", "CACHE__QUERY_EMBED_TTL_S": "0"}
    asked: list[str] = []

    class Watched(FakeCacheStore):
        def __getattribute__(self, name: str) -> Any:
            if name in {"read", "lock", "unlock", "write"}:
                asked.append(name)
            return super().__getattribute__(name)

    caches = Caches(store=Watched(), clock=bench.clock, kept=query_kept(Stage(env, QUERY_CACHES)))
    found = bench.service(caches=caches).search(Query(tenant=TENANT, text="silk"), plenty)
    assert (len(found.hits), asked) == (1, [])


def test_caches_are_cleared_by_name(bench: CachedSearch) -> None:
    bench.search()
    bench.caches.clear(TENANT, CacheName.QUERY)
    found = bench.search()
    assert (found.result_cached, found.embedding_cached) == (False, True)
    bench.caches.clear(TENANT, CacheName.QUERY, CacheName.QUERY_EMBEDDINGS)
    assert not bench.search().embedding_cached


def test_uses_are_counted(bench: CachedSearch) -> None:
    for _ in range(4):
        bench.search()
    counts = {each.cache: (each.hits, each.misses) for each in bench.caches.counts(TENANT)}
    assert counts[CacheName.QUERY] == (3, 1)
    assert counts[CacheName.QUERY_EMBEDDINGS] == (0, 1)


# ---------------------------------------------------------------- Stampedes


# covers S-04
def test_of_a_hundred_equal_searches_at_once_one_asks_the_index(bench: CachedSearch) -> None:
    """The index answers the first one when all others have come to wait, or after two seconds."""
    count = 100
    bench.add("doc_1", "silk")
    together, all_wait, searches = Barrier(count), Event(), []
    search = bench.index.search
    waiting = CountDown(count - 1, all_wait)

    def service(number: int) -> SearchService:
        def pause(seconds: float) -> None:
            waiting.by(str(number))
            time.sleep(seconds)

        return bench.service(sleep=pause)

    services = [service(number) for number in range(count)]

    def slow(*given: Any) -> Any:
        searches.append(given)
        all_wait.wait(2.0)
        return search(*given)

    bench.index.search = slow  # type: ignore[method-assign]  # see above

    def one(service: SearchService) -> SearchResult:
        together.wait(10.0)
        return service.search(Query(tenant=TENANT, text="silk"), plenty)

    with ThreadPoolExecutor(count) as pool:
        answers = list(pool.map(one, services))
    assert len(searches) == 1
    assert [len(each.hits) for each in answers] == [1] * count
    assert sum(each.result_cached for each in answers) == count - 1


class CountDown:
    """Sets an event when so many owners have come."""

    def __init__(self, count: int, event: Event) -> None:
        self._count = count
        self._event = event
        self._owners: set[str] = set()
        self._mutex = Lock()

    def by(self, owner: str) -> None:
        with self._mutex:
            self._owners.add(owner)
            if len(self._owners) == self._count:
                self._event.set()


def test_a_search_waits_for_the_answer_of_an_equal_one(bench: CachedSearch) -> None:
    bench.add("doc_1", "silk")
    query = Query(tenant=TENANT, text="silk")
    naps: list[float] = []

    def other_ends(seconds: float) -> None:
        bench.clock.advance(seconds)
        naps.append(seconds)
        if len(naps) == 2:
            bench.cache_store.forget_locks()
            bench.service().search(query, plenty)

    _hold_lock(bench, query)
    found = bench.service(sleep=other_ends).search(query, plenty)
    assert (found.result_cached, len(naps), bench.searches) == (True, 2, 1)


def test_a_search_whose_lock_is_held_for_too_long_asks_the_index_itself(
    bench: CachedSearch,
) -> None:
    bench.add("doc_1", "silk")
    query = Query(tenant=TENANT, text="silk")
    _hold_lock(bench, query)
    left = iter([10.0, *[10.0 - n for n in range(20)]])
    found = bench.service().search(query, lambda: next(left, 0.5))
    assert len(found.hits) == 1


def test_a_search_that_waits_looks_less_and_less_often_and_embeds_nothing(
    bench: CachedSearch,
) -> None:
    bench.add("doc_1", "silk")
    query = Query(tenant=TENANT, text="silk")
    _hold_lock(bench, query)
    bench.embedder.embedded.clear()
    naps: list[float] = []
    locks = bench.cache_store.lock

    def nap(seconds: float) -> None:
        naps.append(round(seconds, 3))
        bench.clock.advance(seconds)
        if len(naps) == 6:
            bench.cache_store.forget_locks()
            bench.service().search(query, plenty)

    def none(*_: Any) -> bool:
        raise AssertionError("a lock that is held isn't tried")

    bench.cache_store.lock = none  # type: ignore[method-assign]  # see above

    def first_nap(seconds: float) -> None:
        if len(naps) == 5:
            bench.cache_store.lock = locks  # type: ignore[method-assign]  # for the other one
        nap(seconds)

    assert bench.service(sleep=first_nap).search(query, plenty).result_cached
    assert naps == [0.05, 0.1, 0.2, 0.4, 0.4, 0.4]
    assert bench.embedder.embedded == ["silk"]  # by the other one


def test_of_searches_whose_maker_failed_one_takes_over(bench: CachedSearch) -> None:
    bench.add("doc_1", "silk")
    query = Query(tenant=TENANT, text="silk")
    _hold_lock(bench, query)

    def maker_fails(seconds: float) -> None:
        bench.clock.advance(seconds)
        bench.cache_store.forget_locks()

    found = bench.service(sleep=maker_fails).search(query, plenty)
    assert (found.result_cached, bench.searches, len(found.hits)) == (False, 1, 1)
    assert bench.search().result_cached


def test_a_search_of_earlier_documents_is_not_waited_for(bench: CachedSearch) -> None:
    bench.add("doc_1", "silk")
    _hold_lock(bench, Query(tenant=TENANT, text="silk"))
    bench.add("doc_2", "silk too")

    def never(_: float) -> None:
        raise AssertionError("nothing to wait for")

    found = bench.service(sleep=never).search(Query(tenant=TENANT, text="silk"), plenty)
    assert (found.result_cached, len(found.hits)) == (False, 2)


def test_a_page_too_large_for_the_store_leaves_no_lock(
    bench: CachedSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.fakes.caches._LARGEST", 100)
    bench.add("doc_1", LONG)

    def never(_: float) -> None:
        raise AssertionError("nothing to wait for")

    for _ in range(2):
        found = bench.service(sleep=never).search(Query(tenant=TENANT, text="silk"), plenty)
        assert (found.result_cached, len(found.hits)) == (False, 1)


def test_a_search_that_fails_lets_the_next_one_try(bench: CachedSearch) -> None:
    bench.index.available = False
    with pytest.raises(DependencyUnavailable):
        bench.search()
    bench.index.available = True
    bench.search()
    assert bench.searches == 2


def _hold_lock(bench: CachedSearch, query: Query) -> None:
    """As a search does that is under way in another process."""

    class Stopped(BaseException):
        pass

    def stop(*_: Any) -> Any:
        raise Stopped

    unlock, bench.cache_store.unlock = bench.cache_store.unlock, lambda *_: None  # type: ignore[method-assign]
    search, bench.index.search = bench.index.search, stop  # type: ignore[method-assign]
    with pytest.raises(Stopped):
        bench.service().search(query, plenty)
    bench.cache_store.unlock = unlock  # type: ignore[method-assign]  # as it was
    bench.index.search = search  # type: ignore[method-assign]  # as it was


# ---------------------------------------------------------------- Cursors


def test_a_cursor_goes_on_in_the_same_ranking_while_documents_are_added(
    bench: CachedSearch,
) -> None:
    for number in range(7):
        bench.add(f"doc_{number}", "silk " * (20 - number), domain="site.example")
    first = bench.search(limit=3, collapse=False)
    for number in range(3):
        bench.add(f"new_{number}", "silk " * 30)
    gone = bench.documents.get(TENANT, "doc_4")
    assert gone is not None
    bench.documents.commit(replace(gone, sequence=2, deleted_at=bench.clock()), gone)
    second = bench.search(limit=3, collapse=False, cursor=first.next_cursor)
    assert ids(first) + ids(second) == ["doc_0", "doc_1", "doc_2", "doc_3", "doc_5", "doc_6"]
    assert (second.next_cursor, second.total_count) == (None, 7)


@pytest.mark.parametrize("cursor", ["", "x", "0" * 32 + ".3", "0" * 32])
def test_what_is_no_cursor_or_has_expired_is_refused(bench: CachedSearch, cursor: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        bench.search(cursor=cursor)
    assert [each["path"] for each in refused.value.details["fields"]] == ["cursor"]


def test_a_cursor_of_another_search_or_tenant_is_refused(bench: CachedSearch) -> None:
    for number in range(3):
        bench.add(f"doc_{number}", "silk")
    cursor = bench.search(limit=1).next_cursor
    for given in ({"text": "wool"}, {"tenant": "other"}, {"min_score": 0.2}):
        with pytest.raises(ValidationFailed):
            bench.search(limit=1, cursor=cursor, **given)  # type: ignore[arg-type]  # of several types


def test_every_page_of_a_degraded_ranking_says_so(bench: CachedSearch) -> None:
    for number in range(5):
        bench.add(f"doc_{number}", "silk " * (9 - number))
    bench.embedder.available = False
    first = bench.search(limit=2, collapse=False)
    bench.embedder.available = True
    second = bench.search(limit=2, collapse=False, cursor=first.next_cursor)
    assert (first.degraded, second.degraded) == (True, True)
    assert not bench.search(limit=2, collapse=False).degraded
    third = bench.search(limit=2, collapse=False, cursor=second.next_cursor)
    assert ids(first) + ids(second) + ids(third) == [f"doc_{number}" for number in range(5)]


def test_a_cursor_goes_on_while_the_embedder_is_away(bench: CachedSearch) -> None:
    for number in range(5):
        bench.add(f"doc_{number}", "silk " * (9 - number))
    first = bench.search(limit=2, collapse=False)
    bench.embedder.available = False
    second = bench.search(limit=2, collapse=False, cursor=first.next_cursor)
    assert not second.degraded
    assert len({*ids(first), *ids(second)}) == 4


def test_an_equal_search_with_another_ranking_leaves_an_open_cursor_its_own(
    bench: CachedSearch,
) -> None:
    """The reranker is away for the second one."""
    bench.add("doc_1", "silk silk silk silk silk silk silk spiders")
    bench.add("doc_2", "silk of spiders")
    bench.add("doc_3", "wool and silk")
    given = {"text": "silk of spiders", "use_reranker": True, "collapse": False}
    whole = ids(bench.search(**given))  # type: ignore[arg-type]  # of several types
    first = bench.search(limit=1, **given)  # type: ignore[arg-type]  # of several types
    bench.reranker.available = False
    other = bench.search(limit=2, **given)  # type: ignore[arg-type]  # of several types
    bench.reranker.available = True
    rest = bench.search(limit=2, cursor=first.next_cursor, **given)  # type: ignore[arg-type]  # of several types
    assert ids(first) + ids(rest) == whole
    assert ids(other) != whole[:2]
    assert not rest.rerank_failed


# ---------------------------------------------------------------- What is shown


# covers S-03
def test_neighbours_come_with_a_hit_that_is_expanded(bench: CachedSearch) -> None:
    bench.add("doc_1", "one", "two silk", "three", "four")
    [hit] = bench.search("silk", legs=(Leg.KEYWORD,), expand=True).hits
    assert [each.text for each in hit.around] == ["one", "three"]
    [hit] = bench.search("four", legs=(Leg.KEYWORD,), expand=True).hits
    assert [each.text for each in hit.around] == ["three"]
    assert bench.search("silk", legs=(Leg.KEYWORD,)).hits[0].around is None
    bench.add("doc_2", "alone")
    for _ in ("made", "cached"):
        found = bench.search("alone", legs=(Leg.KEYWORD,), expand=True)
        assert response_of(found, 0).results[0].expanded_chunks == []


def test_chunks_that_say_nearly_the_same_collapse(bench: CachedSearch) -> None:
    bench.add("doc_1", LONG)
    bench.add("doc_2", LONG)
    bench.add("doc_3", "quite another text about the same silk " * 5)
    found = bench.search("sticky silk")
    assert sorted(ids(found)) == ["doc_1", "doc_3"]
    assert {hit.ranked.similar for hit in found.hits} == {0, 1}
    assert len(bench.search("sticky silk", collapse=False).hits) == 3


def test_an_outdated_chunk_does_not_stand_for_the_current_one(bench: CachedSearch) -> None:
    outdated = factories.indexed_chunk(
        LONG, document_id="doc_0", version=VERSION, signature=signature(LONG)
    )
    bench.index.write([outdated], plenty)
    bench.add("doc_1", LONG)
    assert ids(bench.search("sticky silk")) == ["doc_1"]


def test_what_an_earlier_page_showed_does_not_come_again_on_a_later_one(
    bench: CachedSearch,
) -> None:
    for name in ("doc_1", "doc_2", "doc_4"):
        bench.add(name, LONG)
    bench.add("doc_3", "quite another text about the same silk " * 5)
    first = bench.search("sticky silk", limit=1)
    second = bench.search("sticky silk", limit=5, cursor=first.next_cursor)
    assert sorted(ids(first) + ids(second)) == ["doc_1", "doc_3"]


def test_entries_that_follow_outdated_ones_have_their_texts(bench: CachedSearch) -> None:
    """The chunks of the first page are read before it is known which are outdated."""
    for number in range(3):
        never = factories.indexed_chunk(
            "silk " * 9, document_id=f"doc_never_{number}", version=VERSION
        )
        bench.index.write([never], plenty)
    for number in range(3):
        bench.add(f"doc_{number}", "silk " * (5 - number))
    found = bench.search(limit=3, collapse=False)
    assert [hit.chunk.text.count("silk") for hit in found.hits] == [5, 4, 3]


def test_outdated_chunks_never_fill_the_window(bench: CachedSearch) -> None:
    """Of versions that were never committed, in better places than the page itself."""
    for number in range(search_limits.SEARCH_WINDOW + 50):
        never = factories.indexed_chunk(
            "silk " * 9, document_id=f"doc_never_{number}", version=VERSION
        )
        bench.index.write([never], plenty)
    bench.add("doc_1", "silk among other words that make it rank below")
    assert ids(bench.search()) == ["doc_1"]


def test_a_row_that_lost_its_label_is_no_hit_although_the_index_still_has_it(
    bench: CachedSearch,
) -> None:
    bench.add("doc_1", "silk", collection_id="col_1", tag_ids=("tag_1",))
    current = bench.documents.get(TENANT, "doc_1")
    assert current is not None
    for filters in (Filters(collection_ids=("col_1",)), Filters(tag_ids=("tag_1",))):
        assert ids(bench.search(filters=filters)) == ["doc_1"]
    bench.documents.commit(replace(current, sequence=2, collection_id=None, tag_ids=()), current)
    for filters in (Filters(collection_ids=("col_1",)), Filters(tag_ids=("tag_1",))):
        assert ids(bench.search(filters=filters)) == []


def test_a_query_beyond_the_model_s_window_is_cut_and_says_so(bench: CachedSearch) -> None:
    bench.add("doc_1", "silk")
    found = bench.search("silk " + "word " * 100)
    assert (found.truncated, ids(found)) == (True, ["doc_1"])
    assert len(bench.embedder.embedded[0].split()) == 32
    assert not bench.search("silk").truncated
    assert bench.search("蚕" * 1000).truncated


def test_a_query_that_the_embedder_refuses_is_searched_by_words(bench: CachedSearch) -> None:
    def refused(*_: Any) -> Any:
        raise EmbeddingRefused("next to zero")

    bench.add("doc_1", "silk")
    bench.embedder.embed = refused  # type: ignore[method-assign]  # as a model may
    found = bench.search()
    assert (found.degraded, ids(found)) == (True, ["doc_1"])


def test_the_vector_leg_alone_needs_the_embedder(bench: CachedSearch) -> None:
    bench.embedder.available = False
    with pytest.raises(DependencyUnavailable):
        bench.search(legs=(Leg.VECTOR,))
    bench.search(legs=(Leg.KEYWORD,))


# ---------------------------------------------------------------- Reranking


# covers S-03
def test_the_reranker_orders_the_first_candidates(bench: CachedSearch) -> None:
    bench.add("doc_1", "silk silk silk silk")
    bench.add("doc_2", "silk of spiders")
    found = bench.search("spiders silk", use_reranker=True)
    assert ids(found) == ["doc_2", "doc_1"]
    assert [hit.ranked.rerank_score for hit in found.hits] == [1.0, 0.5]
    assert [hit.ranked.score for hit in found.hits] == [1.0, 0.5]
    assert ids(bench.search("spiders silk", use_reranker=True, min_score=0.6)) == ["doc_2"]


def test_hits_that_the_reranker_did_not_order_follow(bench: CachedSearch) -> None:
    bench.add("doc_1", "silk silk silk silk")
    bench.add("doc_2", "silk of spiders")
    bench.add("doc_3", "a thread of silk")
    fused = ids(bench.search("spiders silk"))
    found = bench.search("spiders silk", use_reranker=True, rerank_top_n=1)
    assert ids(found) == fused
    scores = [hit.ranked.rerank_score for hit in found.hits]
    assert scores[0] is not None
    assert scores[1:] == [None, None]
    page = bench.search("spiders silk", use_reranker=True, rerank_top_n=1, limit=2)
    assert ids(page) == fused[:2]


def test_while_the_reranker_is_away_the_fused_order_stands_and_is_not_kept(
    bench: CachedSearch,
) -> None:
    bench.add("doc_1", "silk silk")
    bench.add("doc_2", "silk of spiders")
    bench.reranker.available = False
    found = bench.search("spiders silk", use_reranker=True)
    assert found.rerank_failed
    assert ids(found) == ids(bench.search("spiders silk"))
    bench.reranker.available = True
    assert not bench.search("spiders silk", use_reranker=True).rerank_failed


def test_a_stage_without_a_reranker_says_so(bench: CachedSearch) -> None:
    query = Query(tenant=TENANT, text="silk", use_reranker=True)
    with pytest.raises(FeatureDisabled):
        bench.service(reranker=None).search(query, plenty)


def test_a_cursor_that_names_a_cached_page_is_refused(bench: CachedSearch) -> None:
    bench.add("doc_1", "silk")
    bench.search()
    query = Query(tenant=TENANT, text="silk")
    page = digest(query_fingerprint(query), bench.embedder.info(plenty).model_id, query.limit)
    with pytest.raises(ValidationFailed, match="cursor"):
        bench.search(cursor=cursor_at(page, 0))


# ---------------------------------------------------------------- Packing


def test_a_page_is_unpacked_as_it_was(bench: CachedSearch) -> None:
    bench.add("doc_1", "one", "Größe silk 🕸", "three")
    found = bench.search("silk", expand=True)
    page = ShownPage(
        hits=found.hits,
        total_count=3,
        next_cursor="x",
        fusion=found.fusion,
        truncated=True,
    )
    unpacked = unpacked_page(packed_page(page))
    assert [replace(hit, ranked=found.hits[n].ranked) for n, hit in enumerate(unpacked.hits)] == (
        list(found.hits)
    )
    assert replace(unpacked, hits=()) == replace(page, hits=())


def _unavailable(texts: Any, remaining: Remaining) -> Any:
    raise DependencyUnavailable("embedder")
