"""Bad input is refused with its documented code, and leaves no data behind."""

from typing import Any

import httpx
import pytest

from tests.conftest import Aws
from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.website import Website

pytestmark = pytest.mark.stack

CRAWL, SEARCH = "/api/v1/crawl", "/api/v1/search"
METADATA = "http://169.254.169.254/latest/meta-data"


@pytest.mark.parametrize(
    ("path", "body", "status", "code", "field"),
    [
        (CRAWL, {"url": "not a url"}, 400, "URL_INVALID", "url"),
        (CRAWL, {"url": "ftp://example.com/"}, 400, "URL_INVALID", "url"),
        (CRAWL, {"url": "http://user:pw@example.com/"}, 400, "URL_INVALID", "url"),
        (CRAWL, {"url": METADATA}, 403, "URL_BLOCKED", "url"),
        (CRAWL, {"url": "http://127.0.0.1/"}, 403, "URL_BLOCKED", "url"),
        (CRAWL, {"url": "http://0x7f.1/"}, 403, "URL_BLOCKED", "url"),
        (CRAWL, {"url": "http://[::ffff:10.0.0.1]/"}, 403, "URL_BLOCKED", "url"),
        (CRAWL, {"url": "http://localhost:4566/"}, 403, "URL_BLOCKED", "url"),
        (CRAWL, {"url": f"http://e.com/{'a' * 2036}"}, 422, "VALIDATION_ERROR", "url"),
        (CRAWL, {"url": ""}, 422, "VALIDATION_ERROR", "url"),
        (CRAWL, {"url": 7}, 422, "VALIDATION_ERROR", "url"),
        (CRAWL, {"url": "http://example.com/", "depth": 3}, 422, "VALIDATION_ERROR", "depth"),
        (CRAWL, {"url": "http://example.com/", "tenant": "x"}, 422, "VALIDATION_ERROR", "tenant"),
        (CRAWL, {"url": "http://e.com/", "priority": "now"}, 422, "VALIDATION_ERROR", "priority"),
        (CRAWL, {"urls": []}, 422, "VALIDATION_ERROR", "urls"),
        (CRAWL, {"urls": ["http://e.com/"] * 21}, 422, "VALIDATION_ERROR", "urls"),
        (CRAWL, {"urls": [METADATA, "x"]}, 422, "VALIDATION_ERROR", "urls.0"),
        (CRAWL, {}, 422, "VALIDATION_ERROR", "body"),
        (CRAWL, [], 422, "VALIDATION_ERROR", "body"),
        (SEARCH, {"query": ""}, 422, "VALIDATION_ERROR", "query"),
        (SEARCH, {"query": "   "}, 422, "VALIDATION_ERROR", "query"),
        (SEARCH, {"query": "q" * 1001}, 422, "VALIDATION_ERROR", "query"),
        (SEARCH, {"query": "q", "limit": 101}, 422, "VALIDATION_ERROR", "limit"),
        (SEARCH, {"query": "q", "limit": 0}, 422, "VALIDATION_ERROR", "limit"),
        (SEARCH, {"query": "q", "index": "other"}, 422, "VALIDATION_ERROR", "index"),
    ],
)
def test_a_bad_request_names_its_field_and_stores_nothing(
    path: str,
    body: Any,
    status: int,
    code: str,
    field: str,
    tenant: Tenant,
    aws: Aws,
    deployed: Deployed,
) -> None:
    response = tenant("POST", path, body)
    assert (response.status_code, response.json()["code"]) == (status, code), response.text
    assert field in _fields(response.json())
    assert response.json()["request_id"]
    assert _stored(aws, deployed, tenant.name) == []


@pytest.mark.parametrize("text", ['{"url": ', '{"url": "a", "url": "b"}', '{"n": NaN}', "\xff"])
def test_malformed_json_is_refused(text: str, deployed: Deployed, tenant: Tenant) -> None:
    headers = {"X-API-Key": tenant.key, "Content-Type": "application/json"}
    response = httpx.post(
        deployed.api_url + CRAWL,
        content=text.encode("latin-1"),
        headers=headers,
        trust_env=False,
        timeout=40,
    )
    assert (response.status_code, response.json()["code"]) == (422, "VALIDATION_ERROR")


def test_json_that_calls_itself_a_form_is_read_and_an_unknown_path_is_not_found(
    deployed: Deployed, tenant: Tenant
) -> None:
    for path, content, status, code in (
        (CRAWL, '{"urll": "http://a.example/"}', 422, "VALIDATION_ERROR"),
        ("/api/v1/nowhere", "", 404, "NOT_FOUND"),
    ):
        response = httpx.post(
            deployed.api_url + path,
            content=content,
            headers={
                "X-API-Key": tenant.key,
                "Content-Type": "application/x-www-form-urlencoded",
            },
            trust_env=False,
            timeout=40,
        )
        found = response.json()
        assert (response.status_code, found["code"]) == (status, code), response.text
        assert set(found) == {"error", "code", "details", "request_id"}
        if code == "VALIDATION_ERROR":
            hints = {each["path"]: each["hint"] for each in found["details"]["fields"]}
            assert hints["urll"] == "did you mean `url`?"


