"""A target from its creation to its recovery: rule, ticks, checks and reports as deployed."""

import json
import logging
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.website import Website
from tests.waiting import waited

logger = logging.getLogger(__name__)

pytestmark = [pytest.mark.stack, pytest.mark.timeout(400)]

FIRST_SECONDS = 120.0  # the rule fires within a minute, and runs a tick at once
SECONDS = 60.0  # a tick, a check, a delivery
IMPORT_SECONDS = 240.0  # ten times the duration without other load
PROCESSES = 6  # more processes than serve an idle API in turn
METRICS_SECONDS = 10.0  # the default time-out of a Prometheus scrape


def asked(tenant: Tenant, path: str) -> Any:
    response = tenant("GET", path)
    assert response.status_code == 200, response.text
    return response.json()


def test_a_target_is_checked_falls_and_rises_and_everybody_hears_of_it(
    admin: Tenant, website: Website, deployed: Deployed
) -> None:
    hook = {
        "name": "ours",
        "url": f"{website.url}/hook?name={admin.name}",
        "events": ["target.*"],
    }
    assert admin("POST", "/api/v1/webhooks", hook).status_code == 201
    slug = {"slug": admin.name, "title": "Ours"}
    assert admin("PUT", "/v1/status-page", slug).status_code == 200
    made = admin(
        "POST",
        "/v1/targets",
        {
            "url": f"{website.url}/now?name={admin.name}",
            "interval_seconds": 15,
            "failure_threshold": 1,
            "recovery_threshold": 1,
            "conditions": ['status == 200 and body contains "how it is now"'],
            "public": True,
        },
    )
    assert made.status_code == 201, made.text
    path = f"/v1/targets/{made.json()['id']}"

    def target() -> dict[str, Any]:
        found: dict[str, Any] = asked(admin, path)
        return found

    def came(event: str) -> Callable[[list[dict[str, Any]]], bool]:
        return lambda told: any(each["type"] == event for each in told)

    def told() -> list[dict[str, Any]]:
        return [json.loads(each.body) for each in website.hooks[admin.name]]

    waited(target, lambda each: each["status"] == "up", seconds=FIRST_SECONDS)
    website.now[admin.name] = 503
    [down] = waited(told, came("target.down"), seconds=SECONDS)
    assert down["data"]["error"].startswith("not met: status == 200")
    website.now[admin.name] = 200
    waited(told, came("target.up"), seconds=SECONDS)

    results = asked(admin, f"{path}/results?limit=100")["items"]
    assert {"up", "down"} <= {each["outcome"] for each in results}
    assert all(each["tries"] == 3 for each in results if each["outcome"] == "down")
    assert all(0 <= each["late_ms"] < 60_000 for each in results)
    [incident] = asked(admin, f"{path}/incidents")["items"]
    assert incident["ended_at"] is not None
    assert [each["status"] for each in incident["timeline"]] == ["down", "up"]
    uptime = asked(admin, f"{path}/uptime?window=24h")
    assert 0 < uptime["uptime"] < 1
    assert "spinneret_target_up{" in admin("GET", "/metrics").text

    with httpx.Client(base_url=deployed.api_url, timeout=40, trust_env=False) as anybody:
        page = anybody.get(f"/status/{admin.name}")
        assert page.status_code == 200
        assert page.headers["content-type"].startswith("text/html")
        assert "All services are up" in page.text
        badge = anybody.get(f"/status/{admin.name}/badges/{made.json()['id']}.svg")
        assert badge.headers["content-type"].startswith("image/svg+xml")
    assert admin("DELETE", path).status_code == 204


