"""Deep crawls: the set of pages, the budget, and executions that are lost, paused or overtaken."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.content.extraction.models import Content
from spinneret.content.extraction.pages import extract
from spinneret.crawl.configs.models import ConfigOptions
from spinneret.crawl.configs.service import ConfigDraft
from spinneret.crawl.deep.service import crawl_ref
from spinneret.crawl.kinds import DEEP_CRAWL
from spinneret.jobs.models import JobStatus, Transition
from spinneret.kernel import bounds
from spinneret.kernel.errors import (
    Contended,
    HttpRefused,
    HttpUnavailable,
    ResultRefused,
    ValidationFailed,
)
from spinneret.web.exploring.frontier.models import (
    CrawlRef,
    Next,
    PageLease,
    PageState,
)
from spinneret.web.exploring.frontier.service import Frontier
from tests.factories import TENANT
from tests.fakes.deep_crawling import HOST, DeepCrawlWorld
from tests.fakes.exploring import FakeFrontierStore
from tests.fakes.fetching import fetched_page

WIDE = {
    "/": [f"/{n}" for n in range(40)],
    **{f"/{n}": ["/", "/end"] for n in range(40)},
    "/end": [],
}
SMALL = {"/": ["/a", "/b"], "/a": ["/c"], "/b": ["/"], "/c": ["/d"], "/d": []}


def finished(crawl: DeepCrawlWorld, ref: object) -> None:
    """Deliver messages and run executions until the job has ended."""
    for _ in range(50):
        crawl.deliver()
        crawl.execute()
        if crawl.job(ref).status is JobStatus.COMPLETED:  # type: ignore[arg-type]  # a JobRef
            return
    raise AssertionError("it never ends")


def test_a_folder_with_a_dot_is_the_scope_of_its_prefix() -> None:
    crawl = DeepCrawlWorld({"/v1.2/": ["/v1.2/a", "/v1.3/a"], "/v1.2/a": []})
    finished(crawl, crawl.ask("/v1.2/", scope="prefix"))
    assert crawl.asked() == ["/v1.2/", "/v1.2/a"]


def test_every_page_within_the_depth_is_crawled_once() -> None:
    crawl = DeepCrawlWorld(SMALL)
    ref = crawl.ask(max_depth=2)
    finished(crawl, ref)
    assert sorted(crawl.asked()) == ["/", "/a", "/b", "/c"]
    view = crawl.deep().get(TENANT, ref.job_id)
    assert view is not None
    assert (view.pages_discovered, view.pages_crawled, view.pages_failed) == (4, 4, 0)
    assert (view.current_depth, view.end_reason, view.progress) == (2, "exhausted", 100)


ORDERED = {
    "/": [f"/{n}" for n in range(8)],
    **{f"/{n}": [f"/{n}/silk", f"/{n}/web"] for n in range(8)},
    **{f"/{n}/{word}": [f"/{n}/{word}/end"] for n in range(8) for word in ("silk", "web")},
    **{f"/{n}/{word}/end": [] for n in range(8) for word in ("silk", "web")},
}
CHILDREN = [f"/{n}/{word}" for n in range(8) for word in ("silk", "web")]


@pytest.mark.parametrize(
    ("strategy", "first"),
    [
        ("bfs", ["/", *(f"/{n}" for n in range(8)), *CHILDREN]),
        (
            "dfs",
            [
                *("/", *(f"/{n}" for n in range(5))),
                *CHILDREN[:5],
                *(f"{child}/end" for child in CHILDREN[:5]),
                *CHILDREN[5:10],
            ],
        ),
        (
            "best_first",
            [
                *("/", *(f"/{n}" for n in range(5))),
                *(f"/{n}/silk" for n in range(5)),
                *(f"/{n}/silk/end" for n in range(5)),
            ],
        ),
    ],
)
def test_strategies_differ_on_a_small_site(strategy: str, first: list[str]) -> None:
    crawl = DeepCrawlWorld(ORDERED)
    finished(crawl, crawl.ask(strategy=strategy, max_depth=3, keywords=["silk"], score_threshold=0))
    assert crawl.asked()[: len(first)] == first
    assert sorted(crawl.asked()) == sorted(ORDERED)


def test_a_deep_crawl_shows_what_was_asked_for() -> None:
    crawl = DeepCrawlWorld(SMALL)
    asked = {
        "strategy": "best_first",
        "max_depth": 3,
        "max_pages": 7,
        "keywords": ["silk", "orb webs"],
        "score_threshold": 0.25,
        "scope": "domain",
        "include": ["/guide/**"],
        "exclude": ["**/print"],
        "webhook_url": "https://me.example/hook",
    }
    view = crawl.deep().get(TENANT, crawl.ask(**asked).job_id)
    assert view is not None
    assert view.model_dump(mode="json", include=asked.keys()) == asked


def test_a_document_names_the_page_that_led_to_it() -> None:
    crawl = DeepCrawlWorld(SMALL)
    finished(crawl, crawl.ask())
    parents = {each.url: each.parent_url for each in crawl.documents.all(TENANT)}
    assert parents == {
        f"{HOST}/": None,
        f"{HOST}/a": f"{HOST}/",
        f"{HOST}/b": f"{HOST}/",
        f"{HOST}/c": f"{HOST}/a",
    }


HTML_SITE = {
    "/": """<a href="/login" rel="nofollow">Log in</a> <a href="/a">A</a>
        <a href="/b" rel="nofollow">b, advertised</a> <a href="/b">b</a>""",
    "/a": '<meta name="robots" content="noindex, nofollow"><a href="/behind-a">on</a>',
    "/b": '<a href="/behind-b">on</a>',
    "/behind-a": "",
    "/behind-b": '<meta name="otherbot" content="nofollow"><a href="/end">on</a>',
    "/end": "",
    "/login": "",
}


def html_site(site: dict[str, str], **headers: str) -> DeepCrawlWorld:
    """Return a world with pages of HTML; `headers` maps the names of paths to X-Robots-Tag."""
    crawl = DeepCrawlWorld({})
    crawl.extract = extract
    for path, body in site.items():
        tag = headers.get(path.strip("/").replace("-", "_"))
        crawl.pages[HOST + path] = fetched_page(
            HOST + path,
            f"<html lang=en><body><p>The page {path} of the website.</p>{body}</body></html>",
            headers={} if tag is None else {"x-robots-tag": tag},
        )
    return crawl


def crawled(crawl: DeepCrawlWorld, **given: object) -> list[str]:
    finished(crawl, crawl.ask(max_depth=5, **given))
    return sorted(crawl.asked())


def test_the_list_of_pages_leads_to_the_links_of_each() -> None:
    crawl = html_site({"/": '<a href="/a" rel="nofollow">A</a>', "/gone": ""})
    ref = crawl.ask()
    finished(crawl, ref)
    [page] = crawl.deep().pages(TENANT, ref.job_id, None, None, 10).items
    assert page.parts_url is not None
    key = page.parts_url.removeprefix("https://bucket.example/").partition("?")[0]
    assert json.loads(crawl.parts.read(key) or "")["links"] == [
        {"url": f"{HOST}/a", "text": "A", "rel": ["nofollow"], "nofollow": True}
    ]


def test_the_list_of_pages_leads_to_nothing_of_a_deleted_document() -> None:
    crawl = html_site({"/": "silk"})
    ref = crawl.ask()
    finished(crawl, ref)
    [document] = crawl.documents.all(TENANT)
    deleted = replace(document, sequence=document.sequence + 1, deleted_at=crawl.clock())
    crawl.documents.commit(deleted, document)
    [page] = crawl.deep().pages(TENANT, ref.job_id, None, None, 10).items
    assert (page.document_id, page.parts_url) == (document.id, None)


def test_a_page_that_failed_has_no_links() -> None:
    crawl = DeepCrawlWorld({"/": ["/gone"]})
    crawl.pages[f"{HOST}/gone"] = fetched_page(f"{HOST}/gone", status_code=404)
    ref = crawl.ask()
    finished(crawl, ref)
    [page] = crawl.deep().pages(TENANT, ref.job_id, PageState.FAILED, None, 10).items
    assert page.parts_url is None


def test_links_that_are_not_to_be_followed_are_counted_with_their_page() -> None:
    crawl = html_site(HTML_SITE)
    ref = crawl.ask(max_depth=5)
    finished(crawl, ref)
    assert sorted(crawl.asked()) == ["/", "/a", "/b", "/behind-b", "/end"]
    rows = crawl.frontier.pages(crawl_ref(ref), None, None, 10).pages
    assert {page.url.removeprefix(HOST): dict(page.skipped) for page in rows} == {
        "/": {"nofollow": 1},
        "/a": {"nofollow": 1},
        "/b": {},
        "/behind-b": {},
        "/end": {},
    }


@pytest.mark.parametrize(
    ("tag", "follows"),
    [
        ("nofollow", False),
        ("noindex, none", False),
        ("spinneret: nofollow", False),
        ("noindex", True),
        ("otherbot: nofollow", True),
        ("unavailable_after: Sat, 25 Jun 2033 15:00:00 GMT", True),
    ],
)
def test_the_header_of_a_page_holds_for_its_links(tag: str, follows: bool) -> None:
    crawl = html_site({"/": '<a href="/a">on</a>', "/a": ""}, **{"": tag})
    assert crawled(crawl) == (["/", "/a"] if follows else ["/"])


def test_a_page_that_was_kept_still_asks_what_its_header_asked() -> None:
    crawl = html_site({"/": '<a href="/a">on</a>', "/a": ""}, **{"": "nofollow"})
    crawl.embedder.available = False
    ref = crawl.ask()
    crawl.deliver()
    crawl.execute(1)
    crawl.embedder.available = True
    finished(crawl, ref)
    assert crawl.asked() == ["/"]


def test_a_page_that_is_not_to_be_indexed_elsewhere_is_crawled_like_any_other() -> None:
    crawl = html_site({"/": '<meta name="robots" content="noindex"><a href="/a">on</a>', "/a": ""})
    assert crawled(crawl) == ["/", "/a"]
    assert len(crawl.documents.all(TENANT)) == 2


def test_a_config_that_ignores_robots_ignores_what_pages_ask_too() -> None:
    crawl = html_site(HTML_SITE)
    options = ConfigOptions(respect_robots_txt=False)
    config = crawl.configs.service.create(TENANT, ConfigDraft(name="own", options=options))
    assert crawled(crawl, config_id=config.id) == sorted(HTML_SITE)


def test_the_words_of_a_link_take_part_in_the_order_of_a_best_first_crawl() -> None:
    site = {
        "/": """<a href="/1">Contact</a> <a href="/2"><img src="web.png"></a>
            <a href="/3">Orb webs</a> <a href="/2">Silk</a> <a href="/4">Orb webs of silk</a>""",
        **{f"/{n}": "" for n in range(1, 5)},
    }
    crawl = html_site(site)
    ref = crawl.ask(strategy="best_first", keywords=["silk", "orb webs"], max_pages=4)
    finished(crawl, ref)
    assert crawl.asked() == ["/", "/4", "/2", "/3"]


@pytest.mark.parametrize("budget", [1, 17, 41])
def test_the_budget_is_exact(budget: int) -> None:
    crawl = DeepCrawlWorld(WIDE)
    ref = crawl.ask(max_pages=budget)
    finished(crawl, ref)
    assert len(crawl.asked()) == len(set(crawl.asked())) == budget
    result = crawl.job(ref).result
    assert result is not None
    assert (result["pages_crawled"], result["end_reason"]) == (budget, "budget")


@pytest.mark.parametrize("steps", range(1, 4))
def test_a_lost_execution_is_followed_by_another_that_fetches_nothing_twice(steps: int) -> None:
    crawl = DeepCrawlWorld(WIDE)
    ref = crawl.ask()
    crawl.deliver()
    crawl.execute(steps)
    crawl.lose_execution()
    finished(crawl, ref)
    assert len(crawl.asked()) == len(set(crawl.asked())) == 42
    assert len(crawl.executions.started) == 2


def test_executions_that_are_lost_as_they_get_on_use_no_attempts_up() -> None:
    crawl = DeepCrawlWorld(WIDE)
    ref = crawl.ask()
    for _ in range(6):
        crawl.deliver()
        crawl.execute(2)
        crawl.lose_execution()
    finished(crawl, ref)


def test_a_long_crawl_goes_on_in_the_next_execution() -> None:
    crawl = DeepCrawlWorld(WIDE)
    crawl.segment_batches = 2
    ref = crawl.ask()
    finished(crawl, ref)
    assert len(crawl.executions.started) > 1
    assert crawl.job(ref).attempts == 0
    assert len(crawl.asked()) == 42


def test_a_cancelled_crawl_stops_at_its_next_step_and_gives_its_place_back() -> None:
    crawl = DeepCrawlWorld(WIDE)
    ref = crawl.ask()
    crawl.deliver()
    crawl.execute(2)
    crawl.control().move(ref, Transition.CANCEL)
    fetched = len(crawl.asked())
    crawl.execute()
    assert (len(crawl.asked()), crawl.slots.holders[f"{TENANT} DEEP_CRAWLS"]) == (fetched, {})


# covers C-06
def test_a_paused_crawl_goes_on_where_it_was() -> None:
    crawl = DeepCrawlWorld(WIDE)
    ref = crawl.ask()
    crawl.deliver()
    crawl.execute(2)
    crawl.control().move(ref, Transition.PAUSE)
    crawl.execute()
    crawl.control().move(ref, Transition.RESUME)
    finished(crawl, ref)
    assert len(crawl.asked()) == len(set(crawl.asked())) == 42


# covers C-06
def test_the_sixth_of_a_tenant_waits_for_one_to_end() -> None:
    crawl = DeepCrawlWorld(SMALL)
    refs = [crawl.ask(force=True) for _ in range(6)]
    crawl.deliver()
    assert [crawl.job(ref).status for ref in refs] == [JobStatus.RUNNING] * 5 + [JobStatus.PENDING]
    assert crawl.job(refs[-1]).attempts == 0
    crawl.execute()
    crawl.deliver()
    assert crawl.job(refs[-1]).status is JobStatus.RUNNING


@pytest.mark.parametrize("move", [Transition.CANCEL, Transition.PAUSE])
def test_the_sixth_takes_the_place_of_one_that_stands_still(move: Transition) -> None:
    crawl = DeepCrawlWorld(SMALL)
    refs = [crawl.ask(force=True) for _ in range(6)]
    crawl.deliver()
    crawl.control().move(refs[0], move)
    crawl.deliver()
    assert crawl.job(refs[-1]).status is JobStatus.RUNNING


def test_a_paused_crawl_that_lost_its_place_waits_for_one() -> None:
    crawl = DeepCrawlWorld(SMALL)
    refs = [crawl.ask(force=True) for _ in range(6)]
    crawl.deliver()
    crawl.control().move(refs[0], Transition.PAUSE)
    crawl.deliver()
    crawl.control().move(refs[0], Transition.RESUME)
    crawl.deliver()
    assert crawl.job(refs[0]).status is JobStatus.PENDING
    crawl.execute()
    crawl.deliver()
    assert crawl.job(refs[0]).status is JobStatus.RUNNING


class BrokenFrontier(Frontier):
    def next_batch(
        self, ref: CrawlRef, fence: int, may_go_on: Callable[[], bool] = lambda: True
    ) -> Next:
        raise ResultRefused("too large")


def test_a_crawl_that_can_not_be_driven_fails_and_gives_its_place_back() -> None:
    crawl = DeepCrawlWorld(SMALL)
    ref = crawl.ask()
    crawl.deliver()
    crawl.frontier = BrokenFrontier(store=FakeFrontierStore(), clock=crawl.clock)
    crawl.execute()
    assert crawl.job(ref).status is JobStatus.FAILED
    assert crawl.slots.holders[f"{TENANT} DEEP_CRAWLS"] == {}


def test_a_crawl_none_of_whose_pages_can_be_had_has_failed() -> None:
    crawl = DeepCrawlWorld(SMALL)
    answer = crawl.pages[f"{HOST}/"]
    crawl.pages[f"{HOST}/"] = HttpRefused("the host answered 404", details={"status_code": 404})
    ref = crawl.ask()
    crawl.deliver()
    crawl.execute()
    job = crawl.job(ref)
    assert (job.status, job.attempts) == (JobStatus.FAILED, 1)
    assert job.last_error is not None
    assert (job.last_error.code, job.last_error.details) == (
        "PAGES_FAILED",
        {"pages_failed": 1, "error_type": "HTTP_ERROR", "status_code": 404},
    )
    view = crawl.deep().get(TENANT, ref.job_id)
    assert view is not None
    assert (view.pages_crawled, view.pages_failed, view.end_reason) == (0, 1, "exhausted")

    crawl.pages[f"{HOST}/"] = answer
    crawl.control().move(ref, Transition.RETRY)
    finished(crawl, ref)
    view = crawl.deep().get(TENANT, ref.job_id)
    assert view is not None
    assert (view.pages_crawled, view.pages_failed, view.end_reason) == (4, 0, "exhausted")


def test_a_crawl_whose_time_is_up_is_completed_in_part() -> None:
    crawl = DeepCrawlWorld(SMALL)
    ref = crawl.ask()
    crawl.deliver()
    crawl.execute(1)
    crawl.clock.advance(bounds.FRONTIER_SECONDS)
    crawl.execute()
    job = crawl.job(ref)
    assert job.status is JobStatus.PARTIALLY_FAILED
    assert job.last_error is not None
    assert job.last_error.code == "OUT_OF_TIME"
    assert job.result is not None
    assert job.result["end_reason"] == "expired"


def test_a_retry_after_the_crawl_s_time_that_has_no_page_fails_again() -> None:
    crawl = DeepCrawlWorld(SMALL)
    crawl.pages[f"{HOST}/"] = HttpRefused("the host answered 404", details={"status_code": 404})
    ref = crawl.ask()
    crawl.deliver()
    crawl.clock.advance(3600)
    crawl.execute()
    crawl.clock.advance(bounds.FRONTIER_SECONDS - 3600)
    crawl.control().move(ref, Transition.RETRY)
    crawl.deliver()
    crawl.execute()
    job = crawl.job(ref)
    assert (job.status, job.result) == (JobStatus.FAILED, None)
    assert job.last_error is not None
    assert (job.last_error.code, job.last_error.details) == ("PAGES_FAILED", {"pages_failed": 0})


def test_what_fails_and_what_robots_forbid_is_listed_with_the_reason() -> None:
    crawl = DeepCrawlWorld(SMALL)
    crawl.pages[f"{HOST}/a"] = HttpRefused("the host answered 404", details={"status_code": 404})
    ref = crawl.ask()
    finished(crawl, ref)
    [failed] = crawl.deep().pages(TENANT, ref.job_id, PageState.FAILED, None, 10).items
    assert (failed.url, failed.status_code, failed.error_type) == (f"{HOST}/a", 404, "HTTP_ERROR")
    everything = crawl.deep().pages(TENANT, ref.job_id, None, None, 10)
    assert {page.url: page.fetch_ms for page in everything.items} == {
        f"{HOST}/": 1,
        f"{HOST}/a": None,
        f"{HOST}/b": 1,
    }


def test_a_page_that_is_busy_for_a_while_is_tried_again() -> None:
    crawl = DeepCrawlWorld(SMALL)
    answer = crawl.pages[f"{HOST}/a"]
    crawl.pages[f"{HOST}/a"] = HttpUnavailable("busy", retry_after=100)
    ref = crawl.ask()
    crawl.deliver()
    crawl.execute(3)
    waiting = {
        each.url: each for each in crawl.deep().pages(TENANT, ref.job_id, None, None, 9).items
    }
    assert waiting[f"{HOST}/a"].status is PageState.OPEN
    assert (waiting[f"{HOST}/a"].error, waiting[f"{HOST}/a"].error_type) == ("busy", "HTTP_ERROR")
    crawl.pages[f"{HOST}/a"] = answer
    finished(crawl, ref)
    assert crawl.asked().count("/a") == 2


def test_an_embedder_that_is_away_charges_no_page() -> None:
    crawl = DeepCrawlWorld(SMALL)
    crawl.embedder.available = False
    ref = crawl.ask()
    crawl.deliver()
    crawl.execute(4)
    crawl.embedder.available = True
    finished(crawl, ref)
    assert crawl.deep().pages(TENANT, ref.job_id, PageState.FAILED, None, 10).items == []


def test_a_page_whose_rows_others_keep_changing_is_not_charged() -> None:
    crawl = DeepCrawlWorld(SMALL)
    answer = crawl.pages[f"{HOST}/a"]
    crawl.pages[f"{HOST}/a"] = Contended("others are faster")
    ref = crawl.ask()
    crawl.deliver()
    crawl.execute(12)
    crawl.pages[f"{HOST}/a"] = answer
    finished(crawl, ref)
    assert crawl.deep().pages(TENANT, ref.job_id, PageState.FAILED, None, 10).items == []


class Killed(BaseException):
    """Raised when the worker's process is killed."""


