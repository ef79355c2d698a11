"""Polite fetching: checks before a page is fetched, and reports after it."""

from itertools import pairwise

import pytest

from spinneret.jobs.models import Job, JobRef, JobStatus
from spinneret.kernel.errors import CircuitOpen, FetchFailed, FetchTimeout
from spinneret.web import limits
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.ports import Fetcher
from spinneret.web.hosts.models import Override
from spinneret.web.politeness.models import Circuit
from tests.fakes.crawling import CrawlWorld, long_page
from tests.fakes.fetching import fetched_page

SITE = "https://site.example"
ROBOTS = f"{SITE}/robots.txt"


def serve(crawl: CrawlWorld, *paths: str, site: str = SITE) -> list[str]:
    """Add pages of a website, and return their URLs."""
    urls = [f"{site}/{path}" for path in paths]
    crawl.pages.update({url: fetched_page(url, long_page(url[-1])) for url in urls})
    return urls


def robots(crawl: CrawlWorld, text: str, url: str = ROBOTS) -> None:
    crawl.pages[url] = fetched_page(url, text, media_type="text/plain")


def crawled(crawl: CrawlWorld, url: str) -> Job:
    return crawl.run(crawl.submit(url, force=True))


def test_a_page_that_robots_txt_forbids_is_not_fetched(crawl: CrawlWorld) -> None:
    open_page, closed_page = serve(crawl, "a", "private/b")
    robots(crawl, "User-agent: spinneret\nDisallow: /private")
    job = crawled(crawl, closed_page)
    assert (job.status, job.attempts) == (JobStatus.FAILED, 1)
    assert job.last_error is not None
    assert job.last_error.code == "ROBOTS_DISALLOWED"
    assert crawled(crawl, open_page).status is JobStatus.COMPLETED


def test_robots_txt_is_read_once_a_day_for_all_tenants(crawl: CrawlWorld) -> None:
    one, two = serve(crawl, "a", "b")
    robots(crawl, "")
    for tenant, url in (("acme", one), ("other", two)):
        crawl.run(crawl.submit(url, tenant))
    del crawl.pages[ROBOTS]
    crawl.clock.advance(limits.ROBOTS_FRESH_SECONDS - 60)
    assert crawled(crawl, one).status is JobStatus.COMPLETED
    assert [*crawl.robots.kept] == [SITE]


def test_a_host_in_trouble_is_left_alone_until_its_robots_txt_is_back(crawl: CrawlWorld) -> None:
    [url] = serve(crawl, "a")
    crawl.pages[ROBOTS] = fetched_page(ROBOTS, "", status_code=503)
    job = crawled(crawl, url)
    assert (job.status, job.attempts) == (JobStatus.PENDING, 0)
    assert (job.due_at - crawl.clock()).total_seconds() == limits.ROBOTS_DISALLOW_SECONDS
    assert job.waiting_for == "site.example: robots.txt"
    robots(crawl, "")
    assert crawl.settle(job.ref).status is JobStatus.COMPLETED


# covers F-03
def test_a_host_whose_robots_txt_can_not_be_reached_is_crawled(
    crawl: CrawlWorld, caplog: pytest.LogCaptureFixture
) -> None:
    [url] = serve(crawl, "a")
    crawl.pages[ROBOTS] = FetchTimeout("slow")
    assert crawled(crawl, url).status is JobStatus.COMPLETED
    assert "robots.unreachable" in caplog.messages


def test_a_blocked_domain_is_not_fetched_though_it_was_accepted(crawl: CrawlWorld) -> None:
    [url] = serve(crawl, "a")
    ref = crawl.submit(url)
    crawl.hosts.service.block("acme", "site.example", "not theirs")
    job = crawl.run(ref)
    assert job.last_error is not None
    assert (job.status, job.last_error.code) == (JobStatus.FAILED, "DOMAIN_BLOCKED")


def test_after_the_burst_pages_wait_for_a_permit_of_their_own(crawl: CrawlWorld) -> None:
    urls = serve(crawl, *map(str, range(10)))
    crawl.sleep = lambda _: None
    jobs = [crawled(crawl, url) for url in urls]
    waiting = [job for job in jobs if job.status is JobStatus.PENDING]
    assert waiting
    assert {job.waiting_for for job in waiting} == {"site.example"}
    turns = [job.due_at for job in waiting]
    assert len(set(turns)) == len(turns)
    settled = [crawl.settle(job.ref) for job in jobs]
    assert {(job.status, job.attempts) for job in settled} == {(JobStatus.COMPLETED, 0)}


def test_the_pace_of_a_host_is_shared_by_tenants(crawl: CrawlWorld) -> None:
    urls = serve(crawl, *map(str, range(10)))
    crawl.sleep = lambda _: None
    waiting = [
        crawl.run(crawl.submit(url, f"tenant-{number}")).status is JobStatus.PENDING
        for number, url in enumerate(urls)
    ]
    assert any(waiting)


