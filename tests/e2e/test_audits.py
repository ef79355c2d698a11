"""Audits through the deployed template: reports, comparison, sessions and clean-up."""

import csv
import io
import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree as ET

import httpx
import pytest

from spinneret.kernel.clock import to_iso
from tests.conftest import Aws
from tests.e2e.audited_site import PATHS, AuditedSite
from tests.e2e.conftest import Deployed, Tenant
from tests.waiting import waited

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]


def submit(tenant: Tenant, url: str | None = None, **fields: Any) -> str:
    answer = tenant("POST", "/audits", {**({"url": url} if url else {}), **fields})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["audit_id"])


def report(tenant: Tenant, audit_id: str, name: str) -> bytes:
    """Download a report without a credential, because its URL is one."""
    view = tenant.read(f"/audits/{audit_id}/report?format={name}")
    answer = httpx.get(view["url"], trust_env=False, timeout=40)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == view["media_type"]
    return answer.content


def test_a_site_is_audited_reported_mended_and_compared(
    tenant: Tenant, site: AuditedSite, deployed: Deployed
) -> None:
    preview = tenant("POST", "/audits/preview", {"url": f"{site.url}/"})
    assert preview.status_code == 200, preview.text
    assert (preview.json()["estimated_pages"], preview.json()["requests"]) == (len(PATHS), 3)

    site.broken = frozenset({"/oak"})
    first = submit(tenant, f"{site.url}/")
    assert tenant("GET", f"/audits/{first}/report").status_code == 409
    audit = tenant.audited(first)
    assert (audit["status"], audit["attempts"]) == ("completed", 0), audit
    assert audit["result"]["pages"] == {"html": len(PATHS)}
    found = json.loads(report(tenant, first, "json"))
    assert found["score"] == audit["score"] < 100
    issues = tenant.read(f"/audits/{first}/issues?check=title.missing")["items"]
    assert [each["url"] for each in issues] == [f"{site.url}/oak"]
    keys = {(each["check"], each["url"]) for each in found["findings"]}
    rows = list(csv.DictReader(io.StringIO(report(tenant, first, "csv").decode("utf-8-sig"))))
    assert len(rows) >= len(keys) > 0
    assert b"title.missing" in report(tenant, first, "md")
    assert ET.fromstring(report(tenant, first, "junit")).tag == "testsuites"
    assert json.loads(report(tenant, first, "sarif"))["version"] == "2.1.0"
    assert report(tenant, first, "html").lower().startswith(b"<!doctype html>")

    timeline = tenant.read(f"/audits/{first}/timeline?limit=100")["items"]
    assert timeline[-1]["message"] == "completed"
    ticket = tenant("POST", f"/api/v1/jobs/{first}/tickets").json()["ticket"]
    path = f"{deployed.api_url}/audits/{first}/stream?ticket={ticket}"
    stream = httpx.get(path, trust_env=False, timeout=30)
    assert (stream.status_code, "event: step_started" in stream.text) == (200, True)

    site.broken = frozenset()
    second = tenant.audited(submit(tenant, f"{site.url}/"))
    assert second["score_change"] == pytest.approx(second["score"] - audit["score"])
    view = tenant.read(f"/audits/{second['audit_id']}/comparison?state=fixed")
    assert (view["compared_with"], view["new"]) == (first, 0)
    fixed = [(each["check"], each["url"]) for each in view["items"]]
    assert ("title.missing", f"{site.url}/oak") in fixed


PLANTED: dict[str, dict[str, Any]] = {
    "/oak": {
        "head": '<meta http-equiv="refresh" content="0; url=/pine">',
        "body": '<a href="/pine"><i></i></a><p>Lorem ipsum dolor sit amet.</p>'
        '<p style="background:url(http://cdn.example/a.png)">Oaks</p>',
    },
    "/pine": {
        "title": "Room 404 of the oak hotel | Timber",
        "h1": '<b aria-label="Pines"><img src="/preview.png" alt="Pines"></b>',
        "head": '<meta http-equiv="refresh" content="300">',
        "body": '<a href="/oak" aria-label="Oaks"><i></i></a>',
    },
    "/birch": {"seed": 11, "words": 800},
    "/maple": {"seed": 11, "words": 800, "body": "<p>But for this</p>"},
}
FOUND = {
    *(("http.meta_refresh", "/oak"), ("links.empty", "/oak"), ("content.placeholder", "/oak")),
    *(("content.near_duplicate", "/birch"), ("content.near_duplicate", "/maple")),
    ("http.unknown_address", "/"),
}
CHECKED = {check for check, _ in FOUND} | {"http.soft_404", "h1.missing", "title.short"}


def test_planted_faults_are_found_and_nothing_on_their_clean_twins(
    tenant: Tenant, site: AuditedSite
) -> None:
    site.planted, site.answers_anything = PLANTED, True
    audit = tenant.audited(submit(tenant, f"{site.url}/"))
    assert audit["status"] == "completed", audit
    report_ = json.loads(report(tenant, audit["audit_id"], "json"))
    found = {(each["check"], each["url"].removeprefix(site.url)) for each in report_["findings"]}
    assert {each for each in found if each[0] in CHECKED} == FOUND
    page = next(each for each in report_["pages"] if each["url"].endswith("/oak"))
    checks = {each["id"]: each["weight"] for each in report_["checks"]}
    of_pages = sum(each["weight"] for each in report_["checks"] if each["scope"] != "site")
    lost = sum(checks[check] for check, path in found if path == "/oak")
    assert page["score"] == pytest.approx(100 * (1 - lost / of_pages), abs=0.001)


