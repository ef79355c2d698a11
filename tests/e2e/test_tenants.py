"""A tenant on the deployed stack, from its creation to a deletion that leaves nothing of it."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
import pytest

from spinneret.access.keys.api_models import KeyRequest
from spinneret.access.keys.bootstrap import issue
from spinneret.access.keys.models import Scope
from spinneret.access.tenants import bootstrap
from spinneret.access.users.bootstrap import invite
from spinneret.jobs.keys import hold_key
from spinneret.kernel import bounds
from spinneret.kernel.clock import to_iso
from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.fixture_tenants import FixtureTenant
from tests.e2e.website import Website

pytestmark = pytest.mark.stack

PASSWORD = "a password of some length"
SECONDS = 60.0
DELETION_SECONDS = 300.0
REASON = {"error": "the tenant is suspended: unpaid", "code": "TENANT_SUSPENDED"}
Do = Callable[..., dict[str, Any] | None]


@pytest.fixture(scope="module")
def do(deployed: Deployed) -> Do:
    """Carries out a command as the operator; its report."""
    invoke = bootstrap.invoker(deployed.aws("lambda"), "spinneret-tenants-local")

    def follow(verb: str, tenant: str, **more: str) -> dict[str, Any] | None:
        deadline = time.monotonic() + DELETION_SECONDS

        def say(line: str) -> None:
            assert time.monotonic() < deadline, line

        return bootstrap.follow({"verb": verb, "tenant": tenant, **more}, invoke, say)

    return follow


def owner_of(deployed: Deployed, name: str) -> Tenant:
    """The tenant's first administrator's key."""
    wanted = KeyRequest(
        name="tests",
        scopes=frozenset({Scope.ADMIN}),
        rate_limit_rpm=bounds.KEY_REQUESTS_PER_MINUTE_MAX,
    )
    secret = issue(deployed.aws.dynamodb(), deployed.outputs["TenancyTable"], name, wanted)
    return Tenant(name, deployed.api_url, secret)


def signed_in(deployed: Deployed, name: str) -> Callable[[str, str], httpx.Response]:
    """Sends requests of a person of the tenant, or signs this person in again."""
    email, table = "maya@example.com", deployed.outputs["TenancyTable"]
    clients = deployed.aws.dynamodb(), deployed.aws("kms")
    invitation = invite(*clients, table=table, stage="local", tenant=name, email=email)
    credentials = {"tenant": name, "email": email, "password": PASSWORD}
    client = httpx.Client(base_url=deployed.api_url, timeout=40, trust_env=False)
    chosen = {"invitation": invitation, "password": PASSWORD}
    assert client.post("/api/v1/auth/accept", json=chosen).status_code == 200
    answer = client.post("/api/v1/auth/login", json=credentials)
    assert answer.status_code == 200, answer.text
    bearer = {"Authorization": f"Bearer {answer.json()['access_token']}"}

    def send(method: str, path: str) -> httpx.Response:
        if path == "/api/v1/auth/login":
            return client.post(path, json=credentials)
        return client.request(method, path, headers=bearer)

    return send


def until(status: int, ask: Callable[[], httpx.Response], seconds: float = SECONDS) -> Any:
    """Repeat a request until it is answered by the status; the answer's body."""
    deadline = time.monotonic() + seconds
    while (answer := ask()).status_code != status:
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.5)
    return answer.json()


def rows_with(deployed: Deployed, name: str) -> Iterator[str]:
    """Every row of every table that has the name anywhere."""
    client = deployed.aws.dynamodb()
    tables = client.get_paginator("list_tables").paginate()
    for table in (each for page in tables for each in page["TableNames"]):
        for page in client.get_paginator("scan").paginate(TableName=table):
            for item in page["Items"]:
                if name in (text := json.dumps(item, default=str)):
                    yield f"{table}: {text}"


