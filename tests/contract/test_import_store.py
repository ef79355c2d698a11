"""Contract tests of import stores: the fake, moto, and DynamoDB Local."""

import random
from dataclasses import replace
from typing import Any

import pytest

from spinneret.jobs.models import Job
from spinneret.jobs.ports import JobStore
from spinneret.kernel.errors import LeaseLost
from spinneret.monitoring import limits
from spinneret.monitoring.imports.dynamo import DynamoImportStore
from spinneret.monitoring.imports.ports import ImportStore, SliceResult
from spinneret.monitoring.targets.dynamo import DynamoTargetStore
from spinneret.monitoring.targets.models import TargetWithState
from spinneret.monitoring.targets.ports import TargetStore
from tests import factories
from tests.contract.backends import OF_AWS, Tables
from tests.contract.stored_jobs import claimed
from tests.contract.watch_stores import watched
from tests.fakes.imports import FakeImportStore
from tests.fakes.jobs import FakeJobStore
from tests.fakes.monitoring import FakeWatch
from tests.fakes.time import START

pytestmark = OF_AWS
MOST = 1000


@pytest.fixture
def targets(tables: Tables | None) -> TargetStore:
    if tables is None:
        return FakeWatch()
    return DynamoTargetStore(tables.client, tables.names["Targets"])


@pytest.fixture
def imports(store: JobStore, targets: TargetStore, tables: Tables | None) -> ImportStore:
    if tables is None:
        assert isinstance(store, FakeJobStore)
        assert isinstance(targets, FakeWatch)
        return FakeImportStore(store, targets)
    return DynamoImportStore(tables.client, tables.names["Targets"], tables.names["Jobs"])


@pytest.fixture
def job(store: JobStore, tenant: str) -> Job:
    return claimed(store, tenant)


def new(tenant: str, number: int, **options: Any) -> TargetWithState:
    made = watched(tenant, f"t_{tenant}{number:04}", **options)
    url = f"https://{tenant}.example/{number}"
    return replace(made, target=replace(made.target, url=url, canonical_url=url))


def outcome(number: int, **given: Any) -> dict[str, Any]:
    return {"line": number, "url": f"https://ä.example/{number}", **given}


def test_a_full_slice_is_stored_with_its_targets(
    imports: ImportStore, targets: TargetStore, job: Job
) -> None:
    assert imports.outcomes(job.ref) == []
    size = limits.IMPORT_SLICE_LINES
    for first in (0, size):
        made = [new(job.tenant, number, public=True) for number in range(first, first + size)]
        lines = [outcome(number, outcome="created") for number in range(first, first + size)]
        result = imports.write(factories.lease(job), first, lines, made, MOST, START)
        assert result is SliceResult.WRITTEN
    assert imports.outcomes(job.ref) == [outcome(n, outcome="created") for n in range(2 * size)]
    found = targets.page(job.tenant, None, None, MOST).items
    assert len(found) == 2 * size
    urls = [each.target.canonical_url for each in found]
    assert imports.known(job.tenant, [*urls, "https://none.example/"]) == {
        each.target.canonical_url: each.target.id for each in found
    }


def test_of_a_slice_with_a_taken_url_nothing_is_stored(
    imports: ImportStore, targets: TargetStore, job: Job
) -> None:
    targets.add(new(job.tenant, 2), None)
    made = [new(job.tenant, number) for number in (1, 2)]
    lines = [outcome(1), outcome(2)]
    taken = imports.write(factories.lease(job), 0, lines, made, MOST, START)
    assert taken is SliceResult.URL_TAKEN
    assert imports.outcomes(job.ref) == []
    assert len(targets.page(job.tenant, None, None, MOST).items) == 1


@pytest.mark.parametrize("standing", [0, 1, 2])
def test_a_tenant_gets_no_more_than_its_maximum(
    imports: ImportStore, targets: TargetStore, job: Job, standing: int
) -> None:
    for number in range(standing):
        targets.add(new(job.tenant, number), None)
    lease = factories.lease(job)
    made = [new(job.tenant, number) for number in range(standing, 3)]
    assert imports.write(lease, 0, [outcome(1)], made, 2, START) is SliceResult.TOO_MANY
    assert imports.outcomes(job.ref) == []
    assert imports.write(lease, 0, [outcome(1)], made[1:], 2, START) is SliceResult.WRITTEN
    assert len(targets.page(job.tenant, None, None, MOST).items) == 2
    if standing == 2:
        assert imports.write(lease, 1, [outcome(2)], [], 2, START) is SliceResult.WRITTEN
        assert imports.outcomes(job.ref) == [outcome(1), outcome(2)]


def test_a_claim_that_has_ended_writes_nothing(
    imports: ImportStore, targets: TargetStore, job: Job
) -> None:
    lost = replace(factories.lease(job), fence=job.fence - 1)
    with pytest.raises(LeaseLost):
        imports.write(lost, 0, [outcome(1)], [new(job.tenant, 1)], MOST, START)
    with pytest.raises(LeaseLost):
        imports.keep_listing(lost, "{}", START)
    assert imports.outcomes(job.ref) == []
    assert imports.listing(job.ref) is None
    assert targets.page(job.tenant, None, None, MOST).items == ()


@pytest.mark.heavy
def test_a_listing_is_read_as_it_was_written(imports: ImportStore, job: Job) -> None:
    chosen = random.Random(1)
    long = "".join(chosen.choice("abcdefghijklmnopqrstuvwxyz0123456789ä") for _ in range(1_000_000))
    for text in (long, "{}"):
        imports.keep_listing(factories.lease(job), text, START)
        assert imports.listing(job.ref) == text
