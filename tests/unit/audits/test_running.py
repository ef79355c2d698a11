"""Audits as jobs, on fakes: from the submission to the reports."""

import gzip
import itertools
import json
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.audits import limits
from spinneret.audits.facts.site import SiteFacts, SitemapFacts, SitemapUrl
from spinneret.audits.issue_models import IssueFilter
from spinneret.audits.models import ArtifactType
from spinneret.audits.running.judging import PAGES_UNREAD
from spinneret.audits.running.listed import listed_sample
from spinneret.jobs.models import Job, JobRef, JobStatus, Transition
from spinneret.kernel.errors import BodyTooLarge, Contended, DomainError, FetchFailed, FetchTimeout
from spinneret.outbox.models import SubjectRef
from spinneret.web.exploring.scope import CrawlScope, ScopeKind
from spinneret.web.fetching.models import FetchRequest
from spinneret.web.fetching.urls import parse_url
from spinneret.web.models import Caller
from spinneret.web.politeness.models import Circuit
from tests.fakes.auditing import AuditWorld
from tests.fakes.fetching import fetched_page
from tests.sampling import sampled
from tests.unit.audits.site import GOOD_PAGES, GOOD_ROBOTS, HOST, IMAGE, Page, alternates, sitemap

LISTED = {page.url: "" for page in GOOD_PAGES}


def good_site(world: AuditWorld) -> None:
    """Serve the good fixture site."""
    for page in GOOD_PAGES:
        world.pages[page.url] = page.answer()
    world.pages |= {
        f"{HOST}/robots.txt": fetched_page(
            f"{HOST}/robots.txt", GOOD_ROBOTS, media_type="text/plain"
        ),
        f"{HOST}/sitemap.xml": fetched_page(
            f"{HOST}/sitemap.xml", sitemap(LISTED), media_type="application/xml"
        ),
        f"{HOST}/llms.txt": fetched_page(
            f"{HOST}/llms.txt", "# Timber\n\n> Trees", media_type="text/plain"
        ),
        f"{HOST}/oak.jpg": fetched_page(
            f"{HOST}/oak.jpg",
            b"",
            media_type="image/jpeg",
            headers={"content-length": "80000"},
        ),
        f"{HOST}/preview.png": fetched_page(
            f"{HOST}/preview.png",
            b"",
            media_type="image/png",
            headers={"content-length": "90000"},
        ),
        "https://other.example/": fetched_page("https://other.example/"),
        "http://shop.example/": fetched_page(f"{HOST}/", redirects=("http://shop.example/",)),
        "https://www.shop.example/": fetched_page(
            f"{HOST}/", redirects=("https://www.shop.example/",)
        ),
    }


@pytest.fixture
def world() -> AuditWorld:
    world = AuditWorld()
    good_site(world)
    return world


def result_of(job: Job) -> dict[str, Any]:
    assert job.result is not None, job
    return dict(job.result)


def reported(world: AuditWorld, ref: JobRef) -> list[tuple[str, Any]]:
    """Return the domain events of an audit: type, and change of the score."""
    subject = SubjectRef(tenant=ref.tenant, subject=ref.job_id)
    found = world.store.outbox.pending(subject, None, 10).events
    return [
        (each.event.type, each.event.data.get("result", {}).get("score_change")) for each in found
    ]


def keys(world: AuditWorld, ref: JobRef) -> set[tuple[str, str]]:
    findings = json.loads(world.report(ref))["findings"]
    return {(each["check"], each["url"]) for each in findings}


def state_of(world: AuditWorld, ref: JobRef, check: str, url: str) -> str:
    """Return the state of an issue compared with the previous audit."""
    view = world.service().comparison(ref.tenant, ref.job_id, None, None, 0, 10_000)
    [state] = [each.state for each in view.items if (each.check, each.url) == (check, url)]
    rows = json.loads(world.report(ref))["comparison"].get(state, [])
    assert state in ("new", "still") or {"check": check, "url": url} in rows
    return state


