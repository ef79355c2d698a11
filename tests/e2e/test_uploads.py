"""Bodies that are too large for a request, through the deployed application."""

import json

import httpx
import pytest

from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.website import Website

pytestmark = pytest.mark.stack

CRAWL = "/api/v1/crawl"


def upload(tenant: Tenant, body: bytes) -> str:
    form = tenant("POST", "/api/v1/uploads").json()
    assert form["fields"]["x-amz-algorithm"] == "AWS4-HMAC-SHA256"
    files = {"file": ("body.json", body)}
    posted = httpx.post(form["url"], data=form["fields"], files=files, trust_env=False, timeout=30)
    assert posted.status_code == 204, posted.text
    return str(form["upload_id"])


def test_a_body_of_over_five_megabytes_is_taken_by_way_of_an_upload(
    tenant: Tenant, website: Website, deployed: Deployed
) -> None:
    body = json.dumps({"url": f"{website.url}/page?text=uploaded"}).encode()
    large = body[:-1] + b" " * 6_000_000 + b"}"
    upload_id = upload(tenant, large)
    response = tenant("POST", CRAWL, Upload_Id=upload_id)
    assert response.status_code == 202, response.text
    assert tenant.finished(response.json()["job_id"])["status"] == "completed"
    stranger = deployed.tenant()
    refused = stranger("POST", CRAWL, Upload_Id=upload_id)
    assert (refused.status_code, refused.json()["code"]) == (404, "NOT_FOUND")
    stranger.close()


def test_a_body_of_over_five_megabytes_is_not_taken_with_its_request(tenant: Tenant) -> None:
    response = tenant("POST", CRAWL, {"url": "https://site.example/" + "x" * 5_300_000})
    assert (response.status_code, response.json()["code"]) == (413, "BODY_TOO_LARGE")
