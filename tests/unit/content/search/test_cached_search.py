"""Searches with caches, cursors, expansion, collapse and a reranker."""

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
def world() -> CachedSearch:
    return CachedSearch()


# ---------------------------------------------------------------- Results


# covers S-04
def test_an_equal_search_is_answered_from_the_cache(world: CachedSearch) -> None:
    world.add("doc_1", "silk of spiders")
    first = world.search("Spiders   silk")
    again = world.search("spiders silk")
    assert (first.result_cached, again.result_cached) == (False, True)
    assert again.hits == first.hits
    assert (world.searches, len(world.embedder.embedded)) == (1, 1)


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
def test_another_option_is_another_search(world: CachedSearch, given: dict[str, Any]) -> None:
    world.search()
    assert not world.search(**given).result_cached


# covers S-04
@pytest.mark.parametrize("write", ["commit", "relabel", "delete", "remove"])
def test_no_answer_from_before_a_write_is_shown_after_it(world: CachedSearch, write: str) -> None:
    world.add("doc_1", "silk")
    world.search()
    current = world.documents.get(TENANT, "doc_1")
    assert current is not None
    match write:
        case "commit":
            world.add("doc_2", "silk too")
        case "remove":
            world.documents.remove(current, world.clock())
        case _:
            changed = {"deleted_at": world.clock()} if write == "delete" else {"tag_ids": ("t",)}
            world.documents.commit(replace(current, sequence=2, **changed), current)
    found = world.search()
    assert not found.result_cached
    assert len(found.hits) == {"commit": 2, "relabel": 1, "delete": 0, "remove": 0}[write]


def test_a_write_while_a_search_is_under_way_makes_its_answer_the_last_of_its_kind(
    world: CachedSearch,
) -> None:
    world.add("doc_1", "silk")
    shown = world.documents.shown

    def written_meanwhile(*given: Any) -> Any:
        world.documents.shown = shown  # type: ignore[method-assign]  # once
        found = shown(*given)
        world.add("doc_2", "silk too")
        return found

    world.documents.shown = written_meanwhile  # type: ignore[method-assign]  # see above
    assert len(world.search().hits) == 1
    assert len(world.search().hits) == 2


# covers S-04
def test_an_answer_is_kept_for_an_hour_and_a_query_s_vector_for_a_day(world: CachedSearch) -> None:
    world.add("doc_1", "silk")
    world.search()
    world.clock.advance(caches_limits.QUERY_CACHE_SECONDS + 1)
    later = world.search()
    assert (later.result_cached, later.embedding_cached) == (False, True)
    world.clock.advance(caches_limits.QUERY_EMBEDDING_CACHE_SECONDS)
    assert not world.search().embedding_cached
    assert world.embedder.embedded == ["silk", "silk"]


def test_a_degraded_answer_is_not_kept(world: CachedSearch) -> None:
    world.add("doc_1", "silk")
    embed, world.embedder.embed = world.embedder.embed, _unavailable  # type: ignore[method-assign]
    assert world.search().degraded
    world.embedder.embed = embed  # type: ignore[method-assign]  # restored
    found = world.search()
    assert (found.degraded, found.result_cached) == (False, False)


# covers P-12
def test_a_search_and_its_caches_are_recorded_as_metrics(world: CachedSearch) -> None:
    world.add("doc_1", "silk is strong")
    recorded()
    world.search()
    world.search()
    found = recorded()
    assert (found["searches_total"], len(found["search_duration_ms"])) == ([2], 2)
    assert (found["cache_hits.query"], found["cache_misses.query"]) == ([1], [1])


# ---------------------------------------------------------------- A lost index


@pytest.mark.parametrize("legs", [BOTH, (Leg.KEYWORD,), (Leg.VECTOR,)])
def test_a_search_without_its_index_fails_and_is_not_kept(
    world: CachedSearch, legs: tuple[Leg, ...]
) -> None:
    world.add("doc_1", "silk is strong")
    kept = world.index.held_by_target
    world.index.lose()
    recorded()
    with pytest.raises(DependencyUnavailable):
        world.search(legs=legs)
    assert recorded()["index_missing"] == [1]
    world.index.held_by_target = kept
    assert ids(world.search(legs=legs)) == ["doc_1"]