@pytest.mark.parametrize("who", ["robots.txt", "tenant"])
def test_the_slowest_pace_holds(crawl: CrawlWorld, who: str) -> None:
    urls = serve(crawl, "a", "b")
    robots(crawl, "User-agent: *\nCrawl-delay: 20" if who == "robots.txt" else "")
    if who == "tenant":
        slow = Override(min_gap_seconds=20)
        crawl.hosts.service.put("acme", "site.example", slow, None)
    first = crawl.settle(crawled(crawl, urls[0]).ref)
    second = crawled(crawl, urls[1])
    assert (first.status, second.status) == (JobStatus.COMPLETED, JobStatus.PENDING)
    assert 15 < (second.due_at - crawl.clock()).total_seconds() <= 20.01


def test_five_failures_open_the_circuit_and_a_probe_closes_it(crawl: CrawlWorld) -> None:
    [url] = serve(crawl, "a")
    robots(crawl, "")
    crawled(crawl, url)
    crawl.pages[url] = fetched_page(url, "", status_code=500)
    for _ in range(limits.BREAKER_FAILURES):
        crawl.clock.advance(10)
        crawled(crawl, url)
    assert crawl.hosts.pace.state("site.example").circuit is Circuit.OPEN
    [other] = serve(crawl, "b")
    crawl.clock.advance(limits.BREAKER_OPEN_SECONDS)
    assert crawled(crawl, other).status is JobStatus.COMPLETED
    assert crawl.hosts.pace.state("site.example").circuit is Circuit.CLOSED


# covers F-07
def test_a_host_that_asks_for_a_pause_gets_it_from_everybody(crawl: CrawlWorld) -> None:
    one, two = serve(crawl, "a", "b")
    robots(crawl, "")
    crawl.pages[one] = fetched_page(one, "", status_code=429, headers={"retry-after": "120"})
    crawled(crawl, one)
    job = crawl.run(crawl.submit(two, "another-tenant"))
    assert job.status is JobStatus.PENDING
    assert 100 < (job.due_at - crawl.clock()).total_seconds() <= 125


def test_a_redirect_to_another_host_is_asked_for_there(crawl: CrawlWorld) -> None:
    other = "https://other.example"
    final = f"{other}/private"
    url = f"{SITE}/moved"
    crawl.pages[url] = fetched_page(final, long_page("a"), redirects=(url,))
    robots(crawl, "User-agent: *\nDisallow: /private", f"{other}/robots.txt")
    job = crawled(crawl, url)
    assert job.last_error is not None
    assert job.last_error.code == "ROBOTS_DISALLOWED"
    assert set(crawl.robots.kept) == {SITE, other}


def test_robots_txt_of_where_a_host_moved_to_costs_no_permit_of_its_own(crawl: CrawlWorld) -> None:
    old = "http://site.example"
    url = f"{old}/page"
    crawl.pages[url] = fetched_page(f"{SITE}/page", long_page("a"), redirects=(url,))
    robots(crawl, "User-agent: *\nCrawl-delay: 20", f"{old}/robots.txt")
    robots(crawl, "User-agent: *\nCrawl-delay: 20")
    assert crawl.settle(crawl.submit(url)).status is JobStatus.COMPLETED


def test_a_worker_reads_robots_txt_from_the_store_once_a_day(crawl: CrawlWorld) -> None:
    urls = serve(crawl, "a", "b", "c")
    robots(crawl, "User-agent: *\nDisallow: /c")
    worker = crawl.worker()
    refs = [crawl.submit(url) for url in urls]
    for ref in refs:
        worker.run(ref, lambda: crawl.remaining)
    assert [crawl.job(ref).status for ref in refs[1:]] == [JobStatus.COMPLETED, JobStatus.FAILED]
    assert crawl.robots.asked.count(SITE) == 2  # before the lease, and under it
    crawl.clock.advance(limits.ROBOTS_FRESH_SECONDS)
    worker.run(crawl.submit(urls[0], force=True), lambda: crawl.remaining)
    assert crawl.robots.asked.count(SITE) == 4


def arrivals(crawl: CrawlWorld, refs: list[JobRef], site: str = SITE) -> list[float]:
    """Run jobs until they are completed; return the times of the requests for the host's pages."""
    start, seen = crawl.clock(), []

    class Watched:
        def __init__(self, port: Fetcher) -> None:
            self._port = port

        def fetch(self, request: FetchRequest) -> FetchedPage:
            page = self._port.fetch(request)
            if page.url.text.startswith(site) and not page.url.path.endswith("/robots.txt"):
                seen.append((crawl.clock() - start).total_seconds())
            return page

    for ref in refs:
        crawl.run(ref, lambda name, port: Watched(port) if name == "fetcher" else port)
    for _ in range(200):
        if all(crawl.job(ref).status is JobStatus.COMPLETED for ref in refs):
            break
        crawl.clock.advance(1)
        for ref in refs:
            job = crawl.job(ref)
            if job.status is JobStatus.PENDING and job.due_at <= crawl.clock():
                crawl.run(ref, lambda name, port: Watched(port) if name == "fetcher" else port)
    return seen


