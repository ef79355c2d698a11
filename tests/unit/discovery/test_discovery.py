"""Discovery of a site's pages in its sitemaps and in Common Crawl's index."""

import gzip
import json
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from spinneret.discovery import limits
from spinneret.jobs.models import JobStatus
from spinneret.kernel import bounds
from spinneret.kernel.errors import (
    DomainBlocked,
    DomainError,
    FeatureDisabled,
    FetchFailed,
    FetchTimeout,
    UrlBlocked,
    UrlInvalid,
    ValidationFailed,
)
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from tests.fakes.discovering import COMMON_CRAWL, DiscoveryWorld
from tests.fakes.fetching import fetched_page

SITE = "https://site.example"
INDEX = "https://index.example/CC-MAIN-2026-45-index"


@pytest.fixture
def site() -> DiscoveryWorld:
    return DiscoveryWorld()


def urlset(*paths: str, site: str = SITE, dated: bool = False) -> str:
    entries = "".join(
        f"<url><loc>{site}/{path}</loc>{'<lastmod>2026-01-01</lastmod>' if dated else ''}</url>"
        for path in paths
    )
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'


def index(*urls: str) -> str:
    entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f"<sitemapindex>{entries}</sitemapindex>"


def serve(world: DiscoveryWorld, files: dict[str, str | bytes], site: str = SITE) -> None:
    for path, body in files.items():
        url = f"{site}/{path}"
        kind = "text/plain" if path.endswith(".txt") else "application/xml"
        world.pages[url] = fetched_page(url, body, media_type=kind)


def captures(world: DiscoveryWorld, urls: Iterable[str], limit: int = 10_000) -> None:
    world.pages[COMMON_CRAWL] = fetched_page(COMMON_CRAWL, json.dumps([{"cdx-api": INDEX}]))
    lines = "\n".join(
        json.dumps({"url": url, "timestamp": f"202601010000{n:02}", "status": "200"})
        for n, url in enumerate(urls)
    )
    asked = (
        f"{INDEX}?url=site.example&matchType=domain&output=json&fl=url%2Ctimestamp%2Cstatus%2Cmime"
        f"&filter=%3Dstatus%3A200&filter=~mime%3A.%2Ahtml.%2A&limit={limit}"
    )
    world.pages[asked] = fetched_page(asked, lines, media_type="text/plain")


# ------------------------------------------------------------ Sitemaps


def test_pages_come_from_the_sitemaps_that_robots_txt_names(site: DiscoveryWorld) -> None:
    cdn = "https://cdn.example"
    serve(site, {"robots.txt": f"Sitemap: {SITE}/map.xml\nSitemap: {cdn}/other.txt"})
    serve(site, {"map.xml": urlset("a", "b")})
    serve(site, {"other.txt": f"{SITE}/c\n{cdn}/not-the-site\n"}, cdn)
    assert site.discovered() == [f"{SITE}/{path}" for path in "abc"]
    assert site.requests.count(f"{SITE}/robots.txt") == 1
    assert f"{SITE}/sitemap.xml" not in site.requests


def test_a_sitemap_on_a_blocked_host_does_not_hide_the_others(site: DiscoveryWorld) -> None:
    site.hosts.service.block("acme", "cdn.example", "not theirs")
    serve(site, {"robots.txt": f"Sitemap: https://cdn.example/a.xml\nSitemap: {SITE}/map.xml"})
    serve(site, {"map.xml": urlset("a")})
    assert site.discovered() == [f"{SITE}/a"]


def test_without_such_lines_the_usual_places_are_looked_at(site: DiscoveryWorld) -> None:
    serve(site, {"sitemap.xml": urlset("a")})
    assert site.discovered() == [f"{SITE}/a"]


# covers C-07
def test_indexes_packed_files_and_feeds_are_read(site: DiscoveryWorld) -> None:
    rss = f"<rss><channel><item><link>{SITE}/rss</link></item></channel></rss>"
    atom = f'<feed><entry><link href="{SITE}/atom"/></entry></feed>'
    names = ["one.xml.gz", "rss", "atom", "list.txt"]
    serve(site, {"sitemap.xml": index(*(f"{SITE}/{name}" for name in names))})
    serve(site, {"one.xml.gz": gzip.compress(urlset("packed").encode())})
    serve(site, {"rss": rss, "atom": atom, "list.txt": f"{SITE}/text"})
    found = set(site.discovered())
    assert found == {f"{SITE}/{name}" for name in ("packed", "rss", "atom", "text")}