@pytest.mark.parametrize("headers", [{}, {"X-API-Key": "spn_wrong"}, {"Authorization": "Bearer"}])
def test_without_a_valid_key_nothing_is_answered(
    headers: dict[str, str], deployed: Deployed
) -> None:
    for method, path in (("POST", CRAWL), ("GET", f"{CRAWL}/job_1"), ("POST", SEARCH)):
        response = httpx.request(
            method, deployed.api_url + path, headers=headers, trust_env=False, timeout=40
        )
        assert (response.status_code, response.json()["code"]) == (401, "AUTH_REQUIRED")


def test_a_key_for_reading_can_not_crawl(deployed: Deployed) -> None:
    reader = deployed.tenant(scope="read")
    try:
        response = reader("POST", CRAWL, {"url": "http://example.com/"})
        assert (response.status_code, response.json()["code"]) == (403, "FORBIDDEN")
        assert reader("POST", SEARCH, {"query": "anything"}).status_code == 200
    finally:
        reader.close()


def test_health_needs_no_key(deployed: Deployed) -> None:
    for path in ("/health", "/api/v1/health"):
        answer = httpx.get(deployed.api_url + path, trust_env=False, timeout=30)
        assert (answer.status_code, answer.json()) == (200, {"status": "ok", "checks": {}})
    for path in ("/health/ready", "/api/v1/health/ready"):
        answer = httpx.get(deployed.api_url + path, trust_env=False, timeout=30)
        assert answer.status_code == 200
        names = {"dynamodb", "sqs", "s3", "opensearch", "embedder", "browser"}
        assert set(answer.json()["checks"]) == names


@pytest.mark.parametrize(
    ("path", "code", "error_part"),
    [
        (f"/moved?to={METADATA}", "URL_BLOCKED", "127.0.0.1"),
        ("/moved?to=http://127.0.0.1:4566/", "URL_BLOCKED", "127.0.0.1"),
        ("/moved?to=/moved%3Fto%3D/missing", "HTTP_ERROR", ""),
        ("/type?is=image/png", "CONTENT_REFUSED", ""),
        (f"/large?bytes={50 * 1024 * 1024 + 1}", "BODY_TOO_LARGE", ""),
        ("/status?code=404", "HTTP_ERROR", ""),
        ("/status?code=410", "HTTP_ERROR", ""),
    ],
)
def test_a_page_that_can_not_be_taken_fails_at_once_with_its_code(
    path: str, code: str, error_part: str, tenant: Tenant, website: Website
) -> None:
    job = tenant.finished(tenant.crawl(website.url + path))
    assert (job["status"], job["error"]["code"], job["attempts"]) == ("failed", code, 1), job
    assert error_part in job["error"]["error"]
    assert "169.254" not in str(job["error"])
    assert "4566" not in str(job["error"])
    assert tenant.search("anything at all") == []


def test_an_unreachable_host_is_tried_three_times_and_later_again(
    tenant: Tenant, deployed: Deployed
) -> None:
    # The address of the demonstration is allowed, but its website doesn't run now.
    job_id = tenant.crawl(f"http://127.0.0.1:{deployed.site_port}/gone")
    job = tenant.wait(job_id, lambda job: job["redrives"] == 1, 90)
    assert (job["status"], job["attempts"]) == ("pending", 0)
    assert job["error"]["code"] == "FETCH_FAILED"
    [listed] = tenant("GET", "/api/v1/jobs/failed").json()["items"]
    assert (listed["job_id"], listed["redrives"]) == (job_id, 1)
    events = tenant("GET", f"/api/v1/jobs/{job_id}/timeline?limit=100").json()["items"]
    assert sum(event["event"] == "error" for event in events) == job["max_attempts"] == 3


def _fields(body: dict[str, Any]) -> list[str]:
    return [each["path"] for each in body["details"].get("fields", [])]


def _stored(aws: Aws, deployed: Deployed, tenant: str) -> list[str]:
    client = aws.dynamodb()
    found: list[str] = []
    for table in ("JobsTable", "IdempotencyTable", "DocumentsTable"):
        items = client.scan(TableName=deployed.outputs[table])["Items"]
        found += [item["pk"] for item in items if item["pk"].startswith(f"T#{tenant}#")]
    return found