@pytest.mark.parametrize("target", [SITE, "https://www.site.example"])
def test_a_crawl_delay_holds_behind_a_redirect_too(crawl: CrawlWorld, target: str) -> None:
    crawl.sleep = lambda _: None
    refs = []
    robots(crawl, "User-agent: *\nCrawl-delay: 20", f"{target}/robots.txt")
    for number in range(4):
        url = f"http://site.example/{number}"
        page = fetched_page(f"{target}/{number}", long_page("a"), redirects=(url,))
        crawl.pages[url] = page
        refs.append(crawl.submit(url, f"tenant-{number}"))
    seen = arrivals(crawl, refs, target)
    assert len(seen) == 4
    gaps = [after - before for before, after in pairwise(seen)]
    assert min(gaps) >= 20


def test_what_a_robots_txt_says_within_a_permit_is_reported_to_everybody(crawl: CrawlWorld) -> None:
    url = "http://site.example/page"
    crawl.pages[url] = fetched_page(f"{SITE}/page", long_page("a"), redirects=(url,))
    retry_after = {"retry-after": "1800"}
    crawl.pages[ROBOTS] = fetched_page(ROBOTS, "", status_code=503, headers=retry_after)
    crawled(crawl, url)
    other = crawl.run(crawl.submit("http://site.example/other", "another-tenant"))
    assert (other.due_at - crawl.clock()).total_seconds() > 1700


def test_a_served_page_asks_for_no_pause(crawl: CrawlWorld) -> None:
    one, two = serve(crawl, "a", "b")
    crawl.pages[one] = fetched_page(one, long_page("a"), headers={"retry-after": "3600"})
    assert crawled(crawl, one).status is JobStatus.COMPLETED
    assert crawled(crawl, two).status is JobStatus.COMPLETED


def test_a_page_comes_though_permits_are_rarer_than_checks_of_robots_txt(crawl: CrawlWorld) -> None:
    [url] = serve(crawl, "a")
    crawl.hosts.service.put("acme", "site.example", Override(min_gap_seconds=600), None)
    crawl.pages[ROBOTS] = FetchTimeout("slow")
    assert crawl.settle(crawl.submit(url)).status is JobStatus.COMPLETED


def test_a_robots_txt_behind_a_blocked_host_is_not_fetched(crawl: CrawlWorld) -> None:
    [url] = serve(crawl, "a")
    crawl.hosts.service.block("acme", "other.example", "not theirs")
    crawl.pages[ROBOTS] = fetched_page("https://other.example/robots.txt", "", redirects=(ROBOTS,))
    failure = crawled(crawl, url).last_error
    assert failure is not None
    assert failure.code == "DOMAIN_BLOCKED"
    assert SITE not in crawl.robots.kept


def test_a_robots_txt_elsewhere_takes_a_permit_there(crawl: CrawlWorld) -> None:
    other = "https://other.example"
    [busy] = serve(crawl, "a", site=other)
    crawl.hosts.service.put("acme", "other.example", Override(min_gap_seconds=20), None)
    crawled(crawl, busy)
    [url] = serve(crawl, "b")
    crawl.pages[ROBOTS] = fetched_page(f"{other}/robots.txt", "", redirects=(ROBOTS,))
    job = crawled(crawl, url)
    assert (job.status, job.waiting_for) == (JobStatus.PENDING, "other.example")
    assert crawl.settle(job.ref).status is JobStatus.COMPLETED


def test_a_more_patient_origin_at_another_port_is_reached_in_the_end(crawl: CrawlWorld) -> None:
    target = f"{SITE}:8443"
    robots(crawl, "User-agent: *\nCrawl-delay: 20", f"{target}/robots.txt")
    url = "http://site.example/page"
    crawl.pages[url] = fetched_page(f"{target}/page", long_page("a"), redirects=(url,))
    assert crawl.settle(crawl.submit(url)).status is JobStatus.COMPLETED


def test_failures_at_an_unusual_port_leave_the_host_open(crawl: CrawlWorld) -> None:
    dead = f"{SITE}:8081"
    [url] = serve(crawl, "a")
    crawl.pages[f"{dead}/robots.txt"] = fetched_page(f"{dead}/robots.txt", "")
    crawl.pages[f"{dead}/page"] = FetchFailed("nobody listens")
    for _ in range(limits.BREAKER_FAILURES):
        crawl.clock.advance(10)
        crawled(crawl, f"{dead}/page")
    assert crawl.hosts.pace.state("site.example", 8081).circuit is Circuit.OPEN
    with pytest.raises(CircuitOpen):
        crawl.submit(f"{dead}/other")
    assert crawled(crawl, url).status is JobStatus.COMPLETED


def test_what_a_redirect_meets_at_another_port_says_nothing_of_the_host(crawl: CrawlWorld) -> None:
    [url] = serve(crawl, "moved")
    dead = f"{SITE}:8081/page"
    crawl.pages[f"{SITE}:8081/robots.txt"] = fetched_page(f"{SITE}:8081/robots.txt", "")
    crawl.pages[url] = fetched_page(dead, "", redirects=(url,), status_code=503)
    for _ in range(limits.BREAKER_FAILURES):
        crawl.clock.advance(10)
        crawled(crawl, url)
    assert crawl.hosts.pace.state("site.example").circuit is Circuit.CLOSED
