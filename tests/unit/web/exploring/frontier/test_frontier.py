"""Edge cases of the frontier: redirects, quotas, bounds, refusals."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.kernel import bounds
from spinneret.kernel.errors import LeaseLost, NotFound, UrlInvalid, ValidationFailed
from spinneret.web.exploring import limits
from spinneret.web.exploring.frontier.changes import FrontierTransaction
from spinneret.web.exploring.frontier.merging import FrontierView, merged
from spinneret.web.exploring.frontier.models import (
    Batch,
    Crawl,
    CrawlRef,
    Deferred,
    Ended,
    EndReason,
    Failed,
    Fetched,
    FoundLink,
    FrontierPage,
    FrontierWait,
    LinkCandidate,
    Next,
    PageLease,
    PageState,
    Plan,
    Redirected,
    RedirectRefused,
    Strategy,
)
from spinneret.web.exploring.frontier.service import Frontier
from spinneret.web.exploring.scope import ScopeKind
from spinneret.web.fetching.urls import parse_url
from tests.fakes.crashes import Crash
from tests.fakes.exploring import FakeFrontierStore
from tests.fakes.time import START, HandClock

REF = CrawlRef(tenant="acme", crawl_id="job_1")
SITE = "https://site.example"
MINUTE = timedelta(minutes=1)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def store() -> FakeFrontierStore:
    return FakeFrontierStore()


@pytest.fixture
def frontier(store: FakeFrontierStore, clock: HandClock) -> Frontier:
    return Frontier(store=store, clock=clock)


def begun(frontier: Frontier, *urls: str, **plan: Any) -> Batch:
    frontier.begin(REF, Plan(**plan), urls or (f"{SITE}/",), fence=1)
    batch = frontier.next_batch(REF, fence=1)
    assert isinstance(batch, Batch)
    return batch


def claimed(frontier: Frontier, key: str, owner: str = "worker") -> PageLease:
    visit = frontier.claim(REF, key, owner, frontier.clock() + MINUTE)
    assert visit is not None
    return visit


def fetched(frontier: Frontier, batch: Batch, *links: str, **outcome: Any) -> Next:
    """Record each page of the batch as fetched, with these links; return the next batch or end."""
    found = tuple(FoundLink(url=SITE + link if link[:1] == "/" else link) for link in links)
    for key in batch.keys:
        frontier.record(claimed(frontier, key), Fetched(links=found, **outcome))
    return frontier.next_batch(REF, fence=1)


def rows(frontier: Frontier, state: PageState | None = None) -> list[FrontierPage]:
    return list(frontier.pages(REF, state, None, 1000).pages)


def urls(frontier: Frontier, state: PageState | None = None) -> set[str]:
    return {page.url.removeprefix(SITE) for page in rows(frontier, state)}


# ---------------------------------------------------------------- The plan


@pytest.mark.parametrize(
    ("plan", "field"),
    [
        ({"max_depth": -1}, "max_depth"),
        ({"max_depth": bounds.CRAWL_DEPTH_MAX + 1}, "max_depth"),
        ({"max_pages": 0}, "max_pages"),
        ({"max_pages": bounds.CRAWL_PAGES_MAX + 1}, "max_pages"),
        ({"batch_pages": 0}, "batch_pages"),
        ({"batch_pages": limits.CRAWL_BATCH_PAGES + 1}, "batch_pages"),
        ({"score_threshold": 1.1}, "score_threshold"),
        ({"score_threshold": float("nan")}, "score_threshold"),
        ({"keywords": ("x",) * (bounds.CRAWL_KEYWORDS_MAX + 1)}, "keywords"),
        ({"keywords": ("x" * (bounds.CRAWL_KEYWORD_MAX_CHARS + 1),)}, "keywords"),
        ({"keywords": ("",)}, "keywords"),
        ({"urls_per_host": 0}, "urls_per_host"),
        ({"include": ("",)}, "include.0"),
        ({"exclude": ("/a", "***")}, "exclude.1"),
    ],
)
def test_a_plan_out_of_range_is_refused_by_its_field(
    frontier: Frontier, store: FakeFrontierStore, plan: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        frontier.begin(REF, Plan(**plan), [SITE], fence=1)
    assert [each["path"] for each in refused.value.details["fields"]] == [field]
    assert store.crawl(REF) is None


@pytest.mark.parametrize("count", [0, bounds.CRAWL_SEEDS_MAX + 1])
def test_a_crawl_begins_with_a_bounded_number_of_urls(frontier: Frontier, count: int) -> None:
    with pytest.raises(ValidationFailed):
        frontier.begin(REF, Plan(), [SITE] * count, fence=1)


def test_more_start_urls_than_a_crawl_begins_with_are_added_before_its_first_batch(
    frontier: Frontier,
) -> None:
    many = [f"{SITE}/{number}" for number in range(bounds.CRAWL_SEEDS_MAX + 150)]
    frontier.begin(REF, Plan(), [SITE], fence=1)
    for _ in range(2):
        frontier.add(REF, many, fence=1)
    assert frontier.crawl(REF).discovered == len(many) + 1
    assert [page.url for page in rows(frontier, PageState.WAITING)] == [f"{SITE}/", *many]
    assert isinstance(frontier.next_batch(REF, fence=1), Batch)
    frontier.add(REF, [f"{SITE}/late"], fence=1)
    assert frontier.crawl(REF).discovered == len(many) + 1


def test_start_urls_are_added_by_the_driver_alone(frontier: Frontier) -> None:
    frontier.begin(REF, Plan(), [SITE], fence=2)
    with pytest.raises(LeaseLost):
        frontier.add(REF, [f"{SITE}/a"], fence=1)


def test_a_crawl_does_not_begin_with_what_is_no_url(frontier: Frontier) -> None:
    with pytest.raises(UrlInvalid):
        frontier.begin(REF, Plan(), ["ftp://site.example/"], fence=1)


def test_an_unknown_crawl_is_not_found(frontier: Frontier) -> None:
    for ask in (
        lambda: frontier.next_batch(REF, fence=1),
        lambda: frontier.crawl(REF),
        lambda: frontier.claim(REF, "key", "worker", START),
        lambda: frontier.pages(REF, None, None, 5),
    ):
        with pytest.raises(NotFound):
            ask()


def test_a_crawl_is_shown_until_thirty_days_after_its_end(
    frontier: Frontier, clock: HandClock
) -> None:
    batch = begun(frontier)
    clock.advance(9 * 24 * 3600)
    assert fetched(frontier, batch) == Ended(EndReason.EXHAUSTED)
    clock.advance(bounds.JOB_RETENTION_SECONDS - 1)
    assert rows(frontier)
    clock.advance(1)
    with pytest.raises(NotFound):
        rows(frontier)


def test_a_crawl_that_lasts_too_long_ends(frontier: Frontier, clock: HandClock) -> None:
    batch = begun(frontier)
    clock.advance(bounds.FRONTIER_SECONDS)
    assert fetched(frontier, batch, "/a") == Ended(EndReason.EXPIRED)


@pytest.mark.parametrize("cursor", ["", "x", "0" * 32 + "/W#1", "0" * 32])
def test_a_cursor_of_another_list_is_refused(frontier: Frontier, cursor: str) -> None:
    begun(frontier)
    with pytest.raises(ValidationFailed):
        frontier.pages(REF, PageState.FAILED, cursor, 5)


# ---------------------------------------------------------------- Links


def test_links_that_do_not_belong_are_left_out_and_counted(frontier: Frontier) -> None:
    batch = begun(frontier, include=("/", "/a/**"), exclude=("*.pdf",))
    links = [
        *("/a/1", "/a/1#top", "/a/1/", "/a/x.pdf", "/b", "https://other.example/", "mailto:x"),
        *("/a/x/x/x", "/a/2031/05"),
    ]
    fetched(frontier, batch, *links)
    assert urls(frontier) == {"/", "/a/1"}
    [start] = rows(frontier, PageState.CRAWLED)
    assert start.skipped == {
        "calendar": 1,
        "excluded": 1,
        "not_a_url": 1,
        "not_included": 1,
        "out_of_scope": 1,
        "repeated_segments": 1,
    }


def test_the_url_that_is_found_first_is_the_one_that_is_fetched(frontier: Frontier) -> None:
    batch = begun(frontier)
    fetched(frontier, batch, "/a/?b=2&a=1", "/a?a=1&b=2", "/a?a=1&b=2&PHPSESSID=0123")
    assert urls(frontier, PageState.OPEN) == {"/a/?b=2&a=1"}


def test_a_start_is_crawled_wherever_it_is_and_once(frontier: Frontier) -> None:
    batch = begun(frontier, f"{SITE}/docs/", f"{SITE}/docs", f"{SITE}/a/a/a", exclude=("/docs",))
    assert len(batch.keys) == 2


def test_links_deeper_than_the_plan_are_counted(frontier: Frontier) -> None:
    batch = begun(frontier, max_depth=0)
    assert fetched(frontier, batch, "/a", "/b") == Ended(EndReason.EXHAUSTED)
    [start] = rows(frontier)
    assert start.skipped == {"max_depth": 2}


def test_of_a_page_so_many_links_are_followed(
    frontier: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "FRONTIER_LINKS_PER_PAGE", 2)
    fetched(frontier, begun(frontier), "/a", "/b", "/a", "/c")
    assert urls(frontier) == {"/", "/a", "/b"}
    [start] = rows(frontier, PageState.CRAWLED)
    assert start.skipped == {"too_many_links": 1}


def test_a_full_frontier_takes_no_more(frontier: Frontier, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FRONTIER_URLS_MAX", 3)
    fetched(frontier, begun(frontier), "/a", "/b", "/c", "/d")
    assert urls(frontier) == {"/", "/a", "/b"}
    [start] = rows(frontier, PageState.CRAWLED)
    assert start.skipped == {"frontier_full": 2}


def test_a_page_with_more_links_than_a_change_holds_is_merged_whole(frontier: Frontier) -> None:
    links = [f"/{number}" for number in range(limits.FRONTIER_ROWS_PER_WRITE * 2 + 5)]
    fetched(frontier, begun(frontier), *links)
    assert urls(frontier) == {"/", *links}
    assert frontier.crawl(REF).discovered == len(links) + 1


@pytest.mark.parametrize("written", [1, 2, 3])
def test_a_driver_that_dies_between_two_changes_of_a_page_loses_none_of_its_links(
    written: int, frontier: Frontier, store: FakeFrontierStore
) -> None:
    links = [f"/{number}" for number in range(limits.FRONTIER_ROWS_PER_WRITE * 2 + 5)]
    left = [written]

    def die(change: FrontierTransaction) -> None:
        left[0] -= bool(change.new)
        if not left[0]:
            store.after_commit = None
            raise Crash("driver")

    batch = begun(frontier)
    store.after_commit = die
    with pytest.raises(Crash):
        fetched(frontier, batch, *links)
    frontier.next_batch(REF, fence=2)
    assert urls(frontier) == {"/", *links}
    assert frontier.crawl(REF).discovered == len(links) + 1


def test_a_host_has_a_quota(frontier: Frontier) -> None:
    batch = begun(frontier, scope=ScopeKind.DOMAIN, urls_per_host=2)
    fetched(
        frontier, batch, "https://a.site.example/1", "https://a.site.example/2",
        "https://a.site.example/3", "https://b.site.example/1",
    )  # fmt: skip
    assert len(rows(frontier)) == 4
    [start] = rows(frontier, PageState.CRAWLED)
    assert start.skipped == {"host_quota": 1}


def test_a_calendar_ends(frontier: Frontier, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CALENDAR_URLS_MAX", 5)
    step: Next = begun(frontier, max_depth=100, max_pages=100)
    months = [f"/events/{2020 + n // 12}/{n % 12 + 1:02}" for n in range(70)]
    turn = 0
    while isinstance(step, Batch):
        step = fetched(frontier, step, months[turn], "/about")
        turn += 1
    assert urls(frontier) == {"/", "/about", *months[:5]}


# ---------------------------------------------------------------- Duplicates and redirects


def test_the_links_of_a_page_with_known_content_are_not_followed(frontier: Frontier) -> None:
    step = fetched(frontier, begun(frontier), "/a", "/b")
    assert isinstance(step, Batch)
    for number, key in enumerate(step.keys):
        links = (FoundLink(url=f"{SITE}/from-{number}"),)
        frontier.record(claimed(frontier, key), Fetched(links=links, content_hash="same"))
    frontier.next_batch(REF, fence=1)
    assert urls(frontier, PageState.OPEN) == {"/from-0"}
    [copy] = [page for page in rows(frontier) if page.same_as]
    assert (copy.state, copy.skipped) == (PageState.CRAWLED, {"same_content": 1})
    assert frontier.crawl(REF).crawled == 3


def test_a_page_is_as_near_as_the_nearest_that_has_its_content(frontier: Frontier) -> None:
    step: Next = begun(frontier, strategy=Strategy.DFS, batch_pages=1)
    links = {"/": ("/a", "/same"), "/a": ("/deep",)}
    hashes = {"/deep": "same", "/same": "same"}
    while isinstance(step, Batch):
        path = step.pages[0].url.removeprefix(SITE)
        step = fetched(frontier, step, *links.get(path, ()), content_hash=hashes.get(path))
    depths = {page.url.removeprefix(SITE): page.depth for page in rows(frontier)}
    assert depths == {"/": 0, "/a": 1, "/same": 1, "/deep": 1}


def test_a_redirect_to_a_new_page_is_followed_and_that_page_is_known_from_then_on(
    frontier: Frontier,
) -> None:
    batch = begun(frontier)
    visit = claimed(frontier, batch.keys[0])
    gate = frontier.redirects(visit)
    gate(parse_url(f"{SITE}/en"))
    gate(parse_url(f"{SITE}/en/"))
    frontier.record(visit, Fetched(links=(FoundLink(url=f"{SITE}/en"),), final_url=f"{SITE}/en/"))
    assert frontier.next_batch(REF, fence=1) == Ended(EndReason.EXHAUSTED)
    [alias] = rows(frontier, PageState.DUPLICATE)
    assert alias.same_as == batch.keys[0]


def test_a_redirect_to_a_page_that_waits_takes_it(frontier: Frontier) -> None:
    step = fetched(frontier, begun(frontier, batch_pages=1), "/a", "/b")
    assert isinstance(step, Batch)
    visit = claimed(frontier, step.keys[0])
    frontier.redirects(visit)(parse_url(f"{SITE}/b"))
    frontier.record(visit, Fetched())
    assert frontier.next_batch(REF, fence=1) == Ended(EndReason.EXHAUSTED)
    assert frontier.crawl(REF).discovered == 3


@pytest.mark.parametrize("deferred", [False, True], ids=["at once", "at the second visit"])
def test_a_redirect_to_a_nearer_page_that_waits_makes_its_page_as_near(
    frontier: Frontier, clock: HandClock, deferred: bool
) -> None:
    """DFS visits /far, two links from the start, before /near; /far then redirects to /near."""
    batch = begun(frontier, strategy=Strategy.DFS, max_depth=2, batch_pages=1)
    step = fetched(frontier, batch, "/first", "/near")
    step = fetched(frontier, step, "/far")  # type: ignore[arg-type]  # the batch of /first
    assert isinstance(step, Batch)
    visit = claimed(frontier, step.keys[0])
    frontier.redirects(visit)(parse_url(f"{SITE}/near"))
    if deferred:
        frontier.record(visit, Deferred(until=clock(), error_code="HOST_BUSY"))
        visit = claimed(frontier, step.keys[0], "next")
        gate = frontier.redirects(visit)
        gate(parse_url(f"{SITE}/near"))
        gate(parse_url(f"{SITE}/near/"))
    frontier.record(visit, Fetched(links=(FoundLink(url=f"{SITE}/behind"),)))
    step = frontier.next_batch(REF, fence=1)
    assert isinstance(step, Batch)
    assert claimed(frontier, step.keys[0]).page.url == f"{SITE}/behind"
    [far] = [page for page in rows(frontier) if page.url == f"{SITE}/far"]
    assert (far.depth, far.parent) == (1, f"{SITE}/")


def test_a_redirect_to_a_page_as_near_leaves_its_page_where_it_was_found(
    frontier: Frontier,
) -> None:
    batch = begun(frontier, f"{SITE}/one", f"{SITE}/two", batch_pages=1)
    step = fetched(frontier, batch, "/here")
    step = fetched(frontier, step, "/there")  # type: ignore[arg-type]  # the batch of /two
    assert isinstance(step, Batch)
    visit = claimed(frontier, step.keys[0])
    frontier.redirects(visit)(parse_url(f"{SITE}/there"))
    [here] = [page for page in rows(frontier) if page.url == f"{SITE}/here"]
    assert (here.depth, here.parent) == (1, f"{SITE}/one")


def test_a_redirect_to_a_known_page_is_not_followed(frontier: Frontier) -> None:
    step = fetched(frontier, begun(frontier), "/a", "/b")
    assert isinstance(step, Batch)
    visit = claimed(frontier, step.keys[0])
    with pytest.raises(RedirectRefused) as refused:
        frontier.redirects(visit)(parse_url(f"{SITE}/b?"))
    assert refused.value.outcome == Redirected(to=step.keys[1], final_url=f"{SITE}/b")
    frontier.record(visit, refused.value.outcome)
    frontier.record(claimed(frontier, step.keys[1]), Fetched())
    assert frontier.next_batch(REF, fence=1) == Ended(EndReason.EXHAUSTED)
    crawl = frontier.crawl(REF)
    assert (crawl.discovered, crawl.crawled, crawl.failed) == (3, 2, 0)


@pytest.mark.parametrize(
    ("targets", "code"),
    [
        (["/"], "REDIRECT_LOOP"),
        (["/a", "/b", "/a"], "REDIRECT_LOOP"),
        (["https://other.example/"], "OUT_OF_SCOPE"),
        (["/x/x/x"], "REPEATED_SEGMENTS"),
        (["/private/a"], "EXCLUDED"),
    ],
)
def test_a_redirect_that_leads_astray_fails_its_page(
    frontier: Frontier, targets: list[str], code: str
) -> None:
    batch = begun(frontier, exclude=("/private/**",))
    gate = frontier.redirects(claimed(frontier, batch.keys[0]))
    *fine, last = [parse_url(SITE + each if each[0] == "/" else each) for each in targets]
    for url in fine:
        gate(url)
    with pytest.raises(RedirectRefused) as refused:
        gate(last)
    assert isinstance(refused.value.outcome, Failed)
    assert refused.value.outcome.error_code == code


def test_a_start_may_lead_to_a_page_that_is_not_included_as_itself_may_be_one(
    frontier: Frontier,
) -> None:
    batch = begun(frontier, include=("/blog/**",))
    frontier.redirects(claimed(frontier, batch.keys[0]))(parse_url(f"{SITE}/en/"))
    linked = fetched(frontier, batch, f"{SITE}/blog/a")
    assert isinstance(linked, Batch)
    with pytest.raises(RedirectRefused) as refused:
        frontier.redirects(claimed(frontier, linked.keys[0]))(parse_url(f"{SITE}/b"))
    assert isinstance(refused.value.outcome, Failed)
    assert refused.value.outcome.error_code == "NOT_INCLUDED"


@pytest.mark.parametrize("target", ["new", "waiting", "taken before"])
def test_a_claim_that_has_passed_on_takes_no_targets(
    target: str, frontier: Frontier, clock: HandClock
) -> None:
    starts = [f"{SITE}/", f"{SITE}/a"] if target == "waiting" else [f"{SITE}/"]
    batch = begun(frontier, *starts, batch_pages=1)
    late = claimed(frontier, batch.keys[0], "late")
    if target == "taken before":
        frontier.redirects(late)(parse_url(f"{SITE}/a"))
    clock.advance(60)
    claimed(frontier, batch.keys[0], "next")
    before = rows(frontier)
    with pytest.raises(LeaseLost):
        frontier.redirects(late)(parse_url(f"{SITE}/a"))
    assert rows(frontier) == before


def test_who_visits_again_is_led_to_the_same_target(frontier: Frontier, clock: HandClock) -> None:
    batch = begun(frontier)
    late = claimed(frontier, batch.keys[0], "late")
    frontier.redirects(late)(parse_url(f"{SITE}/a"))
    clock.advance(60)
    visit = claimed(frontier, batch.keys[0], "next")
    frontier.redirects(visit)(parse_url(f"{SITE}/a"))
    frontier.record(visit, Fetched())
    assert frontier.crawl(REF).discovered == 2


# ---------------------------------------------------------------- Claims


def test_a_page_has_one_visitor_at_a_time(frontier: Frontier, clock: HandClock) -> None:
    batch = begun(frontier)
    visit = claimed(frontier, batch.keys[0], "one")
    assert frontier.claim(REF, batch.keys[0], "two", clock() + MINUTE) is None
    assert frontier.claim(REF, batch.keys[0], "one", clock() + MINUTE) == visit
    assert frontier.next_batch(REF, fence=1) == FrontierWait(START + MINUTE)
    clock.advance(60)
    again = frontier.next_batch(REF, fence=1)
    assert isinstance(again, Batch)
    assert (again.number, again.keys) == (batch.number, batch.keys)
    assert again.pages == (visit.page,)


def test_a_lost_visit_is_charged_and_the_last_one_fails_the_page(
    frontier: Frontier, clock: HandClock
) -> None:
    batch = begun(frontier)
    for attempt in range(bounds.PAGE_ATTEMPTS):
        visit = claimed(frontier, batch.keys[0], f"worker-{attempt}")
        assert visit.page.attempts == attempt
        clock.advance(60)
    assert frontier.claim(REF, batch.keys[0], "too late", clock() + MINUTE) is None
    assert frontier.next_batch(REF, fence=1) == Ended(EndReason.EXHAUSTED)
    [page] = rows(frontier, PageState.FAILED)
    assert page.error_code == "WORKER_LOST"
    with pytest.raises(LeaseLost):
        frontier.record(visit, Fetched())
    assert frontier.crawl(REF).crawled == 0


def test_a_late_visitor_is_heard_while_nobody_else_has_come(
    frontier: Frontier, clock: HandClock
) -> None:
    batch = begun(frontier)
    visit = claimed(frontier, batch.keys[0])
    clock.advance(3600)
    frontier.record(visit, Fetched())
    assert frontier.crawl(REF).crawled == 1


def test_an_outcome_of_a_claim_that_has_passed_on_is_refused(
    frontier: Frontier, clock: HandClock
) -> None:
    batch = begun(frontier)
    late = claimed(frontier, batch.keys[0], "late")
    clock.advance(60)
    visit = claimed(frontier, batch.keys[0], "next")
    for outcome in (
        Fetched(links=(FoundLink(url=f"{SITE}/late"),)),
        Failed(error_code="HTTP_ERROR"),
        Deferred(until=clock(), error_code="HTTP_ERROR"),
    ):
        with pytest.raises(LeaseLost):
            frontier.record(late, outcome)
    frontier.record(visit, Fetched(links=(FoundLink(url=f"{SITE}/next"),)))
    frontier.next_batch(REF, fence=1)
    assert urls(frontier) == {"/", "/next"}


@pytest.mark.parametrize(
    "outcome",
    [
        Fetched(links=(FoundLink(url=f"{SITE}/a"),)),
        Failed(error_code="HTTP_ERROR"),
        Deferred(until=START + MINUTE, error_code="HTTP_ERROR", is_charged=True),
    ],
    ids=["fetched", "failed", "deferred"],
)
def test_an_outcome_may_be_said_twice_and_counts_once(
    frontier: Frontier, outcome: Fetched | Failed | Deferred
) -> None:
    visit = claimed(frontier, begun(frontier).keys[0])
    frontier.record(visit, outcome)
    before = (frontier.crawl(REF), rows(frontier))
    frontier.record(visit, outcome)
    assert (frontier.crawl(REF), rows(frontier)) == before


def test_who_waits_for_a_host_is_not_charged(frontier: Frontier, clock: HandClock) -> None:
    batch = begun(frontier)
    for _ in range(9):
        until = clock() + MINUTE
        visit = claimed(frontier, batch.keys[0], f"worker at {clock()}")
        frontier.record(visit, Deferred(until=until, error_code="RATE_LIMITED"))
        assert frontier.next_batch(REF, fence=1) == FrontierWait(until)
        assert frontier.claim(REF, batch.keys[0], "early", until + MINUTE) is None
        clock.advance(60)
    assert fetched(frontier, batch) == Ended(EndReason.EXHAUSTED)
    [page] = rows(frontier)
    assert (page.attempts, page.error_code) == (0, None)


def test_a_page_that_failed_uses_nothing_of_the_budget(frontier: Frontier) -> None:
    first = begun(frontier, f"{SITE}/a", f"{SITE}/b", max_pages=1, batch_pages=1)
    frontier.record(claimed(frontier, *first.keys), Failed(error_code="HTTP_STATUS"))
    second = frontier.next_batch(REF, fence=1)
    assert isinstance(second, Batch)
    frontier.record(claimed(frontier, *second.keys), Fetched())
    assert frontier.next_batch(REF, fence=1) == Ended(EndReason.BUDGET)


def test_the_budget_is_what_was_fetched_when_the_batch_was_over(
    frontier: Frontier, store: FakeFrontierStore
) -> None:
    """A page whose fetch ends just after the driver's first read is still counted."""
    step = fetched(frontier, begun(frontier, max_pages=3, batch_pages=2), "/a", "/b", "/c")
    assert isinstance(step, Batch)
    frontier.record(claimed(frontier, step.keys[0]), Fetched())
    last = claimed(frontier, step.keys[1])
    read = store.crawl

    def overtaken(ref: CrawlRef) -> Any:
        crawl = read(ref)
        store.crawl = read  # type: ignore[method-assign]  # only once
        frontier.record(last, Fetched())
        return crawl

    store.crawl = overtaken  # type: ignore[method-assign]
    assert frontier.next_batch(REF, fence=1) == Ended(EndReason.BUDGET)


