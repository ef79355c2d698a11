"""The routes of sources."""

from types import SimpleNamespace
from typing import Any

import pytest

from crawl.sources_routes import router
from spinneret.sources import limits
from spinneret.sources.models import PageOutcome, RunPage
from tests.fakes.sources import SourceWorld
from tests.fakes.webhook_world import WebhookWorld
from tests.unit.served import Served

PATH = "/api/v1/sources"
SOURCE = {"name": " The guide ", "url_pattern": "https://site.example/guide"}


@pytest.fixture
def world() -> SourceWorld:
    return SourceWorld()


@pytest.fixture
def webhooks() -> WebhookWorld:
    return WebhookWorld()


@pytest.fixture
def api(world: SourceWorld, webhooks: WebhookWorld) -> Served:
    return Served(router, SimpleNamespace(sources=world.service, webhooks=webhooks.service))


# covers C-08
def test_a_source_is_made_read_changed_and_deleted(api: Served) -> None:
    made = api.send("POST", PATH, {**SOURCE, "schedule_cron": "0 */6 * * *"})
    assert made.status == 201
    assert made.body == {
        "source_id": "source_0001",
        "name": "The guide",
        "url_pattern": "https://site.example/guide",
        "crawl_config_id": None,
        "collection_id": None,
        "schedule_cron": "0 */6 * * *",
        "timezone": "UTC",
        "is_active": True,
        "next_run_at": "2026-01-02T18:00:00.000000Z",
        "run_id": None,
        "last_crawled_at": None,
        "created_at": "2026-01-02T12:00:00.000000Z",
        "updated_at": "2026-01-02T12:00:00.000000Z",
    }
    one = f"{PATH}/{made.body['source_id']}"
    assert api.send("GET", one).body == made.body
    assert api.send("GET", PATH).body["items"] == [made.body]
    changed = api.send("PUT", one, {**SOURCE, "name": "other"})
    assert (changed.status, changed.body["name"], changed.body["next_run_at"]) == (
        200,
        "other",
        None,
    )
    for method in ("GET", "DELETE"):
        assert api.send(method, one, tenant="globex").status == 404
    assert api.send("DELETE", one).status == 204
    assert api.send("GET", one).status == 404


