"""Sources, configs and labels through the deployed application."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from spinneret.sources import limits
from tests.conftest import Aws
from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.website import Website
from tests.site.server import page_paths, serve
from tests.waiting import waited

pytestmark = pytest.mark.stack


@pytest.fixture
def site(deployed: Deployed) -> Iterator[str]:
    """Yield the base URL of the demonstration website."""
    with serve(deployed.site_port) as base:
        yield base.rstrip("/")


@pytest.fixture(scope="module", autouse=True)
def often(deployed: Deployed, website: Website) -> Iterator[tuple[Tenant, str]]:
    """Yield a source that is due every minute, for the first time while the first tests run."""
    tenant, url = deployed.tenant(), f"{website.url}/page?text=by+the+clock"
    source = made(tenant, "sources", name="often", url_pattern=url, schedule_cron="* * * * *")
    yield tenant, source["source_id"]
    tenant("DELETE", f"/api/v1/sources/{source['source_id']}")
    tenant.close()


def made(tenant: Tenant, path: str, **body: Any) -> dict[str, Any]:
    answer = tenant("POST", f"/api/v1/{path}", body)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def ended(tenant: Tenant, source_id: str, run_id: str, seconds: float = 120) -> dict[str, Any]:
    """Wait for the end of a run; each read of the run also advances it."""
    return tenant.ended(f"/api/v1/sources/{source_id}/runs/{run_id}", seconds)


def triggered(tenant: Tenant, source_id: str) -> dict[str, Any]:
    answer = tenant("POST", f"/api/v1/sources/{source_id}/trigger")
    assert answer.status_code == 202, answer.text
    return ended(tenant, source_id, answer.json()["run_id"])


def test_a_pattern_is_discovered_crawled_and_crawled_again(tenant: Tenant, site: str) -> None:
    paths = [path for path in page_paths() if path.startswith("/weaving/")]
    assert paths
    source_id = made(tenant, "sources", name="weaving", url_pattern=f"{site}/weaving/**")[
        "source_id"
    ]
    first = triggered(tenant, source_id)
    assert (first["status"], first["new"], first["failed"]) == ("completed", len(paths), 0), first
    assert {each["url"] for each in first["pages"]} == {site + path for path in paths}
    second = triggered(tenant, source_id)
    assert (second["unchanged"], second["new"], second["changed"]) == (len(paths), 0, 0)
    runs = tenant("GET", f"/api/v1/sources/{source_id}/runs").json()["items"]
    assert [run["run_id"] for run in runs] == [second["run_id"], first["run_id"]]
    assert tenant("GET", f"/api/v1/sources/{source_id}").json()["last_crawled_at"] is not None


def test_a_page_that_changes_and_goes_is_told_to_the_source_s_webhook(
    tenant: Tenant, website: Website
) -> None:
    website.changing = "granite of the first kind"
    source_id = made(tenant, "sources", name="one", url_pattern=f"{website.url}/changing")[
        "source_id"
    ]
    hook = f"{website.url}/hook?name=runs"
    made(tenant, f"sources/{source_id}/webhooks", url=hook)
    outcomes = []
    for text in ("granite of the first kind", "granite of the second kind", None):
        website.changing = text
        outcomes.append([each["outcome"] for each in triggered(tenant, source_id)["pages"]])
    assert outcomes == [["new"], ["changed"], ["gone"]]
    waited(lambda: website.hooks["runs"], lambda hooks: len(hooks) >= 3, seconds=30)
    bodies = [json.loads(each.body) for each in website.hooks["runs"]]
    assert {each["type"] for each in bodies} == {"source.run_completed"}
    assert sorted(each["data"]["gone"] for each in bodies) == [0, 0, 1]


def test_a_config_a_collection_and_tags_take_effect(tenant: Tenant, website: Website) -> None:
    config = made(
        tenant,
        "configs",
        name="by heading",
        extraction_strategy="structured",
        headers={"X-Secret-Token": "s3cr3t-of-the-tenant"},
        rate_limit_rps=50,
    )
    assert "s3cr3t" not in json.dumps(config)
    collection = made(tenant, "collections", name="stones")
    url = f"{website.url}/page?text=structured+stones"
    fields = {"collection_id": collection["collection_id"], "tags": ["Stones", "new"]}
    job = tenant.finished(tenant.crawl(url, config_id=config["config_id"], **fields))
    assert job["status"] == "completed", job
    assert (job["crawl_config_id"], job["collection_id"]) == (
        config["config_id"],
        collection["collection_id"],
    )
    assert {each["type"] for each in job["blocks"]} >= {"prose"}
    assert job["markdown"].strip()
    assert "structured stones" in job["text"]
    assert job["links"] == []
    assert website.headers["/page"]["X-Secret-Token"] == "s3cr3t-of-the-tenant"
    names = {each["name"] for each in tenant("GET", "/api/v1/tags").json()["items"]}
    assert names == {"stones", "new"}
    again = tenant.crawl(url, config_id=config["config_id"], **{**fields, "tags": ["Later"]})
    assert again == job["job_id"]
    document = f"/api/v1/documents/{job['document_id']}"
    waited(lambda: tenant.read(document)["tags"], lambda tags: len(tags) >= 3, seconds=30)
    source = made(
        tenant,
        "sources",
        name="holds both",
        url_pattern=url,
        crawl_config_id=config["config_id"],
        collection_id=collection["collection_id"],
    )
    for path in (f"configs/{config['config_id']}", f"collections/{collection['collection_id']}"):
        assert tenant("DELETE", f"/api/v1/{path}").status_code == 409
    assert tenant("DELETE", f"/api/v1/sources/{source['source_id']}").status_code == 204
    assert tenant("DELETE", f"/api/v1/configs/{config['config_id']}").status_code == 204
    document = f"/api/v1/documents/{job['document_id']}"
    assert tenant("DELETE", document).status_code == 204
    path = f"/api/v1/collections/{collection['collection_id']}"
    assert tenant("DELETE", path).status_code == 204
    assert tenant("POST", "/api/v1/crawl", {"url": url, **fields}).status_code == 404


def test_the_rule_begins_what_is_due_and_follows_it(
    often: tuple[Tenant, str], deployed: Deployed, aws: Aws
) -> None:
    tenant, source_id = often
    function = deployed.resources["SourceTick"]
    # It takes a minute until the source is due, and another until the rule looks at its run.
    deadline = time.monotonic() + 60 + limits.SOURCE_LOOK_SECONDS + 60
    while not tenant("GET", f"/api/v1/sources/{source_id}").json()["last_crawled_at"]:
        assert time.monotonic() < deadline
        answer = aws("lambda").invoke(FunctionName=function, Payload=b"{}")
        assert "FunctionError" not in answer, answer["Payload"].read()
        time.sleep(2)
