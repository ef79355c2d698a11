"""Contract tests of frontier stores: the fake, moto, and DynamoDB Local."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.web.exploring import limits
from spinneret.web.exploring.frontier.changes import CounterDelta, FrontierTransaction, PageUpdate
from spinneret.web.exploring.frontier.dynamo import DynamoFrontierStore
from spinneret.web.exploring.frontier.keys import key_of
from spinneret.web.exploring.frontier.models import (
    Crawl,
    CrawlRef,
    EndReason,
    FrontierPage,
    LinkCandidate,
    PageState,
    Plan,
    Strategy,
)
from spinneret.web.exploring.frontier.ports import FrontierStore, WriteConflict
from spinneret.web.exploring.scope import ScopeKind
from tests.contract import frontier_table
from tests.contract.backends import OF_AWS, OF_REAL_AWS, Tables
from tests.fakes.exploring import FakeFrontierStore
from tests.fakes.time import START

SECOND = timedelta(seconds=1)


@pytest.fixture
def store(tables: Tables | None) -> Iterator[FrontierStore]:
    if tables is None:
        yield FakeFrontierStore()
        return
    name = frontier_table.create(tables.client)
    yield DynamoFrontierStore(tables.client, name)
    tables.client.delete_table(TableName=name)


@pytest.fixture
def ref(tenant: str) -> CrawlRef:
    return CrawlRef(tenant=tenant, crawl_id="job_1")


@pytest.fixture
def crawl(store: FrontierStore, ref: CrawlRef) -> Crawl:
    """Provide a crawl without pages."""
    crawl = Crawl(ref=ref, plan=Plan(), roots=("https://site.example/",), begun_at=START)
    store.begin(crawl)
    return crawl


def page(number: int, **given: Any) -> FrontierPage:
    values: dict[str, Any] = {
        "url": f"https://site.example/{number}",
        "host": "site.example",
        "depth": 1,
        "state": PageState.WAITING,
        "rank": f"{number:05}",
        "discovered_at": START,
    }
    return FrontierPage(key=key_of(str(number)), **values | given)


FULL = page(
    0,
    url="https://site.example/" + "x" * 2000,
    state=PageState.FAILED,
    score=0.123,
    parent="https://site.example/" + "y" * 2000,
    batch=999_999,
    position=24,
    fence=7,
    attempts=3,
    due_at=START + SECOND,
    owner="worker",
    leased_until=START + 2 * SECOND,
    same_as=key_of("other"),
    link_chunks=2,
    links_fence=7,
    content_hash="ü#" * 100,
    final_url="https://site.example/" + "z" * 2000,
    status_code=404,
    fetch_ms=1250,
    document_id="doc_1",
    parts_key="T/acme/parts/1f.json",
    error_code="HTTP_ERROR",
    error_message="🕷" * 1000,
    finished_at=START + 3 * SECOND,
    skipped={"calendar": 3, "out_of_scope": 12},
)


def add(store: FrontierStore, crawl: Crawl, *pages: FrontierPage) -> None:
    for start in range(0, len(pages), 90):
        store.commit(crawl, FrontierTransaction(new=pages[start : start + 90]))


def moved(before: FrontierPage, **changes: Any) -> PageUpdate:
    return PageUpdate(before=before, after=replace(before, **changes))


# ---------------------------------------------------------------- The crawl


@OF_AWS
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"plan": Plan(strategy=Strategy.BEST_FIRST, keywords=("ü", "silk"), score_threshold=0.3)},
        {"plan": Plan(scope=ScopeKind.PREFIX, include=("/a/*",), exclude=("*.pdf", "?"))},
        {"plan": Plan(urls_per_host=5, batch_pages=3, max_depth=7, max_pages=9)},
        {"fence": 7, "batch": 3, "current_depth": 2, "discovered": 5, "crawled": 4, "failed": 1},
        {"ended_at": START + SECOND, "end_reason": EndReason.BUDGET},
        {"roots": tuple(f"https://{n}.example/{'x' * 2000}" for n in range(100))},
    ],
    ids=["plain", "scores", "scope", "bounds", "counters", "ended", "largest"],
)
def test_a_crawl_is_found_as_it_was_begun(
    store: FrontierStore, ref: CrawlRef, given: dict[str, Any]
) -> None:
    values: dict[str, Any] = {"plan": Plan(), "roots": ("https://a.example/",), "begun_at": START}
    crawl = Crawl(ref=ref, **values | given)
    assert store.crawl(ref) is None
    store.begin(crawl)
    assert store.crawl(ref) == crawl


@OF_AWS
def test_a_crawl_is_begun_once(store: FrontierStore, crawl: Crawl) -> None:
    with pytest.raises(WriteConflict):
        store.begin(replace(crawl, begun_at=START + SECOND))
    assert store.crawl(crawl.ref) == crawl


@OF_AWS
def test_counters_add_up(store: FrontierStore, crawl: Crawl) -> None:
    store.commit(crawl, FrontierTransaction(plus=CounterDelta(discovered=2, crawled=1)))
    store.commit(crawl, FrontierTransaction(plus=CounterDelta(discovered=3, failed=1)))
    assert store.crawl(crawl.ref) == replace(crawl, discovered=5, crawled=1, failed=1)


@OF_AWS
def test_a_drivers_change_leaves_the_counters_of_others(store: FrontierStore, crawl: Crawl) -> None:
    store.commit(crawl, FrontierTransaction(plus=CounterDelta(crawled=4)))
    after = replace(crawl, fence=2, batch=1, current_depth=3)
    store.commit(
        crawl, FrontierTransaction(before=crawl, after=after, plus=CounterDelta(discovered=1))
    )
    assert store.crawl(crawl.ref) == replace(after, crawled=4, discovered=1)


@OF_AWS
@pytest.mark.parametrize("counter", ["discovered", "crawled", "failed"])
@pytest.mark.parametrize("writes", [True, False], ids=["writes", "only asks"])
def test_a_driver_that_counted_before_a_page_ended_changes_nothing(
    store: FrontierStore, crawl: Crawl, counter: str, writes: bool
) -> None:
    store.commit(crawl, FrontierTransaction(plus=CounterDelta(**{counter: 1})))
    counted = replace(crawl, **{counter: 1})  # type: ignore[arg-type]  # the name of a number

    def change(before: Crawl, of: FrontierPage) -> FrontierTransaction:
        after = replace(before, batch=9) if writes else before
        return FrontierTransaction(before=before, after=after, counted=True, new=(of,))

    with pytest.raises(WriteConflict):
        store.commit(crawl, change(crawl, page(1)))
    assert store.crawl(crawl.ref) == counted
    store.commit(counted, change(counted, page(2)))
    assert store.find(crawl.ref, [page(1).key, page(2).key]) == {page(2).key: page(2)}


@OF_AWS
def test_a_crawl_ends_and_is_reopened(store: FrontierStore, crawl: Crawl) -> None:
    after = replace(crawl, ended_at=START + SECOND, end_reason=EndReason.EXHAUSTED)
    store.commit(crawl, FrontierTransaction(before=crawl, after=after))
    assert store.crawl(crawl.ref) == after
    store.commit(after, FrontierTransaction(before=after, after=crawl))
    assert store.crawl(crawl.ref) == crawl


@OF_AWS
@pytest.mark.parametrize("wrong", [{"fence": 1}, {"batch": 1}])
@pytest.mark.parametrize("writes", [True, False], ids=["writes", "only asks"])
def test_a_driver_that_was_overtaken_changes_nothing(
    store: FrontierStore, crawl: Crawl, wrong: dict[str, int], writes: bool
) -> None:
    before = replace(crawl, **wrong)  # type: ignore[arg-type]  # the names of numbers
    after = replace(before, batch=9) if writes else before
    with pytest.raises(WriteConflict):
        store.commit(crawl, FrontierTransaction(before=before, after=after, new=(page(1),)))
    assert store.crawl(crawl.ref) == crawl
    assert not store.find(crawl.ref, [page(1).key])


@OF_AWS
def test_a_crawl_that_was_not_begun_has_no_rows(store: FrontierStore, ref: CrawlRef) -> None:
    crawl = Crawl(ref=ref, plan=Plan(), roots=(), begun_at=START)
    with pytest.raises(WriteConflict):
        store.commit(crawl, FrontierTransaction(plus=CounterDelta(discovered=1), new=(page(1),)))
    assert store.crawl(ref) is None
    assert store.find(ref, [page(1).key]) == {}
    assert store.first(ref, PageState.WAITING, 5) == ()


# ---------------------------------------------------------------- Pages


@OF_AWS
@pytest.mark.parametrize("given", [page(0), FULL], ids=["plain", "full"])
def test_a_page_is_found_as_it_was_added(
    store: FrontierStore, crawl: Crawl, given: FrontierPage
) -> None:
    add(store, crawl, given)
    assert store.find(crawl.ref, [given.key, key_of("unknown")]) == {given.key: given}
    assert store.first(crawl.ref, given.state, 5) == (given,)


@pytest.mark.heavy
@OF_AWS
def test_any_number_of_pages_is_found(store: FrontierStore, crawl: Crawl) -> None:
    pages = [page(number) for number in range(250)]
    add(store, crawl, *pages)
    keys = [each.key for each in pages]
    assert store.find(crawl.ref, [*keys, *keys]) == {each.key: each for each in pages}
    assert store.find(crawl.ref, []) == {}


@OF_AWS
def test_a_page_is_added_once_and_all_or_none_are(store: FrontierStore, crawl: Crawl) -> None:
    add(store, crawl, page(1))
    with pytest.raises(WriteConflict):
        add(store, crawl, page(2), page(1, depth=5))
    assert store.find(crawl.ref, [page(2).key, page(1).key]) == {page(1).key: page(1)}


@OF_AWS
def test_a_page_moves(store: FrontierStore, crawl: Crawl) -> None:
    add(store, crawl, page(1))
    move = moved(page(1), state=PageState.OPEN, batch=1, due_at=START)
    store.commit(crawl, FrontierTransaction(moves=(move,)))
    assert store.find(crawl.ref, [page(1).key]) == {page(1).key: move.after}
    assert store.first(crawl.ref, PageState.WAITING, 5) == ()
    assert store.first(crawl.ref, PageState.OPEN, 5) == (move.after,)


@OF_AWS
@pytest.mark.parametrize(
    "standing", [{"state": PageState.OPEN}, {"fence": 1}, {"depth": 2}], ids=str
)
@pytest.mark.parametrize("as_move", [True, False], ids=["move", "standing"])
def test_a_page_that_has_changed_stops_everything(
    store: FrontierStore, crawl: Crawl, standing: dict[str, Any], as_move: bool
) -> None:
    add(store, crawl, page(1, **standing))
    change = FrontierTransaction(moves=(moved(page(1), attempts=1),))
    if not as_move:
        change = FrontierTransaction(standing=(page(1),))
    with pytest.raises(WriteConflict):
        store.commit(crawl, replace(change, new=(page(2),), plus=CounterDelta(discovered=1)))
    assert store.find(crawl.ref, [page(1).key, page(2).key]) == {page(1).key: page(1, **standing)}
    assert store.crawl(crawl.ref) == crawl


@OF_AWS
def test_a_single_move_of_a_page_that_has_changed_is_refused(
    store: FrontierStore, crawl: Crawl
) -> None:
    add(store, crawl, page(1, fence=3))
    with pytest.raises(WriteConflict):
        store.commit(crawl, FrontierTransaction(moves=(moved(page(1), fence=1),)))
    assert store.find(crawl.ref, [page(1).key])[page(1).key].fence == 3


@OF_AWS
def test_a_page_that_is_unknown_can_not_move(store: FrontierStore, crawl: Crawl) -> None:
    with pytest.raises(WriteConflict):
        store.commit(crawl, FrontierTransaction(moves=(moved(page(1), fence=1),)))
    assert store.find(crawl.ref, [page(1).key]) == {}


@OF_AWS
def test_a_page_that_stands_lets_a_change_happen(store: FrontierStore, crawl: Crawl) -> None:
    add(store, crawl, page(1))
    store.commit(crawl, FrontierTransaction(standing=(page(1),), new=(page(2),)))
    assert len(store.find(crawl.ref, [page(1).key, page(2).key])) == 2


@OF_AWS
def test_the_largest_change_happens_at_once(store: FrontierStore, crawl: Crawl) -> None:
    old = page(1000)
    add(store, crawl, old)
    new = tuple(page(number) for number in range(88))
    change = FrontierTransaction(
        plus=CounterDelta(discovered=88),
        before=crawl,
        after=replace(crawl, fence=1),
        new=new,
        moves=(moved(old, attempts=1),),
        used={f"host:{number}": (0, 1) for number in range(9)},
        contents={"content": old.key},
    )
    store.commit(crawl, change)
    assert len(store.find(crawl.ref, [each.key for each in new])) == 88


# ---------------------------------------------------------------- Order and lists


@OF_AWS
def test_waiting_pages_come_by_rank_and_others_by_batch_and_position(
    store: FrontierStore, crawl: Crawl
) -> None:
    waiting = [page(number, rank=rank) for number, rank in enumerate(["b", "a", "c"])]
    taken = [
        page(10, state=PageState.OPEN, rank="a", batch=2, position=10),
        page(11, state=PageState.OPEN, rank="b", batch=10, position=0),
        page(12, state=PageState.OPEN, rank="c", batch=2, position=9),
    ]
    add(store, crawl, *waiting, *taken)
    assert store.first(crawl.ref, PageState.WAITING, 2) == (waiting[1], waiting[0])
    assert store.first(crawl.ref, PageState.OPEN, 9) == (taken[2], taken[0], taken[1])


@OF_AWS
@pytest.mark.parametrize("state", [PageState.CRAWLED, None], ids=["one state", "all"])
def test_pages_are_listed_without_a_gap(
    store: FrontierStore, crawl: Crawl, state: PageState | None
) -> None:
    crawled = [page(n, state=PageState.CRAWLED, batch=1, position=n % 2) for n in range(5)]
    others = [page(10, state=PageState.FAILED), page(11)]
    add(store, crawl, *crawled, *others)
    wanted = crawled if state else [*crawled, *others]
    for limit in (1, 2, len(wanted), len(wanted) + 1):
        found: list[FrontierPage] = []
        after = None
        while True:
            part = store.pages(crawl.ref, state, after, limit)
            assert len(part.pages) <= limit
            found += part.pages
            after = part.after
            if after is None:
                break
        assert len(found) == len(wanted)
        assert {each.key for each in found} == {each.key for each in wanted}
        assert state is None or [each.position for each in found] == [0, 0, 0, 1, 1]


@pytest.mark.heavy
@OF_AWS
def test_pages_of_over_a_megabyte_are_listed_all(store: FrontierStore, crawl: Crawl) -> None:
    large = [replace(FULL, key=key_of(str(number))) for number in range(180)]
    add(store, crawl, *large)
    assert len(store.first(crawl.ref, PageState.FAILED, 200)) == 180


# ---------------------------------------------------------------- Links, quotas, contents


def link(number: int, **given: Any) -> LinkCandidate:
    url = f"https://site.example/{number}?{'x' * 1500}"
    values: dict[str, Any] = {"key": key_of(url), "url": url, "host": "site.example"}
    return LinkCandidate(**values | given)


@OF_AWS
@pytest.mark.parametrize("count", [0, 1, 1000])
def test_the_links_of_a_page_are_read_in_their_order(
    store: FrontierStore, crawl: Crawl, count: int
) -> None:
    links = tuple(link(n, score=n / 1000, calendar=key_of("c")) for n in range(count))
    chunks = store.keep_links(crawl, page(1, fence=3), links)
    named = page(1, fence=4, links_fence=3, link_chunks=chunks)
    other = page(2)
    assert store.merge_input(crawl.ref, [named, other], ()).links == {
        named.key: links,
        other.key: (),
    }


@OF_AWS
def test_links_of_another_claim_are_not_the_pages(store: FrontierStore, crawl: Crawl) -> None:
    chunks = store.keep_links(crawl, page(1, fence=3), [link(1), link(2, score=None)])
    store.keep_links(crawl, page(1, fence=2), [link(n) for n in range(900)])
    store.keep_links(crawl, page(1, fence=3), [link(1), link(2, score=None)])
    named = page(1, links_fence=3, link_chunks=chunks)
    assert store.merge_input(crawl.ref, [named], ()).links == {named.key: (link(1), link(2))}


@OF_AWS
def test_quotas_are_used_up_together_with_what_uses_them(
    store: FrontierStore, crawl: Crawl
) -> None:
    quotas = ["host:a.example", "calendar:ü#"]
    assert store.used(crawl.ref, quotas) == {}
    store.commit(crawl, FrontierTransaction(new=(page(1),), used={quotas[0]: (0, 2)}))
    store.commit(crawl, FrontierTransaction(used={quotas[0]: (2, 3), quotas[1]: (0, 1)}))
    assert store.used(crawl.ref, quotas) == {quotas[0]: 3, quotas[1]: 1}
    with pytest.raises(WriteConflict):
        store.commit(crawl, FrontierTransaction(new=(page(2),), used={quotas[0]: (0, 1)}))
    assert store.find(crawl.ref, [page(2).key]) == {}
    assert store.used(crawl.ref, []) == {}


@OF_AWS
def test_a_content_belongs_to_the_first_page_that_has_it(
    store: FrontierStore, crawl: Crawl
) -> None:
    hashes = ["sha256-ü#", "other"]
    assert store.merge_input(crawl.ref, (), hashes).originals == {}
    store.commit(crawl, FrontierTransaction(contents={hashes[0]: page(1).key}, new=(page(1),)))
    with pytest.raises(WriteConflict):
        store.commit(crawl, FrontierTransaction(contents={hashes[0]: page(2).key}, new=(page(2),)))
    assert store.merge_input(crawl.ref, (), hashes).originals == {hashes[0]: page(1).key}
    assert store.find(crawl.ref, [page(2).key]) == {}


@OF_AWS
def test_links_and_contents_are_read_at_once(store: FrontierStore, crawl: Crawl) -> None:
    links = tuple(link(n) for n in range(1000))
    named = page(
        1, fence=3, links_fence=3, link_chunks=store.keep_links(crawl, page(1, fence=3), links)
    )
    store.commit(crawl, FrontierTransaction(contents={"known": named.key}, new=(page(1),)))
    found = store.merge_input(crawl.ref, [named, page(2)], ["known", "new"])
    assert found.links == {named.key: links, page(2).key: ()}
    assert found.originals == {"known": named.key}
    empty = store.merge_input(crawl.ref, (), ())
    assert (empty.links, empty.originals) == ({}, {})


@OF_AWS
def test_crawls_do_not_see_each_others_rows(store: FrontierStore, crawl: Crawl) -> None:
    others = [
        replace(crawl, ref=CrawlRef(tenant=f"{crawl.ref.tenant}x", crawl_id="job_1")),
        replace(crawl, ref=CrawlRef(tenant=crawl.ref.tenant, crawl_id="job_11")),
    ]
    add(store, crawl, page(1))
    store.commit(crawl, FrontierTransaction(used={"q": (0, 1)}, contents={"c": "k"}))
    for other in others:
        store.begin(other)
        assert store.find(other.ref, [page(1).key]) == {}
        assert store.first(other.ref, PageState.WAITING, 5) == ()
        assert store.pages(other.ref, None, None, 5).pages == ()
        assert store.used(other.ref, ["q"]) == {}
        assert store.merge_input(other.ref, (), ["c"]).originals == {}
        assert store.crawl(other.ref) == other


@OF_AWS
def test_all_the_links_of_the_largest_page_are_kept(store: FrontierStore, crawl: Crawl) -> None:
    links = tuple(link(number) for number in range(limits.FRONTIER_LINKS_PER_PAGE))
    chunks = store.keep_links(crawl, page(1), links)
    named = page(1, link_chunks=chunks)
    assert store.merge_input(crawl.ref, [named], ()).links == {named.key: links}


# ---------------------------------------------------------------- Only on AWS


@OF_REAL_AWS
def test_every_read_is_consistent(tables: Tables, ref: CrawlRef) -> None:
    """If a read missed a new page, the crawl would conclude that the page doesn't exist."""
    name = frontier_table.create(tables.client)
    requests: list[dict[str, Any]] = []

    def watch(params: dict[str, Any], model: Any, **_: Any) -> None:
        if model.name in {"GetItem", "Query"}:
            requests.append(params)
        elif model.name == "BatchGetItem":
            requests.extend(params["RequestItems"].values())

    store = DynamoFrontierStore(tables.client, name)
    crawl = Crawl(ref=ref, plan=Plan(), roots=(), begun_at=START)
    store.begin(crawl)
    add(store, crawl, page(1))
    chunks = store.keep_links(crawl, page(1), (link(2),))
    event = "before-parameter-build.dynamodb"
    tables.client.meta.events.register(event, watch, unique_id="watch")
    try:
        store.crawl(ref)
        store.find(ref, [page(1).key])
        store.first(ref, PageState.WAITING, 1)
        store.pages(ref, None, None, 1)
        store.merge_input(ref, [page(1, link_chunks=chunks)], ["content"])
        store.used(ref, ["quota"])
    finally:
        tables.client.meta.events.unregister(event, unique_id="watch")
        tables.client.delete_table(TableName=name)
    assert len(requests) == 6
    assert all(request.get("ConsistentRead") for request in requests)


class _Repeated:
    """A client that sends every put twice, as the SDK does after a lost response."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def put_item(self, **request: Any) -> Any:
        self._client.put_item(**request)
        return self._client.put_item(**request)


@OF_REAL_AWS
def test_a_write_whose_answer_is_lost_recognises_itself(tables: Tables, ref: CrawlRef) -> None:
    name = frontier_table.create(tables.client)
    store = DynamoFrontierStore(_Repeated(tables.client), name)  # type: ignore[arg-type]  # a client
    crawl = Crawl(ref=ref, plan=Plan(), roots=(), begun_at=START)
    store.begin(crawl)
    before = replace(FULL, state=PageState.WAITING)
    add(store, crawl, before)
    after = replace(before, fence=8, owner="next", score=0.5, skipped={"max_depth": 1})
    store.commit(crawl, FrontierTransaction(moves=(PageUpdate(before=before, after=after),)))
    assert store.find(ref, [after.key]) == {after.key: after}
    with pytest.raises(WriteConflict):
        store.commit(crawl, FrontierTransaction(moves=(PageUpdate(before=before, after=before),)))
    tables.client.delete_table(TableName=name)
