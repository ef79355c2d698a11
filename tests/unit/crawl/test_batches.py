"""A batch of URLs: one job counts its crawls and ends with the last of them."""

from typing import Any

import pytest

from spinneret.crawl import limits
from spinneret.crawl.configs.models import ConfigOptions
from spinneret.crawl.configs.service import ConfigDraft
from spinneret.crawl.models import BatchRequest, BatchView, CrawlRequest
from spinneret.jobs.models import Job, JobRef, JobStatus, Transition
from spinneret.kernel.errors import HttpRefused, ValidationFailed
from tests import factories
from tests.fakes.crawling import CrawlWorld, long_page
from tests.fakes.fetching import fetched_page

TENANT = factories.TENANT


@pytest.fixture
def crawl() -> CrawlWorld:
    return CrawlWorld()


def url(n: int) -> str:
    """Return a long URL on its own host, so that no batch waits for a host."""
    return f"https://site-{n}.example/{'a' * 1900}/{n}"


def submit(crawl: CrawlWorld, urls: list[str], key: Any = None, **given: Any) -> dict[str, Any]:
    for each in urls:
        if each not in crawl.pages and each.startswith("https://site"):
            crawl.pages[each] = fetched_page(each, long_page("silk", 20))
    submitted = crawl.crawls().submit_batch(TENANT, BatchRequest(urls=tuple(urls), **given), key)
    return dict(submitted.reply.body)


def settle(crawl: CrawlWorld, batch_id: str) -> Job:
    return crawl.settle(JobRef(tenant=TENANT, job_id=batch_id))


def view(crawl: CrawlWorld, batch_id: str) -> BatchView:
    found = crawl.crawls().get(TENANT, batch_id)
    assert isinstance(found, BatchView)
    return found


def config_of(crawl: CrawlWorld, max_depth: int, *, is_default: bool = False) -> str:
    options = ConfigOptions(max_depth=max_depth)
    draft = ConfigDraft(name="deep", options=options, is_default=is_default)
    return crawl.configs.service.create(TENANT, draft).id


def test_a_config_that_goes_deeper_is_refused_for_a_list(crawl: CrawlWorld) -> None:
    config_id = config_of(crawl, 2)
    several = CrawlRequest(urls=(url(1), url(2)), config_id=config_id)
    for ask in (
        lambda: submit(crawl, [url(1)], config_id=config_id),
        lambda: crawl.crawls().submit(TENANT, several, None),
    ):
        with pytest.raises(ValidationFailed, match="max_depth is 2") as refused:
            ask()
        assert [each["path"] for each in refused.value.details["fields"]] == ["config_id"]
    assert crawl.queue.take() == []


def test_a_config_of_one_page_holds_for_a_list(crawl: CrawlWorld) -> None:
    answer = submit(crawl, [url(1)], config_id=config_of(crawl, 0))
    assert settle(crawl, answer["batch_id"]).status is JobStatus.COMPLETED


def test_under_a_default_config_that_goes_deeper_a_list_crawls_what_it_names(
    crawl: CrawlWorld,
) -> None:
    config_id = config_of(crawl, 2, is_default=True)
    answer = submit(crawl, [url(1), url(2)])
    assert settle(crawl, answer["batch_id"]).status is JobStatus.COMPLETED
    jobs = [crawl.job(JobRef(tenant=TENANT, job_id=each["job_id"])) for each in answer["jobs"]]
    assert [(job.kind, job.payload["config"]["config_id"]) for job in jobs] == [
        ("crawl", config_id)
    ] * 2


# covers C-01
@pytest.mark.heavy
def test_a_hundred_long_urls_are_one_batch_whose_crawls_exist_with_the_answer(
    crawl: CrawlWorld,
) -> None:
    answer = submit(crawl, [url(n) for n in range(limits.URLS_PER_BATCH)])
    jobs = [JobRef(tenant=TENANT, job_id=each["job_id"]) for each in answer["jobs"]]
    assert {crawl.job(ref).batch for ref in jobs} == {answer["batch_id"]}
    assert (answer["total_submitted"], answer["failed_count"]) == (100, 0)
    found = view(crawl, answer["batch_id"])
    assert (found.status, found.progress, found.pending_count) == (JobStatus.RUNNING, 0, 100)
    assert settle(crawl, answer["batch_id"]).status is JobStatus.COMPLETED
    found = view(crawl, answer["batch_id"])
    assert (found.progress, found.completed_count) == (100, 100)


def test_each_url_has_its_own_outcome(crawl: CrawlWorld) -> None:
    crawl.pages[url(0)] = fetched_page(url(0), long_page("silk", 20))
    other = crawl.submit(url(0))
    answer = submit(crawl, [url(0), url(1), "http://localhost/", url(1)])
    duplicate, fresh, refused, again = answer["jobs"]
    assert (duplicate["job_id"], duplicate["message"]) == (other.job_id, "already under way")
    assert (fresh["message"], again["job_id"]) == ("accepted", fresh["job_id"])
    assert refused["error"]["code"] == "URL_BLOCKED"
    assert view(crawl, answer["batch_id"]).total_count == 1


def test_a_batch_of_what_others_crawl_ends_at_once(crawl: CrawlWorld) -> None:
    crawl.submit(url(0))
    answer = submit(crawl, [url(0)])
    assert view(crawl, answer["batch_id"]).status is JobStatus.COMPLETED


def test_a_batch_without_an_acceptable_url_is_refused(crawl: CrawlWorld) -> None:
    with pytest.raises(ValidationFailed):
        submit(crawl, ["http://localhost/"])


def test_a_repeated_request_has_the_same_batch(crawl: CrawlWorld) -> None:
    key = factories.request_key()
    assert submit(crawl, [url(0), url(1)], key) == submit(crawl, [url(0), url(1)], key)


def test_the_batch_alone_notifies_its_webhook(crawl: CrawlWorld) -> None:
    answer = submit(crawl, [url(0), url(1)], webhook_url="https://hook.example/")
    batch = crawl.job(JobRef(tenant=TENANT, job_id=answer["batch_id"]))
    assert batch.notify == ("https://hook.example/",)
    for each in answer["jobs"]:
        assert crawl.job(JobRef(tenant=TENANT, job_id=each["job_id"])).notify == ()


def test_a_retry_of_the_batch_crawls_only_what_failed(crawl: CrawlWorld) -> None:
    crawl.pages[url(1)] = HttpRefused("gone", details={"status_code": 404})
    answer = submit(crawl, [url(0), url(1)])
    batch = settle(crawl, answer["batch_id"])
    assert batch.status is JobStatus.PARTIALLY_FAILED
    crawl.pages[url(1)] = fetched_page(url(1), long_page("web", 20))
    crawl.control().move(batch.ref, Transition.RETRY)
    assert settle(crawl, answer["batch_id"]).status is JobStatus.COMPLETED
    jobs = [JobRef(tenant=TENANT, job_id=each["job_id"]) for each in answer["jobs"]]
    assert [crawl.job(ref).run for ref in jobs] == [1, 2]