def test_a_tenant_has_a_bounded_number_of_sources(
    api: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SOURCES_PER_TENANT", 1)
    made = api.send("POST", PATH, SOURCE)
    refused = api.send("POST", PATH, SOURCE)
    assert (refused.status, refused.body["code"]) == (409, "CONFLICT")
    assert api.send("POST", PATH, SOURCE, tenant="globex").status == 201
    assert api.send("DELETE", f"{PATH}/{made.body['source_id']}").status == 204
    assert api.send("POST", PATH, SOURCE).status == 201


def test_a_run_is_triggered_and_shown_with_what_it_found(api: Served, world: SourceWorld) -> None:
    source_id = api.send("POST", PATH, SOURCE).body["source_id"]
    triggered = api.send("POST", f"{PATH}/{source_id}/trigger")
    assert (triggered.status, triggered.body["message"]) == (202, "accepted")
    run_id = triggered.body["run_id"]
    again = api.send("POST", f"{PATH}/{source_id}/trigger")
    assert (again.status, again.body["run_id"], again.body["message"]) == (
        202,
        run_id,
        "already under way",
    )
    assert api.send("GET", f"{PATH}/{source_id}").body["run_id"] == run_id
    found = RunPage(
        url=str(SOURCE["url_pattern"]), outcome=PageOutcome.NEW, document_id="doc_1", job_id="job_1"
    )
    world.end(world.run(source_id), found)
    [run] = api.send("GET", f"{PATH}/{source_id}/runs").body["items"]
    assert (run["status"], run["new"], run["gone"], run["trigger"]) == (
        "completed",
        1,
        0,
        "request",
    )
    shown = api.send("GET", f"{PATH}/{source_id}/runs/{run_id}").body
    assert shown["pages"] == [
        {
            "url": SOURCE["url_pattern"],
            "outcome": "new",
            "document_id": "doc_1",
            "job_id": "job_1",
            "error": None,
        }
    ]
    assert api.send("GET", f"{PATH}/{source_id}/runs/{run_id}", tenant="globex").status == 404
    assert api.send("GET", f"{PATH}/{source_id}/runs/run_unknown").status == 404


@pytest.mark.parametrize(
    ("wrong", "status", "code"),
    [
        ({"name": ""}, 422, "VALIDATION_ERROR"),
        ({"url_pattern": "no url"}, 400, "URL_INVALID"),
        ({"url_pattern": "http://localhost/"}, 403, "URL_BLOCKED"),
        ({"url_pattern": "http://10.0.0.1/*"}, 403, "URL_BLOCKED"),
        ({"url_pattern": "*.example/guide"}, 400, "URL_INVALID"),
        ({"url_pattern": "https://*.example/guide"}, 400, "URL_INVALID"),
        ({"url_pattern": "https://site.example:0/*"}, 400, "URL_INVALID"),
        ({"url_pattern": "https://site.example/***"}, 422, "VALIDATION_ERROR"),
        ({"url_pattern": "https://site.example/" + "a*" * 300}, 422, "VALIDATION_ERROR"),
        ({"schedule_cron": "61 * * * *"}, 422, "VALIDATION_ERROR"),
        ({"schedule_cron": "0 0 30 2 *"}, 422, "VALIDATION_ERROR"),
        ({"schedule_cron": "* * * * * *"}, 422, "VALIDATION_ERROR"),
        ({"timezone": "Mars/Olympus"}, 422, "VALIDATION_ERROR"),
        ({"is_active": "yes"}, 422, "VALIDATION_ERROR"),
        ({"colour": "red"}, 422, "VALIDATION_ERROR"),
    ],
)
def test_a_source_that_can_not_be_is_refused(
    api: Served, wrong: dict[str, Any], status: int, code: str
) -> None:
    refused = api.send("POST", PATH, {**SOURCE, **wrong})
    assert (refused.status, refused.body["code"]) == (status, code)
    assert [each["path"] for each in refused.body["details"]["fields"]] == list(wrong)


# ------------------------------------------------------------ Webhooks


def test_a_source_s_webhooks_are_its_own_and_end_with_it(
    api: Served, webhooks: WebhookWorld, world: SourceWorld
) -> None:
    source_id = api.send("POST", PATH, SOURCE).body["source_id"]
    body = {"url": "https://receiver.example/runs", "events": ["failed"], "headers": {"X-A": "1"}}
    made = api.send("POST", f"{PATH}/{source_id}/webhooks", body)
    assert (made.status, made.body["source_id"], made.body["events"]) == (
        201,
        source_id,
        ["source.run_failed"],
    )
    assert made.body["secret"].startswith("whsec_")
    [shown] = api.send("GET", f"{PATH}/{source_id}/webhooks").body["items"]
    assert shown["endpoint_id"] == made.body["endpoint_id"]
    service = webhooks.service
    assert shown["endpoint_id"] in service.source_targets("acme", source_id)
    assert shown["endpoint_id"] not in service.source_targets("acme", "source_other")
    service.remove_of_source("acme", source_id)
    assert api.send("GET", f"{PATH}/{source_id}/webhooks").body["items"] == []


def test_webhooks_of_an_unknown_source_are_unknown(api: Served) -> None:
    source_id = api.send("POST", PATH, SOURCE).body["source_id"]
    body = {"url": "https://receiver.example/runs"}
    path = f"{PATH}/{source_id}/webhooks"
    assert api.send("POST", path, body, tenant="globex").status == 404
    assert api.send("GET", path, tenant="globex").status == 404
    assert api.send("POST", path, {**body, "events": []}).status == 422
    assert api.send("POST", path, {**body, "events": ["job.completed"]}).status == 422
    assert api.send("POST", path, {"url": "http://localhost/"}).status == 403
