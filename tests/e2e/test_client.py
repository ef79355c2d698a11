"""The deployed API through the Python client, the command line and the MCP server."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from mcp import Client, StdioServerParameters

import spinneret_client as sp
from spinneret_client.generated import models as m
from tests.e2e.breaking_proxy import breaking_proxy
from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.website import Website
from tests.site.server import serve

SECONDS = 60.0
READING = {"search", "read_document", "crawl_status", "audit_report"}
WRITING = {"crawl_page", "check_link", "crawl_site", "discover_urls", "audit_site", "screenshot"}


@pytest.fixture
def client(deployed: Deployed, admin: Tenant) -> Iterator[sp.Spinneret]:
    with sp.Spinneret(deployed.api_url, admin.key) as made:
        yield made


def _id_of(view: Any) -> str:
    fields = type(view).model_fields
    names = [name for name in fields if name.endswith("_id")]
    found: str = getattr(view, "id" if "id" in fields else names[0])
    return found


PRODUCT: Any = {"title": "Loom", "description": "A loom.", "price": 100}
CREATIONS: dict[str, Callable[[str], dict[str, Any]]] = {
    "collections": lambda name: {"name": name},
    "tags": lambda name: {"name": name},
    "configs": lambda name: {"name": name},
    "sources": lambda name: {"name": name, "url_pattern": "https://example.com/*"},
    "webhooks": lambda name: {"name": name, "url": f"https://example.com/{name}"},
    "products": lambda name: {**PRODUCT, "sku": name},
    "targets": lambda name: {"url": f"https://example.com/{name}"},
    "keys": lambda name: {"name": name},
}


@pytest.mark.parametrize("resource", CREATIONS)
def test_a_resource_is_created_read_listed_over_pages_and_refused(
    client: sp.Spinneret, resource: str
) -> None:
    methods = getattr(client, resource)
    made = [methods.create(**CREATIONS[resource](f"{resource}-{n}")) for n in range(3)]
    ids = [_id_of(each) for each in made]
    assert _id_of(methods.get(ids[0])) == ids[0]
    listed = [_id_of(each) for each in methods.list(limit=2)]
    assert set(ids) <= set(listed)
    assert len(listed) == len(set(listed))
    with pytest.raises(sp.InvalidRequest) as caught:
        methods.create(surprise=1)
    assert caught.value.fields
    methods.delete(ids[0])
    with pytest.raises(sp.NotFound) as missing:
        methods.get(ids[0] if resource != "keys" else "key_unknown")
    assert missing.value.request_id


def test_pages_are_crawled_followed_found_and_changed(
    client: sp.Spinneret, website: Website
) -> None:
    job = client.crawls.create(url=f"{website.url}/page?text=gossamer+threads")
    assert isinstance(job, m.Submission)
    events = list(client.crawls.stream(job.job_id))
    crawl = client.crawls.wait(job.job_id, timeout=SECONDS)
    assert isinstance(crawl, m.CrawlView)
    assert crawl.status == "completed"
    assert [each.id for each in events] == [x.id for x in client.jobs.timeline(job.job_id, limit=2)]
    assert crawl.document_id is not None
    assert "gossamer" in client.documents.text(crawl.document_id)
    changed = client.documents.update(crawl.document_id, tags=["silk"])
    assert [tag.name for tag in changed.tags] == ["silk"]
    assert [each.document_id for each in client.documents.list(limit=1)] == [crawl.document_id]
    assert list(client.documents.chunks(crawl.document_id, limit=1))
    for search in (client.search, client.search.vector, client.search.keyword):
        assert search(query="gossamer threads").results[0].document_id == crawl.document_id
    client.documents.delete(crawl.document_id)
    with pytest.raises(sp.NotFound):
        client.documents.get(crawl.document_id)


def test_batches_sites_and_discoveries_have_their_own_forms(
    client: sp.Spinneret, deployed: Deployed, website: Website
) -> None:
    batch = client.crawls.create_batch(
        urls=[f"{website.url}/page?text=one+{uuid4().hex}", "http://10.0.0.1/"]
    )
    assert batch.failed_count == 1
    with serve(deployed.site_port) as site:
        deep = client.crawls.create_deep(url=site, max_pages=2)
        found = client.discovery.create(domain=site)
        assert isinstance(client.crawls.wait(deep.job_id, timeout=SECONDS), m.DeepCrawlView)
        assert client.discovery.wait(found.job_id, timeout=SECONDS).status == "completed"
    assert len(list(client.crawls.pages(deep.job_id, limit=1, max_items=2))) == 2
    assert len(list(client.discovery.urls(found.job_id))) > 1
    file = client.inbox.upload("urls.txt", f"{website.url}/page?text=inbox\n".encode())
    assert client.inbox.get(file.job_id).job_id == file.job_id


def test_an_audit_is_followed_and_its_report_downloaded(
    deployed: Deployed, client: sp.Spinneret, website: Website
) -> None:
    with deployed.audited_host():
        made = client.audits.create(url=f"{website.url}/page?text=audit", options={"max_pages": 1})
        done = client.audits.wait(made.audit_id, timeout=SECONDS)
    assert done.score is not None
    issues = list(client.audits.issues(made.audit_id, limit=2))
    assert issues
    assert json.loads(client.audits.download(made.audit_id))
    assert json.loads(client.audits.download(made.audit_id, "sarif"))["version"] == "2.1.0"


def test_a_submission_whose_response_is_lost_makes_one_job(
    deployed: Deployed, admin: Tenant, client: sp.Spinneret, website: Website
) -> None:
    url = f"{website.url}/page?text=lost+{uuid4().hex}"
    with (
        breaking_proxy(deployed.api_url) as proxy,
        sp.Spinneret(proxy.url, admin.key) as broken,
    ):
        proxy.cut_path, proxy.cuts = "/api/v1/crawl", [-1, 5]
        job = broken.crawls.create(url=url, force=True)
        assert [path for _, path in proxy.forwarded] == ["/api/v1/crawl"] * 3
    assert isinstance(job, m.Submission)
    assert [each.job_id for each in client.jobs.list(kind="crawl")] == [job.job_id]


def test_a_stream_that_breaks_three_times_loses_and_repeats_nothing(
    deployed: Deployed, admin: Tenant, client: sp.Spinneret, website: Website
) -> None:
    job = client.crawls.create(url=f"{website.url}/page?text=stream+{uuid4().hex}")
    assert isinstance(job, m.Submission)
    client.crawls.wait(job.job_id, timeout=SECONDS)
    expected = [each.id for each in client.jobs.timeline(job.job_id)]
    with (
        breaking_proxy(deployed.api_url) as proxy,
        sp.Spinneret(proxy.url, admin.key) as broken,
    ):
        broken.transport.sleep = lambda seconds: None
        proxy.cut_path, proxy.cuts = "/stream", [400, 350, 300]
        assert [each.id for each in broken.jobs.stream(job.job_id)] == expected
        assert proxy.cuts == []


def _environment(deployed: Deployed, tenant: Tenant) -> dict[str, str]:
    own = {"SPINNERET_URL": deployed.api_url, "SPINNERET_API_KEY": tenant.key}
    return {**os.environ, **own, "SPINNERET_CONFIG_HOME": "/nonexistent"}


def _command(deployed: Deployed, tenant: Tenant, *arguments: str) -> tuple[int, Any]:
    done = subprocess.run(
        [Path(sys.executable).with_name("spinneret"), *arguments, "--json"],
        env=_environment(deployed, tenant),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def test_the_command_crawls_searches_and_checks(
    deployed: Deployed, admin: Tenant, website: Website, tmp_path: Path
) -> None:
    page = f"{website.url}/page?text=dragline"
    code, crawled = _command(deployed, admin, "crawl", page, "--out", str(tmp_path))
    assert (code, crawled["jobs"][0]["status"]) == (0, "completed")
    assert "dragline" in Path(crawled["files"][0]).read_text()
    code, found = _command(deployed, admin, "search", "dragline", "--mode", "keyword")
    assert (code, found["results"][0]["url"]) == (0, page)
    code, checked = _command(deployed, admin, "check", page, f"{website.url}/status?code=404")
    assert (code, checked["counts"]) == (2, {"ok": 1, "broken": 1})
    code, me = _command(deployed, admin, "whoami")
    assert (code, me["caller"]["kind"], me["caller"]["scopes"]) == (0, "key", ["admin"])


def test_an_agent_crawls_searches_and_reads_over_stdio(
    deployed: Deployed, admin: Tenant, website: Website
) -> None:
    async def scenario() -> None:
        async with Client(_server(deployed, admin)) as agent:
            tools = {each.name: each for each in (await agent.list_tools()).tools}
            assert tools.keys() == READING | WRITING
            page = await _call(agent, "crawl_page", url=f"{website.url}/page?text=spigots")
            assert "spigots" in page["untrusted_text"]
            found = await _call(agent, "search", query="spigots", mode="keyword")
            assert found["items"][0]["document_id"] == page["document_id"]
            text = await _call(agent, "read_document", document_id=page["document_id"])
            assert "spigots" in text["untrusted_text"]
            resource = await agent.read_resource(f"spinneret://documents/{page['document_id']}")
            assert "spigots" in resource.contents[0].text
            link = await _call(agent, "check_link", url=f"{website.url}/status?code=404")
            assert link["outcome"] == "broken"
            refused = await agent.call_tool("read_document", {"document_id": "doc_unknown"})
            assert refused.is_error
            assert "check the id" in refused.content[0].text

    asyncio.run(scenario())


def test_a_reading_key_offers_reading_tools_only(deployed: Deployed) -> None:
    reader = deployed.tenant("read")

    async def scenario() -> set[str]:
        async with Client(_server(deployed, reader)) as agent:
            return {each.name for each in (await agent.list_tools()).tools}

    assert asyncio.run(scenario()) == READING
    reader.close()


def _server(deployed: Deployed, tenant: Tenant) -> StdioServerParameters:
    command = str(Path(sys.executable).with_name("spinneret"))
    return StdioServerParameters(command=command, args=["mcp"], env=_environment(deployed, tenant))


async def _call(agent: Client, tool: str, **arguments: Any) -> Any:
    answer = await agent.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    return json.loads(answer.content[0].text)