def test_files_that_fail_or_are_broken_do_not_fail_the_rest(site: DiscoveryWorld) -> None:
    names = ["gone.xml", "slow.xml", "broken.xml", "good.xml"]
    serve(site, {"sitemap.xml": index(*(f"{SITE}/{name}" for name in names))})
    site.pages[f"{SITE}/slow.xml"] = FetchTimeout("slow")
    serve(site, {"broken.xml": urlset("half") + "<", "good.xml": urlset("good")})
    ref = site.submit()
    job = site.settle(ref)
    assert set(site.urls(ref)) == {f"{SITE}/half", f"{SITE}/good"}
    assert job.result is not None
    counts = {name: job.result[name] for name in ("files_read", "files_failed", "files_cut_off")}
    assert counts == {"files_read": 3, "files_failed": 2 + 1, "files_cut_off": 1}
    assert sorted(note.partition(": ")[0] for note in job.result["notes"]) == [
        f"{SITE}/{name}" for name in ("broken.xml", "gone.xml", "slow.xml")
    ]


@pytest.mark.heavy
def test_failed_sitemaps_are_named_after_a_wait_too(site: DiscoveryWorld) -> None:
    names = [f"{n}-{'long' * 200}.xml" for n in range(150)]
    serve(site, {"robots.txt": "User-agent: *\nCrawl-delay: 20", "good.xml": urlset("good")})
    serve(site, {"sitemap.xml": index(f"{SITE}/good.xml", *(f"{SITE}/{name}" for name in names))})
    result = site.settle(site.submit()).result
    assert result is not None
    assert result["files_failed"] == 150 + 1
    assert len(result["notes"]) == 150
    assert all(note.startswith(f"{SITE}/") and "404" in note for note in result["notes"])


@pytest.mark.heavy
def test_a_file_beyond_the_bound_is_read_up_to_it(site: DiscoveryWorld) -> None:
    body = urlset("a").removesuffix("</urlset>") + " " * bounds.SITEMAP_MAX_BYTES + "</urlset>"
    serve(site, {"sitemap.xml": body})
    ref = site.submit()
    result = site.settle(ref).result
    assert result is not None
    assert (result["files_read"], result["files_cut_off"]) == (1, 1)
    assert site.urls(ref) == [f"{SITE}/a"]


@pytest.mark.parametrize("body", ["", " \n"], ids=["no byte", "blanks"])
def test_an_empty_file_is_none(site: DiscoveryWorld, body: str) -> None:
    serve(site, {"sitemap.xml": body, "sitemap_index.xml": urlset("a")})
    ref = site.submit()
    result = site.settle(ref).result
    assert result is not None
    assert (result["files_read"], result["files_failed"]) == (1, 1)


def test_a_site_without_a_sitemap_is_said_to_have_none(site: DiscoveryWorld) -> None:
    job = site.settle(site.submit())
    assert job.status is JobStatus.COMPLETED
    assert job.result is not None
    assert (job.result["urls_found"], job.result["notes"]) == (0, ["the site has no sitemap"])


def test_a_site_that_fails_is_tried_again_and_fails_the_discovery(site: DiscoveryWorld) -> None:
    for name in ("sitemap.xml", "sitemap_index.xml"):
        site.pages[f"{SITE}/{name}"] = fetched_page(f"{SITE}/{name}", "", status_code=503)
    ref = site.submit(f"{SITE}")
    job = site.run(ref)
    assert (job.status, job.attempts) == (JobStatus.PENDING, 1)
    serve(site, {"sitemap.xml": urlset("a")})
    site.settle(ref)
    assert site.urls(ref) == [f"{SITE}/a"]


def test_a_site_that_https_does_not_reach_is_asked_by_http(site: DiscoveryWorld) -> None:
    for name in ("robots.txt", "sitemap.xml", "sitemap_index.xml"):
        site.pages[f"{SITE}/{name}"] = FetchFailed("refused")
    plain = "http://site.example"
    serve(site, {"sitemap.xml": urlset("a", site=plain)}, plain)
    assert site.discovered() == [f"{plain}/a"]


def test_a_slow_host_is_waited_for_and_no_file_is_read_twice(site: DiscoveryWorld) -> None:
    serve(site, {"robots.txt": "User-agent: *\nCrawl-delay: 20"})
    serve(site, {"sitemap.xml": index(*(f"{SITE}/{n}.xml" for n in range(6)))})
    serve(site, {f"{n}.xml": urlset(f"page-{n}") for n in range(6)})
    ref = site.submit()
    assert site.run(ref).status is JobStatus.PENDING
    job = site.settle(ref)
    assert set(site.urls(ref)) == {f"{SITE}/page-{n}" for n in range(6)}
    assert job.attempts == 0
    assert len(site.requests) == len(set(site.requests))


