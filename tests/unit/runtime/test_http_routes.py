"""Crawl, search and health through their API functions."""

import json
from typing import Any

import pytest

from spinneret.jobs.models import JobRef
from spinneret.kernel import bounds
from tests.fakes.crawling import long_page
from tests.fakes.fetching import fetched_page
from tests.kinds import CRAWL_HIGH
from tests.unit.runtime.api import GET, HEALTH, QUERY, SUBMIT, Answer, Api

URL = "https://site.example/page"


def submit(api: Api, key: str, body: Any = None, idempotency_key: str | None = None) -> Answer:
    return api.send(
        SUBMIT, key, body=body or {"url": URL}, headers={"Idempotency-Key": idempotency_key}
    )


def get(api: Api, key: str, job_id: str) -> Answer:
    return api.send(GET, key, path=f"/api/v1/crawl/{job_id}", pathParameters={"proxy": job_id})


def crawled(api: Api, key: str, tenant: str = "acme", text: str = "Spiders weave silk.") -> str:
    """Submit the page, let the worker crawl it, and return the job's id."""
    api.crawls.pages[URL] = fetched_page(URL, text)
    job_id: str = submit(api, key).body["job_id"]
    api.crawls.settle(JobRef(tenant=tenant, job_id=job_id))
    return job_id


# ---------------------------------------------------------------- Crawling


# covers C-01
def test_a_crawl_is_accepted(api: Api, key: str) -> None:
    answer = submit(api, key, {"url": URL, "priority": "high"})
    assert answer.status == 202
    job_id = answer.body["job_id"]
    assert answer.body == {
        "job_id": job_id,
        "status": "pending",
        "message": "accepted",
        "cached": False,
    }
    [sent] = api.crawls.queue.take()
    assert (sent.lane, sent.ref) == (CRAWL_HIGH, JobRef(tenant="acme", job_id=job_id))


# covers P-01
def test_a_job_names_the_caller_who_submitted_it(api: Api, key: str) -> None:
    """One process serves several callers in turn, and open routes in between."""
    other = api.key("acme")
    first = submit(api, key).body["job_id"]
    api.send(HEALTH)
    second = submit(api, other, {"url": f"{URL}?other"}).body["job_id"]
    shown = [
        api.send(HEALTH, key, path=f"/api/v1/jobs/{each}").body["created_by"]
        for each in (first, second)
    ]
    assert shown == [api.keys.authenticate(each).key_id for each in (key, other)]
    assert shown[0] != shown[1]


def test_the_stored_event_is_accepted_as_it_is(api: Api, key: str) -> None:
    assert api.send(SUBMIT, key).status == 202


def test_a_crawl_is_read_before_and_after_it_is_done(api: Api, key: str) -> None:
    api.crawls.pages[URL] = fetched_page(URL, "Spiders weave silk.")
    job_id = submit(api, key).body["job_id"]
    waiting = get(api, key, job_id)
    assert waiting.status == 200
    assert (waiting.body["status"], waiting.body["result"]) == ("pending", None)
    assert (waiting.body["started_at"], waiting.body["finished_at"]) == (None, None)
    api.crawls.settle(JobRef(tenant="acme", job_id=job_id))
    done = get(api, key, job_id).body
    assert (done["status"], done["progress"], done["error"]) == ("completed", 100, None)
    assert (done["url"], done["result"]["url"]) == (URL, URL)
    assert done["created_at"] <= done["started_at"] <= done["finished_at"]


def test_a_failed_crawl_says_why(api: Api, key: str) -> None:
    api.crawls.pages[URL] = fetched_page(URL, status_code=404)
    job_id = submit(api, key).body["job_id"]
    api.crawls.settle(JobRef(tenant="acme", job_id=job_id))
    body = get(api, key, job_id).body
    assert body["status"] == "failed"
    assert body["error"] == {
        "error": "site.example answered 404",
        "code": "HTTP_ERROR",
        "details": {"status_code": 404},
    }


def test_the_same_page_is_not_crawled_twice_unless_forced(api: Api, key: str) -> None:
    first = submit(api, key).body
    again = submit(api, key, {"url": f"{URL}/#part"}).body
    assert (again["job_id"], again["message"]) == (first["job_id"], "already under way")
    forced = submit(api, key, {"url": URL, "force": True}).body
    assert forced["job_id"] != first["job_id"]


def test_a_fresh_result_is_answered_at_once(api: Api, key: str) -> None:
    job_id = crawled(api, key)
    body = submit(api, key).body
    assert (body["job_id"], body["status"], body["cached"]) == (job_id, "completed", True)