def test_a_rendered_audit_judges_what_scripts_write(tenant: Tenant, site: AuditedSite) -> None:
    site.planted = {"/oak": {"title": None, "head": '<script src="/title.js"></script>'}}
    missing = {}
    for render in (False, True):
        options = {"urls": [f"{site.url}/oak"], "render": render}
        audit = tenant.audited(submit(tenant, options=options))
        assert audit["status"] == "completed", audit
        found = tenant.read(f"/audits/{audit['audit_id']}/issues?check=title.missing")["items"]
        missing[render] = [each["url"] for each in found]
    assert missing == {False: [f"{site.url}/oak"], True: []}
    [page] = json.loads(report(tenant, audit["audit_id"], "json"))["pages"]
    assert page["lab"]["first_contentful_paint_ms"] > 0
    assert audit["result"]["lab"]["pages"] == 1


def test_two_tenants_audits_of_one_host_never_meet_at_the_server(
    tenant: Tenant, site: AuditedSite, deployed: Deployed
) -> None:
    site.delay = 1.5
    other = deployed.tenant()
    first = submit(tenant, f"{site.url}/")
    while not site.asked:
        time.sleep(0.1)
    second = submit(other, f"{site.url}/")
    refused = other.audited(second)
    assert (refused["status"], refused["error_summary"]) == ("failed", "Domain lock timeout")
    site.delay = 0.0
    assert tenant.audited(first)["status"] == "completed"
    last = site.asked[-1][0]
    third = other.audited(submit(other, f"{site.url}/", recipe="hello"))
    assert third["status"] == "completed"
    began = next(at for at, _, _ in site.asked if at > last)
    assert began - last >= 2.0
    gets = [path for at, method, path in site.asked if method == "GET" and at <= last]
    assert all(gets.count(path) == 1 for path in PATHS if path != "/"), gets
    other.close()


#
def test_the_clean_up_deletes_what_is_over(
    tenant: Tenant, site: AuditedSite, deployed: Deployed, aws: Aws
) -> None:
    audit_id = submit(tenant, f"{site.url}/", recipe="hello")
    tenant.audited(audit_id)
    artifacts = tenant.read(f"/audits/{audit_id}/artifacts?limit=100")["items"]
    [page] = [each for each in artifacts if each["type"] == "html_gz"]
    past = to_iso(datetime.now(UTC) - timedelta(days=1))
    aws.dynamodb().update_item(
        TableName=deployed.outputs["AuditsTable"],
        Key={
            "pk": f"T#{tenant.name}#AUDIT#{audit_id}",
            "sk": f"ARTIFACT#{page['artifact_id']}",
        },
        UpdateExpression="SET retention_until = :past, due_at = :past",
        ExpressionAttributeValues={":past": past},
    )
    name, bucket = deployed.resources["RetentionCleanup"], deployed.outputs["AuditsBucket"]

    def clean() -> dict[str, Any]:
        answer: dict[str, Any] = json.load(
            aws("lambda").invoke(FunctionName=name, Payload=b"{}")["Payload"]
        )
        return answer

    assert clean()["enabled"] is False
    functions = aws("lambda")
    variables = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    changed = {**variables, "RETENTION_CLEANUP_ENABLED": "true"}
    functions.update_function_configuration(FunctionName=name, Environment={"Variables": changed})
    functions.get_waiter("function_updated_v2").wait(
        FunctionName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 30}
    )
    done = clean()
    assert (done["enabled"], done["failed"], done["deleted"] >= 1) == (True, 0, True), done
    listed = aws("s3").list_objects_v2(Bucket=bucket, Prefix=page["storage_uri"])
    assert listed["KeyCount"] == 0
    after = tenant.read(f"/audits/{audit_id}/artifacts?limit=100")["items"]
    [gone] = [each for each in after if each["deleted_at"] is not None]
    assert gone["artifact_id"] == page["artifact_id"]
    assert report(tenant, audit_id, "html")


def test_a_schedule_submits_its_audit_by_the_minute_rule(
    tenant: Tenant, site: AuditedSite, deployed: Deployed, aws: Aws
) -> None:
    wanted = {"url": f"{site.url}/", "recipe": "hello", "schedule_cron": "* * * * *"}
    made = tenant("POST", "/audits/schedules", wanted)
    assert made.status_code == 201, made.text
    path = f"/audits/schedules/{made.json()['schedule_id']}"
    key = {"pk": f"T#{tenant.name}#SCHEDULES", "sk": made.json()["schedule_id"]}
    past = to_iso(datetime.now(UTC) - timedelta(minutes=1))
    aws.dynamodb().update_item(
        TableName=deployed.outputs["AuditsTable"],
        Key=key,
        UpdateExpression="SET next_run_at = :past, due_at = :past",
        ExpressionAttributeValues={":past": past},
    )
    aws("lambda").invoke(FunctionName=deployed.resources["AuditSchedules"], Payload=b"{}")
    # The minute rule may have run at the same moment.
    audit_id = waited(lambda: tenant.read(path)["last_audit_id"], seconds=30)
    assert tenant.audited(audit_id)["status"] == "completed"
    assert tenant("DELETE", path).status_code == 204