def test_the_good_site_is_audited_whole_and_has_no_issue(world: AuditWorld) -> None:
    ref = world.submit(f"{HOST}/")
    job = world.settle(ref)
    assert job.status is JobStatus.COMPLETED, job.last_error
    result = result_of(job)
    assert keys(world, ref) == set()
    assert (result["score"], result["grade"], result["pages"]) == (100, "A", {"html": 9})
    assert (result["external_links"], result["external_links_checked"]) == (1, 1)
    assert (result["images"], result["images_checked"]) == (2, 2)
    assert result["pages_not_visited"] == 0
    assert job.attempts == 0


def test_no_page_is_asked_for_twice_but_the_start(world: AuditWorld) -> None:
    world.settle(world.submit(f"{HOST}/"))
    asked = Counter(url for _, method, url in world.asked if method == "GET")
    assert {url: count for url, count in asked.items() if count > 1} == {
        f"{HOST}/": 2,
        f"{HOST}/robots.txt": 2,  # for politeness, and as a fact
    }
    assert [url for _, method, url in world.asked if method == "HEAD"] == [
        "http://shop.example/",
        "https://www.shop.example/",
        "https://other.example/",
        f"{HOST}/oak.jpg",
        f"{HOST}/preview.png",
    ]


#
def test_every_format_is_an_artifact_without_an_end_and_pages_have_one(world: AuditWorld) -> None:
    ref = world.submit(f"{HOST}/")
    world.settle(ref)
    rows = world.audits.artifacts(ref.tenant, ref.job_id, None, 100).items
    kinds = Counter(each.type for each in rows)
    assert kinds[ArtifactType.HTML_GZ] == 9
    assert {kind for kind in kinds if kind.startswith("report_")} == {
        f"report_{name}" for name in ("json", "csv", "html", "md", "junit", "sarif")
    }
    for each in rows:
        assert each.storage_uri in world.bodies.objects, each
        ends = each.created_at + timedelta(days=14) if each.type == "html_gz" else None
        assert each.retention_until == ends
    page = next(each for each in rows if each.url == f"{HOST}/oak")
    stored = gzip.decompress(world.bodies.objects[page.storage_uri])
    assert stored == world.pages[f"{HOST}/oak"].body  # type: ignore[union-attr]  # a page


@pytest.mark.parametrize("request_seconds", sampled([5.0, 0.05, 20.0]))
def test_short_slices_come_to_the_same_result_uncharged(request_seconds: float) -> None:
    whole, parts = AuditWorld(), AuditWorld()
    parts.slice_seconds = 95.0
    parts.request_seconds = request_seconds
    for world in (whole, parts):
        good_site(world)
    one, other = (world.settle(world.submit(f"{HOST}/")) for world in (whole, parts))
    assert (one.attempts, other.attempts) == (0, 0)
    assert other.fence > 1 or request_seconds < 1
    assert other.status is JobStatus.COMPLETED, other.last_error
    assert result_of(one) == result_of(other)


def test_a_crawl_delay_is_waited_for_by_deferring(world: AuditWorld) -> None:
    slow = GOOD_ROBOTS.replace("Allow: /", "Allow: /\nCrawl-delay: 20")
    world.pages[f"{HOST}/robots.txt"] = fetched_page(f"{HOST}/robots.txt", slow)
    began = world.clock()
    job = world.settle(world.submit(f"{HOST}/"))
    assert job.status is JobStatus.COMPLETED, job.last_error
    assert job.attempts == 0
    moments = [at for at, _, url in world.asked if "shop.example" in url]
    gaps = [(b - a).total_seconds() for a, b in itertools.pairwise(moments)]
    assert min(gaps) >= 20
    assert (world.clock() - began).total_seconds() < 20 * len(moments)


def test_broken_pages_are_found_with_what_they_answer(world: AuditWorld) -> None:
    world.pages[f"{HOST}/oak"] = fetched_page(f"{HOST}/oak", b"gone", status_code=410)
    world.pages[f"{HOST}/pine"] = Page(path="/pine", title=None).answer()
    world.pages["https://other.example/"] = fetched_page(
        "https://other.example/", b"", status_code=404
    )
    ref = world.submit(f"{HOST}/")
    job = world.settle(ref)
    assert job.status is JobStatus.COMPLETED, job.last_error
    found = keys(world, ref)
    assert ("http.4xx", f"{HOST}/oak") in found
    assert ("title.missing", f"{HOST}/pine") in found
    assert any(check == "links.broken_external" for check, _ in found), sorted(found)


