"""Deep crawls through their API routes: refusals, lists, and the report of their end."""

from types import SimpleNamespace
from typing import Any

import pytest

from crawl.crawl_routes import router
from spinneret.crawl import limits
from spinneret.jobs.models import JobRef, JobStatus
from spinneret.kernel import bounds
from tests.factories import TENANT
from tests.fakes.deep_crawling import HOST, DeepCrawlWorld
from tests.fakes.fetching import fetched_page
from tests.unit.served import Served

PATH = "/api/v1/crawl"
SITE = {"/": ["/a", "/private/b", "/gone"], "/a": [], "/private/b": []}


@pytest.fixture
def crawl() -> DeepCrawlWorld:
    made = DeepCrawlWorld(SITE)
    made.pages[f"{HOST}/gone"] = fetched_page(f"{HOST}/gone", status_code=404)
    made.pages[f"{HOST}/robots.txt"] = fetched_page(
        f"{HOST}/robots.txt", "User-agent: *\nDisallow: /private", media_type="text/plain"
    )
    return made


@pytest.fixture
def api(crawl: DeepCrawlWorld) -> Served:
    return Served(
        router,
        SimpleNamespace(crawl=crawl.crawls(), deep=crawl.deep(), jobs=crawl.control()),
    )


def asked(api: Served, **given: Any) -> str:
    answer = api.send("POST", f"{PATH}/deep", {"url": f"{HOST}/", **given})
    assert answer.status == 202
    return str(answer.body["job_id"])


def finished(crawl: DeepCrawlWorld, job_id: str) -> None:
    """Deliver messages and run executions until the job has ended."""
    ref = JobRef(tenant=TENANT, job_id=job_id)
    for _ in range(50):
        crawl.deliver()
        crawl.execute()
        if crawl.job(ref).status is JobStatus.COMPLETED:
            return
    raise AssertionError("it never ends")


def test_errors_list_what_failed_and_what_robots_txt_forbids(
    api: Served, crawl: DeepCrawlWorld
) -> None:
    job_id = asked(api)
    finished(crawl, job_id)
    answer = api.send("GET", f"{PATH}/{job_id}/errors").body
    found = {
        each["url"]: (each["error_type"], each["status_code"], each["status"])
        for each in answer["items"]
    }
    assert found == {
        f"{HOST}/gone": ("HTTP_ERROR", 404, "failed"),
        f"{HOST}/private/b": ("ROBOTS_DISALLOWED", None, "failed"),
    }
    assert all(each["error"] and each["parent_url"] == f"{HOST}/" for each in answer["items"])


def test_errors_are_read_page_by_page(api: Served, crawl: DeepCrawlWorld) -> None:
    job_id = asked(api)
    finished(crawl, job_id)
    first = api.send("GET", f"{PATH}/{job_id}/errors", limit="1").body
    assert first["has_more"]
    second = api.send("GET", f"{PATH}/{job_id}/errors", limit="1", cursor=first["next_cursor"]).body
    urls = [each["url"] for page in (first, second) for each in page["items"]]
    assert sorted(urls) == [f"{HOST}/gone", f"{HOST}/private/b"]


def test_the_errors_of_an_unknown_crawl_are_not_found(api: Served) -> None:
    assert api.send("GET", f"{PATH}/job_unknown/errors").status == 404


def test_the_end_is_an_event_and_is_addressed_to_the_webhook(crawl: DeepCrawlWorld) -> None:
    api = Served(router, SimpleNamespace(crawl=crawl.crawls(), deep=crawl.deep()))
    job_id = asked(api, webhook_url="https://me.example/hook")
    finished(crawl, job_id)
    [event] = [row.event for row in crawl.store.outbox.rows.values()]
    assert event.subject == job_id
    assert (event.type, event.targets) == (
        "deep_crawl.completed",
        ("https://me.example/hook",),
    )
    result = event.data["result"]
    assert (result["pages_crawled"], result["pages_failed"]) == (2, 2)


def test_a_stage_without_deep_crawls_answers_that_there_is_no_such_feature(
    crawl: DeepCrawlWorld,
) -> None:
    crawl.enabled = False
    api = Served(router, SimpleNamespace(crawl=crawl.crawls(), deep=crawl.deep()))
    answer = api.send("POST", f"{PATH}/deep", {"url": f"{HOST}/"})
    assert (answer.status, answer.body["code"]) == (404, "FEATURE_DISABLED")
    assert crawl.queue.take() == []


def test_a_stage_may_allow_fewer_pages(crawl: DeepCrawlWorld) -> None:
    crawl.pages_max = 20
    api = Served(router, SimpleNamespace(crawl=crawl.crawls(), deep=crawl.deep()))
    refused = api.send("POST", f"{PATH}/deep", {"url": f"{HOST}/", "max_pages": 21})
    assert (refused.status, refused.body["details"]["fields"][0]["path"]) == (422, "max_pages")
    assert api.send("POST", f"{PATH}/deep", {"url": f"{HOST}/", "max_pages": 20}).status == 202


LONG = "x" * 5000


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", ""),
        ("url", f"{HOST}/{LONG}"),
        ("url", 7),
        ("strategy", "random"),
        ("max_depth", -1),
        ("max_depth", bounds.CRAWL_DEPTH_MAX + 1),
        ("max_depth", 1.5),
        ("max_pages", 0),
        ("max_pages", bounds.CRAWL_PAGES_MAX + 1),
        ("max_pages", "10"),
        ("keywords", [""]),
        ("keywords", [LONG]),
        ("keywords", ["silk"] * (bounds.CRAWL_KEYWORDS_MAX + 1)),
        ("keywords", "silk"),
        ("score_threshold", -0.1),
        ("score_threshold", 1.1),
        ("scope", "planet"),
        ("include", [""]),
        ("include", [LONG]),
        ("include", ["/a/*"] * (bounds.URL_PATTERNS_MAX + 1)),
        ("include", ["/a\n"]),
        ("exclude", [LONG]),
        ("exclude", ["a b"]),
        ("config_id", ""),
        ("config_id", LONG),
        ("collection_id", ""),
        ("collection_id", LONG),
        ("tags", [""]),
        ("tags", [f"tag-{n}" for n in range(limits.CRAWL_TAGS_MAX + 1)]),
        ("priority", "urgent"),
        ("force", "yes"),
        ("proxy_config_id", LONG),
        ("webhook_url", LONG),
        ("webhook_headers", {"x": 1}),
        ("depth", 3),
    ],
    ids=lambda value: None if isinstance(value, str) and len(value) < 20 else repr(value)[:20],
)
def test_a_field_out_of_its_range_is_refused_by_its_name(
    api: Served, crawl: DeepCrawlWorld, field: str, value: Any
) -> None:
    answer = api.send("POST", f"{PATH}/deep", {"url": f"{HOST}/", field: value})
    assert (answer.status, answer.body["code"]) == (422, "VALIDATION_ERROR")
    named = {each["path"].partition(".")[0] for each in answer.body["details"]["fields"]}
    assert named == {field}
    assert crawl.queue.take() == []


@pytest.mark.parametrize(("count", "status"), [(100, 202), (101, 422), (0, 422)])
def test_a_batch_has_up_to_a_hundred_urls(api: Served, count: int, status: int) -> None:
    urls = [f"https://site-{n}.example/" for n in range(count)]
    answer = api.send("POST", f"{PATH}/batch", {"urls": urls})
    assert answer.status == status
    if status == 422:
        assert answer.body["details"]["fields"][0]["path"] == "urls"