def test_an_invocation_that_ends_leaves_the_rest_to_the_next(site: DiscoveryWorld) -> None:
    serve(site, {"sitemap.xml": index(*(f"{SITE}/{n}.xml" for n in range(30)))})
    serve(site, {f"{n}.xml": urlset(f"page-{n}") for n in range(30)})
    site.remaining = limits.DISCOVERY_FILE_SECONDS + 3
    ref = site.submit()
    assert site.run(ref).status is JobStatus.PENDING
    job = site.settle(ref)
    assert len(site.urls(ref)) == 30
    assert len(site.requests) == len(set(site.requests))
    assert job.attempts == 0


def test_a_slow_answer_leaves_the_next_fetch_to_the_next_invocation(site: DiscoveryWorld) -> None:
    captures(site, [f"{SITE}/a"])
    fast = site.direct()

    def slow(request: FetchRequest) -> FetchedPage:
        site.clock.advance(25)
        return fast.fetch(request)

    site.direct = lambda: SimpleNamespace(fetch=slow)  # type: ignore[method-assign]  # for a site
    site.remaining = limits.DISCOVERY_FILE_SECONDS + 1
    ref, began = site.submit(sources=["common_crawl"]), site.clock()
    assert site.run(ref).status is JobStatus.PENDING
    assert (site.clock() - began).total_seconds() < limits.DISCOVERY_FILE_SECONDS
    site.remaining = 200
    assert site.settle(ref).attempts == 0
    assert site.urls(ref) == [f"{SITE}/a"]


def test_a_discovery_ends_with_what_it_has_when_its_time_is_up(
    site: DiscoveryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "DISCOVERY_SECONDS", 3.0)
    serve(site, {"sitemap.xml": index(*(f"{SITE}/{n}.xml" for n in range(30)))})
    serve(site, {f"{n}.xml": urlset(f"page-{n}") for n in range(30)})
    ref = site.submit()
    job = site.settle(ref)
    assert job.status is JobStatus.PARTIALLY_FAILED
    assert job.last_error is not None
    assert job.last_error.code == "OUT_OF_TIME"
    assert job.result is not None
    assert len(site.urls(ref)) == job.result["urls_found"]
    assert 0 < job.result["urls_found"] < 30
    assert job.result["has_more"]
    assert "the discovery ran out of time before all files were read" in job.result["notes"]


# ------------------------------------------------------------ Selection of pages


def test_the_first_pages_are_taken_and_the_rest_is_told(site: DiscoveryWorld) -> None:
    serve(site, {"sitemap.xml": urlset(*(f"page-{n}" for n in range(9)))})
    ref = site.submit(max_urls=3)
    job = site.settle(ref)
    assert site.urls(ref) == [f"{SITE}/page-{n}" for n in range(3)]
    assert job.result is not None
    assert job.result["has_more"] is True


def test_a_pattern_limits_the_pages(site: DiscoveryWorld) -> None:
    serve(site, {"sitemap.xml": urlset("docs/a.html", "docs/deep/b.html", "blog/c.html")})
    assert site.discovered(pattern="/docs/*.html") == [f"{SITE}/docs/a.html"]
    assert len(site.discovered(pattern="/docs/**")) == 2


# covers C-07
def test_with_a_query_the_best_pages_are_found_in_their_order(site: DiscoveryWorld) -> None:
    paths = ["imprint", "silk", "webs/silk-of-spiders", "webs", *(f"other-{n}" for n in range(50))]
    serve(site, {"sitemap.xml": urlset(*paths)})
    found = site.discovered(score_query="silk of spiders", max_urls=2)
    assert found == [f"{SITE}/webs/silk-of-spiders", f"{SITE}/silk"]
    ref = site.submit(score_query="silk of spiders", score_threshold=0.9)
    site.settle(ref)
    [best] = site.found.page(ref, 0, 9).urls
    assert (best.url, best.score) == (f"{SITE}/webs/silk-of-spiders", 1.0)


def test_a_page_that_is_listed_twice_is_found_once(site: DiscoveryWorld) -> None:
    serve(site, {"sitemap.xml": urlset("a?x=1&amp;y=2", "a?y=2&amp;x=1", "a/", "a")})
    assert site.discovered() == [f"{SITE}/a?x=1&y=2", f"{SITE}/a/"]