@pytest.mark.parametrize(
    ("url", "status", "code"),
    [
        ("page", 400, "URL_INVALID"),
        ("ftp://site.example/", 400, "URL_INVALID"),
        ("https://user:secret@site.example/", 400, "URL_INVALID"),
        ("http://127.0.0.1/", 403, "URL_BLOCKED"),
        ("http://169.254.169.254/latest/meta-data/", 403, "URL_BLOCKED"),
        ("http://[::1]/", 403, "URL_BLOCKED"),
        ("http://localhost:9200/", 403, "URL_BLOCKED"),
    ],
)
def test_a_url_that_may_not_be_reached_is_refused(
    api: Api, key: str, url: str, status: int, code: str
) -> None:
    answer = submit(api, key, {"url": url})
    assert (answer.status, answer.body["code"]) == (status, code)
    assert "secret" not in answer.text
    assert api.crawls.queue.sent == []


# covers C-01
def test_several_urls_have_an_outcome_each(api: Api, key: str) -> None:
    urls = [URL, "http://127.0.0.1/", f"{URL}/", "https://other.example/"]
    answer = submit(api, key, {"urls": urls})
    assert answer.status == 202
    body = answer.body
    assert (body["total_submitted"], body["failed_count"]) == (3, 1)
    assert [each["url"] for each in body["jobs"]] == urls
    one, refused, same, other = body["jobs"]
    assert (refused["job_id"], refused["error"]["code"]) == (None, "URL_BLOCKED")
    assert one["job_id"] == same["job_id"] != other["job_id"]
    assert [each["message"] for each in (one, same)] == ["accepted", "already under way"]
    assert len(api.crawls.queue.take()) == 2


def test_several_urls_of_which_none_can_be_crawled_are_refused(api: Api, key: str) -> None:
    answer = submit(api, key, {"urls": ["http://127.0.0.1/", "page"]})
    assert (answer.status, answer.body["code"]) == (422, "VALIDATION_ERROR")
    codes = [(each["path"], each["code"]) for each in answer.body["details"]["fields"]]
    assert codes == [("urls.0", "URL_BLOCKED"), ("urls.1", "URL_INVALID")]


def test_a_crawl_is_accepted_while_its_queue_is_down(api: Api, key: str) -> None:
    api.crawls.queue.available = False
    assert submit(api, key).status == 202


# ---------------------------------------------------------------- Idempotency


# covers P-05
def test_a_replay_is_the_first_answer_with_a_marker(api: Api, key: str) -> None:
    first = submit(api, key, idempotency_key="one")
    api.crawls.pages[URL] = fetched_page(URL, "Spiders weave silk.")
    api.crawls.settle(JobRef(tenant="acme", job_id=first.body["job_id"]))
    replay = submit(api, key, idempotency_key="one")
    assert (replay.status, replay.text) == (first.status, first.text)
    assert "Idempotent-Replayed" not in first.headers
    assert replay.headers["Idempotent-Replayed"] == "true"


@pytest.mark.parametrize(
    "body",
    [
        '{"force":false,"url":"https://site.example/page"}',
        ' {"url" : "https:\\/\\/site.example\\/p\\u0061ge", "force": false}\n',
    ],
)
def test_the_same_json_in_another_spelling_is_the_same_request(
    api: Api, key: str, body: str
) -> None:
    first = submit(api, key, {"url": URL, "force": False}, "one")
    again = submit(api, key, body, "one")
    assert (again.text, again.headers["Idempotent-Replayed"]) == (first.text, "true")


# covers P-05
@pytest.mark.parametrize(
    "body",
    [
        {"url": URL},
        {"url": URL, "force": True},
        {"url": f"{URL}2", "force": False},
        {"urls": [URL], "force": False},
        {"url": URL, "force": False, "urls": None},
    ],
)
def test_another_request_under_the_same_key_is_refused(
    api: Api, key: str, body: dict[str, Any]
) -> None:
    submit(api, key, {"url": URL, "force": False}, "one")
    api.crawls.queue.take()
    answer = submit(api, key, body, "one")
    assert (answer.status, answer.body["code"]) == (422, "IDEMPOTENCY_MISMATCH")
    assert api.crawls.queue.sent == []


def test_an_idempotency_key_ends_after_a_day(api: Api, key: str) -> None:
    submit(api, key, {"url": URL, "force": True}, "one")
    api.crawls.clock.advance(bounds.IDEMPOTENCY_SECONDS)
    answer = submit(api, key, {"url": f"{URL}2"}, "one")
    assert answer.status == 202
    assert "Idempotent-Replayed" not in answer.headers