def objects_with(deployed: Deployed, name: str) -> Iterator[str]:
    """Every version of every object of every bucket whose key has the name."""
    client = deployed.aws("s3")
    for bucket in client.list_buckets()["Buckets"]:
        versions = client.get_paginator("list_object_versions").paginate(Bucket=bucket["Name"])
        for page in versions:
            for each in (*page.get("Versions", []), *page.get("DeleteMarkers", [])):
                if name in each["Key"]:
                    yield f"{bucket['Name']}: {each['Key']}"


# covers T-07
def test_a_tenant_is_created_suspended_exported_and_deleted(
    deployed: Deployed, website: Website, do: Do
) -> None:
    name, other = f"t-{uuid4().hex[:12]}", deployed.tenant("admin")
    assert do("create", name) == {}
    assert do("create", name) is None
    owner = owner_of(deployed, name)

    # A job waits while the work of its tenant is on hold. The row is written here, because a
    # suspended tenant can't submit one.
    client, jobs = deployed.aws.dynamodb(), deployed.outputs["JobsTable"]
    client.put_item(TableName=jobs, Item={**hold_key(name), "since": to_iso(datetime.now(UTC))})
    held = owner.crawl(f"{website.url}/page?text=held+{name}")
    key = {"pk": f"T#{name}#JOB#{held}", "sk": "JOB"}
    deadline = time.monotonic() + SECONDS
    while (row := client.get_item(TableName=jobs, Key=key)["Item"])["due_at"] <= row["created_at"]:
        assert time.monotonic() < deadline, row
        time.sleep(0.5)
    assert (row["status"], row["fence"]) == ("pending", 0)
    assert do("resume", name) == {}
    assert owner.finished(held)["status"] == "completed"

    theirs = other.crawl(f"{website.url}/page?text=other")
    assert other.finished(theirs)["status"] == "completed"
    made = FixtureTenant.of(owner, website)
    person = signed_in(deployed, name)
    assert person("GET", "/api/v1/auth/me").status_code == 200

    done = deployed.stack.command("tenant", "suspend", name, "--reason", "unpaid")
    assert done.returncode == 0, done.stderr
    for ask in (
        lambda: owner("GET", "/api/v1/jobs"),
        lambda: person("POST", "/api/v1/auth/login"),
        lambda: person("GET", "/api/v1/auth/me"),
    ):
        refused = until(403, ask, 90)
        assert {each: refused[each] for each in REASON} == REASON
    assert other("GET", "/api/v1/jobs").status_code == 200
    assert do("resume", name) == {}
    until(200, lambda: owner("GET", "/api/v1/jobs"))

    report = do("export", name)
    assert report is not None
    bucket, folder = report["address"].removeprefix("s3://").split("/", 1)
    s3, lines = deployed.aws("s3"), dict[str, list[dict[str, Any]]]()
    for each in s3.list_objects_v2(Bucket=bucket, Prefix=folder)["Contents"]:
        area, _, is_numbered = each["Key"].removeprefix(folder).rpartition("-")
        if is_numbered and area:
            text = s3.get_object(Bucket=bucket, Key=each["Key"])["Body"].read().decode()
            lines.setdefault(area, []).extend(map(json.loads, text.splitlines()))
    assert {area: len(found) for area, found in lines.items()} == report["lines"]
    ids = {area: json.dumps(found) for area, found in lines.items()}
    for kind, area in {
        "document_id": "documents",
        "product_id": "products",
        "target_id": "targets",
        "audit_id": "audits",
        "job_id": "jobs",
    }.items():
        assert made.objects[kind] in ids[area], area
    assert any(f"held {name}" in (each["content"] or "") for each in lines["documents"])

    report = do("delete", name)
    assert report is not None
    assert {"Jobs", "Documents", "Tenancy", "Content", "search index"} <= report["removed"].keys()
    assert list(rows_with(deployed, name)) == []
    assert list(objects_with(deployed, name)) == []
    assert do("delete", name) is None  # there is no such tenant
    until(401, lambda: owner("GET", "/api/v1/jobs"))
    assert other.job(theirs)["status"] == "completed"
    assert other("GET", f"/api/v1/documents/{other.job(theirs)['document_id']}").status_code == 200