def test_a_page_that_never_answers_makes_the_audit_partial(world: AuditWorld) -> None:
    world.pages[f"{HOST}/cedar"] = FetchTimeout("slow")
    ref = world.submit(f"{HOST}/")
    job = world.settle(ref)
    assert job.status is JobStatus.PARTIALLY_FAILED
    assert job.last_error is not None
    assert job.last_error.code == PAGES_UNREAD
    assert ("http.timeout", f"{HOST}/cedar") in keys(world, ref)
    tries = sum(url == f"{HOST}/cedar" for _, _, url in world.asked)
    assert tries == 3


def test_rows_that_others_keep_changing_charge_neither_page_nor_audit(world: AuditWorld) -> None:
    answer = world.pages[f"{HOST}/cedar"]
    world.pages[f"{HOST}/cedar"] = Contended("others are faster")
    ref = world.submit(f"{HOST}/")
    for _ in range(6):
        assert world.run(ref).attempts == 0
        world.clock.advance(120)
    world.pages[f"{HOST}/cedar"] = answer
    assert world.settle(ref).status is JobStatus.COMPLETED


def test_a_retry_audits_the_site_anew_and_compares(world: AuditWorld) -> None:
    world.pages[f"{HOST}/cedar"] = FetchTimeout("slow")
    ref = world.submit(f"{HOST}/")
    before = result_of(world.settle(ref))
    world.pages[f"{HOST}/cedar"] = next(p for p in GOOD_PAGES if p.path == "/cedar").answer()
    world.clock.advance(3600)
    world.control.move(ref, Transition.RETRY)
    job = world.settle(ref)
    assert (job.status, job.run) == (JobStatus.COMPLETED, 2)
    result = result_of(job)
    assert result["score_change"] == pytest.approx(100 - before["score"])
    assert (result["new_issues"], result["fixed_issues"] > 0) == (0, True)
    assert reported(world, ref) == [
        ("audit.partially_failed", None),
        ("audit.completed", result["score_change"]),
    ]


#
def test_checks_that_are_off_cost_nothing_and_fix_nothing(world: AuditWorld) -> None:
    good = next(p for p in GOOD_PAGES if p.path == "/cedar").answer()
    world.pages[f"{HOST}/cedar"] = replace(good, body=good.body.replace(b"<title>", b"<x>"))
    ref = world.submit(f"{HOST}/")
    assert result_of(world.settle(ref))["score"] < 100
    found = keys(world, ref)
    off = world.submit(f"{HOST}/", options={"checks_off": sorted({check for check, _ in found})})
    assert result_of(world.settle(off))["score"] == 100
    assert keys(world, off) == set()
    assert {state_of(world, off, *each) for each in found} == {"unchecked"}


#
@pytest.mark.parametrize(
    ("options", "paths"),
    [
        ({"include": ["/oak*"]}, {"/", "/oak", "/oak-de"}),
        ({"include": ["/oak*"], "exclude": ["/*-de"]}, {"/", "/oak"}),
        ({"exclude": ["/*-de", "/ce*"]}, {"/", "/oak"}),
    ],
)
def test_patterns_narrow_an_audit(
    world: AuditWorld, options: dict[str, Any], paths: set[str]
) -> None:
    ref = world.submit(f"{HOST}/", options=options)
    world.settle(ref)
    visited = {each["url"].removeprefix(HOST) for each in json.loads(world.report(ref))["pages"]}
    assert visited & {"/", "/oak", "/oak-de", "/cedar", "/cedar-de"} == paths
    view = world.service().get(ref.tenant, ref.job_id)
    assert {name: view.options[name] for name in options} == options