def test_a_page_whose_worker_was_killed_is_taken_again_within_a_minute() -> None:
    crawl = DeepCrawlWorld(SMALL)
    ref = crawl.ask()
    crawl.deliver()
    crawl.remaining = 120.0
    alive = crawl.extract

    def killed(*_: object, **__: object) -> Content:
        raise Killed

    crawl.extract = killed
    with pytest.raises(Killed):
        crawl.execute(1)
    crawl.extract, lost_at = alive, crawl.clock()
    finished(crawl, ref)
    assert (crawl.clock() - lost_at).total_seconds() <= 60
    assert crawl.asked() == ["/", "/a", "/b", "/c"]


def test_a_page_that_takes_longer_than_its_lease_keeps_it() -> None:
    crawl = DeepCrawlWorld(SMALL)
    ref = crawl.ask(max_depth=0)
    crawl.deliver()
    crawl.remaining = 120.0
    extract, embed = crawl.extract, crawl.embedder.embed
    others: list[PageLease | None] = []

    def slow(*given: Any, **named: Any) -> Content:
        crawl.clock.advance(30)
        return extract(*given, **named)

    def later(*given: Any) -> list[tuple[float, ...]]:
        crawl.clock.advance(30)
        [page] = crawl.frontier.pages(crawl_ref(ref), None, None, 1).pages
        until = crawl.clock() + timedelta(minutes=1)
        others.append(crawl.frontier.claim(crawl_ref(ref), page.key, "other", until))
        return embed(*given)

    crawl.extract = slow
    crawl.embedder.embed = later  # type: ignore[method-assign]  # a slow one
    crawl.execute()
    assert others == [None]
    assert crawl.job(ref).status is JobStatus.COMPLETED


