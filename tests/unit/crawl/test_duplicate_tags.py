"""Identical crawls with different tags: one job crawls, and its document gets the tags of all."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from spinneret.content.library.kinds import TAG
from spinneret.content.limits import DOCUMENT_TAGS_MAX
from spinneret.crawl.models import BatchRequest, CrawlRequest
from spinneret.jobs.models import Job, JobFilter, JobRef, JobStatus, RequestKey, Transition
from tests import factories
from tests.fakes.crashes import CrashPlan, Moment, Overtaken
from tests.fakes.crawling import CrawlWorld
from tests.fakes.fetching import fetched_page

TENANT = factories.TENANT
URL = "https://site.example/page"


@pytest.fixture
def crawl() -> CrawlWorld:
    return slice_of()


def slice_of() -> CrawlWorld:
    """Return a world with a website of two pages."""
    crawl = CrawlWorld()
    for url in (URL, f"{URL}/2"):
        crawl.pages[url] = fetched_page(url, f"Silk of {url}.")
    return crawl


def submit(crawl: CrawlWorld, *tags: str, **given: Any) -> JobRef:
    return crawl.submit(URL, TENANT, tags=tags or None, **given)


def settle(crawl: CrawlWorld, ref: JobRef) -> Job:
    """Finish a job and then all other jobs; return the job."""
    job = crawl.settle(ref)
    while sent := crawl.queue.take():
        for each in sent:
            crawl.settle(each.ref)
    return job


def tags_of(crawl: CrawlWorld, url: str = URL) -> set[str]:
    """Return the names of the tags of a page's document."""
    [document] = [each for each in crawl.documents.all(TENANT) if each.url == url]
    found = crawl.tags.many(TENANT, document.tag_ids)
    return {tag.name for tag in found.values()}


def tag_jobs(crawl: CrawlWorld) -> list[Job]:
    return list(crawl.store.page(TENANT, JobFilter(kind=TAG), None, 99).items)


# covers C-01
def test_a_waiting_crawl_takes_the_tags_of_an_identical_one(crawl: CrawlWorld) -> None:
    ref = submit(crawl, "a")
    assert submit(crawl, "b", "c") == submit(crawl) == ref
    job = settle(crawl, ref)
    assert tags_of(crawl) == {"a", "b", "c"}
    assert (job.run, job.attempts, tag_jobs(crawl)) == (1, 0, [])


def test_a_paused_crawl_takes_tags_until_it_is_resumed(crawl: CrawlWorld) -> None:
    ref = submit(crawl, "a")
    crawl.control().move(ref, Transition.PAUSE)
    assert submit(crawl, "b") == ref
    crawl.control().move(ref, Transition.RESUME)
    settle(crawl, ref)
    assert tags_of(crawl) == {"a", "b"}


def test_tags_of_a_repeated_crawl_reach_the_document_of_a_fresh_result(crawl: CrawlWorld) -> None:
    ref = submit(crawl, "a")
    settle(crawl, ref)
    request = CrawlRequest(url=URL, tags=("b",))
    body = crawl.crawls().submit(TENANT, request, None).reply.body
    assert (body["job_id"], body["cached"]) == (ref.job_id, True)
    [job] = tag_jobs(crawl)
    assert settle(crawl, job.ref).result == {
        "document_id": crawl.documents.all(TENANT)[0].id,
        "tagged": True,
    }
    assert tags_of(crawl) == {"a", "b"}
    assert {hit.chunk.url for hit in crawl.search("silk", TENANT)} == {URL}


def test_tags_that_the_document_has_make_no_job(crawl: CrawlWorld) -> None:
    settle(crawl, submit(crawl, "a", "b"))
    assert submit(crawl, "b") == submit(crawl)
    assert tag_jobs(crawl) == []


def test_a_deleted_document_gets_no_tags(crawl: CrawlWorld) -> None:
    settle(crawl, submit(crawl, "a"))
    submit(crawl, "b")
    [document] = crawl.documents.all(TENANT)
    deleted = replace(document, sequence=document.sequence + 1, deleted_at=crawl.clock())
    crawl.documents.commit(deleted, document)
    [job] = tag_jobs(crawl)
    result = settle(crawl, job.ref).result
    assert result is not None
    assert result["tagged"] is False
    submit(crawl, "c")
    assert len(tag_jobs(crawl)) == 1