@pytest.mark.parametrize(
    ("options", "mended", "state"),
    [
        ({"max_images": 0}, False, "unchecked"),
        ({"max_images": 0}, True, "unchecked"),
        ({}, True, "fixed"),
        ({"max_pages": 1}, True, "not_seen"),
    ],
)
def test_a_broken_image_is_fixed_only_if_it_was_asked_again(
    world: AuditWorld, options: dict[str, Any], mended: bool, state: str
) -> None:
    image = f"{HOST}/oak.jpg"
    there = world.pages.pop(image)
    first = world.submit(f"{HOST}/")
    world.settle(first)
    key = ("img.broken", f"{HOST}/oak")
    assert key in keys(world, first)
    if mended:
        world.pages[image] = there
    world.clock.advance(3600)
    second = world.submit(f"{HOST}/", options=options)
    world.settle(second)
    assert state_of(world, second, *key) == state


def test_issues_of_a_page_that_no_longer_answers_are_unchecked(world: AuditWorld) -> None:
    world.pages[f"{HOST}/oak"] = Page(path="/oak", title=None).answer()
    world.pages[f"{HOST}/pine"] = Page(path="/pine", title=None).answer()
    world.settle(world.submit(f"{HOST}/"))
    world.pages[f"{HOST}/oak"] = FetchTimeout("slow")
    del world.pages[f"{HOST}/pine"]
    world.clock.advance(3600)
    second = world.submit(f"{HOST}/")
    world.settle(second)
    assert state_of(world, second, "title.missing", f"{HOST}/oak") == "unchecked"
    assert state_of(world, second, "title.missing", f"{HOST}/pine") == "fixed"  # 404: page removed


def test_links_to_a_redirect_between_crawled_pages_are_not_broken(world: AuditWorld) -> None:
    moved = Page(path="/oak", redirect=("/old-oak",)).answer()
    world.pages[f"{HOST}/old-oak"] = moved
    start = Page(path="/", body='<a href="/old-oak">Oaks</a>').answer()
    world.pages[f"{HOST}/"] = start
    ref = world.submit(f"{HOST}/")
    world.settle(ref)
    found = {check for check, url in keys(world, ref) if url == f"{HOST}/"}
    assert "http.redirect" in found
    assert "links.broken_internal" not in found


@pytest.mark.heavy
def test_a_sitemap_with_an_impossible_address_is_an_issue(world: AuditWorld) -> None:
    lines = f"{GOOD_ROBOTS}Sitemap: {HOST}:99999/sitemap.xml\n"
    world.pages[f"{HOST}/robots.txt"] = fetched_page(f"{HOST}/robots.txt", lines)
    ref = world.submit(f"{HOST}/")
    assert world.settle(ref).status is JobStatus.COMPLETED
    assert keys(world, ref) == {("sitemap.invalid", f"{HOST}/")}


@pytest.mark.heavy
def test_a_page_in_a_usual_place_is_no_sitemap(world: AuditWorld) -> None:
    """Some sites answer every address with a page, so a page in a usual place is no sitemap."""
    at = f"{HOST}/sitemap.xml"
    world.pages[f"{HOST}/robots.txt"] = fetched_page(
        f"{HOST}/robots.txt", GOOD_ROBOTS.replace(f"Sitemap: {at}", ""), media_type="text/plain"
    )
    listed = world.pages[at]
    world.pages[at] = replace(GOOD_PAGES[0].answer(), requested=parse_url(at), url=parse_url(at))
    ref = world.submit(f"{HOST}/")
    world.settle(ref)
    assert ("sitemap.missing", f"{HOST}/") in keys(world, ref)
    world.pages[f"{HOST}/sitemap_index.xml"] = listed
    ref = world.submit(f"{HOST}/")
    world.settle(ref)
    assert keys(world, ref) == set()


def test_pages_may_be_in_a_sitemap_that_was_not_read(world: AuditWorld) -> None:
    children = [f"{HOST}/sitemap-{number}.xml" for number in range(limits.SITEMAPS)]
    index = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in children)
    files = {
        f"{HOST}/sitemap.xml": f"<sitemapindex>{index}</sitemapindex>",
        **dict.fromkeys(children, f"<urlset><url><loc>{HOST}/oak</loc></url></urlset>"),
    }
    for url, content in files.items():
        world.pages[url] = fetched_page(url, content, media_type="application/xml")
    ref = world.submit(f"{HOST}/")
    world.settle(ref)
    assert children[-1] not in {url for _, _, url in world.asked}
    assert keys(world, ref) == set()