# ---------------------------------------------------------------- Drivers


def test_a_driver_with_an_older_fence_is_refused(frontier: Frontier) -> None:
    batch = begun(frontier)
    assert frontier.next_batch(REF, fence=2) == batch
    with pytest.raises(LeaseLost):
        frontier.next_batch(REF, fence=1)


def test_a_driver_that_is_overtaken_in_the_middle_is_refused(
    frontier: Frontier, store: FakeFrontierStore
) -> None:
    batch = begun(frontier)
    for key in batch.keys:
        frontier.record(claimed(frontier, key), Fetched(links=(FoundLink(url=f"{SITE}/a"),)))

    def overtake(change: object) -> None:
        store.before_commit = None
        assert isinstance(frontier.next_batch(REF, fence=2), Batch)

    store.before_commit = overtake
    with pytest.raises(LeaseLost):
        frontier.next_batch(REF, fence=1)
    assert frontier.crawl(REF).discovered == 2


def test_a_driver_out_of_time_goes_on_the_next_time(frontier: Frontier) -> None:
    step = fetched(frontier, begun(frontier), "/a", "/b")
    assert isinstance(step, Batch)
    for key in step.keys:
        frontier.record(claimed(frontier, key), Fetched(links=(FoundLink(url=f"{SITE}/c"),)))
    answers = iter([True, False])
    assert frontier.next_batch(REF, 1, lambda: next(answers)) == FrontierWait(START)
    assert len(rows(frontier, PageState.FETCHED)) == 1
    assert isinstance(frontier.next_batch(REF, fence=1), Batch)
    assert urls(frontier, PageState.OPEN) == {"/c"}


