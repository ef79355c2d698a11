"""The main use of the deployed API: crawl pages and search them."""

import pytest

from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.website import Website
from tests.site.questions import QUESTIONS, Question

pytestmark = pytest.mark.stack


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.query)
def test_the_right_page_is_among_the_first_three(question: Question, reader: Tenant) -> None:
    hits = reader.search(question.query, limit=10)
    pages: list[str] = []
    for hit in hits:
        path = hit["url"].split("/", 3)[3]
        if f"/{path}" not in pages:
            pages.append(f"/{path}")
    assert question.path in pages[:3], pages


def test_a_hit_shows_both_legs_its_place_and_what_matched(reader: Tenant) -> None:
    hit = reader.search("major ampullate gland dragline silk", limit=1, fusion="rrf")[0]
    assert hit["source"] == "fused"
    assert 0 < hit["vector_score"] <= 1
    assert hit["keyword_score"] > 0
    assert hit["score"] == pytest.approx(2 / 61, rel=0.1)
    assert hit["end_char"] - hit["start_char"] == len(hit["content"])
    matched = {hit["content"][begin:end].lower() for begin, end in hit["highlights"]}
    assert "silk" in matched


def test_a_weight_of_nothing_leaves_one_leg_to_decide(reader: Tenant) -> None:
    hits = reader.search("calamistrum", vector_weight=0, limit=3)
    assert hits[0]["keyword_score"] is not None
    assert "calamistrum" in hits[0]["content"].lower()


def test_a_crawl_reports_its_progress_and_result(tenant: Tenant, website: Website) -> None:
    job = tenant.finished(tenant.crawl(f"{website.url}/page?text=granite+quarries"))
    assert job["status"] == "completed"
    assert job["progress"] == 100
    assert job["created_at"] <= job["started_at"] <= job["finished_at"]
    result = job["result"]
    assert result["title"] == "granite quarries"
    assert result["status_code"] == 200
    assert result["chunks"] >= 1
    [hit] = tenant.search("granite", limit=1)
    assert hit["document_id"] == result["document_id"]


def test_a_page_crawled_again_is_known_to_be_unchanged(tenant: Tenant, website: Website) -> None:
    url = f"{website.url}/page?text=basalt+columns"
    first = tenant.finished(tenant.crawl(url))["result"]
    again = tenant.finished(tenant.crawl(url, force=True))["result"]
    assert again["unchanged"] is True
    assert again["version"] == first["version"]
    assert len(tenant.search("basalt columns")) == first["chunks"]


def test_the_same_crawl_within_a_day_answers_with_its_result(
    tenant: Tenant, website: Website
) -> None:
    url = f"{website.url}/page?text=slate+roofs"
    job_id = tenant.crawl(url)
    tenant.finished(job_id)
    again = tenant("POST", "/api/v1/crawl", {"url": f"{url}#fragment"}).json()
    assert again == {
        "job_id": job_id,
        "status": "completed",
        "message": "crawled within the last 24 hours",
        "cached": True,
    }


def test_an_idempotency_key_repeats_its_first_answer(tenant: Tenant, website: Website) -> None:
    body = {"url": f"{website.url}/page?text=marble+halls", "force": True}
    first = tenant("POST", "/api/v1/crawl", body, Idempotency_Key="order-1")
    again = tenant("POST", "/api/v1/crawl", body, Idempotency_Key="order-1")
    assert again.json() == first.json()
    assert again.status_code == first.status_code
    assert again.headers["Idempotent-Replayed"] == "true"
    other = tenant("POST", "/api/v1/crawl", {**body, "priority": "low"}, Idempotency_Key="order-1")
    assert other.status_code == 422
    assert other.json()["code"] == "IDEMPOTENCY_MISMATCH"


@pytest.mark.parametrize("priority", ["critical", "high", "normal", "low"])
def test_every_priority_is_served(priority: str, tenant: Tenant, website: Website) -> None:
    url = f"{website.url}/page?text=lane+{priority}"
    job = tenant.finished(tenant.crawl(url, priority=priority))
    assert (job["status"], job["priority"]) == ("completed", priority)


def test_tenants_do_not_see_each_other(
    tenant: Tenant, deployed: Deployed, website: Website
) -> None:
    job_id = tenant.crawl(f"{website.url}/page?text=secret+gardens")
    tenant.finished(job_id)
    stranger = deployed.tenant()
    try:
        foreign = stranger("GET", f"/api/v1/crawl/{job_id}")
        unknown = stranger("GET", "/api/v1/crawl/job_0")
        assert foreign.status_code == unknown.status_code == 404
        assert _without_request_id(foreign) == _without_request_id(unknown)
        assert stranger.search("secret gardens") == []
        assert stranger.search(f'tenant:"{tenant.name}" OR *') == []
    finally:
        stranger.close()


def _without_request_id(response: object) -> dict[str, object]:
    body = response.json()  # type: ignore[attr-defined]  # an httpx.Response
    return {name: value for name, value in body.items() if name != "request_id"}