def test_a_search_without_the_model_s_index_is_degraded_and_not_kept(world: CachedSearch) -> None:
    world.add("doc_1", "silk is strong")
    former, world.index = world.index, world.index.of_another_model()
    world.index.lose()
    for _ in range(2):
        found = world.search()
        assert (ids(found), found.degraded, found.result_cached) == (["doc_1"], True, False)
    world.index = former
    assert not world.search().degraded


def test_a_tenant_without_documents_needs_no_index(world: CachedSearch) -> None:
    world.index.lose()
    for legs in (BOTH, (Leg.KEYWORD,), (Leg.VECTOR,)):
        found = world.search(legs=legs)
        assert (ids(found), found.degraded) == ([], False)


def test_without_its_store_there_is_no_cache_and_every_search_is_answered(
    world: CachedSearch,
) -> None:
    for number in range(3):
        world.add(f"doc_{number}", "silk")
    world.cache_store.available = False
    for _ in range(2):
        found = world.search(limit=2)
        assert (len(found.hits), found.result_cached, found.next_cursor) == (2, False, None)


def test_a_stage_says_how_long_caches_keep(world: CachedSearch) -> None:
    for number in range(3):
        world.add(f"doc_{number}", "silk")
    env = {"CACHES_TABLE": "t", "CACHE__QUERY_TTL_S": "60", "CACHE__QUERY_EMBED_TTL_S": "0"}
    kept = query_kept(Stage(env, QUERY_CACHES))
    service = world.service(caches=Caches(store=world.cache_store, clock=world.clock, kept=kept))
    query = Query(tenant=TENANT, text="silk", limit=2)
    service.search(query, plenty)
    world.clock.advance(59)
    assert service.search(query, plenty).result_cached
    world.clock.advance(2)
    later = service.search(query, plenty)
    assert (later.result_cached, later.embedding_cached) == (False, False)


def test_a_stage_that_keeps_no_answers_has_one_page(world: CachedSearch) -> None:
    for number in range(3):
        world.add(f"doc_{number}", "silk")
    env = {"CACHES_TABLE": "t", "CACHE__QUERY_TTL_S": "0"}
    kept = query_kept(Stage(env, QUERY_CACHES))
    service = world.service(caches=Caches(store=world.cache_store, clock=world.clock, kept=kept))
    for _ in range(2):
        found = service.search(Query(tenant=TENANT, text="silk", limit=2), plenty)
        assert (len(found.hits), found.next_cursor, found.result_cached) == (2, None, False)


def test_a_cache_that_keeps_nothing_is_neither_asked_nor_waited_for(world: CachedSearch) -> None:
    world.add("doc_1", "silk")
    env = {"CACHES_TABLE": "t", "CACHE__QUERY_TTL_S": "0", "CACHE__QUERY_EMBED_TTL_S": "0"}
    asked: list[str] = []

    class Watched(FakeCacheStore):
        def __getattribute__(self, name: str) -> Any:
            if name in {"read", "lock", "unlock", "write"}:
                asked.append(name)
            return super().__getattribute__(name)

    caches = Caches(store=Watched(), clock=world.clock, kept=query_kept(Stage(env, QUERY_CACHES)))
    found = world.service(caches=caches).search(Query(tenant=TENANT, text="silk"), plenty)
    assert (len(found.hits), asked) == (1, [])


def test_caches_are_cleared_by_name(world: CachedSearch) -> None:
    world.search()
    world.caches.clear(TENANT, CacheName.QUERY)
    found = world.search()
    assert (found.result_cached, found.embedding_cached) == (False, True)
    world.caches.clear(TENANT, CacheName.QUERY, CacheName.QUERY_EMBEDDINGS)
    assert not world.search().embedding_cached


def test_uses_are_counted(world: CachedSearch) -> None:
    for _ in range(4):
        world.search()
    counts = {each.cache: (each.hits, each.misses) for each in world.caches.counts(TENANT)}
    assert counts[CacheName.QUERY] == (3, 1)
    assert counts[CacheName.QUERY_EMBEDDINGS] == (0, 1)


# ---------------------------------------------------------------- Stampedes