def test_an_ended_crawl_stays_ended(frontier: Frontier) -> None:
    assert fetched(frontier, begun(frontier)) == Ended(EndReason.EXHAUSTED)
    before = frontier.crawl(REF)
    assert frontier.next_batch(REF, fence=2) == Ended(EndReason.EXHAUSTED)
    assert frontier.crawl(REF) == replace(before, fence=2)


def test_a_fetched_page_that_is_found_as_near_again_keeps_who_found_it_first(
    frontier: Frontier,
) -> None:
    step: Next = begun(frontier, strategy=Strategy.DFS, batch_pages=1)
    for links in (["/a", "/b"], ["/page"], [], ["/page"]):
        assert isinstance(step, Batch)
        step = fetched(frontier, step, *links)
    assert isinstance(step, Ended)
    [page] = [each for each in rows(frontier) if each.url == f"{SITE}/page"]
    assert (page.depth, page.parent) == (2, f"{SITE}/a")


def test_a_crawl_shows_the_greatest_depth_that_it_has_reached(frontier: Frontier) -> None:
    step: Next = begun(frontier, strategy=Strategy.DFS, batch_pages=1)
    depths = []
    for links in (["/a", "/last"], ["/b"], [], []):
        assert isinstance(step, Batch)
        step = fetched(frontier, step, *links)
        depths.append(frontier.crawl(REF).current_depth)
    assert urls(frontier, PageState.CRAWLED) == {"/", "/a", "/b", "/last"}
    assert depths == [1, 2, 2, 2]


