"""Documents and search through the deployed application."""

import base64
import json
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Deployed, Tenant
from tests.unit.content.library.files import docx

pytestmark = pytest.mark.stack

DOCUMENTS = "/api/v1/documents"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def ended(tenant: Tenant, job_id: str, seconds: float = 60) -> dict[str, Any]:
    """Wait for the end of a job of any kind; return its body."""
    return tenant.ended(f"/api/v1/jobs/{job_id}", seconds)


def stored(tenant: Tenant, **fields: Any) -> str:
    """Upload a document, and wait until it is stored; return its id."""
    answer = tenant("POST", DOCUMENTS, fields)
    assert answer.status_code == 202, answer.text
    job = ended(tenant, answer.json()["job_id"])
    assert job["status"] == "completed", job
    return str(answer.json()["document_id"])


def test_a_document_from_its_upload_to_its_deletion(tenant: Tenant) -> None:
    collection = tenant("POST", "/api/v1/collections", {"name": "shelf"}).json()["collection_id"]
    identity = stored(
        tenant,
        content="# Looms\n\nJacquard looms weave damask from punched cards.",
        content_type="text/markdown",
        collection_id=collection,
        tags=["Weaving"],
        metadata={"shelf": 7},
    )
    shown = tenant("GET", f"{DOCUMENTS}/{identity}").json()
    assert (shown["title"], shown["metadata"]["shelf"]) == ("Looms", 7)
    [tag] = shown["tags"]
    [hit] = tenant.search("damask", collection_ids=[collection], tag_ids=[tag["tag_id"]])
    assert hit["document_id"] == identity
    assert tenant.search("damask", collection_ids=["col_other"]) == []
    address = tenant("GET", f"{DOCUMENTS}/{identity}/markdown").json()["url"]
    assert "Jacquard looms" in httpx.get(address, trust_env=False, timeout=40).text
    assert tenant("DELETE", f"/api/v1/collections/{collection}").status_code == 409
    assert tenant("DELETE", f"{DOCUMENTS}/{identity}").status_code == 204
    assert tenant.search("damask") == []
    assert tenant("GET", f"{DOCUMENTS}/{identity}").status_code == 404
    assert tenant("POST", f"{DOCUMENTS}/{identity}/restore").status_code == 200
    assert len(tenant.search("damask")) == 1
    job = tenant("POST", f"{DOCUMENTS}/{identity}/reindex").json()
    assert ended(tenant, job["job_id"])["status"] == "completed"
    assert len(tenant.search("damask")) == 1


def test_a_batch_with_a_file_and_a_refusal(tenant: Tenant) -> None:
    file = base64.b64encode(docx("Quilting joins three layers.")).decode()
    answer = tenant(
        "POST",
        f"{DOCUMENTS}/batch",
        {
            "documents": [
                {"content_base64": file, "content_type": DOCX},
                {"content": "x", "collection_id": "col_unknown"},
            ]
        },
    ).json()
    assert (answer["total_submitted"], answer["failed_count"]) == (1, 1)
    assert ended(tenant, answer["jobs"][0]["job_id"])["status"] == "completed"
    assert len(tenant.search("quilting")) == 1


def test_equal_searches_are_cached_until_something_is_written(tenant: Tenant) -> None:
    def search() -> dict[str, Any]:
        body: dict[str, Any] = tenant("POST", "/api/v1/search", {"query": "felting wool"}).json()
        return body

    stored(tenant, content="Felting mats wool.")
    assert [search()["result_cached"] for _ in range(2)] == [False, True]
    stored(tenant, content="Felting needs water and soap beside wool.")
    fresh = search()
    assert (fresh["result_cached"], len(fresh["results"])) == (False, 2)
    assert fresh["query_embedding_cached"]
    stats = tenant("GET", "/api/v1/cache/stats").json()
    assert stats["query"]["entries"] == 1, "a newer page replaces its former one"
    assert tenant("DELETE", "/api/v1/cache/query").status_code == 204
    assert not search()["result_cached"]


def test_one_leg_a_phrase_and_a_cursor(tenant: Tenant) -> None:
    for number in range(3):
        stored(tenant, content=f"Basket number {number} is made of willow rods.")
    stored(tenant, content="Rods of willow are soaked first.")
    phrase = tenant("POST", "/api/v1/search/keyword", {"query": '"willow rods"'}).json()
    assert len(phrase["results"]) == 3
    first = tenant("POST", "/api/v1/search/vector", {"query": "willow", "limit": 2}).json()
    stored(tenant, content="Willow, willow, willow.")
    rest = tenant(
        "POST",
        "/api/v1/search/vector",
        {"query": "willow", "limit": 2, "cursor": first["next_cursor"]},
    ).json()
    shown = [each["document_id"] for each in first["results"] + rest["results"]]
    assert len(set(shown)) == 4


@pytest.mark.alone  # the searches of all tenants fail meanwhile
def test_an_index_that_is_lost_is_made_again_and_searches_fail_until_then(
    tenant: Tenant, deployed: Deployed
) -> None:
    asked = {"query": "bobbins lace", "fusion": "min_max"}

    def ready() -> dict[str, Any]:
        body: dict[str, Any] = tenant("GET", "/health/ready").json()
        return body

    first = stored(tenant, content="Lace is made with bobbins.")
    url = deployed.stack.opensearch_url
    for name in httpx.get(f"{url}/chunks-*/_alias", trust_env=False, timeout=40).json():
        httpx.delete(f"{url}/{name}", trust_env=False, timeout=40).raise_for_status()
    for legs in ("", "/vector", "/keyword"):
        answer = tenant("POST", f"/api/v1/search{legs}", {"query": "bobbins"})
        assert (answer.status_code, answer.json()["code"]) == (503, "DEPENDENCY_UNAVAILABLE")
    assert ready()["checks"]["opensearch"]["status"] == "unavailable"
    # A document that is stored meanwhile must not count as the whole index.
    second = stored(tenant, content="Bobbins hold the threads of lace.")
    assert tenant("POST", "/api/v1/search", asked).status_code == 503
    done = deployed.stack.command("rebuild-index")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "documents in" in done.stdout
    hits = tenant("POST", "/api/v1/search", asked).json()["results"]
    assert {hit["document_id"] for hit in hits} == {first, second}
    assert ready()["status"] == "ok"
    client = deployed.aws("lambda")
    answer = client.invoke(FunctionName=deployed.resources["Reconcile"], Payload=b"{}")
    report = json.loads(answer["Payload"].read())
    assert (report["complete"], report["reindexed"]) == (True, 0), report
