"""Fetched pages are kept for the rest of their crawl, and for conditional requests later."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from spinneret.content.documents.models import Document
from spinneret.content.extraction.models import ExtractionStrategy
from spinneret.content.extraction.pages import extract
from spinneret.crawl import limits
from spinneret.crawl.configs.models import ConfigOptions
from spinneret.crawl.configs.service import ConfigDraft
from spinneret.jobs import rules
from spinneret.jobs.models import Job, JobRef, JobStatus
from spinneret.kernel import bounds
from spinneret.kernel.clock import to_iso
from spinneret.kernel.errors import FetchTimeout
from spinneret.web.fetching.models import FetchRequest
from tests.fakes.crashes import Crash, CrashPlan, Moment
from tests.fakes.crawling import CrawlWorld, long_page
from tests.fakes.fetching import FakeFetcher, fetched_page
from tests.fakes.time import START

URL = "https://site.example/page"
ETAG = {"etag": '"1"'}
DATED = {"last-modified": "Fri, 02 Jan 2026 12:00:00 GMT"}


class Watched(CrawlWorld):
    """A world that records every request for a page by any of its workers."""

    def __init__(self) -> None:
        super().__init__()
        self.fetchers: list[FakeFetcher] = []

    def worker(self, wrap: Callable[[str, Any], Any] = lambda _, port: port) -> Any:
        def watching(name: str, port: Any) -> Any:
            if isinstance(port, FakeFetcher):
                self.fetchers.append(port)
            return wrap(name, port)

        return super().worker(watching)

    @property
    def requests(self) -> list[FetchRequest]:
        return [
            request
            for fetcher in self.fetchers
            for request in fetcher.requests
            if not request.url.text.endswith("/robots.txt")
        ]

    def crawled(self, **given: Any) -> Job:
        """Crawl the page once more."""
        return self.settle(self.submit(URL, force=True, **given))

    def sources(self, job: Job) -> list[str]:
        """Return the source of the page in each claim."""
        events = self.store.events(job.ref, None, 999)
        return [event.data["source"] for event in events if event.message == "fetched"]


@pytest.fixture
def crawl() -> Watched:
    made = Watched()
    made.pages[URL] = fetched_page(URL, long_page("silk"), headers=ETAG)
    return made


# ---------------------------------------------------------------- The rest of a crawl


# covers C-02
@pytest.mark.parametrize("headers", [{}, ETAG])
@pytest.mark.parametrize("part", ["embedder", "index", "contents"])
def test_a_crawl_that_waits_for_a_part_of_ours_fetches_its_page_once(
    crawl: Watched, part: str, headers: dict[str, str]
) -> None:
    crawl.pages[URL] = fetched_page(URL, long_page("silk"), headers=headers)
    ref = crawl.submit(URL)
    getattr(crawl, part).available = False
    for _ in range(5):
        crawl.clock.now = crawl.run(ref).due_at
    getattr(crawl, part).available = True
    done = crawl.settle(ref)
    assert (done.status, done.attempts) == (JobStatus.COMPLETED, 0)
    assert len(crawl.requests) == 1
    assert crawl.sources(done) == ["site", *["kept"] * 5]
    assert done.result is not None
    assert (done.result["status_code"], done.result["content_type"]) == (200, "text/html")
    assert len(crawl.search("silk")) == done.result["chunks"]


def test_a_fetch_leaves_the_worker_what_handing_back_takes(crawl: Watched) -> None:
    crawl.remaining = 30.0
    crawl.settle(crawl.submit(URL))
    asked = crawl.requests[-1].left_seconds
    assert asked is not None
    assert asked() == 30.0 - bounds.DEADLINE_MARGIN_SECONDS


def test_a_fetch_without_time_for_a_fair_try_is_handed_back_uncharged(crawl: Watched) -> None:
    crawl.remaining = bounds.DEADLINE_MARGIN_SECONDS + limits.FETCH_LEAST_SECONDS - 1
    job = crawl.run(crawl.submit(URL))
    assert (job.status, job.attempts, job.fence) == (JobStatus.PENDING, 0, 1)
    assert crawl.requests == []  # nor did it take a place in the host's rate limiter
    crawl.remaining = 60.0
    assert crawl.settle(job.ref).status is JobStatus.COMPLETED


def test_a_crawl_that_is_handed_back_after_its_fetch_fetches_no_more(crawl: Watched) -> None:
    class Slow(FakeFetcher):
        def fetch(self, request: FetchRequest) -> Any:
            page = super().fetch(request)
            if request.url.text == URL:
                crawl.remaining = bounds.DEADLINE_MARGIN_SECONDS - 1
            return page

    ref, slow = crawl.submit(URL), Slow(crawl.pages)
    job = crawl.run(ref, lambda name, port: slow if name == "fetcher" else port)
    assert (job.status, job.step) == (JobStatus.PENDING, "fetching")
    crawl.remaining = 60.0
    done = crawl.settle(ref)
    assert (done.status, done.attempts) == (JobStatus.COMPLETED, 0)
    assert crawl.sources(done) == ["site", "kept"]


def test_a_worker_that_dies_after_its_fetch_leaves_the_page_to_the_next_one(
    crawl: Watched,
) -> None:
    plan = CrashPlan()
    crawl.run(crawl.submit(URL), plan.wrap)
    at = plan.calls.index("cache.keep") + 1
    again = Watched()
    again.pages.update(crawl.pages)
    ref = again.submit(URL)
    with pytest.raises(Crash):
        again.run(ref, CrashPlan(at, Moment.AFTER).wrap)
    assert again.settle(ref).status is JobStatus.COMPLETED
    assert len(again.requests) == 1


def test_two_crawls_of_a_page_that_wait_at_once_do_not_fetch_it_in_turns(crawl: Watched) -> None:
    crawl.embedder.available = False
    refs = [crawl.submit(URL, force=True) for _ in range(2)]
    for _ in range(5):
        for ref in refs:
            crawl.clock.now = max(crawl.clock.now, crawl.run(ref).due_at)
    crawl.embedder.available = True
    assert {crawl.settle(ref).status for ref in refs} == {JobStatus.COMPLETED}
    assert len(crawl.requests) == 2


def test_the_redirects_of_a_kept_page_are_judged_again(crawl: Watched) -> None:
    """A deep crawl's frontier needs the redirects, even if another crawl fetched the page."""
    crawl.pages[URL] = fetched_page(
        "https://c.example/", long_page("silk"), redirects=(URL, "https://b.example/")
    )
    job, pipeline = crawl.crawled(), crawl.pipeline()
    seen: list[str] = []
    found = pipeline.pages.get(job, None, lambda: 60.0, lambda url: seen.append(url.text))
    assert (found.source, seen) == ("kept", ["https://b.example/", "https://c.example/"])