# covers M-06
# covers M-07
def test_ports_names_and_jobs_are_watched_and_a_notice_is_on_the_page(
    admin: Tenant, website: Website, deployed: Deployed
) -> None:
    port = int(website.url.rpartition(":")[2])
    sealed = {"headers": {"X-Key": "hush"}, "credentials": {"username": "u", "password": "hush"}}
    page = f"{website.url}/page?text={admin.name}"
    beat = {"kind": "heartbeat", "name": "Backup", "interval_seconds": 60, "public": True}
    # No machine has an address for this name (RFC 6761, section 6.4), so the target is down.
    name = {"kind": "dns", "host": "db.invalid", "record_type": "A", "interval_seconds": 15}
    paths = []
    for wanted in (
        {"kind": "tcp", "host": "127.0.0.1", "port": port, "interval_seconds": 15},
        {"url": page, "request": sealed, "interval_seconds": 15},
        beat,
        {**name, "failure_threshold": 1},
    ):
        made = admin("POST", "/v1/targets", wanted)
        assert made.status_code == 201, made.text
        assert "hush" not in made.text
        paths.append(f"/v1/targets/{made.json()['id']}")
    call = admin("POST", f"{paths[2]}/heartbeat").json()["path"]
    slug = {"slug": admin.name, "title": "Ours"}
    assert admin("PUT", "/v1/status-page", slug).status_code == 200
    notice = {"kind": "incident", "title": "Payments", "text": "Some <b>fail</b>."}
    assert admin("POST", "/v1/status-notices", notice).status_code == 201

    def statuses() -> list[str]:
        return [asked(admin, path)["status"] for path in paths]

    with httpx.Client(base_url=deployed.api_url, timeout=40, trust_env=False) as anybody:
        waited(
            statuses,
            lambda each: each == ["up", "up", "pending", "down"],
            seconds=FIRST_SECONDS,
        )
        [fallen] = asked(admin, f"{paths[3]}/incidents")["items"]
        assert "db.invalid" in fallen["timeline"][0]["message"]
        paths.pop()
        assert anybody.post(call).status_code == 204
        assert statuses() == ["up"] * 3
        waited(statuses, lambda each: each == ["up", "up", "down"], seconds=FIRST_SECONDS)
        assert anybody.get(call).status_code == 204
        assert statuses() == ["up"] * 3
        assert "Some &lt;b&gt;fail" in anybody.get(f"/status/{admin.name}").text
        feed = anybody.get(f"/status/{admin.name}/feed.xml")
        assert feed.headers["content-type"].startswith("application/atom+xml")
        assert "Payments: investigating" in feed.text


def test_a_file_of_targets_is_imported(admin: Tenant, website: Website) -> None:
    csv = f"url,name\n{website.url}/page?text=a,A\n{website.url}/page?text=a,B\nnothing,C\n"
    submitted = admin("POST", "/v1/targets/import", {"csv": csv})
    assert submitted.status_code == 202, submitted.text
    job_path = f"/api/v1/jobs/{submitted.json()['job_id']}"
    job = waited(
        lambda: asked(admin, job_path),
        lambda each: each["status"] == "completed",
        seconds=SECONDS,
    )
    outcomes = [each["outcome"] for each in job["result"]["lines"]]
    assert outcomes == ["created", "exists", "refused"]
    [target] = asked(admin, "/v1/targets")["items"]
    assert target["name"] == "A"
    assert admin("POST", f"/v1/targets/{target['id']}/pause").json()["paused"] is True
    assert admin("DELETE", f"/v1/targets/{target['id']}").status_code == 204


def test_files_of_500_targets_are_imported_whole_and_their_metrics_are_quick(
    admin: Tenant, website: Website
) -> None:
    begun, jobs = time.monotonic(), []
    for file in range(2):
        lines = [f"{website.url}/page?text={admin.name}-{file}-{line},3600" for line in range(500)]
        csv = "\n".join(["url,interval_seconds", *lines])
        submitted = admin("POST", "/v1/targets/import", {"csv": csv})
        assert submitted.status_code == 202, submitted.text
        jobs.append(f"/api/v1/jobs/{submitted.json()['job_id']}")
    for path in jobs:
        job = waited(lambda path=path: asked(admin, path), has_ended, seconds=IMPORT_SECONDS)
        assert job["status"] == "completed", job
        assert job["result"]["created"] == len(job["result"]["lines"]) == 500
    logger.info("two imports of 500 lines: %.1f s", time.monotonic() - begun)
    texts: list[str] = []
    while len(set(texts)) == len(texts) < PROCESSES:
        begun = time.monotonic()
        response = admin("GET", "/metrics")
        spent = time.monotonic() - begun
        logger.info("/metrics of 1,000 targets: %.2f s", spent)
        assert response.status_code == 200, response.text
        texts.append(response.text)
        assert spent < METRICS_SECONDS
    assert "\nspinneret_targets 1000\n" in texts[0]
    assert len(set(texts)) < len(texts), "a process that read within 15 s reads nothing again"


def has_ended(job: Any) -> bool:
    return job["status"] in {"completed", "failed", "expired"}