# covers S-04
def test_of_a_hundred_equal_searches_at_once_one_asks_the_index(world: CachedSearch) -> None:
    """The index answers the first search when all the others wait, or after two seconds."""
    count = 100
    world.add("doc_1", "silk")
    together, all_wait, searches = Barrier(count), Event(), []
    search = world.index.search
    waiting = CountDown(count - 1, all_wait)

    def service(number: int) -> SearchService:
        def pause(seconds: float) -> None:
            waiting.by(str(number))
            time.sleep(seconds)

        return world.service(sleep=pause)

    services = [service(number) for number in range(count)]

    def slow(*given: Any) -> Any:
        searches.append(given)
        all_wait.wait(2.0)
        return search(*given)

    world.index.search = slow  # type: ignore[method-assign]  # see above

    def one(service: SearchService) -> SearchResult:
        together.wait(10.0)
        return service.search(Query(tenant=TENANT, text="silk"), plenty)

    with ThreadPoolExecutor(count) as pool:
        answers = list(pool.map(one, services))
    assert len(searches) == 1
    assert [len(each.hits) for each in answers] == [1] * count
    assert sum(each.result_cached for each in answers) == count - 1


class CountDown:
    """Counter of owners that sets an event when it has counted a given number of them."""

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


def test_a_search_waits_for_the_answer_of_an_equal_one(world: CachedSearch) -> None:
    world.add("doc_1", "silk")
    query = Query(tenant=TENANT, text="silk")
    naps: list[float] = []

    def other_ends(seconds: float) -> None:
        world.clock.advance(seconds)
        naps.append(seconds)
        if len(naps) == 2:
            world.cache_store.forget_locks()
            world.service().search(query, plenty)

    _hold_lock(world, query)
    found = world.service(sleep=other_ends).search(query, plenty)
    assert (found.result_cached, len(naps), world.searches) == (True, 2, 1)


def test_a_search_whose_lock_is_held_for_too_long_asks_the_index_itself(
    world: CachedSearch,
) -> None:
    world.add("doc_1", "silk")
    query = Query(tenant=TENANT, text="silk")
    _hold_lock(world, query)
    left = iter([10.0, *[10.0 - n for n in range(20)]])
    found = world.service().search(query, lambda: next(left, 0.5))
    assert len(found.hits) == 1


def test_a_search_that_waits_looks_less_and_less_often_and_embeds_nothing(
    world: CachedSearch,
) -> None:
    world.add("doc_1", "silk")
    query = Query(tenant=TENANT, text="silk")
    _hold_lock(world, query)
    world.embedder.embedded.clear()
    naps: list[float] = []
    locks = world.cache_store.lock

    def nap(seconds: float) -> None:
        naps.append(round(seconds, 3))
        world.clock.advance(seconds)
        if len(naps) == 6:
            world.cache_store.forget_locks()
            world.service().search(query, plenty)

    def none(*_: Any) -> bool:
        raise AssertionError("a lock that is held isn't tried")

    world.cache_store.lock = none  # type: ignore[method-assign]  # see above

    def first_nap(seconds: float) -> None:
        if len(naps) == 5:
            world.cache_store.lock = locks  # type: ignore[method-assign]  # for the other one
        nap(seconds)

    assert world.service(sleep=first_nap).search(query, plenty).result_cached
    assert naps == [0.05, 0.1, 0.2, 0.4, 0.4, 0.4]
    assert world.embedder.embedded == ["silk"]  # by the other search


def test_of_searches_whose_maker_failed_one_takes_over(world: CachedSearch) -> None:
    world.add("doc_1", "silk")
    query = Query(tenant=TENANT, text="silk")
    _hold_lock(world, query)

    def maker_fails(seconds: float) -> None:
        world.clock.advance(seconds)
        world.cache_store.forget_locks()

    found = world.service(sleep=maker_fails).search(query, plenty)
    assert (found.result_cached, world.searches, len(found.hits)) == (False, 1, 1)
    assert world.search().result_cached


def test_a_search_of_earlier_documents_is_not_waited_for(world: CachedSearch) -> None:
    world.add("doc_1", "silk")
    _hold_lock(world, Query(tenant=TENANT, text="silk"))
    world.add("doc_2", "silk too")

    def never(_: float) -> None:
        raise AssertionError("nothing to wait for")

    found = world.service(sleep=never).search(Query(tenant=TENANT, text="silk"), plenty)
    assert (found.result_cached, len(found.hits)) == (False, 2)