def test_a_crawl_that_ended_without_a_page_is_opened_again_with_what_failed(
    frontier: Frontier,
) -> None:
    batch = begun(frontier)
    failed = Failed(error_code="HTTP_ERROR", error_message="503")
    frontier.record(claimed(frontier, batch.keys[0]), failed)
    assert isinstance(frontier.next_batch(REF, fence=1), Ended)
    frontier.reopen(REF, fence=2)
    step = frontier.next_batch(REF, fence=2)
    assert isinstance(step, Batch)
    frontier.record(claimed(frontier, step.keys[0]), Fetched())
    crawl = frontier.crawl(REF)
    assert (crawl.discovered, crawl.crawled, crawl.failed) == (1, 1, 0)


def test_a_page_of_a_crawl_that_is_opened_again_has_all_its_attempts(
    frontier: Frontier, clock: HandClock
) -> None:
    batch = begun(frontier)
    for attempt in range(bounds.PAGE_ATTEMPTS):
        claimed(frontier, *batch.keys, f"worker-{attempt}")
        clock.advance(60)
    assert frontier.next_batch(REF, fence=1) == Ended(EndReason.EXHAUSTED)
    frontier.reopen(REF, fence=2)
    again = frontier.next_batch(REF, fence=2)
    assert isinstance(again, Batch)
    assert claimed(frontier, *again.keys, "worker").page.attempts == 0


