"""Crawls of pages that a browser renders: always, or only if they are empty without scripts."""

from typing import Any

import pytest

from spinneret.content.extraction.pages import extract
from spinneret.crawl.configs.api_models import ConfigRequest
from spinneret.crawl.deep.models import DeepCrawlRequest
from spinneret.crawl.kinds import CRAWL, RENDERED_CRAWL
from spinneret.crawl.models import BatchRequest
from spinneret.jobs.models import Job, JobRef, JobStatus
from spinneret.kernel.errors import (
    BrowserMissing,
    HttpUnavailable,
    RenderTimeout,
    ValidationFailed,
)
from tests.fakes.browser import Rendering
from tests.fakes.crawling import CrawlWorld
from tests.fakes.deep_crawling import DeepCrawlWorld
from tests.fakes.fetching import fetched_page

SITE = "https://site.example"
URL = f"{SITE}/page"
SHELL = b"<title>Silk</title><div id=app></div><script src=/app.js></script>"
TEXT = "Orb weavers rebuild their webs every night and eat the old silk before they begin."
ARTICLE = f"<title>Silk</title><p>{TEXT * 3}</p><script src=/app.js></script>"
DOM = f"<!doctype html><title>Silk</title><div id=app><p>{TEXT}</p></div>"


@pytest.fixture
def site() -> CrawlWorld:
    """Provide a world with a page that is a shell and has its text only in the browser."""
    world = CrawlWorld()
    world.extract = extract
    world.pages[URL] = fetched_page(URL, SHELL)
    world.pages[f"{SITE}/robots.txt"] = fetched_page(f"{SITE}/robots.txt", b"")
    world.browser.pages[URL] = Rendering(dom=DOM)
    return world


def crawled(site: CrawlWorld, **given: Any) -> Job:
    """Crawl the page once more."""
    return site.settle(site.submit(URL, force=True, **given))


def opened(site: CrawlWorld) -> int:
    return len(site.browser.requests)


# covers C-11
def test_a_page_that_is_nothing_without_scripts_becomes_searchable(site: CrawlWorld) -> None:
    assert crawled(site).status is JobStatus.FAILED
    job = crawled(site, render=True, wait_for="#app p", wait_seconds=1.5)
    assert (job.kind, job.status) == (RENDERED_CRAWL, JobStatus.COMPLETED), job.last_error
    [request] = site.browser.requests
    assert (request.wait_for, request.wait_seconds) == ("#app p", 1.5)
    [hit] = site.search("silk")
    assert hit.chunk.url == URL
    assert site.crawls().get("acme", job.id).status is JobStatus.COMPLETED


@pytest.mark.parametrize(
    ("body", "status", "renders"),
    [(SHELL, 200, True), (ARTICLE.encode(), 200, False), (SHELL, 404, False), (SHELL, 520, False)],
)
def test_auto_opens_only_shells(site: CrawlWorld, body: bytes, status: int, renders: bool) -> None:
    site.pages[URL] = fetched_page(URL, body, status_code=status)
    job = crawled(site, render="auto")
    assert (job.kind, opened(site)) == (RENDERED_CRAWL, int(renders))
    assert job.status is (JobStatus.COMPLETED if status == 200 else JobStatus.FAILED)
    assert job.last_error is None or job.last_error.code == HttpUnavailable.code


def test_auto_asks_again_whether_an_unrendered_page_has_changed(site: CrawlWorld) -> None:
    etag = {"etag": '"1"'}
    site.pages[URL] = fetched_page(URL, ARTICLE.encode(), headers=etag)
    crawled(site, render="auto")
    site.pages[URL] = fetched_page(URL, b"", status_code=304, headers=etag)
    job = crawled(site, render="auto")
    assert (job.status, opened(site)) == (JobStatus.COMPLETED, 0)


def test_a_rendered_page_is_rendered_again_by_the_next_crawl(site: CrawlWorld) -> None:
    """The host's validators describe the shell, whatever its scripts show."""
    site.browser.pages[URL] = Rendering(dom=DOM, headers={"etag": '"1"'})
    for count in (1, 2):
        crawled(site, render=True)
        assert opened(site) == count