def test_a_page_too_large_for_the_store_leaves_no_lock(
    world: CachedSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.fakes.caches._LARGEST", 100)
    world.add("doc_1", LONG)

    def never(_: float) -> None:
        raise AssertionError("nothing to wait for")

    for _ in range(2):
        found = world.service(sleep=never).search(Query(tenant=TENANT, text="silk"), plenty)
        assert (found.result_cached, len(found.hits)) == (False, 1)


def test_a_search_that_fails_lets_the_next_one_try(world: CachedSearch) -> None:
    world.index.available = False
    with pytest.raises(DependencyUnavailable):
        world.search()
    world.index.available = True
    world.search()
    assert world.searches == 2


def _hold_lock(world: CachedSearch, query: Query) -> None:
    """Hold the lock of a query, as a running search in another process does."""

    class Stopped(BaseException):
        pass

    def stop(*_: Any) -> Any:
        raise Stopped

    unlock, world.cache_store.unlock = world.cache_store.unlock, lambda *_: None  # type: ignore[method-assign]
    search, world.index.search = world.index.search, stop  # type: ignore[method-assign]
    with pytest.raises(Stopped):
        world.service().search(query, plenty)
    world.cache_store.unlock = unlock  # type: ignore[method-assign]  # restored
    world.index.search = search  # type: ignore[method-assign]  # restored


# ---------------------------------------------------------------- Cursors


def test_a_cursor_goes_on_in_the_same_ranking_while_documents_are_added(
    world: CachedSearch,
) -> None:
    for number in range(7):
        world.add(f"doc_{number}", "silk " * (20 - number), domain="site.example")
    first = world.search(limit=3, collapse=False)
    for number in range(3):
        world.add(f"new_{number}", "silk " * 30)
    gone = world.documents.get(TENANT, "doc_4")
    assert gone is not None
    world.documents.commit(replace(gone, sequence=2, deleted_at=world.clock()), gone)
    second = world.search(limit=3, collapse=False, cursor=first.next_cursor)
    assert ids(first) + ids(second) == ["doc_0", "doc_1", "doc_2", "doc_3", "doc_5", "doc_6"]
    assert (second.next_cursor, second.total_count) == (None, 7)


@pytest.mark.parametrize("cursor", ["", "x", "0" * 32 + ".3", "0" * 32])
def test_what_is_no_cursor_or_has_expired_is_refused(world: CachedSearch, cursor: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        world.search(cursor=cursor)
    assert [each["path"] for each in refused.value.details["fields"]] == ["cursor"]


def test_a_cursor_of_another_search_or_tenant_is_refused(world: CachedSearch) -> None:
    for number in range(3):
        world.add(f"doc_{number}", "silk")
    cursor = world.search(limit=1).next_cursor
    for given in ({"text": "wool"}, {"tenant": "other"}, {"min_score": 0.2}):
        with pytest.raises(ValidationFailed):
            world.search(limit=1, cursor=cursor, **given)  # type: ignore[arg-type]  # of several types


def test_every_page_of_a_degraded_ranking_says_so(world: CachedSearch) -> None:
    for number in range(5):
        world.add(f"doc_{number}", "silk " * (9 - number))
    world.embedder.available = False
    first = world.search(limit=2, collapse=False)
    world.embedder.available = True
    second = world.search(limit=2, collapse=False, cursor=first.next_cursor)
    assert (first.degraded, second.degraded) == (True, True)
    assert not world.search(limit=2, collapse=False).degraded
    third = world.search(limit=2, collapse=False, cursor=second.next_cursor)
    assert ids(first) + ids(second) + ids(third) == [f"doc_{number}" for number in range(5)]


def test_a_cursor_goes_on_while_the_embedder_is_away(world: CachedSearch) -> None:
    for number in range(5):
        world.add(f"doc_{number}", "silk " * (9 - number))
    first = world.search(limit=2, collapse=False)
    world.embedder.available = False
    second = world.search(limit=2, collapse=False, cursor=first.next_cursor)
    assert not second.degraded
    assert len({*ids(first), *ids(second)}) == 4


def test_an_equal_search_with_another_ranking_leaves_an_open_cursor_its_own(
    world: CachedSearch,
) -> None:
    """The reranker is unavailable for the second search."""
    world.add("doc_1", "silk silk silk silk silk silk silk spiders")
    world.add("doc_2", "silk of spiders")
    world.add("doc_3", "wool and silk")
    given = {"text": "silk of spiders", "use_reranker": True, "collapse": False}
    whole = ids(world.search(**given))  # type: ignore[arg-type]  # of several types
    first = world.search(limit=1, **given)  # type: ignore[arg-type]  # of several types
    world.reranker.available = False
    other = world.search(limit=2, **given)  # type: ignore[arg-type]  # of several types
    world.reranker.available = True
    rest = world.search(limit=2, cursor=first.next_cursor, **given)  # type: ignore[arg-type]  # of several types
    assert ids(first) + ids(rest) == whole
    assert ids(other) != whole[:2]
    assert not rest.rerank_failed


# ---------------------------------------------------------------- Visibility


# covers S-03
def test_neighbours_come_with_a_hit_that_is_expanded(world: CachedSearch) -> None:
    world.add("doc_1", "one", "two silk", "three", "four")
    [hit] = world.search("silk", legs=(Leg.KEYWORD,), expand=True).hits
    assert [each.text for each in hit.around] == ["one", "three"]
    [hit] = world.search("four", legs=(Leg.KEYWORD,), expand=True).hits
    assert [each.text for each in hit.around] == ["three"]
    assert world.search("silk", legs=(Leg.KEYWORD,)).hits[0].around is None
    world.add("doc_2", "alone")
    for _ in ("made", "cached"):
        found = world.search("alone", legs=(Leg.KEYWORD,), expand=True)
        assert response_of(found, 0).results[0].expanded_chunks == []


def test_chunks_that_say_nearly_the_same_collapse(world: CachedSearch) -> None:
    world.add("doc_1", LONG)
    world.add("doc_2", LONG)
    world.add("doc_3", "quite another text about the same silk " * 5)
    found = world.search("sticky silk")
    assert sorted(ids(found)) == ["doc_1", "doc_3"]
    assert {hit.ranked.similar for hit in found.hits} == {0, 1}
    assert len(world.search("sticky silk", collapse=False).hits) == 3


def test_an_outdated_chunk_does_not_stand_for_the_current_one(world: CachedSearch) -> None:
    outdated = factories.indexed_chunk(
        LONG, document_id="doc_0", version=VERSION, signature=signature(LONG)
    )
    world.index.write([outdated], plenty)
    world.add("doc_1", LONG)
    assert ids(world.search("sticky silk")) == ["doc_1"]


def test_what_an_earlier_page_showed_does_not_come_again_on_a_later_one(
    world: CachedSearch,
) -> None:
    for name in ("doc_1", "doc_2", "doc_4"):
        world.add(name, LONG)
    world.add("doc_3", "quite another text about the same silk " * 5)
    first = world.search("sticky silk", limit=1)
    second = world.search("sticky silk", limit=5, cursor=first.next_cursor)
    assert sorted(ids(first) + ids(second)) == ["doc_1", "doc_3"]


def test_entries_that_follow_outdated_ones_have_their_texts(world: CachedSearch) -> None:
    """The search reads the chunks of the first page before it knows which are outdated."""
    for number in range(3):
        never = factories.indexed_chunk(
            "silk " * 9, document_id=f"doc_never_{number}", version=VERSION
        )
        world.index.write([never], plenty)
    for number in range(3):
        world.add(f"doc_{number}", "silk " * (5 - number))
    found = world.search(limit=3, collapse=False)
    assert [hit.chunk.text.count("silk") for hit in found.hits] == [5, 4, 3]


def test_outdated_chunks_never_fill_the_window(world: CachedSearch) -> None:
    """The outdated chunks are of versions that were never committed, and rank above the page."""
    for number in range(search_limits.SEARCH_WINDOW + 50):
        never = factories.indexed_chunk(
            "silk " * 9, document_id=f"doc_never_{number}", version=VERSION
        )
        world.index.write([never], plenty)
    world.add("doc_1", "silk among other words that make it rank below")
    assert ids(world.search()) == ["doc_1"]


def test_a_row_that_lost_its_label_is_no_hit_although_the_index_still_has_it(
    world: CachedSearch,
) -> None:
    world.add("doc_1", "silk", collection_id="col_1", tag_ids=("tag_1",))
    current = world.documents.get(TENANT, "doc_1")
    assert current is not None
    for filters in (Filters(collection_ids=("col_1",)), Filters(tag_ids=("tag_1",))):
        assert ids(world.search(filters=filters)) == ["doc_1"]
    world.documents.commit(replace(current, sequence=2, collection_id=None, tag_ids=()), current)
    for filters in (Filters(collection_ids=("col_1",)), Filters(tag_ids=("tag_1",))):
        assert ids(world.search(filters=filters)) == []


def test_a_query_beyond_the_model_s_window_is_cut_and_says_so(world: CachedSearch) -> None:
    world.add("doc_1", "silk")
    found = world.search("silk " + "word " * 100)
    assert (found.truncated, ids(found)) == (True, ["doc_1"])
    assert len(world.embedder.embedded[0].split()) == 32
    assert not world.search("silk").truncated
    assert world.search("蚕" * 1000).truncated


def test_a_query_that_the_embedder_refuses_is_searched_by_words(world: CachedSearch) -> None:
    def refused(*_: Any) -> Any:
        raise EmbeddingRefused("next to zero")

    world.add("doc_1", "silk")
    world.embedder.embed = refused  # type: ignore[method-assign]  # a model may refuse
    found = world.search()
    assert (found.degraded, ids(found)) == (True, ["doc_1"])


def test_the_vector_leg_alone_needs_the_embedder(world: CachedSearch) -> None:
    world.embedder.available = False
    with pytest.raises(DependencyUnavailable):
        world.search(legs=(Leg.VECTOR,))
    world.search(legs=(Leg.KEYWORD,))


# ---------------------------------------------------------------- Reranking


# covers S-03
def test_the_reranker_orders_the_first_candidates(world: CachedSearch) -> None:
    world.add("doc_1", "silk silk silk silk")
    world.add("doc_2", "silk of spiders")
    found = world.search("spiders silk", use_reranker=True)
    assert ids(found) == ["doc_2", "doc_1"]
    assert [hit.ranked.rerank_score for hit in found.hits] == [1.0, 0.5]
    assert [hit.ranked.score for hit in found.hits] == [1.0, 0.5]
    assert ids(world.search("spiders silk", use_reranker=True, min_score=0.6)) == ["doc_2"]


def test_hits_that_the_reranker_did_not_order_follow(world: CachedSearch) -> None:
    world.add("doc_1", "silk silk silk silk")
    world.add("doc_2", "silk of spiders")
    world.add("doc_3", "a thread of silk")
    fused = ids(world.search("spiders silk"))
    found = world.search("spiders silk", use_reranker=True, rerank_top_n=1)
    assert ids(found) == fused
    scores = [hit.ranked.rerank_score for hit in found.hits]
    assert scores[0] is not None
    assert scores[1:] == [None, None]
    page = world.search("spiders silk", use_reranker=True, rerank_top_n=1, limit=2)
    assert ids(page) == fused[:2]


def test_while_the_reranker_is_away_the_fused_order_stands_and_is_not_kept(
    world: CachedSearch,
) -> None:
    world.add("doc_1", "silk silk")
    world.add("doc_2", "silk of spiders")
    world.reranker.available = False
    found = world.search("spiders silk", use_reranker=True)
    assert found.rerank_failed
    assert ids(found) == ids(world.search("spiders silk"))
    world.reranker.available = True
    assert not world.search("spiders silk", use_reranker=True).rerank_failed


def test_a_stage_without_a_reranker_says_so(world: CachedSearch) -> None:
    query = Query(tenant=TENANT, text="silk", use_reranker=True)
    with pytest.raises(FeatureDisabled):
        world.service(reranker=None).search(query, plenty)


def test_a_cursor_that_names_a_cached_page_is_refused(world: CachedSearch) -> None:
    world.add("doc_1", "silk")
    world.search()
    query = Query(tenant=TENANT, text="silk")
    page = digest(query_fingerprint(query), world.embedder.info(plenty).model_id, query.limit)
    with pytest.raises(ValidationFailed, match="cursor"):
        world.search(cursor=cursor_at(page, 0))


# ---------------------------------------------------------------- Packing


def test_a_page_is_unpacked_as_it_was(world: CachedSearch) -> None:
    world.add("doc_1", "one", "Größe silk 🕸", "three")
    found = world.search("silk", expand=True)
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