def test_a_crawl_that_ended_with_a_page_is_not_opened_again(frontier: Frontier) -> None:
    batch = begun(frontier, f"{SITE}/", f"{SITE}/gone")
    frontier.record(claimed(frontier, batch.keys[0]), Fetched())
    failed = Failed(error_code="HTTP_ERROR", error_message="503")
    frontier.record(claimed(frontier, batch.keys[1]), failed)
    ended = frontier.next_batch(REF, fence=1)
    assert isinstance(ended, Ended)
    frontier.reopen(REF, fence=2)
    assert frontier.next_batch(REF, fence=2) == ended


def test_a_page_that_turns_out_to_be_more_relevant_comes_sooner(frontier: Frontier) -> None:
    plan = {"strategy": Strategy.BEST_FIRST, "keywords": ("silk",), "score_threshold": 0.0}
    step: Next = begun(frontier, **plan, batch_pages=1)
    texts = {"/": {"/one": "silk", "/plain": "", "/other": ""}, "/one": {"/other": "silk"}}
    order = []
    while isinstance(step, Batch):
        visit = claimed(frontier, step.keys[0])
        path = visit.page.url.removeprefix(SITE)
        order.append(path)
        links = texts.get(path, {}).items()
        found = tuple(FoundLink(url=SITE + link, text=text) for link, text in links)
        frontier.record(visit, Fetched(links=found))
        step = frontier.next_batch(REF, fence=1)
    assert order == ["/", "/one", "/other", "/plain"]
    [other] = [page for page in rows(frontier) if page.url == f"{SITE}/other"]
    assert other.parent == f"{SITE}/"  # the first page on the shortest path, whatever its score


