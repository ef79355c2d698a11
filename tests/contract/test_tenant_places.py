"""Deletions and exports of tenants on tables and buckets of moto and the stack."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from spinneret.access.keys.dynamo import DynamoKeyStore
from spinneret.access.keys.models import ApiKey, Scope
from spinneret.access.tenants.dynamo import DynamoTenantStore
from spinneret.access.tenants.service import TenantService
from spinneret.jobs.dynamo_holds import DynamoHolds
from spinneret.jobs.keys import hold_key
from spinneret.jobs.limits import HOLD_KNOWN_SECONDS
from spinneret.kernel.errors import NotFound
from spinneret.operations.tenants.deleting import TenantDeletion
from spinneret.operations.tenants.dynamo import DynamoDeletions, TablePlace
from spinneret.operations.tenants.models import CommandProgress, Deletion, Export
from spinneret.operations.tenants.s3 import BucketPlace, S3ExportFiles
from spinneret.operations.tenants.tables import TABLES
from tests.contract.backends import OF_REAL_AWS, Tables
from tests.fakes.crashes import Crash, CrashPlan
from tests.fakes.time import START, HandClock
from tests.tables import own_tables
from tests.unit.operations.test_tenant_deletion import FakeSellers, FakeWork

pytestmark = OF_REAL_AWS
KILLS = 3
"""Number of calls at which the test kills a deletion; the test on fakes kills it at every call."""


@pytest.fixture(scope="module")
def unshared_tables(stack_tables: Tables) -> Iterator[Tables]:
    """Provide tables without rows of other tests: a pass would read all of them, page by page."""
    with own_tables(stack_tables.client) as names:
        yield Tables(stack_tables.client, names)


@pytest.fixture
def aws_tables(backend: str, request: pytest.FixtureRequest) -> Tables:
    name = "unshared_tables" if backend == "stack" else "moto_tables"
    found: Tables = request.getfixturevalue(name)
    return found


def rows_of(tenant: str) -> dict[str, list[dict[str, Any]]]:
    """Return rows of every form for every table, by table."""
    found = {
        name: [{"pk": f"T#{tenant}#ROW#{n}", "sk": "ROW"} for n in range(3)] for name in TABLES
    }
    found["Jobs"].append({"pk": f"CONN#{tenant}", "sk": "CONN", "tenant": tenant})
    found["Targets"] += [
        {"pk": f"SLUG#of-{tenant}", "sk": "SLUG", "tenant": tenant},
        {"pk": f"CALL#of-{tenant}", "sk": "CALL", "tenant": tenant},
    ]
    found["Marketplace"] += [
        {"pk": "SELLERS", "sk": f"ebay#{tenant}"},
        {"pk": "OPENSALES", "sk": f"{tenant}#ebay#1#2"},
        {"pk": f"ACCOUNT#ebay#{tenant}", "sk": "TENANT", "tenant": tenant},
    ]
    session = {"sk": "SESSION", "session_id": f"{tenant}/audit_1/1"}
    found["Domains"].append({"pk": f"DOMAIN#{len(tenant)}.example", **session})
    found["Tenancy"].append({"pk": f"KEY#{tenant}", "sk": "TICKET", "tenant": tenant})
    if_bare = [name for name, rows in TABLES.items() if not rows.has_sort_key]
    return {
        name: [{"pk": row["pk"]} for row in rows] if name in if_bare else rows
        for name, rows in found.items()
    }


def put(tables: Tables, rows: dict[str, list[dict[str, Any]]]) -> None:
    for name, each in rows.items():
        for row in each:
            tables.client.put_item(TableName=tables.names[name], Item=row)


def stored(tables: Tables, tenant: str) -> list[str]:
    """Return every row that contains the tenant's name, as text."""
    found = []
    for name in TABLES:
        for page in tables.client.get_paginator("scan").paginate(TableName=tables.names[name]):
            found += [f"{name}: {row}" for row in page["Items"] if tenant in str(row)]
    return found


def places(tables: Tables, plan: CrashPlan | None = None) -> list[TablePlace]:
    client = plan.wrap("dynamodb", tables.client) if plan else tables.client
    return [TablePlace(client, name, tables.names[name], rows) for name, rows in TABLES.items()]


def erase_all(place: Any, tenant: str) -> int:
    """Delete a tenant's rows or objects from one place, and return their number."""
    removed, after = 0, None
    while True:
        erased = place.erase(tenant, after, lambda: 60.0)
        removed, after = removed + erased.removed, erased.after
        if after is None:
            return removed


def deletion(tables: Tables, clock: HandClock, plan: CrashPlan) -> TenantDeletion:
    client = plan.wrap("dynamodb", tables.client)
    tenancy = tables.names["Tenancy"]
    return TenantDeletion(
        tenants=TenantService(
            tenants=DynamoTenantStore(client, tenancy),
            holds=DynamoHolds(client, tables.names["Jobs"], clock),
            clock=clock,
        ),
        states=DynamoDeletions(client, tenancy),
        work=FakeWork(),
        sellers=FakeSellers(),
        places=places(tables, plan),
        clock=clock,
    )


def test_a_pass_deletes_every_row_of_the_tenant_and_of_no_other(
    aws_tables: Tables, tenant: str
) -> None:
    other = f"{tenant}-2"
    for each in (tenant, other):
        put(aws_tables, rows_of(each))
    for place in places(aws_tables):
        assert erase_all(place, tenant) == len(rows_of(tenant)[place.name]), place.name
        assert erase_all(place, tenant) == 0, place.name
    left = [row for row in stored(aws_tables, tenant) if other not in row]
    assert left == []
    expected = sum(map(len, rows_of(other).values()))
    assert len(stored(aws_tables, other)) == expected
    for place in places(aws_tables):
        erase_all(place, other)