def test_a_document_keeps_no_more_tags_than_it_may(crawl: CrawlWorld) -> None:
    ref = submit(crawl, *(f"a{n}" for n in range(DOCUMENT_TAGS_MAX)))
    submit(crawl, "late")
    settle(crawl, ref)
    submit(crawl, "later")
    settle(crawl, ref)
    assert len(tags_of(crawl)) == DOCUMENT_TAGS_MAX


def test_a_failed_crawl_takes_no_tags(crawl: CrawlWorld) -> None:
    crawl.pages.clear()
    ref = submit(crawl, "a")
    assert settle(crawl, ref).status is JobStatus.FAILED
    assert submit(crawl, "b") != ref


def test_a_replay_of_a_request_adds_nothing(crawl: CrawlWorld) -> None:
    ref = submit(crawl, "a")
    key = RequestKey(tenant=TENANT, scope="s", payload="p")
    assert submit(crawl, "b", key=key) == ref
    settle(crawl, ref)
    [document] = crawl.documents.all(TENANT)
    assert submit(crawl, "b", key=key) == ref
    assert tag_jobs(crawl) == []
    assert crawl.documents.all(TENANT) == [document]


def test_batches_add_tags_to_crawls_under_way_and_to_results(crawl: CrawlWorld) -> None:
    ended = submit(crawl, "a")
    settle(crawl, ended)
    waiting = crawl.submit(f"{URL}/2", TENANT, tags=("a",))
    request = BatchRequest(urls=(URL, f"{URL}/2", f"{URL}/3"), tags=("b",))
    crawl.pages[f"{URL}/3"] = fetched_page(f"{URL}/3", "Silk of the third.")
    body = crawl.crawls().submit_batch(TENANT, request, None).reply.body
    found = [each["job_id"] for each in body["jobs"]]
    assert found[:2] == [ended.job_id, waiting.job_id]
    settle(crawl, JobRef(tenant=TENANT, job_id=body["batch_id"]))
    settle(crawl, waiting)
    assert [tags_of(crawl, url) for url in request.urls] == [{"a", "b"}, {"a", "b"}, {"b"}]


# ---------------------------------------------------------------- Races


def overtaken(
    work: Callable[[CrawlWorld, CrashPlan], None], act: Callable[[CrawlWorld], JobRef]
) -> int:
    """Run `act` around each call of `work`; return the number of jobs that were amended late."""
    dry, counting = slice_of(), CrashPlan()
    work(dry, counting)
    points = counting.points()
    assert len(points) > 7
    late = 0
    for at, moment in points:
        if moment is Moment.HALFWAY:
            continue
        crawl = slice_of()
        refs: list[JobRef] = []

        def other(crawl: CrawlWorld = crawl, refs: list[JobRef] = refs) -> None:
            refs.append(act(crawl))

        work(crawl, Overtaken(at, moment, other))
        for ref in refs:
            late += settle(crawl, ref).fence > 1
        assert tags_of(crawl) == {"a", "b"}, (at, moment)
        assert len(refs) == 1
    return late


@pytest.mark.heavy
def test_tags_that_arrive_at_any_moment_of_a_crawl_reach_its_document() -> None:
    def work(crawl: CrawlWorld, plan: CrashPlan) -> None:
        crawl.run(submit(crawl, "a"), plan.wrap)

    late = overtaken(work, lambda crawl: submit(crawl, "b"))
    assert late > 2, "those that arrive after the document was stored"


def test_a_crawl_that_ends_at_any_moment_of_a_submission_gets_its_tags() -> None:
    def work(crawl: CrawlWorld, plan: CrashPlan) -> None:
        ref = submit(crawl, "a")
        request = CrawlRequest(url=URL, tags=("b",))
        body = crawl.crawls(plan.wrap).submit(TENANT, request, None).reply.body
        assert body["job_id"] == ref.job_id
        settle(crawl, ref)

    def end(crawl: CrawlWorld) -> JobRef:
        [job] = crawl.store.page(TENANT, JobFilter(kind="crawl"), None, 9).items
        return settle(crawl, job.ref).ref

    overtaken(work, end)