def test_rendered_pages_are_other_crawls_with_a_cache_of_their_own(site: CrawlWorld) -> None:
    site.pages[URL] = fetched_page(URL, ARTICLE.encode())
    jobs = [
        site.submit(URL),
        site.submit(URL, render=True),
        site.submit(URL, render="auto"),
        site.submit(URL, render=True, wait_seconds=1.0),
    ]
    assert len(set(jobs)) == 4
    assert site.submit(URL, render=True) == jobs[1]
    assert site.submit(URL, render=False) == jobs[0]
    for ref in jobs:
        assert site.settle(ref).status is JobStatus.COMPLETED
    assert opened(site) == 2


@pytest.mark.parametrize("kept_seconds", [24 * 3600.0, 0.0])
def test_auto_ends_at_a_slow_host(site: CrawlWorld, kept_seconds: float) -> None:
    """A page that must wait between its fetch and its rendering isn't fetched again."""
    site.kept_seconds = kept_seconds
    config_id = config(site, rate_limit_rps=0.01)
    job = crawled(site, render="auto", config_id=config_id)
    assert (job.status, opened(site)) == (JobStatus.COMPLETED, 1)


def test_a_run_that_waits_after_its_page_was_rendered_keeps_it(site: CrawlWorld) -> None:
    ref = site.submit(URL, render=True)
    site.index.available = False
    [sent] = site.queue.take()
    site.run(sent.ref)
    site.index.available = True
    assert site.settle(ref).status is JobStatus.COMPLETED
    assert opened(site) == 1


@pytest.mark.parametrize(
    ("page", "code"),
    [
        (RenderTimeout("the page of site.example was not ready within 60 s"), "RENDER_TIMEOUT"),
        (Rendering(status_code=503), HttpUnavailable.code),
    ],
)
def test_a_page_that_fails_in_the_browser_is_tried_again(
    site: CrawlWorld, page: Any, code: str
) -> None:
    site.browser.pages[URL] = page
    job = crawled(site, render=True)
    assert (job.status, job.attempts) == (JobStatus.FAILED, 3)
    assert job.last_error is not None
    assert job.last_error.code == code


# ---------------------------------------------------------------- Configs


def config(site: CrawlWorld, **given: Any) -> str:
    request = ConfigRequest(name="rendered", **given)
    return site.configs.service.create("acme", request.draft).id


def test_a_config_renders_crawls_and_batches_and_a_request_wins_over_it(site: CrawlWorld) -> None:
    config_id = config(site, render=True, wait_for="#app")
    jobs = [
        site.job(site.submit(URL, config_id=config_id)),
        site.job(site.submit(URL, config_id=config_id, render=False)),
    ]
    assert [job.kind for job in jobs] == [RENDERED_CRAWL, CRAWL]
    assert jobs[0].payload["rendering"]["wait_for"] == "#app"
    batch = site.crawls().submit_batch(
        "acme", BatchRequest(urls=(f"{SITE}/other",), config_id=config_id), None
    )
    [made] = batch.reply.body["jobs"]
    assert site.job(JobRef(tenant="acme", job_id=made["job_id"])).kind == RENDERED_CRAWL


@pytest.mark.parametrize(
    "fields",
    [
        {"render": True, "max_depth": 1},
        {"render": "auto", "proxy_config_id": "proxies_1"},
        {"render": "sometimes"},
        {"wait_for": "main"},
        {"wait_seconds": 1.0},
        {"render": True, "wait_seconds": 31.0},
    ],
)
def test_a_config_that_contradicts_itself_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        ConfigRequest(name="rendered", **fields)


def test_headers_of_a_config_exclude_rendering(site: CrawlWorld) -> None:
    with pytest.raises(ValidationFailed):
        config(site, render=True, headers={"Accept-Language": "en"})
    config_id = config(site, headers={"Accept-Language": "en"})
    with pytest.raises(ValidationFailed):
        site.submit(URL, config_id=config_id, render=True)


def test_deep_crawls_refuse_to_render() -> None:
    deep = DeepCrawlWorld({})
    config_id = config(deep, render=True)
    with pytest.raises(ValidationFailed, match=r"deep crawls don.t render"):
        deep.deep().submit("acme", DeepCrawlRequest(url=URL, config_id=config_id), None)


# covers C-11
def test_a_stage_without_a_browser_names_it(site: CrawlWorld) -> None:
    rendering = config(site, render="auto")
    site.configs.service.has_browser = False
    with pytest.raises(BrowserMissing):
        site.checks().source_terms("acme", "src_1", rendering, None)
    with pytest.raises(BrowserMissing):
        site.submit(URL, render=True)
    with pytest.raises(BrowserMissing):
        config(site, render="auto")
    assert site.submit(URL)
