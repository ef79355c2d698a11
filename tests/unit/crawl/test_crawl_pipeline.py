"""Effects of a site's responses on a crawl job."""

import pytest

from spinneret.content.extraction.models import Content, ExtractionStrategy
from spinneret.content.search.service import SearchResult
from spinneret.content.search.views import response_of
from spinneret.crawl.configs import limits
from spinneret.crawl.pages import MEDIA_TYPES
from spinneret.crawl.pipeline import Extract
from spinneret.jobs.models import JobEventKind, JobStatus
from spinneret.kernel import bounds
from spinneret.kernel.clock import to_iso
from spinneret.kernel.errors import (
    BodyTooLarge,
    ContentRefused,
    DomainError,
    FetchFailed,
    FetchTimeout,
    TooManyRedirects,
    UrlBlocked,
)
from spinneret.web.limits import ROBOTS_SECONDS
from tests.fakes.crawling import CrawlWorld, long_page
from tests.fakes.fetching import FakeFetcher, fetched_page

URL = "https://site.example/page"


def test_a_crawled_page_is_described_in_the_result(crawl: CrawlWorld) -> None:
    final = "https://other.example/final?b=2&a=1"
    body = long_page("silk")
    crawl.pages[URL] = fetched_page(final, body, redirects=(URL, "https://other.example/"))
    job = crawl.settle(crawl.submit(URL))
    [document] = crawl.documents.all("acme")
    assert job.result is not None
    assert job.result == {
        "document_id": document.id,
        "url": final,
        "redirects": [URL, "https://other.example/"],
        "title": body.partition("\n")[0],
        "language": "en",
        "extraction": None,
        "status_code": 200,
        "content_type": "text/html",
        "bytes": len(body.encode()),
        "fetch_ms": 1,
        "chunks": document.chunk_count,
        "tokens": document.token_count,
        "version": document.version,
        "unchanged": False,
        "links": 0,
        "normalized_url": "https://other.example/final?a=1&b=2",
        "crawled_at": to_iso(document.crawled_at),
        "content_key": document.content_key,
        "content_bytes": len(body.encode()),
        "parts_key": job.result["parts_key"],
        "parts_bytes": len(crawl.parts.read(job.result["parts_key"]) or ""),
    }
    assert (document.url, document.domain) == (final, "other.example")


def test_pages_that_lead_to_one_url_are_one_document(crawl: CrawlWorld) -> None:
    final = "https://site.example/final"
    for path in ("a", "b"):
        url = f"https://site.example/{path}"
        crawl.pages[url] = fetched_page(final, "Silk.", redirects=(url,))
        crawl.settle(crawl.submit(url))
    assert len(crawl.documents.all("acme")) == 1


def test_a_page_is_asked_for_with_its_last_slash_and_is_the_same_without_it(
    crawl: CrawlWorld,
) -> None:
    folder = f"{URL}/"
    crawl.pages[folder] = fetched_page(folder, long_page("silk"))
    ref = crawl.submit(folder)
    assert crawl.submit(URL) == ref
    assert crawl.settle(ref).status is JobStatus.COMPLETED


# covers C-02
def test_the_timeline_reports_the_steps_with_rising_progress(crawl: CrawlWorld) -> None:
    crawl.pages[URL] = fetched_page(URL, long_page("silk"))
    ref = crawl.submit(URL)
    crawl.settle(ref)
    events = crawl.store.events(ref, None, 99)
    steps = [each.message for each in events if each.kind == "step_started"]
    assert list(dict.fromkeys(steps)) == [
        "fetching",
        "extracting",
        "chunking",
        "embedding",
        "indexing",
    ]
    progress = [each.progress for each in events]
    assert progress == sorted(progress)
    assert progress[-1] == 100


def test_a_crawl_asks_for_pages_within_its_bounds(crawl: CrawlWorld) -> None:
    crawl.pages[URL] = fetched_page(URL, "Silk.")
    ref = crawl.submit(URL)
    fetchers: list[FakeFetcher] = []

    def keep(name: str, port: object) -> object:
        if isinstance(port, FakeFetcher):
            fetchers.append(port)
        return port

    crawl.run(ref, keep)
    [robots, request] = fetchers[0].requests
    assert robots.total_seconds == ROBOTS_SECONDS
    assert (request.url.text, request.media_types) == (URL, MEDIA_TYPES)
    assert (request.max_bytes, request.max_redirects) == (
        limits.CONFIG_PAGE_MB_MAX * 1024 * 1024,
        limits.CRAWL_MAX_REDIRECTS,
    )


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "utf-16le"])
def test_a_page_is_read_in_its_charset(crawl: CrawlWorld, charset: str) -> None:
    crawl.pages[URL] = fetched_page(URL, "Spinnfäden größer".encode(charset), charset=charset)
    crawl.settle(crawl.submit(URL))
    [hit] = crawl.search("größer")
    assert hit.chunk.text == "Spinnfäden größer"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (fetched_page(URL, status_code=404), "HTTP_ERROR"),
        (fetched_page(URL, status_code=403), "HTTP_ERROR"),
        (fetched_page(URL, status_code=304), "HTTP_ERROR"),
        (fetched_page(URL, status_code=204, body=b""), "CONTENT_REFUSED"),
        (fetched_page(URL, body=b""), "CONTENT_REFUSED"),
        (fetched_page(URL, media_type="application/pdf"), "CONTENT_REFUSED"),
        (ContentRefused("empty"), "CONTENT_REFUSED"),
        (UrlBlocked("inside"), "URL_BLOCKED"),
        (BodyTooLarge("big"), "BODY_TOO_LARGE"),
        (TooManyRedirects("round"), "TOO_MANY_REDIRECTS"),
    ],
)
def test_a_page_that_a_second_try_would_not_change_fails_at_once(
    crawl: CrawlWorld, answer: DomainError, code: str
) -> None:
    crawl.pages[URL] = answer
    job = crawl.settle(crawl.submit(URL))
    assert (job.status, job.fence) == (JobStatus.FAILED, 1)
    assert job.last_error is not None
    assert job.last_error.code == code
    assert crawl.documents.all("acme") == []