@pytest.mark.parametrize(("status", "is_second"), [(200, True), (404, False), (503, False)])
def test_another_host_is_a_second_one_only_if_it_serves_the_site(
    world: AuditWorld, status: int, is_second: bool
) -> None:
    world.pages["https://www.shop.example/"] = fetched_page(
        "https://www.shop.example/", status_code=status
    )
    ref = world.submit(f"{HOST}/")
    world.settle(ref)
    assert (("canonical.drift", f"{HOST}/") in keys(world, ref)) is is_second


def test_slow_links_do_not_lose_the_lock(world: AuditWorld) -> None:
    """A lock lasts five minutes, and the links to 20 slow hosts take longer."""
    dead = "".join(f'<a href="https://n{n}.example/">Friend {n} of trees</a>' for n in range(20))
    world.pages[f"{HOST}/oak"] = Page(path="/oak", body=IMAGE + dead).answer()
    world.slice_seconds = 900.0
    holders: list[str | None] = []

    class Slow:
        """A fetcher for which other hosts answer late."""

        def __init__(self, port: Any) -> None:
            self._port = port

        def fetch(self, request: FetchRequest) -> Any:
            if request.url.host.startswith("n"):
                world.clock.advance(20)
                holders.append(world.sessions_at(world.sessions).holder("shop.example"))
            return self._port.fetch(request)

    ref = world.submit(f"{HOST}/")
    world.run(ref, lambda name, port: Slow(port) if name == "fetcher" else port)
    assert len(holders) > 20
    assert None not in holders


def test_a_large_file_is_no_page(world: AuditWorld) -> None:
    book = f"{HOST}/book.pdf"
    details = {"content_type": "application/pdf", "content_length": 40_000_000}
    world.pages[book] = BodyTooLarge("large", details=details)
    world.pages[f"{HOST}/oak"] = Page(path="/oak", body=f'{IMAGE}<a href="{book}">All</a>').answer()
    ref = world.submit(f"{HOST}/")
    pages = result_of(world.settle(ref))["pages"]
    assert pages == {"html": 9, "other": 1}
    assert ("http.pdf_size", f"{HOST}/oak") in keys(world, ref)


def test_a_long_sitemap_is_crawled_whole_if_it_fits_the_sample(world: AuditWorld) -> None:
    paths = [f"/listed-{number}" for number in range(203)]
    there = [Page(path=path) for path in paths[:-2]]
    world.pages |= {page.url: page.answer() for page in there}
    listed = LISTED | {f"{HOST}{path}": "" for path in paths}
    world.pages[f"{HOST}/sitemap.xml"] = fetched_page(
        f"{HOST}/sitemap.xml", sitemap(listed), media_type="application/xml"
    )
    ref = world.submit(f"{HOST}/", options={"max_pages": 400})
    result = result_of(world.settle(ref))
    assert result["pages"] == {"html": 9 + 201, "failed": 2}
    found = keys(world, ref)
    assert ("links.orphan", f"{HOST}/listed-150") in found
    assert ("sitemap.4xx", f"{HOST}/") in found


