"""One worker of a tenant at a time fetches a URL, whatever requested it; the others wait."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.content.documents.models import UrlLease
from spinneret.content.documents.rules import document_id
from spinneret.crawl import limits
from spinneret.crawl.configs.models import ConfigOptions
from spinneret.crawl.configs.service import ConfigDraft
from spinneret.jobs.models import Job, JobRef, JobStatus, Transition
from spinneret.kernel import bounds
from spinneret.kernel.errors import DependencyUnavailable, DomainError, HttpRefused, HttpUnavailable
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.urls import cache_url, parse_url
from tests.factories import TENANT
from tests.fakes.crashes import Crash, CrashPlan, Moment
from tests.fakes.crawling import CrawlWorld, long_page
from tests.fakes.deep_crawling import DeepCrawlWorld
from tests.fakes.fetching import FakeFetcher, fetched_page

URL, OTHER = "https://site.example/page", "https://other.example/page"
WAIT = timedelta(seconds=limits.URL_WAIT_SECONDS)


class Interrupted(FakeFetcher):
    """A fetcher that calls `act` while the host prepares its response for a page."""

    def __init__(self, crawl: CrawlWorld, act: Callable[[], Any]) -> None:
        super().__init__(crawl.pages)
        self.hops = crawl.hops
        self._act = act

    def fetch(self, request: FetchRequest) -> FetchedPage:
        answer = super().fetch(request)
        if not request.url.text.endswith("/robots.txt"):
            self._act()
        return answer


@pytest.fixture
def crawl() -> CrawlWorld:
    made = CrawlWorld()
    for url in (URL, OTHER):
        made.pages[url] = fetched_page(url, long_page("silk"))
        made.settle(made.submit(f"{url}", force=True))  # robots.txt is known after this
    made.clock.advance(3600)
    made.hops.clear()
    return made


def run_while(crawl: CrawlWorld, ref: JobRef, act: Callable[[], Any]) -> Job:
    """Run a job once, and call `act` during its fetch."""
    fetcher = Interrupted(crawl, act)
    return crawl.run(ref, lambda name, port: fetcher if name == "fetcher" else port)


def held(crawl: CrawlWorld, url: str = URL, tenant: str = TENANT) -> UrlLease | None:
    return crawl.documents.leases.get((tenant, document_id(tenant, cache_url(parse_url(url)))))


# ---------------------------------------------------------------- Waiting


# covers C-02
@pytest.mark.parametrize("asked", ["force", "collection", "config", "other form"])
def test_a_url_is_fetched_by_one_worker_at_a_time(crawl: CrawlWorld, asked: str) -> None:
    given: dict[str, Any] = {}
    match asked:
        case "collection":
            given["collection_id"] = crawl.collections.create(TENANT, "webs", None).id
        case "config":
            draft = ConfigDraft(name="slow", options=ConfigOptions(page_timeout_ms=20_000))
            given["config_id"] = crawl.configs.service.create(TENANT, draft).id
    url = f"{URL}#part" if asked == "other form" else URL
    first = crawl.submit(URL, force=True)
    second = crawl.submit(url, force=True, **given)
    waits: list[Job] = []
    done = run_while(crawl, first, lambda: waits.append(crawl.run(second)))
    [waiting] = waits
    assert done.status is JobStatus.COMPLETED
    assert (waiting.status, waiting.attempts, waiting.own_faults) == (JobStatus.PENDING, 0, 0)
    assert waiting.waiting_for == "site.example: another crawl of the page"
    assert waiting.due_at <= crawl.clock() + WAIT
    assert crawl.hops == [URL]
    assert crawl.settle(second).status is JobStatus.COMPLETED
    assert held(crawl) is None


def test_who_waits_for_a_url_asks_its_host_for_nothing(crawl: CrawlWorld) -> None:
    first, second = (crawl.submit(URL, force=True) for _ in range(2))
    asked: list[tuple[int, int]] = []

    def wait() -> None:
        asked.append((crawl.hosts.ledger.updates, crawl.hosts.ledger.reads))
        crawl.run(second)
        asked.append((crawl.hosts.ledger.updates, crawl.hosts.ledger.reads))

    run_while(crawl, first, wait)
    before, after = asked
    assert before == after


def test_tenants_fetch_a_url_at_once(crawl: CrawlWorld) -> None:
    other: list[Job] = []
    ref = crawl.submit(URL, tenant="other")
    crawl.clock.advance(60)
    run_while(crawl, crawl.submit(URL, force=True), lambda: other.append(crawl.run(ref)))
    assert [each.waiting_for for each in other] != ["site.example: another crawl of the page"]


def test_a_reservation_at_the_host_outlasts_the_wait_for_the_url(crawl: CrawlWorld) -> None:
    first, second = (crawl.submit(URL, force=True) for _ in range(2))
    before = crawl.job(second)
    reserved = replace(before, waiting_for="site.example", due_at=crawl.clock())
    crawl.store.transition(before, reserved)
    waits: list[Job] = []
    run_while(crawl, first, lambda: waits.append(crawl.run(second)))
    assert [(each.status, each.waiting_for) for each in waits] == [
        (JobStatus.PENDING, "site.example")
    ]


# covers C-02
def test_a_page_of_a_deep_crawl_and_a_crawl_of_it_take_turns() -> None:
    crawl = DeepCrawlWorld({"/": []})
    deep = crawl.ask()
    crawl.deliver()
    single = crawl.submit("https://site.example/", force=True)
    fetcher = Interrupted(crawl, lambda: crawl.execute(steps=1))
    worker = CrawlWorld.worker(crawl, lambda name, port: fetcher if name == "fetcher" else port)
    worker.run(single, lambda: crawl.remaining)
    assert crawl.job(single).status is JobStatus.COMPLETED
    assert crawl.asked() == ["/"]
    crawl.execute()
    assert crawl.job(deep).status is JobStatus.COMPLETED
    view = crawl.deep().get(TENANT, deep.job_id)
    assert view is not None
    assert (view.pages_crawled, view.pages_failed) == (1, 0)


# ---------------------------------------------------------------- Redirects


@pytest.fixture
def redirected(crawl: CrawlWorld) -> str:
    """Provide a URL that redirects to a page of another host."""
    start = "https://site.example/moved"
    crawl.pages[start] = fetched_page(OTHER, long_page("silk"), redirects=(start,))
    return start


# covers C-02
def test_the_target_of_a_redirect_is_waited_for_and_no_hop_repeated(
    crawl: CrawlWorld, redirected: str
) -> None:
    first, second = crawl.submit(OTHER, force=True), crawl.submit(redirected)
    waits: list[Job] = []
    run_while(crawl, first, lambda: waits.append(crawl.run(second)))
    [waiting] = waits
    assert (waiting.status, waiting.attempts) == (JobStatus.PENDING, 0)
    assert waiting.waiting_for == "other.example: another crawl of the page"
    assert crawl.hops == [OTHER, redirected]
    assert held(crawl, redirected) is None
    done = crawl.settle(second)
    assert done.result is not None
    assert done.result["redirects"] == [redirected]
    assert crawl.hops == [OTHER, redirected, OTHER]
    assert crawl.documents.leases == {}


def test_a_lease_moves_to_the_target_of_a_redirect(crawl: CrawlWorld, redirected: str) -> None:
    leases: list[tuple[bool, bool]] = []

    class Seen(FakeFetcher):
        def fetch(self, request: FetchRequest) -> FetchedPage:
            answer = super().fetch(request)
            leases.append((held(crawl, redirected) is None, held(crawl, OTHER) is None))
            return answer

    seen = Seen(crawl.pages)
    ref = crawl.submit(redirected)
    crawl.run(ref, lambda name, port: seen if name == "fetcher" else port)
    assert leases[-1] == (True, False)
    assert crawl.documents.leases == {}


# ---------------------------------------------------------------- Ends


@pytest.mark.parametrize("answer", [HttpRefused("404"), HttpUnavailable("503")])
def test_a_failed_fetch_leaves_its_url_at_once(crawl: CrawlWorld, answer: DomainError) -> None:
    crawl.pages[URL] = answer
    crawl.run(crawl.submit(URL, force=True))
    assert crawl.documents.leases == {}


def test_a_crawl_that_waits_for_its_host_leaves_its_url(crawl: CrawlWorld) -> None:
    crawl.sleep = lambda _: None
    refs = [crawl.submit(f"{URL}/{number}") for number in range(20)]
    for number in range(20):
        crawl.pages[f"{URL}/{number}"] = fetched_page(f"{URL}/{number}", long_page("silk"))
    waiting = [job for ref in refs if (job := crawl.run(ref)).waiting_for]
    assert all(each.waiting_for == "site.example" for each in waiting)
    assert waiting
    assert crawl.documents.leases == {}


def test_a_cancelled_crawl_leaves_its_url(crawl: CrawlWorld) -> None:
    ref = crawl.submit(URL, force=True)
    run_while(crawl, ref, lambda: crawl.control().move(ref, Transition.CANCEL))
    assert crawl.job(ref).status is JobStatus.CANCELLED
    assert crawl.documents.leases == {}


def test_a_url_that_cannot_be_left_is_free_when_its_lease_ends(
    crawl: CrawlWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(_: object) -> None:
        raise DependencyUnavailable("dynamodb")

    crawl.pages[URL] = HttpRefused("404")
    monkeypatch.setattr(crawl.documents, "release_url", unavailable)
    assert crawl.run(crawl.submit(URL, force=True)).status is JobStatus.FAILED
    lease = held(crawl)
    assert lease is not None
    left = crawl.remaining + bounds.LEASE_MARGIN_SECONDS
    assert lease.until == crawl.clock() + timedelta(seconds=left)


# covers C-02
def test_the_url_of_a_killed_worker_is_free_when_its_lease_ends(crawl: CrawlWorld) -> None:
    plan = CrashPlan()
    crawl.run(crawl.submit(URL, force=True), plan.wrap)
    at = plan.calls.index("cache.keep") + 1
    crawl.clock.advance(3600)
    killed, other = (crawl.submit(URL, force=True) for _ in range(2))
    with pytest.raises(Crash):
        crawl.run(killed, CrashPlan(at, Moment.BEFORE).wrap)
    lease = held(crawl)
    assert lease is not None
    waits = 0
    while (job := crawl.run(other)).status is not JobStatus.COMPLETED:
        assert job.waiting_for is not None
        crawl.clock.now = job.due_at
        waits += 1
    assert crawl.clock() == lease.until
    assert waits == (crawl.remaining + bounds.LEASE_MARGIN_SECONDS) // limits.URL_WAIT_SECONDS
    assert crawl.settle(killed).status is JobStatus.COMPLETED


# covers C-02
def test_a_worker_that_hung_overwrites_nothing_of_the_next_one(
    crawl: CrawlWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after SIGSTOP, the worker resumes after its lease has ended and another worker has fetched
    the changed page.
    """
    hung = crawl.submit(URL, force=True)
    draft = ConfigDraft(name="raw", options=ConfigOptions(page_timeout_ms=20_000))
    config = crawl.configs.service.create(TENANT, draft).id
    other = crawl.submit(URL, force=True, config_id=config)

    def overtake() -> None:
        crawl.clock.advance(crawl.remaining + bounds.LEASE_MARGIN_SECONDS)
        crawl.pages[URL] = fetched_page(URL, long_page("amber"))
        assert crawl.run(other).status is JobStatus.COMPLETED

    released: list[object] = []
    monkeypatch.setattr(crawl.documents, "release_url", released.append)
    job = run_while(crawl, hung, overtake)
    [document] = [each for each in crawl.documents.all(TENANT) if each.url == URL]
    assert (document.job_id, released) == (other.job_id, [])
    assert (job.status, job.attempts) == (JobStatus.PENDING, 0)
    assert crawl.settle(hung).status is JobStatus.COMPLETED


def test_a_page_needs_no_more_calls_of_the_documents_than_a_read_and_a_write(
    crawl: CrawlWorld,
) -> None:
    plan = CrashPlan()
    crawl.run(crawl.submit(URL, force=True), plan.wrap)
    assert [each for each in plan.calls if each.startswith("documents.")] == [
        "documents.take_url",
        "documents.commit",
    ]