def test_a_refused_request_leaves_its_key_free(api: Api, key: str) -> None:
    assert submit(api, key, {"url": "http://127.0.0.1/"}, "one").status == 403
    assert submit(api, key, {"url": URL}, "one").status == 202


def test_tenants_never_meet_under_one_idempotency_key(api: Api, key: str) -> None:
    first = submit(api, key, idempotency_key="one")
    other = submit(api, api.key("other"), idempotency_key="one")
    assert "Idempotent-Replayed" not in other.headers
    assert other.body["job_id"] != first.body["job_id"]


# ---------------------------------------------------------------- Tenants


def test_a_foreign_job_is_as_unknown_as_one_that_never_was(api: Api, key: str) -> None:
    job_id = crawled(api, key)
    foreign = get(api, api.key("other"), job_id)
    unknown = get(api, key, "job_9")
    assert (foreign.status, foreign.text) == (404, unknown.text)


@pytest.mark.parametrize(
    "job_id", ["x", "job_1%2Fmore", "..", "job_1%23JOB", "x" * 1500, "job_\u00fc", "%00"]
)
def test_an_id_of_any_form_is_not_found(api: Api, key: str, job_id: str) -> None:
    submit(api, key)
    answer = get(api, key, job_id)
    assert (answer.status, answer.body["code"]) == (404, "NOT_FOUND")


def test_a_search_shows_the_own_pages_only(api: Api, key: str) -> None:
    crawled(api, key)
    other = api.key("other")
    assert api.send(QUERY, other, body={"query": "silk"}).body["results"] == []
    crawled(api, other, "other")
    for each in (key, other):
        hits = api.send(QUERY, each, body={"query": "silk"}).body["results"]
        assert len(hits) == 1
    own, foreign = (
        api.send(QUERY, each, body={"query": "silk"}).body["results"][0]["document_id"]
        for each in (key, other)
    )
    assert own != foreign


# ---------------------------------------------------------------- Searching


def test_a_search_answers_chunks_with_their_scores(api: Api, key: str) -> None:
    job_id = crawled(api, key, text="Spiders weave silk.")
    answer = api.send(QUERY, key, body={"query": "silk", "limit": 5, "fusion": "rrf"})
    assert answer.status == 200
    assert answer.body["total_count"] == 1
    assert answer.body["latency_ms"] >= 0
    [hit] = answer.body["results"]
    document_id = get(api, key, job_id).body["result"]["document_id"]
    assert (hit["document_id"], hit["url"], hit["source"]) == (document_id, URL, "fused")
    assert (hit["content"], hit["start_char"], hit["end_char"]) == ("Spiders weave silk.", 0, 19)
    assert [hit["content"][a:b] for a, b in hit["highlights"]] == ["silk"]
    assert hit["score"] == pytest.approx(2 / 61)
    assert 0 <= hit["vector_score"] <= 1


def test_a_search_keeps_its_limit(api: Api, key: str) -> None:
    crawled(api, key, text=long_page("spider"))
    found = api.send(QUERY, key, body={"query": "spider", "limit": 2}).body
    assert len(found["results"]) == 2
    assert found["total_count"] > 2


def test_a_search_without_any_document_finds_nothing(api: Api, key: str) -> None:
    found = api.send(QUERY, key).body
    assert (found["results"], found["total_count"]) == ([], 0)


def test_a_search_without_the_index_is_unavailable(api: Api, key: str) -> None:
    api.crawls.index.available = False
    answer = api.send(QUERY, key)
    assert (answer.status, answer.body["code"]) == (503, "DEPENDENCY_UNAVAILABLE")


def test_a_search_without_the_embedder_is_marked_degraded(api: Api, key: str) -> None:
    assert api.send(QUERY, key).body["degraded"] is False
    api.crawls.embedder.available = False
    answer = api.send(QUERY, key)
    assert (answer.status, answer.body["degraded"]) == (200, True)


# ---------------------------------------------------------------- Health


# covers P-13
@pytest.mark.parametrize("path", ["/health/ready", "/api/v1/health/ready"])
@pytest.mark.parametrize("down", [set(), {"opensearch"}, {"dynamodb", "sqs"}])
def test_readiness_names_every_part(api: Api, path: str, down: set[str]) -> None:
    api.down |= down
    answer = api.send(HEALTH, path=path)
    assert answer.status == (503 if down else 200)
    body = json.loads(answer.text)
    assert body["status"] == ("not_ready" if down else "ok")
    states = {name: each["status"] for name, each in body["checks"].items()}
    assert states == {
        name: "unavailable" if name in down else "ok" for name in ("dynamodb", "sqs", "opensearch")
    } | {"browser": "absent"}