def test_a_further_run_asks_the_host_again(crawl: Watched) -> None:
    done = crawl.settle(crawl.submit(URL))
    failed = replace(done, status=JobStatus.FAILED)
    crawl.store.transition(done, failed)
    crawl.store.transition(failed, rules.retry(failed, crawl.clock()))
    again = crawl.run(done.ref)
    assert again.status is JobStatus.COMPLETED
    assert crawl.sources(again) == ["site", "not_modified"]


# ---------------------------------------------------------------- Later crawls


@pytest.mark.parametrize("headers", [ETAG, DATED, {**ETAG, **DATED}])
def test_a_page_that_has_not_changed_is_neither_sent_nor_embedded_again(
    crawl: Watched, headers: dict[str, str]
) -> None:
    crawl.pages[URL] = fetched_page(URL, long_page("silk"), headers=headers)
    first = crawl.crawled()
    [before] = crawl.documents.all("acme")
    embedded, chunks = list(crawl.embedder.embedded), dict(crawl.index.held)
    crawl.clock.advance(3600)
    again = crawl.crawled()
    assert crawl.sources(again) == ["not_modified"]
    assert crawl.requests[-1].validators == crawl.pages[URL].validators  # type: ignore[union-attr]
    assert (crawl.embedder.embedded, crawl.index.held) == (embedded, chunks)
    [after] = crawl.documents.all("acme")
    assert (after.version, after.job_id) == (before.version, again.id)
    assert after.crawled_at > before.crawled_at
    assert first.result is not None
    seen = {"unchanged": True, "crawled_at": to_iso(after.crawled_at)}
    assert again.result == {**first.result, **seen}


def test_a_page_that_was_confirmed_is_kept_for_another_day(crawl: Watched) -> None:
    for _ in range(4):
        crawl.clock.advance(limits.FETCH_KEPT_SECONDS - 60)
        last = crawl.crawled()
    assert crawl.sources(last) == ["not_modified"]