# ------------------------------------------------------------ Common Crawl


# covers C-07
def test_common_crawl_adds_pages_and_names_itself(site: DiscoveryWorld) -> None:
    serve(site, {"sitemap.xml": urlset("a")})
    captures(site, [f"{SITE}/a", f"{SITE}/b", "https://sub.site.example/c"])
    ref = site.submit(sources=("sitemap", "common_crawl"))
    job = site.settle(ref)
    found = {each.url: list(each.sources) for each in site.found.page(ref, 0, 9).urls}
    assert found == {f"{SITE}/a": ["sitemap", "common_crawl"], f"{SITE}/b": ["common_crawl"]}
    assert job.result is not None
    assert job.result["captures"] == 3


@pytest.mark.parametrize(
    "answer",
    [
        FetchTimeout("slow"),
        fetched_page(COMMON_CRAWL, "", status_code=503),
        fetched_page(COMMON_CRAWL, "", status_code=403),
        fetched_page(COMMON_CRAWL, "no json"),
    ],
)
def test_common_crawl_s_failure_does_not_fail_the_rest(site: DiscoveryWorld, answer: Any) -> None:
    serve(site, {"sitemap.xml": urlset("a")})
    site.pages[COMMON_CRAWL] = answer
    ref = site.submit(sources=("common_crawl", "sitemap"))
    job = site.settle(ref)
    assert site.urls(ref) == [f"{SITE}/a"]
    assert job.result is not None
    assert any("common_crawl" in note for note in job.result["notes"])


def test_where_common_crawl_alone_was_asked_its_failure_is_the_discovery_s(
    site: DiscoveryWorld,
) -> None:
    site.pages[COMMON_CRAWL] = fetched_page(COMMON_CRAWL, "", status_code=403)
    job = site.settle(site.submit(sources=("common_crawl",)))
    assert (job.status, job.last_error and job.last_error.code) == (JobStatus.FAILED, "HTTP_ERROR")


def test_a_site_that_common_crawl_does_not_know_has_no_pages_there(site: DiscoveryWorld) -> None:
    site.pages[COMMON_CRAWL] = fetched_page(COMMON_CRAWL, json.dumps([{"cdx-api": INDEX}]))
    job = site.settle(site.submit(sources=("common_crawl",)))
    assert (job.status, job.result and job.result["urls_found"]) == (JobStatus.COMPLETED, 0)


# ------------------------------------------------------------ Submission


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"domain": "not a host"}, UrlInvalid),
        ({"domain": "ftp://site.example"}, UrlInvalid),
        ({"domain": "localhost"}, UrlBlocked),
        ({"domain": "http://10.0.0.1"}, UrlBlocked),
        ({"domain": "site.example/page"}, ValidationFailed),
        ({"pattern": "a***b"}, ValidationFailed),
        ({"pattern": "a b"}, ValidationFailed),
        ({"pattern": "a" * 501}, ValidationFailed),
    ],
)
def test_what_can_not_be_discovered_is_refused(
    site: DiscoveryWorld, given: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error) as refused:
        site.submit(**given)
    assert isinstance(refused.value, DomainError)
    assert [each["path"] for each in refused.value.details["fields"]] == list(given)
    assert site.queue.sent == []


def test_a_blocked_domain_is_refused(site: DiscoveryWorld) -> None:
    site.hosts.service.block("acme", "site.example", "not theirs")
    with pytest.raises(DomainBlocked):
        site.submit()


def test_where_the_feature_is_off_nothing_is_offered(site: DiscoveryWorld) -> None:
    ref = site.submit()
    site.enabled = False
    for call in (
        site.submit,
        lambda: site.service.get("acme", ref.job_id, 0, 9),
        lambda: site.service.scores([SITE], "silk"),
    ):
        with pytest.raises(FeatureDisabled):
            call()


def test_the_discovery_of_a_run_is_submitted_once(site: DiscoveryWorld) -> None:
    jobs = {site.service.for_source("acme", SITE, "/docs/**", "run_1") for _ in range(3)}
    assert len(jobs) == 1
    [job_id] = jobs
    assert site.service.ended("acme", job_id) is None
    serve(site, {"sitemap.xml": urlset("docs/a", "b")})
    site.settle(site.job(site.queue.sent[0].ref).ref)
    ended = site.service.ended("acme", job_id)
    assert ended is not None
    assert [each.url for each in ended.urls] == [f"{SITE}/docs/a"]