def test_targets_that_no_link_leads_to_are_asked_by_head_within_a_bound(world: AuditWorld) -> None:
    head = alternates(en=f"{HOST}/oak", de=f"{HOST}/oak-gone", x_default=f"{HOST}/oak")
    body = (
        '<img src="/oak.jpg" srcset="/small.jpg 1x, /large.jpg 2x" alt="Oak" width="4" height="3">'
    )
    world.pages |= {
        f"{HOST}/oak": Page(path="/oak", head=head, body=body).answer(),
        f"{HOST}/pine": Page(path="/pine", canonical=f"{HOST}/pine-old").answer(),
        f"{HOST}/pine-old": Page(path="/pine", redirect=("/pine-old",)).answer(),
        f"{HOST}/birch": Page(path="/birch", canonical=f"{HOST}/birch-gone").answer(),
        f"{HOST}/small.jpg": world.pages[f"{HOST}/oak.jpg"],
        f"{HOST}/cedar": Page(path="/cedar", social={"og:image": "/preview-gone.png"}).answer(),
    }
    ref = world.submit(f"{HOST}/", options={"max_pages": 100})
    world.settle(ref)
    assert {
        ("hreflang.bad_target", f"{HOST}/oak"),
        ("img.broken", f"{HOST}/oak"),
        ("canonical.to_redirect", f"{HOST}/pine"),
        ("canonical.to_error", f"{HOST}/birch"),
        ("img.broken", f"{HOST}/cedar"),
    } <= keys(world, ref)
    asked = {url for _, method, url in world.asked if method == "HEAD"}
    names = ("oak-gone", "pine-old", "birch-gone", "small.jpg", "large.jpg", "preview-gone.png")
    assert {f"{HOST}/{name}" for name in names} <= asked

    world.asked.clear()
    world.clock.advance(3600)
    world.settle(world.submit(f"{HOST}/", options={"max_pages": 3, "max_images": 0}))
    heads = [url for _, method, url in world.asked if method == "HEAD" and HOST in url]
    assert len([url for url in heads if url != "https://www.shop.example/"]) == 2


#
def test_hello_audits_one_page(world: AuditWorld) -> None:
    ref = world.submit(f"{HOST}/oak", recipe="hello")
    job = world.settle(ref)
    assert job.status is JobStatus.COMPLETED, job.last_error
    assert result_of(job)["pages"] == {"html": 1}
    assert {url for _, _, url in world.asked} == {f"{HOST}/oak", f"{HOST}/robots.txt"}
    assert keys(world, ref) == set()  # files that weren't requested cause no issues
    categories = result_of(job)["categories"]
    assert (categories["sitemaps"], categories["robots"]) == (None, 100)


def test_a_site_whose_start_is_not_there_fails_at_once(world: AuditWorld) -> None:
    world.pages[f"{HOST}/"] = fetched_page(f"{HOST}/", b"no", status_code=404)
    job = world.settle(world.submit(f"{HOST}/"))
    assert job.status is JobStatus.FAILED
    assert job.last_error is not None
    assert job.last_error.code == "HTTP_ERROR"
    assert reported(world, job.ref) == [("audit.failed", None)]


@pytest.mark.parametrize(
    ("media_type", "named"), [("application/pdf", "application/pdf"), ("", "no media type")]
)
def test_a_start_page_that_is_not_html_is_an_error(
    world: AuditWorld, media_type: str, named: str
) -> None:
    world.pages[f"{HOST}/"] = fetched_page(f"{HOST}/", b"%PDF", media_type=media_type)
    job = world.settle(world.submit(f"{HOST}/"))
    assert (job.status, job.attempts) == (JobStatus.FAILED, 1)
    assert job.last_error is not None
    assert (job.last_error.code, job.last_error.message) == (
        "CONTENT_REFUSED",
        f"shop.example answered {named}: the start page isn't HTML",
    )


@pytest.mark.parametrize(
    ("robots", "headers", "waits_for"),
    [
        (503, {}, "its robots.txt answers with an error (5xx or 429)"),
        (429, {"retry-after": "86400"}, "it asks to wait (Retry-After)"),
        (200, {"retry-after": "60"}, "it answers 503"),
        (200, {"retry-after": "86400"}, "it asks to wait (Retry-After)"),
    ],
)
def test_a_site_that_answers_503_shows_what_the_audit_waits_for_and_fails_after_15_minutes(
    world: AuditWorld, robots: int, headers: dict[str, str], waits_for: str
) -> None:
    for url in (f"{HOST}/", f"{HOST}/robots.txt"):
        status = 503 if url.endswith("/") else robots
        world.pages[url] = fetched_page(url, b"", status_code=status, headers=headers)
    ref = world.submit(f"{HOST}/")
    began, seen = world.clock(), set()
    while (job := world.job(ref)).status is JobStatus.PENDING:
        world.clock.now = max(world.clock.now, job.due_at)
        world.run(ref)
        seen.add(world.service().get(ref.tenant, ref.job_id).waiting_for)
    assert job.status is JobStatus.FAILED
    assert job.last_error is not None
    assert job.last_error.code == "HTTP_ERROR"
    assert job.last_error.message.startswith("shop.example has served no page for 15 minutes: ")
    assert f"shop.example: {waits_for}" in seen
    assert 900 <= (world.clock() - began).total_seconds() < 960
    assert job.attempts <= 1