def test_a_page_that_was_confirmed_is_not_asked_for_again_by_its_crawl(crawl: Watched) -> None:
    crawl.crawled()
    crawl.clock.advance(3600)
    crawl.embedder.available = False
    ref = crawl.submit(URL, force=True)
    for _ in range(3):
        crawl.clock.now = crawl.run(ref).due_at
    crawl.embedder.available = True
    assert crawl.sources(crawl.settle(ref)) == ["not_modified", "kept", "kept", "kept"]


@pytest.mark.parametrize("headers", [{}, {"etag": '"2"'}])
def test_a_page_that_has_changed_is_indexed_anew(crawl: Watched, headers: dict[str, str]) -> None:
    crawl.crawled()
    crawl.clock.advance(60)
    crawl.pages[URL] = fetched_page(URL, long_page("web"), headers=headers)
    again = crawl.crawled()
    assert crawl.sources(again) == ["site"]
    assert again.result is not None
    assert not again.result["unchanged"]
    assert all("web" in hit.chunk.text for hit in crawl.search("silk"))


def test_equal_content_from_the_site_is_not_embedded_again_either(crawl: Watched) -> None:
    crawl.pages[URL] = fetched_page(URL, long_page("silk"))
    crawl.crawled()
    embedded = list(crawl.embedder.embedded)
    crawl.clock.advance(60)
    again = crawl.crawled()
    assert (crawl.sources(again), crawl.embedder.embedded) == (["site"], embedded)


def test_after_a_day_the_page_is_still_asked_for_by_its_validators(crawl: Watched) -> None:
    first = crawl.crawled()
    [before] = crawl.documents.all("acme")
    embedded, chunks = list(crawl.embedder.embedded), dict(crawl.index.held)
    for _ in range(3):
        crawl.clock.advance(2 * limits.FETCH_KEPT_SECONDS)
        again = crawl.crawled()
        assert crawl.sources(again) == ["not_modified"]
    assert (crawl.embedder.embedded, crawl.index.held) == (embedded, chunks)
    [after] = crawl.documents.all("acme")
    assert (after.version, after.origin) == (before.version, before.origin)
    assert after.crawled_at > before.crawled_at
    assert first.result is not None
    seen = {"unchanged": True, "crawled_at": to_iso(after.crawled_at), "bytes": None}
    assert again.result == {**first.result, **seen}


def test_a_page_that_has_changed_after_a_day_is_indexed_anew(crawl: Watched) -> None:
    crawl.crawled()
    crawl.clock.advance(limits.FETCH_KEPT_SECONDS)
    crawl.pages[URL] = fetched_page(URL, long_page("web"), headers={"etag": '"2"'})
    assert crawl.sources(crawl.crawled()) == ["site"]
    assert crawl.search("web")


def lose(*, key_of: Callable[[Document], str]) -> Callable[[Watched], None]:
    def losing(crawl: Watched) -> None:
        del crawl.contents._texts[key_of(*crawl.documents.all("acme"))]

    return losing


def change(**changes: Any) -> Callable[[Watched], None]:
    def changing(crawl: Watched) -> None:
        [document] = crawl.documents.all("acme")
        crawl.documents.commit(
            replace(document, sequence=document.sequence + 1, **changes), document
        )

    return changing


@pytest.mark.parametrize(
    "happens",
    [
        pytest.param(change(deleted_at=START), id="deleted"),
        pytest.param(change(origin=None), id="replaced by an upload"),
        pytest.param(change(title="Another"), id="not what was read"),
        pytest.param(lose(key_of=lambda each: each.content_key), id="without its text"),
        pytest.param(
            lose(key_of=lambda each: each.origin.parts_key if each.origin else ""),
            id="without its links",
        ),
    ],
)
def test_a_page_is_asked_for_as_if_it_were_new_where_its_document_is(
    crawl: Watched, happens: Callable[[Watched], None]
) -> None:
    crawl.crawled()
    crawl.clock.advance(limits.FETCH_KEPT_SECONDS)
    happens(crawl)
    assert crawl.sources(crawl.crawled()) == ["site"]
    assert crawl.requests[-1].validators is None


