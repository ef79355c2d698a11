"""Reading and controlling jobs through the deployed API."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.website import Website

pytestmark = pytest.mark.stack

JOBS = "/api/v1/jobs"


@pytest.fixture
def held(tenant: Tenant, website: Website) -> Iterator[str]:
    """Yield a crawl whose worker waits for its page."""
    website.hold()
    job_id = tenant.crawl(f"{website.url}/held?text=patience")
    assert website.arrived.wait(30)
    yield job_id
    website.release()


def test_jobs_are_listed_newest_first_page_by_page(tenant: Tenant, website: Website) -> None:
    submitted = [tenant.crawl(f"{website.url}/page?text=list+{n}") for n in range(5)]
    seen: list[str] = []
    cursor = ""
    for _ in range(5):
        page = tenant("GET", f"{JOBS}?limit=2{cursor}").json()
        seen += [job["job_id"] for job in page["items"]]
        if not page["has_more"]:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert seen == submitted[::-1]


def test_lists_are_filtered(tenant: Tenant, website: Website) -> None:
    done = tenant.crawl(f"{website.url}/page?text=filter")
    failed = tenant.crawl(f"{website.url}/status?code=404")
    for job_id in (done, failed):
        tenant.finished(job_id)
    assert _listed(tenant, "?status=completed") == [done]
    assert _listed(tenant, "?status=failed") == [failed]
    assert _listed(tenant, "/failed") == [failed]
    assert _listed(tenant, "?kind=delivery") == []
    assert len(_listed(tenant, "?kind=crawl&domain=127.0.0.1")) == 2
    urls = [f"{website.url}/page?text=batch+{n}" for n in range(2)]
    batch = tenant("POST", "/api/v1/crawl", {"urls": urls}).json()
    together = [job["job_id"] for job in batch["jobs"]]
    assert _listed(tenant, f"?batch={batch['batch_id']}") == together[::-1]


def test_a_timeline_tells_the_steps_in_order(tenant: Tenant, website: Website) -> None:
    job_id = tenant.crawl(f"{website.url}/page?text=timeline")
    tenant.finished(job_id)
    events = tenant("GET", f"{JOBS}/{job_id}/timeline?limit=100").json()["items"]
    said = [event["message"] for event in events]
    assert said[:3] == ["pending", "running", "fetching"]
    assert said[-1] == "completed"
    progress = [event["progress"] for event in events]
    assert progress == sorted(progress)
    assert progress[-1] == 100


def test_a_stream_brings_events_and_then_ends(tenant: Tenant, website: Website) -> None:
    job_id = tenant.crawl(f"{website.url}/page?text=streams")
    seen: list[str] = []
    for _ in range(20):
        last = {"Last_Event_ID": seen[-1]} if seen else {}
        response = tenant("GET", f"{JOBS}/{job_id}/stream", **last)
        if response.status_code == 204:
            break
        assert response.headers["Content-Type"].startswith("text/event-stream")
        assert response.text.startswith("retry: 1000\n\n")
        seen += [line[4:] for line in response.text.splitlines() if line.startswith("id: ")]
    assert response.status_code == 204
    assert seen == sorted(set(seen))
    events = tenant("GET", f"{JOBS}/{job_id}/timeline?limit=100").json()["items"]
    assert seen == [event["id"] for event in events]


# covers P-07
def test_a_stream_without_news_waits_for_the_next_event(held: str, tenant: Tenant) -> None:
    events = tenant("GET", f"{JOBS}/{held}/timeline?limit=100").json()["items"]
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(
            tenant, "GET", f"{JOBS}/{held}/stream", None, Last_Event_ID=events[-1]["id"]
        )
        with pytest.raises(TimeoutError):
            asked.result(timeout=6)
        assert tenant("POST", f"{JOBS}/{held}/cancel").status_code == 200
        response = asked.result(timeout=10)
    assert '"message": "cancelled"' in response.text


def test_a_submission_waits_for_its_result(tenant: Tenant, website: Website) -> None:
    page = {"url": f"{website.url}/page?text=waits+{tenant.name}", "wait": 25}
    crawl = _awaited(tenant, "/api/v1/crawl", page, "page")
    assert crawl.json()["status"] == "completed", crawl.text
    assert "waits" in crawl.json()["markdown"]
    again = tenant("POST", "/api/v1/crawl", {**page, "wait": 1}, Idempotency_Key="page")
    assert (again.status_code, again.json()) == (200, crawl.json())
    assert again.headers["Idempotent-Replayed"] == "true"
    stored = _awaited(
        tenant, "/api/v1/documents", {"content": "Spiders wait.", "wait": 25}, "document"
    )
    assert stored.json()["status"] == "completed", stored.text
    assert stored.json()["result"]["document_id"]


def test_a_running_crawl_is_cancelled_at_once_and_stays_so(
    held: str, tenant: Tenant, website: Website
) -> None:
    answer = tenant("POST", f"/api/v1/crawl/{held}/cancel").json()
    assert answer == {"job_id": held, "status": "cancelled", "message": "cancelled"}
    website.release()
    after = tenant.crawl(f"{website.url}/page?text=afterwards")
    tenant.finished(after)
    assert tenant.job(held)["status"] == "cancelled"
    assert all("/held" not in hit["url"] for hit in tenant.search("patience"))


def test_a_paused_crawl_rests_until_it_is_resumed(
    held: str, tenant: Tenant, website: Website
) -> None:
    assert tenant("POST", f"{JOBS}/{held}/pause").json()["status"] == "paused"
    website.release()
    assert tenant.job(held)["status"] == "paused"
    assert tenant("POST", f"{JOBS}/{held}/resume").json()["status"] == "pending"
    job = tenant.finished(held)
    assert (job["status"], job["attempts"]) == ("completed", 0)


def test_a_failed_crawl_is_tried_again_in_a_new_run(tenant: Tenant, website: Website) -> None:
    job_id = tenant.crawl(f"{website.url}/once?text=second+chances")
    assert tenant.finished(job_id)["status"] == "failed"
    assert tenant("POST", f"{JOBS}/{job_id}/retry").json()["status"] == "pending"
    job = tenant.finished(job_id)
    assert (job["status"], job["run"]) == ("completed", 2)


@pytest.mark.parametrize("move", ["cancel", "pause", "resume", "retry"])
def test_a_completed_job_can_not_be_moved(move: str, tenant: Tenant, website: Website) -> None:
    job_id = tenant.crawl(f"{website.url}/page?text=settled")
    tenant.finished(job_id)
    response = tenant("POST", f"{JOBS}/{job_id}/{move}")
    assert (response.status_code, response.json()["code"]) == (409, "CONFLICT")
    assert tenant.job(job_id)["status"] == "completed"


@pytest.mark.parametrize(
    ("method", "suffix"),
    [
        ("GET", ""),
        ("GET", "/timeline"),
        ("GET", "/stream"),
        ("POST", "/cancel"),
        ("POST", "/pause"),
        ("POST", "/resume"),
        ("POST", "/retry"),
    ],
)
def test_a_foreign_job_is_as_unknown_as_any(
    method: str, suffix: str, held: str, deployed: Deployed
) -> None:
    stranger = deployed.tenant()
    try:
        answers = [stranger(method, f"{JOBS}/{each}{suffix}") for each in (held, "job_unknown")]
        assert {answer.status_code for answer in answers} == {404}
        bodies: list[dict[str, Any]] = [answer.json() for answer in answers]
        assert bodies[0] | {"request_id": 0} == bodies[1] | {"request_id": 0}
    finally:
        stranger.close()


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("status=odd", "status"),
        ("kind=odd", "kind"),
        ("cursor=%21", "cursor"),
    ],
)
def test_a_list_refuses_what_makes_no_sense(query: str, field: str, tenant: Tenant) -> None:
    response = tenant("GET", f"{JOBS}?{query}")
    assert (response.status_code, response.json()["code"]) == (422, "VALIDATION_ERROR")
    assert field in str(response.json()["details"])


def _listed(tenant: Tenant, query: str) -> list[str]:
    return [job["job_id"] for job in tenant("GET", f"{JOBS}{query}").json()["items"]]


def _awaited(tenant: Tenant, path: str, body: Any, key: str) -> httpx.Response:
    """Repeat the request until it returns the result; a busy machine may need several waits."""
    for _ in range(4):
        answer = tenant("POST", path, body, Idempotency_Key=key)
        if answer.status_code != 202:
            break
    assert answer.status_code == 200, answer.text
    return answer