def test_a_site_that_answers_again_in_time_is_audited(world: AuditWorld) -> None:
    answer = world.pages[f"{HOST}/"]
    robots = world.pages[f"{HOST}/robots.txt"]
    world.pages[f"{HOST}/robots.txt"] = fetched_page(f"{HOST}/robots.txt", status_code=503)
    ref = world.submit(f"{HOST}/")
    until = world.clock() + timedelta(minutes=8)
    while world.clock() < until:
        world.clock.now = max(world.clock.now, world.job(ref).due_at)
        assert world.run(ref).status is JobStatus.PENDING
    world.pages |= {f"{HOST}/robots.txt": robots, f"{HOST}/": answer}
    assert world.settle(ref).status is JobStatus.COMPLETED


def test_a_site_that_fails_midway_ends_the_audit_with_the_reason(world: AuditWorld) -> None:
    world.slice_seconds, world.request_seconds = 120.0, 5.0
    ref = world.submit(f"{HOST}/")
    assert world.run(ref).step == "crawling"
    for page in GOOD_PAGES:
        world.pages[page.url] = fetched_page(page.url, status_code=503)
    job = world.settle(ref)
    assert job.status is JobStatus.FAILED
    assert job.last_error is not None
    assert job.last_error.message.endswith("15 minutes: it answers 503")


@pytest.mark.parametrize("status", [500, 503])
def test_another_server_that_fails_delays_no_audit(world: AuditWorld, status: int) -> None:
    www = "https://www.shop.example/"
    world.pages[www] = fetched_page(www, status_code=status)
    world.pages[f"{www}robots.txt"] = fetched_page(f"{www}robots.txt", status_code=status)
    began = world.clock()
    assert world.settle(world.submit(f"{HOST}/")).status is JobStatus.COMPLETED
    assert (world.clock() - began).total_seconds() < 60


def test_a_start_that_fails_for_the_moment_is_tried_again_and_fails_once(
    world: AuditWorld,
) -> None:
    world.pages[f"{HOST}/"] = FetchTimeout("slow")
    job = world.settle(world.submit(f"{HOST}/"))
    assert (job.status, job.attempts) == (JobStatus.FAILED, 3)


def test_a_site_that_answers_elsewhere_is_audited_and_locked_there(world: AuditWorld) -> None:
    old = "https://old.example/"
    world.pages[old] = fetched_page(f"{HOST}/", redirects=(old,))
    ref = world.submit(old)
    job = world.settle(ref)
    assert job.status is JobStatus.COMPLETED, job.last_error
    assert result_of(job)["start_url"] == f"{HOST}/"


def test_links_beyond_the_bound_are_counted_as_not_checked(world: AuditWorld) -> None:
    many = "".join(f'<a href="https://n{n}.example/">Friend {n} of trees</a>' for n in range(9))
    world.pages[f"{HOST}/oak"] = Page(path="/oak", body=IMAGE + many).answer()
    ref = world.submit(f"{HOST}/", options={"max_external_links": 4, "max_images": 0})
    result = result_of(world.settle(ref))
    assert (result["external_links"], result["external_links_checked"]) == (10, 4)
    assert (result["images"], result["images_checked"]) == (2, 0)