def test_a_page_is_asked_for_as_if_it_were_new_under_another_config(crawl: Watched) -> None:
    crawl.crawled()
    crawl.clock.advance(limits.FETCH_KEPT_SECONDS)
    options = ConfigOptions(extraction_strategy=ExtractionStrategy.RAW)
    config = crawl.configs.service.create("acme", ConfigDraft(name="raw", options=options))
    assert crawl.sources(crawl.crawled(config_id=config.id)) == ["site"]


def test_a_page_that_is_known_has_the_content_that_was_read(crawl: Watched) -> None:
    crawl.extract = extract
    body = """<html lang="en"><head><title>Silk</title><meta name="author" content="Ada">
        <meta name="somebot" content="nofollow"></head><body><main><h1>Silk</h1><p>Spiders weave
        <a href="/a" rel="nofollow">a</a>, <a href="/a">a</a> and <a href="/b">b</a>.</main>"""
    crawl.pages[URL] = fetched_page(URL, body, headers={**ETAG, "x-robots-tag": "none"})
    first, pipeline = crawl.crawled(), crawl.pipeline()
    [document] = crawl.documents.all("acme")
    kept = pipeline.pages.get(first, document, lambda: 60.0, lambda _: None)
    crawl.clock.advance(limits.FETCH_KEPT_SECONDS)
    known = pipeline.pages.get(first, document, lambda: 60.0, lambda _: None)
    assert known.content == extract(body, "text/html", URL)
    assert known.content.nofollow_agents == ("somebot",)
    assert [link.may_follow for link in known.content.hyperlinks] == [True, True]
    assert known.page.headers["x-robots-tag"] == "none"
    assert known.page.media_type == kept.page.media_type


def test_tenants_ask_for_themselves(crawl: Watched) -> None:
    crawl.crawled()
    crawl.clock.advance(60)
    assert crawl.sources(crawl.crawled(tenant="other")) == ["site"]
    assert [request.validators for request in crawl.requests] == [None, None]


@pytest.mark.parametrize(
    "answer",
    [
        fetched_page(URL, status_code=404),
        fetched_page(URL, status_code=503),
        fetched_page(URL, b""),
        FetchTimeout("slow"),
    ],
)
def test_nothing_but_a_successful_answer_is_kept(crawl: Watched, answer: Any) -> None:
    crawl.crawled()
    before = dict(crawl.cache.pages)
    crawl.clock.advance(60)
    crawl.pages[URL] = answer
    crawl.run(crawl.submit(URL, force=True))
    assert crawl.cache.pages == before


@pytest.mark.parametrize("moved", [False, True])
def test_a_304_to_a_request_without_validators_is_no_page(crawl: Watched, moved: bool) -> None:
    headers, elsewhere = ETAG if moved else {}, "https://other.example/"
    crawl.pages[URL] = fetched_page(URL, long_page("silk"), headers=headers)
    crawl.crawled()
    crawl.clock.advance(60)
    redirects = (URL,) if moved else ()
    crawl.pages[URL] = fetched_page(
        elsewhere if moved else URL, status_code=304, redirects=redirects
    )
    job = crawl.crawled()
    assert (job.status, job.last_error and job.last_error.code) == (JobStatus.FAILED, "HTTP_ERROR")


# ---------------------------------------------------------------- Without the cache


@pytest.mark.parametrize("call", ["cache.find", "cache.keep", "both"])
def test_a_cache_that_is_away_costs_only_a_fetch(crawl: Watched, call: str) -> None:
    class Away:
        def __getattr__(self, name: str) -> Any:
            crawl.cache.available = call not in ("both", f"cache.{name}")
            return getattr(crawl.cache, name)

    crawl.pages[URL] = fetched_page(URL, long_page("silk"))
    for _ in range(2):
        ref = crawl.submit(URL, force=True)
        crawl.embedder.available = False
        crawl.clock.now = run_with(crawl, ref, Away()).due_at
        crawl.embedder.available = True
        done = run_with(crawl, ref, Away())
        assert (done.status, done.attempts) == (JobStatus.COMPLETED, 0)
        assert crawl.sources(done) == ["site", "site"]


def run_with(crawl: Watched, ref: JobRef, cache: Any) -> Job:
    return crawl.run(ref, lambda name, port: cache if name == "cache" else port)


def test_a_stage_may_keep_nothing(crawl: Watched) -> None:
    crawl.kept_seconds = 0
    crawl.crawled()
    crawl.clock.advance(60)
    assert crawl.sources(crawl.crawled()) == ["site"]
    assert crawl.cache.pages == {}