@pytest.mark.parametrize(
    "answer",
    [
        fetched_page(URL, status_code=408),
        fetched_page(URL, status_code=425),
        fetched_page(URL, status_code=429),
        fetched_page(URL, status_code=500),
        fetched_page(URL, status_code=503),
        FetchTimeout("slow"),
        FetchFailed("no address"),
    ],
)
def test_a_page_that_may_be_there_later_is_tried_again_in_several_series(
    crawl: CrawlWorld, answer: DomainError
) -> None:
    crawl.pages[URL] = answer
    job = crawl.settle(crawl.submit(URL))
    assert (job.status, job.attempts, job.redrives) == (JobStatus.FAILED, 3, bounds.REDRIVES)
    events = crawl.store.events(job.ref, None, 999)
    failures = [event for event in events if event.kind is JobEventKind.ERROR]
    assert len(failures) == bounds.JOB_MAX_ATTEMPTS * (bounds.REDRIVES + 1)


def test_the_section_of_an_opening_chunk_is_the_title(crawl: CrawlWorld) -> None:
    text = f"Webs\n\n{long_page('silk', 300)}\n\n## Orbs\n\n{long_page('orbs', 300)}"
    crawl.pages[URL] = fetched_page(URL, text)
    job = crawl.settle(crawl.submit(URL))
    hits = sorted(crawl.search("silk orbs"), key=lambda hit: hit.chunk.index)
    found = SearchResult(hits=tuple(hits), total_count=len(hits))
    sections = [each.section_header for each in response_of(found, 1).results]
    assert len(sections) == (job.result or {})["chunks"]
    assert (sections[0], sections[-1]) == ("Webs", "Orbs")


def test_a_page_that_comes_back_is_crawled_after_all(crawl: CrawlWorld) -> None:
    crawl.pages[URL] = fetched_page(URL, status_code=503, headers={"retry-after": "90"})
    ref = crawl.submit(URL)
    job = crawl.run(ref)
    assert (job.due_at - crawl.clock()).total_seconds() == 90
    crawl.pages[URL] = fetched_page(URL, "Silk.")
    done = crawl.settle(ref)
    assert (done.status, done.attempts, done.last_error) == (JobStatus.COMPLETED, 1, None)


@pytest.mark.parametrize("part", ["embedder", "index", "contents"])
def test_an_outage_of_our_own_is_waited_for_uncharged(crawl: CrawlWorld, part: str) -> None:
    crawl.pages[URL] = fetched_page(URL, "Silk.")
    ref = crawl.submit(URL)
    getattr(crawl, part).available = False
    for _ in range(5):
        job = crawl.run(ref)
        assert (job.status, job.attempts) == (JobStatus.PENDING, 0)
        crawl.clock.now = job.due_at
    assert crawl.search("silk") == () if part == "contents" else True
    getattr(crawl, part).available = True
    done = crawl.settle(ref)
    assert (done.status, done.attempts) == (JobStatus.COMPLETED, 0)
    assert len(crawl.search("silk")) == 1


# covers C-02
@pytest.mark.parametrize(
    ("text", "language", "details"),
    [
        ("Die Seide einer Spinne.", "de", {"reason": "language", "language": "de"}),
        ("ok!", "en", {"reason": "too_short"}),
    ],
)
def test_a_page_that_is_not_for_the_index_is_refused_with_its_reason(
    crawl: CrawlWorld, text: str, language: str, details: dict[str, str]
) -> None:
    crawl.extract = in_language(language)
    crawl.pages[URL] = fetched_page(URL, text)
    job = crawl.settle(crawl.submit(URL))
    assert job.status is JobStatus.FAILED
    assert job.last_error is not None
    assert (job.last_error.code, job.last_error.details) == ("CONTENT_REFUSED", details)
    assert crawl.documents.all("acme") == []


@pytest.mark.parametrize("language", ["en", "und"])
def test_a_page_in_english_or_in_no_known_language_is_kept(
    crawl: CrawlWorld, language: str
) -> None:
    crawl.extract = in_language(language)
    crawl.pages[URL] = fetched_page(URL, "Silk.")
    crawl.settle(crawl.submit(URL))
    assert [each.language for each in crawl.documents.all("acme")] == [language]


def in_language(language: str) -> Extract:
    def extract(
        text: str, media_type: str, url: str, strategy: ExtractionStrategy, *, targets: bool
    ) -> Content:
        return Content(title=None, markdown=text, language=language)

    return extract