def test_two_names_of_a_page_that_waits_change_its_row_once() -> None:
    """One link is on a shorter path from the start, the other has a higher score."""
    crawl = Crawl(ref=REF, plan=Plan(keywords=("silk",)), roots=(f"{SITE}/",), begun_at=START)
    root = _page("root", depth=0, state=PageState.FETCHED)
    waiting = _page("page", depth=3, state=PageState.WAITING, score=0.1)
    alias = _page("alias", depth=3, state=PageState.DUPLICATE, same_as="page")
    view = FrontierView(pages={each.key: each for each in (root, waiting, alias)})
    links = [
        LinkCandidate(key=key, url=f"{SITE}/{key}", host="site.example", score=score, calendar=None)
        for key, score in (("alias", 0.0), ("page", 0.9))
    ]
    [change] = merged(crawl, root, links, None, view, START)
    [move] = [each for each in change.moves if each.after.key == "page"]
    assert (move.before, move.after.depth, move.after.score) == (waiting, 1, 0.9)


def _page(key: str, **given: Any) -> FrontierPage:
    values = {"url": f"{SITE}/{key}", "host": "site.example", "rank": "", "discovered_at": START}
    return FrontierPage(key=key, **values | given)


def test_a_page_that_is_found_nearer_is_merged_again(frontier: Frontier) -> None:
    """/far is first found at the maximum depth, 3, where its links are too deep to be followed."""
    links = {"/": ["/a", "/far-1"], "/a": ["/b"], "/b": ["/far"], "/far-1": ["/far"]}
    links |= {"/far": ["/behind"], "/behind": []}
    step: Next = begun(frontier, strategy=Strategy.DFS, max_depth=3, batch_pages=1)
    order = []
    while isinstance(step, Batch):
        visit = claimed(frontier, step.keys[0])
        path = visit.page.url.removeprefix(SITE)
        order.append(path)
        found = tuple(FoundLink(url=SITE + link) for link in links[path])
        frontier.record(visit, Fetched(links=found))
        step = frontier.next_batch(REF, fence=1)
    assert order == ["/", "/a", "/b", "/far", "/far-1", "/behind"]
    [far] = [page for page in rows(frontier) if page.url == f"{SITE}/far"]
    assert (far.depth, far.parent) == (2, f"{SITE}/far-1")
    assert frontier.crawl(REF).crawled == 6