# covers T-07
def test_a_deletion_killed_at_a_call_of_dynamodb_is_finished_by_the_next_one(
    aws_tables: Tables, tenant: str
) -> None:
    keys = DynamoKeyStore(aws_tables.client, aws_tables.names["Tenancy"])

    def seeded() -> HandClock:
        """Store a stopped tenant with rows in all tables, and return the clock."""
        clock = HandClock()
        keys.add(
            ApiKey(
                id="key_1",
                tenant=tenant,
                name="one",
                secret_hash=f"{tenant:0<64}",
                prefix="spn_abcd",
                scopes=frozenset({Scope.ADMIN}),
                created_at=START,
            ),
            START,
            None,
        )
        put(aws_tables, rows_of(tenant))
        first = deletion(aws_tables, clock, CrashPlan()).run(tenant, lambda: 60.0)
        assert first.progress is CommandProgress.WAITING
        clock.advance(120)
        return clock

    whole = CrashPlan()
    assert deletion(aws_tables, seeded(), whole).run(tenant, lambda: 60.0).report["removed"]
    assert stored(aws_tables, tenant) == []
    points = whole.points()
    for at, moment in [*points[:: len(points) // KILLS + 1], points[-2]]:
        clock = seeded()
        with pytest.raises(Crash):
            deletion(aws_tables, clock, CrashPlan(at, moment)).run(tenant, lambda: 60.0)
        answer = deletion(aws_tables, clock, CrashPlan()).run(tenant, lambda: 60.0)
        assert answer.progress is CommandProgress.DONE, (at, moment)
        assert stored(aws_tables, tenant) == [], (at, moment)
        with pytest.raises(NotFound):
            deletion(aws_tables, clock, CrashPlan()).run(tenant, lambda: 60.0)


def test_the_rows_that_stop_the_tenant_stay_until_the_end(aws_tables: Tables, tenant: str) -> None:
    clock = HandClock()
    states = DynamoDeletions(aws_tables.client, aws_tables.names["Tenancy"])
    holds = DynamoHolds(aws_tables.client, aws_tables.names["Jobs"], clock)
    tenants = DynamoTenantStore(aws_tables.client, aws_tables.names["Tenancy"])
    service = TenantService(tenants=tenants, holds=holds, clock=clock)
    service.create(tenant)
    service.begin_deletion(tenant)
    state = Deletion(number=2, place=3, after={"pk": "x", "sk": "y"}, unknown=("Jobs: NEW#1",))
    states.put(tenant, state)
    for place in places(aws_tables):
        erase_all(place, tenant)
    assert states.get(tenant) == state
    assert tenants.get(tenant) is not None
    assert aws_tables.client.get_item(TableName=aws_tables.names["Jobs"], Key=hold_key(tenant))[
        "Item"
    ]
    states.forget(tenant)
    service.end_deletion(tenant)
    assert stored(aws_tables, tenant) == []


def test_a_hold_is_read_once_in_some_seconds(aws_tables: Tables, tenant: str) -> None:
    clock, plan = HandClock(), CrashPlan()
    client = plan.wrap("dynamodb", aws_tables.client)
    holds = DynamoHolds(client, aws_tables.names["Jobs"], clock)
    assert holds.since(tenant) is None
    began = clock()
    holds.hold(tenant, began)
    assert holds.since(tenant) is None
    clock.advance(HOLD_KNOWN_SECONDS)
    assert [holds.since(tenant), holds.since(tenant)] == [began, began]
    assert plan.calls.count("dynamodb.get_item") == 2
    holds.release(tenant)
    clock.now += timedelta(seconds=HOLD_KNOWN_SECONDS)
    assert holds.since(tenant) is None


@pytest.fixture
def s3(client_of: Callable[[str], Any] | None, bucket: str | None) -> Iterator[Any]:
    assert client_of is not None
    client = client_of("s3")
    client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    yield client
    for owner in ("acme", "acme-2"):
        erase_all(BucketPlace(client, "bucket", str(bucket)), owner)


def test_a_pass_deletes_every_version_of_the_tenants_objects(s3: Any, bucket: str) -> None:
    folders = ("", "parts/", "FETCHED/", "exports/")
    for owner in ("acme", "acme-2"):
        for folder in folders:
            for _ in range(2):
                s3.put_object(Bucket=bucket, Key=f"{folder}T/{owner}/one", Body=b"text")
    s3.delete_object(Bucket=bucket, Key="T/acme/one")
    place = BucketPlace(s3, "bucket", bucket)
    assert erase_all(place, "acme") == 2 * len(folders) + 1
    assert erase_all(place, "acme") == 0
    left = s3.list_object_versions(Bucket=bucket)
    assert {each["Key"] for each in left["Versions"]} == {f"{each}T/acme-2/one" for each in folders}
    assert len(left["Versions"]) == 2 * len(folders)


def test_an_exports_files_and_state_are_read_as_they_were_written(s3: Any, bucket: str) -> None:
    files = S3ExportFiles(s3, bucket)
    assert files.state("acme", "export_1") == Export()
    key = files.write("acme", "export_1", "jobs-00001.ndjson", ['{"a": 1}', '{"a": "ü"}'])
    assert f"s3://{bucket}/{key}" == files.address("acme", "export_1") + "jobs-00001.ndjson"
    body = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
    assert body.decode() == '{"a": 1}\n{"a": "ü"}\n'
    state = Export(area=2, after="x", files=(key,), lines={"jobs": 2})
    files.keep("acme", "export_1", state)
    assert files.state("acme", "export_1") == state
    assert files.state("acme", "export_2") == Export()
