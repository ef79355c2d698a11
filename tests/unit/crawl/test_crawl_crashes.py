"""A process may end at any external call: nothing gets lost, duplicated or partly shown."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from spinneret.content.documents.models import Document
from spinneret.crawl.models import CrawlRequest
from spinneret.jobs.models import Job, JobRef, JobStatus
from tests import factories
from tests.fakes.crashes import Crash, CrashPlan, Moment
from tests.fakes.crawling import CrawlWorld, long_page
from tests.fakes.fetching import fetched_page

STEP = int(os.environ.get("SPINNERET_CRAWL_CRASH_STEP", "4"))
"""Step between tested crash points; `make prove` tests all."""
URL = "https://site.example/page"
TENANT = "acme"


@dataclass(frozen=True)
class Scenario:
    """Content of the page when it is crawled, and its earlier content."""

    before: str | None
    now: str


SCENARIOS = {
    "a new page": Scenario(before=None, now=long_page("spider")),
    "a changed page": Scenario(before=long_page("spider", 500), now=long_page("spider")),
    "an unchanged page": Scenario(before=long_page("spider"), now=long_page("spider")),
}


def prepared(scenario: Scenario) -> tuple[CrawlWorld, JobRef]:
    """Return a world with one accepted crawl, whose message waits in the queue."""
    crawl = CrawlWorld()
    if scenario.before is not None:
        crawl.pages[URL] = fetched_page(URL, scenario.before)
        crawl.settle(crawl.submit(URL))
    crawl.pages[URL] = fetched_page(URL, scenario.now)
    return crawl, crawl.submit(URL, force=True)


def work(crawl: CrawlWorld, ref: JobRef, plan: CrashPlan) -> None:
    crawl.run(ref, plan.wrap)


def crashes(scenario: Scenario) -> list[tuple[int, Moment]]:
    """Return every STEP-th crash point of a worker's whole run, as call and moment."""
    crawl, ref = prepared(scenario)
    plan = CrashPlan()
    work(crawl, ref, plan)
    return plan.points()[::STEP]


@contextmanager
def noted(where: str) -> Iterator[None]:
    """Add a note to an exception that names the crash before it."""
    try:
        yield
    except Exception as error:
        error.add_note(where)
        raise


def assert_whole(crawl: CrawlWorld) -> Document | None:
    """Check that a search shows all chunks of the document's version, or nothing without one."""
    documents = crawl.documents.all(TENANT)
    hits = crawl.search("spider")
    if not documents:
        assert hits == ()
        return None
    [document] = documents
    assert {hit.ranked.candidate.version for hit in hits} == {document.version}
    assert sorted(hit.chunk.index for hit in hits) == list(range(document.chunk_count))
    return document


def assert_done(crawl: CrawlWorld, ref: JobRef, now: str) -> Job:
    job = crawl.job(ref)
    assert job.status is JobStatus.COMPLETED
    assert job.result is not None
    document = assert_whole(crawl)
    assert document is not None
    assert (document.id, document.version) == (job.result["document_id"], job.result["version"])
    assert crawl.contents.get(document.content_key) == now
    return job


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=list(SCENARIOS))
def test_a_crawl_without_a_crash_shows_the_whole_page(scenario: Scenario) -> None:
    crawl, ref = prepared(scenario)
    job = crawl.settle(ref)
    document = assert_whole(crawl)
    assert document is not None
    assert document.chunk_count > 2
    assert assert_done(crawl, ref, scenario.now).attempts == job.attempts == 0


# covers C-02
@pytest.mark.heavy
@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=list(SCENARIOS))
def test_a_worker_that_dies_at_any_call_loses_and_doubles_nothing(scenario: Scenario) -> None:
    for at, moment in crashes(scenario):
        crawl, ref = prepared(scenario)
        messages = list(crawl.queue.sent)
        plan = CrashPlan(at, moment)
        with pytest.raises(Crash) as crash:
            work(crawl, ref, plan)
        with noted(f"{moment} call {at}, {crash.value}"):
            assert_whole(crawl)
            crawl.settle(ref)
            job = assert_done(crawl, ref, scenario.now)
            assert job.attempts <= 1
            for sent in messages * 2:
                assert crawl.run(sent.ref) == job
            assert_done(crawl, ref, scenario.now)


@pytest.mark.heavy
def test_a_page_is_never_half_shown_while_it_is_crawled_again() -> None:
    """After a crash and before the recovery, a search shows the old version or the new one."""
    scenario = SCENARIOS["a changed page"]
    versions = set()
    for at, moment in crashes(scenario):
        crawl, ref = prepared(scenario)
        with pytest.raises(Crash) as crash:
            work(crawl, ref, CrashPlan(at, moment))
        with noted(f"{moment} call {at}, {crash.value}"):
            document = assert_whole(crawl)
            assert document is not None
            versions.add(document.sequence)
    assert versions == {1, 2}


@pytest.mark.heavy
@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=list(SCENARIOS))
def test_two_crashes_at_the_same_call_leave_one_attempt(scenario: Scenario) -> None:
    for at, moment in crashes(scenario):
        crawl, ref = prepared(scenario)
        with pytest.raises(Crash) as crash:
            work(crawl, ref, CrashPlan(at, moment))
        with noted(f"{moment} call {at}, {crash.value}"):
            crawl.clock.advance(120)
            crawl.sweeper().sweep()
            second = CrashPlan(at, moment)
            try:
                work(crawl, ref, second)
            except Crash:
                assert second.crashed
            assert_whole(crawl)
            crawl.settle(ref)
            assert_done(crawl, ref, scenario.now)


@pytest.mark.heavy
def test_a_sweeper_that_dies_at_any_call_leaves_the_job_to_the_next_pass() -> None:
    scenario = SCENARIOS["a new page"]

    def lost_lease() -> tuple[CrawlWorld, JobRef]:
        crawl, ref = prepared(scenario)
        with pytest.raises(Crash):
            work(crawl, ref, CrashPlan(3, Moment.AFTER))
        crawl.queue.take()
        crawl.clock.advance(120)
        return crawl, ref

    crawl, _ = lost_lease()
    plan = CrashPlan()
    crawl.sweeper(plan.wrap).sweep()
    assert "queue.send" in plan.calls
    for at, moment in plan.points():
        crawl, ref = lost_lease()
        with pytest.raises(Crash) as crash:
            crawl.sweeper(CrashPlan(at, moment).wrap).sweep()
        with noted(f"{moment} call {at}, {crash.value}"):
            crawl.settle(ref)
            assert assert_done(crawl, ref, scenario.now).attempts == 1


def test_a_submission_that_dies_at_any_call_is_repeated_without_a_second_job() -> None:
    key, request = factories.request_key(tenant=TENANT), CrawlRequest(url=URL)
    plan = CrashPlan()
    CrawlWorld().crawls(plan.wrap).submit(TENANT, request, key)
    assert "queue.send" in plan.calls
    for at, moment in plan.points():
        crawl = CrawlWorld()
        crawl.pages[URL] = fetched_page(URL, long_page("spider"))
        with pytest.raises(Crash) as crash:
            crawl.crawls(CrashPlan(at, moment).wrap).submit(TENANT, request, key)
        with noted(f"{moment} call {at}, {crash.value}"):
            ref = crawl.submit(URL, key=key)
            crawl.settle(ref)
            assert_done(crawl, ref, long_page("spider"))
            assert crawl.submit(URL, key=key) == crawl.submit(URL) == ref
