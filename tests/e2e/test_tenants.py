"""A tenant on the deployed stack, from its creation to its complete deletion."""

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
from tests.e2e.fixture_tenants import created
from tests.e2e.website import Website
from tests.waiting import waited

pytestmark = pytest.mark.stack

PASSWORD = "a password of some length"
SECONDS = 60.0
DELETION_SECONDS = 300.0
MADE = (
    *("job_id", "document_id", "audit_id", "key_id", "user_id", "domain", "proxy_id"),
    *("endpoint_id", "source_id", "target_id", "window_id", "slug", "product_id"),
)
"""Kinds of objects that the tenant gets; some of them need objects of earlier kinds."""
REASON = {"error": "the tenant is suspended: unpaid", "code": "TENANT_SUSPENDED"}
Do = Callable[..., dict[str, Any] | None]


@pytest.fixture(scope="module")
def do(deployed: Deployed) -> Do:
    """Provide a function that carries out an operator's command and returns its report."""
    invoke = bootstrap.invoker(deployed.aws("lambda"), "spinneret-tenants-local")

    def follow(verb: str, tenant: str, **more: str) -> dict[str, Any] | None:
        deadline, lines = time.monotonic() + DELETION_SECONDS, list[str]()

        def rest(_: float) -> None:
            assert time.monotonic() < deadline, lines
            time.sleep(0.5)

        request = {"verb": verb, "tenant": tenant, **more}
        return bootstrap.follow(request, invoke, lines.append, rest)

    return follow


def owner_of(deployed: Deployed, name: str) -> Tenant:
    """Issue the tenant's first admin key; return a client with it."""
    wanted = KeyRequest(
        name="tests",
        scopes=frozenset({Scope.ADMIN}),
        rate_limit_rpm=bounds.KEY_REQUESTS_PER_MINUTE_MAX,
    )
    secret = issue(deployed.aws.dynamodb(), deployed.outputs["TenancyTable"], name, wanted)
    return Tenant(name, deployed.api_url, secret)


def signing_in(deployed: Deployed, name: str) -> Callable[[], httpx.Response]:
    """Invite a person to the tenant; return a function that signs the person in."""
    email, table = "maya@example.com", deployed.outputs["TenancyTable"]
    clients = deployed.aws.dynamodb(), deployed.aws("kms")
    invitation = invite(*clients, table=table, stage="local", tenant=name, email=email)

    def post(path: str, body: dict[str, str]) -> httpx.Response:
        url = f"{deployed.api_url}/api/v1/auth/{path}"
        return httpx.post(url, json=body, timeout=40, trust_env=False)

    chosen = {"invitation": invitation, "password": PASSWORD}
    assert post("accept", chosen).status_code == 200
    return lambda: post("login", {"tenant": name, "email": email, "password": PASSWORD})


def until(status: int, ask: Callable[[], httpx.Response], seconds: float = SECONDS) -> Any:
    """Repeat a request until its response has the status; return the body."""
    answer = waited(ask, lambda seen: seen.status_code == status, seconds=seconds)
    return answer.json()


def rows_with(deployed: Deployed, name: str) -> Iterator[str]:
    """Yield every row of every table that contains the name."""
    client = deployed.aws.dynamodb()
    tables = client.get_paginator("list_tables").paginate()
    for table in (each for page in tables for each in page["TableNames"]):
        for page in client.get_paginator("scan").paginate(TableName=table):
            for item in page["Items"]:
                if name in (text := json.dumps(item, default=repr)):
                    yield f"{table}: {text}"


def objects_with(deployed: Deployed, name: str) -> Iterator[str]:
    """Yield every version of every object of every bucket whose key contains the name."""
    client = deployed.aws("s3")
    for bucket in client.list_buckets()["Buckets"]:
        versions = client.get_paginator("list_object_versions").paginate(Bucket=bucket["Name"])
        for page in versions:
            for each in (*page.get("Versions", []), *page.get("DeleteMarkers", [])):
                if name in each["Key"]:
                    yield f"{bucket['Name']}: {each['Key']}"


# covers T-07
def test_a_tenant_is_created_suspended_exported_and_deleted(
    deployed: Deployed,
    website: Website,
    do: Do,
    admin: Tenant,
    request: pytest.FixtureRequest,
) -> None:
    name = f"t-{uuid4().hex[:12]}"
    assert [do("create", name) for _ in range(2)] == [{}, None]
    owner = owner_of(deployed, name)
    request.addfinalizer(owner.close)

    # A job waits while the work of its tenant is on hold. The row is written here, because a
    # suspended tenant can't submit one.
    client, jobs = deployed.aws.dynamodb(), deployed.outputs["JobsTable"]
    client.put_item(TableName=jobs, Item={**hold_key(name), "since": to_iso(datetime.now(UTC))})
    held = owner.crawl(f"{website.url}/page?text=held+{name}")
    key = {"pk": f"T#{name}#JOB#{held}", "sk": "JOB"}
    row = waited(
        lambda: client.get_item(TableName=jobs, Key=key)["Item"],
        lambda seen: seen["due_at"] > seen["created_at"],
        seconds=SECONDS,
    )
    assert (row["status"], row["fence"]) == ("pending", 0)
    assert do("resume", name) == {}
    assert owner.finished(held)["status"] == "completed"

    theirs = admin.crawl(f"{website.url}/page?text=other")
    assert admin.finished(theirs)["status"] == "completed"
    made: dict[str, str] = {}
    for kind in MADE:
        made[kind] = created(kind, deployed, owner, website, made)
    sign_in = signing_in(deployed, name)
    assert sign_in().status_code == 200

    done = deployed.stack.command("tenant", "suspend", name, "--reason", "unpaid")
    assert done.returncode == 0, done.stderr
    for ask in (lambda: owner("GET", "/api/v1/jobs"), sign_in):
        refused = until(403, ask)
        assert {each: refused[each] for each in REASON} == REASON
    assert admin("GET", "/api/v1/jobs").status_code == 200
    assert do("resume", name) == {}
    until(200, lambda: owner("GET", "/api/v1/jobs"))
    assert do("suspend", name, reason="it leaves") == {}

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
        assert made[kind] in ids[area], area
    assert any(f"held {name}" in (each["content"] or "") for each in lines["documents"])

    report = do("delete", name)
    assert report is not None
    assert {"Jobs", "Documents", "Tenancy", "Content", "search index"} <= report["removed"].keys()
    assert list(rows_with(deployed, name)) == []
    assert list(objects_with(deployed, name)) == []
    assert do("delete", name) is None  # the tenant doesn't exist
    until(401, lambda: owner("GET", "/api/v1/jobs"))
    assert admin.job(theirs)["status"] == "completed"
    assert admin("GET", f"/api/v1/documents/{admin.job(theirs)['document_id']}").status_code == 200