def test_a_message_that_comes_twice_starts_one_execution() -> None:
    crawl = DeepCrawlWorld(SMALL)
    ref = crawl.ask()
    [sent] = crawl.queue.take()
    for _ in range(2):
        crawl.worker().run(sent.ref, lambda: 60.0)
    assert len(crawl.executions.started) == 1
    crawl.execute()
    assert crawl.job(ref).status is JobStatus.COMPLETED


def test_patterns_that_do_not_compile_are_refused_with_their_field() -> None:
    crawl = DeepCrawlWorld(SMALL)
    with pytest.raises(ValidationFailed) as refused:
        crawl.ask(include=("/a***",))
    assert refused.value.details["fields"][0]["path"] == "include.0"


def test_a_plain_crawl_whose_config_goes_deeper_is_a_deep_crawl() -> None:
    crawl = DeepCrawlWorld(SMALL)
    options = ConfigOptions(max_depth=1)
    config = crawl.configs.service.create(TENANT, ConfigDraft(name="deep", options=options))
    ref = crawl.submit(f"{HOST}/", TENANT, config_id=config.id)
    assert (crawl.job(ref).kind, crawl.job(ref).payload["max_depth"]) == (DEEP_CRAWL, 1)
    finished(crawl, ref)
    assert sorted(crawl.asked()) == ["/", "/a", "/b"]


def test_pages_of_a_deep_crawl_go_by_its_config_into_its_collection_with_its_tags() -> None:
    crawl = DeepCrawlWorld(SMALL)
    options = ConfigOptions(max_redirects=1)
    config = crawl.configs.service.create(TENANT, ConfigDraft(name="shallow", options=options))
    ref = crawl.ask(config_id=config.id, tags=("silk",))
    payload = crawl.job(ref).payload
    assert payload["config"]["options"]["max_redirects"] == 1
    finished(crawl, ref)
    pages = crawl.deep().pages(TENANT, ref.job_id, PageState.CRAWLED, None, 10).items
    documents = [crawl.documents.get(TENANT, page.document_id or "") for page in pages]
    assert {each.tag_ids for each in documents if each} == {tuple(payload["tag_ids"])}
    assert crawl.ask(tags=("silk",)) != ref
