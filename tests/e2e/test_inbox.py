"""Files of URLs through the deployed application: a form, an event, a batch and a report."""

import json
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.website import Website
from tests.waiting import waited

pytestmark = pytest.mark.stack

PAGES = 15
SECONDS = 60


def post(tenant: Tenant, name: str, body: bytes) -> dict[str, Any]:
    answer = tenant("POST", "/api/v1/inbox", {"name": name})
    assert answer.status_code == 201, answer.text
    form: dict[str, Any] = answer.json()
    waiting = tenant("GET", f"/api/v1/inbox/{form['job_id']}").json()
    assert (waiting["status"], waiting["waiting_for"]) == ("pending", "upload")
    files = {"file": (name, body)}
    posted = httpx.post(form["url"], data=form["fields"], files=files, trust_env=False, timeout=30)
    assert posted.status_code == 204, posted.text
    return form


def begun(tenant: Tenant, count: int = 1) -> list[str]:
    """Wait until the tenant has `count` files; return their job ids."""
    return waited(
        lambda: [job["job_id"] for job in tenant.read("/api/v1/jobs?kind=crawl_file")["items"]],
        lambda found: len(found) >= count,
        seconds=SECONDS,
    )


def ended(tenant: Tenant, job_id: str) -> dict[str, Any]:
    return tenant.ended(f"/api/v1/inbox/{job_id}", SECONDS)


# covers C-09
def test_a_file_is_crawled_and_reported(
    tenant: Tenant, website: Website, deployed: Deployed
) -> None:
    urls = [f"{website.url}/page?text=inbox+{n}+{tenant.name}" for n in range(PAGES)]
    rows = [
        "title,url",
        *(f'"Page, {n}",{url}' for n, url in enumerate(urls)),
        "bad,http://10.0.0.1/",
    ]
    form = post(tenant, "pages.csv", "\n".join([*rows, f"again,{urls[0]}"]).encode())
    [job_id] = begun(tenant)
    assert job_id == form["job_id"]
    found = ended(tenant, job_id)
    assert (found["status"], found["name"]) == ("completed", "pages.csv")
    assert (found["total_count"], found["completed_count"]) == (PAGES, PAGES)
    text = httpx.get(found["report_url"], trust_env=False, timeout=30).text
    lines = [json.loads(line) for line in text.splitlines()]
    assert [each["line"] for each in lines] == list(range(2, PAGES + 4))
    assert lines[PAGES]["error"]["code"] == "URL_BLOCKED"
    assert (lines[-1]["duplicate"], lines[-1]["job_id"]) == (True, lines[0]["job_id"])
    assert tenant.job(lines[0]["job_id"])["status"] == "completed"
    assert form["key"].startswith(f"T/{tenant.name}/inbox/")
    assert begun(tenant) == [job_id]  # the report started no job
    stranger = deployed.tenant()
    assert stranger("GET", f"/api/v1/inbox/{job_id}").status_code == 404
    stranger.close()


def test_a_file_that_is_not_text_fails_with_its_code(tenant: Tenant) -> None:
    post(tenant, "pages.txt", b"\x89PNG\r\n\x1a\n\x00\x00")
    [job_id] = begun(tenant)
    found = ended(tenant, job_id)
    assert (found["status"], found["error"]["code"]) == ("failed", "CONTENT_REFUSED")


def test_a_name_without_a_known_suffix_is_refused(tenant: Tenant) -> None:
    answer = tenant("POST", "/api/v1/inbox", {"name": "pages.exe"})
    assert (answer.status_code, answer.json()["code"]) == (422, "VALIDATION_ERROR")