@pytest.mark.parametrize(
    ("reason", "asked"),
    [("unknown_host", 1), ("tls", 1), ("connection", 13), ("timeout", 13)],
)
def test_all_links_to_a_dead_host_are_findings(world: AuditWorld, reason: str, asked: int) -> None:
    dead = "https://dead.example"
    urls = [f"{dead}/{number}" for number in range(12)]
    error: DomainError = FetchFailed("no", details={"reason": reason})
    if reason == "timeout":
        error = FetchTimeout("slow")
    world.pages |= dict.fromkeys([f"{dead}/robots.txt", *urls], error)
    links = "".join(f'<a href="{url}">A tree at {url}</a>' for url in urls)
    world.pages[f"{HOST}/oak"] = Page(path="/oak", body=links).answer()
    ref = world.submit(f"{HOST}/")
    result = result_of(world.settle(ref))
    assert (result["external_links"], result["external_links_checked"]) == (13, 13)
    wanted = IssueFilter(check="links.broken_external")
    [broken] = world.service().issues(ref.tenant, ref.job_id, wanted, 0, 100).items
    assert (broken.url, broken.count) == (f"{HOST}/oak", 12)
    assert sum(url.startswith(dead) for _, _, url in world.asked) == asked
    assert world.hosts.pace.state("dead.example").circuit is Circuit.CLOSED


def test_links_to_a_host_whose_breaker_is_open_are_checked(world: AuditWorld) -> None:
    other = "https://other.example/"
    world.pages[other] = FetchTimeout("slow")
    for number in range(5):
        world.clock.advance(2)
        caller = Caller(tenant="b", id=f"crawl-{number}")
        with pytest.raises(FetchTimeout):
            world.fetcher().fetch(caller, FetchRequest(url=parse_url(other)))
    assert world.hosts.pace.state("other.example").circuit is Circuit.OPEN
    ref = world.submit(f"{HOST}/")
    world.settle(ref)
    assert ("links.broken_external", f"{HOST}/") in keys(world, ref)


#
def test_a_sample_is_bounded(world: AuditWorld) -> None:
    ref = world.submit(f"{HOST}/", options={"max_pages": 4})
    result = result_of(world.settle(ref))
    assert sum(result["pages"].values()) == 4
    assert result["pages_not_visited"] > 0


def test_a_cancelled_audit_stops_at_its_next_write_and_leaves_the_host(world: AuditWorld) -> None:
    ref = world.submit(f"{HOST}/")
    pages = iter(range(5))

    class Cancelling:
        """Store that cancels the audit while it keeps the fifth page."""

        def __getattr__(self, name: str) -> Any:
            if name == "keep_page" and next(pages, None) is None:
                world.control.move(ref, Transition.CANCEL)
            return getattr(world.audits, name)

    job = world.run(ref, lambda name, port: Cancelling() if name == "audits" else port)
    assert job.status is JobStatus.CANCELLED
    assert len(world.audits.facts) == 5
    assert world.audits.ends == {}
    other = world.submit(f"{HOST}/", tenant="other", recipe="hello")
    assert world.settle(other).status is JobStatus.COMPLETED


@pytest.mark.parametrize(
    ("listed", "pages", "expected"),
    [
        (0, 100, 0),
        (60, 100, 60),
        (99, 100, 99),
        (100, 100, 25),
        (1999, 100, 25),
        (5000, 100, 25),
        (5000, 2, 1),
        (5000, 1, 0),
        (204, 400, 204),
        (999, 1000, 999),
        (5000, 1000, 250),
    ],
)
def test_a_sample_begins_all_over_the_sitemaps(listed: int, pages: int, expected: int) -> None:
    entries = tuple(SitemapUrl(f"{HOST}/p{number}") for number in range(listed))
    others = (SitemapUrl("https://other.example/"), SitemapUrl("not a url"), SitemapUrl(f"{HOST}/"))
    maps = (
        SitemapFacts(url="a", entries=(*others, *entries[: listed // 2])),
        SitemapFacts(url="b", entries=entries[listed // 2 :]),
    )
    found = listed_sample(
        SiteFacts(start_url=f"{HOST}/", audited_at="", sitemaps=maps),
        pages,
        CrawlScope.of(ScopeKind.HOST, [parse_url(f"{HOST}/")]),
    )
    assert len(found) == len(set(found)) == expected
    numbers = [int(url.rpartition("/p")[2]) for url in found]
    assert numbers == sorted(numbers)
    if expected > 20 and listed > 100:
        assert numbers[0] < listed / 10
        assert numbers[-1] > listed * 0.9
