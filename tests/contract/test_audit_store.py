"""Contract tests of the stores of audits, their schedules and expiries.

The backends are the fakes, moto, and DynamoDB Local.
"""

import gzip
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from spinneret.audits.dynamo import DynamoAuditStore
from spinneret.audits.facts.models import ReadFailure
from spinneret.audits.facts.site import LinkOutcome
from spinneret.audits.models import Artifact, ArtifactType, AuditPhase, Finished, Progress, RunRef
from spinneret.audits.ports import AuditStore
from spinneret.audits.schedules.dynamo import DynamoScheduleStore
from spinneret.audits.schedules.models import AuditSchedule
from spinneret.audits.schedules.ports import ScheduleStore
from spinneret.jobs import rules
from spinneret.jobs.models import Job, Lease
from spinneret.jobs.ports import JobStore
from spinneret.kernel.errors import LeaseLost
from spinneret.retention.dynamo import DynamoExpiryStore
from spinneret.retention.ports import ExpiryStore
from tests import factories
from tests.contract.backends import OF_AWS, Tables
from tests.contract.stored_jobs import claimed
from tests.fakes.audits import FakeAuditStore, FakeScheduleStore
from tests.fakes.jobs import FakeJobStore
from tests.fakes.time import START

pytestmark = OF_AWS

DAY = timedelta(days=1)


@pytest.fixture
def audits(store: JobStore, tables: Tables | None) -> AuditStore:
    if tables is None:
        assert isinstance(store, FakeJobStore)
        return FakeAuditStore(store)
    return DynamoAuditStore(
        tables.client, tables.names["Audits"], tables.names["Jobs"], clock=lambda: START
    )


@pytest.fixture
def schedules(tables: Tables | None) -> ScheduleStore:
    if tables is None:
        return FakeScheduleStore()
    return DynamoScheduleStore(tables.client, tables.names["Audits"])


@pytest.fixture
def expiries(audits: AuditStore, tables: Tables | None) -> ExpiryStore:
    if tables is None:
        assert isinstance(audits, FakeAuditStore)
        return audits
    return DynamoExpiryStore(tables.client, tables.names["Audits"])


@pytest.fixture
def job(store: JobStore, tenant: str) -> Job:
    """Provide a running job."""
    return claimed(store, tenant)


@pytest.fixture
def lease(job: Job) -> Lease:
    return factories.lease(job)


@pytest.fixture
def ref(job: Job) -> RunRef:
    return RunRef(tenant=job.tenant, audit_id=job.id, run=1)


def artifact(ref: RunRef, name: str, **given: Any) -> Artifact:
    made = {
        "ref": ref,
        "type": ArtifactType.HTML_GZ,
        "storage_uri": f"{ref.folder}/{name}",
        "created_at": START,
        "retention_until": START + DAY,
        **given,
    }
    return Artifact(**made)


def finished(ref: RunRef, days: int = 0, **given: Any) -> Finished:
    made = {
        "ref": ref,
        "site_key": "k1",
        "start_url": "https://a.example/",
        "finished_at": START + days * DAY,
        "score": 87.6543,
        "catalogue_version": "1",
        "issues_uri": "key",
        **given,
    }
    return Finished(**made)


# ---------------------------------------------------------------- Runs


def test_what_is_known_of_a_run_is_read_back(audits: AuditStore, ref: RunRef, lease: Lease) -> None:
    assert audits.progress(ref) is None
    progress = Progress(
        ref=ref,
        phase=AuditPhase.CHECKING,
        lock_attempts=2,
        start_url="https://a.example/ü",
        site_uri="key",
        probed=("robots", "start"),
        out_of_time=True,
        result={"score": 1.5, "categories": {"http": None}},
    )
    for each in (Progress(ref=ref), progress):
        audits.keep_progress(each, lease)
        assert audits.progress(ref) == each
    assert audits.progress(replace(ref, run=2)) is None


def test_facts_come_back_in_the_order_of_their_places(
    audits: AuditStore, ref: RunRef, lease: Lease
) -> None:
    bodies = {f"{n:06}.000.x": gzip.compress(bytes([n]) * 90_000) for n in (3, 1, 2)}
    for place, body in bodies.items():
        audits.keep_page(ref, place, body, lease)
    audits.keep_page(ref, "000002.000.x", b"again", lease)
    audits.keep_page(replace(ref, run=2), "000001.000.x", b"other run", lease)
    assert list(audits.pages(ref)) == [bodies["000001.000.x"], b"again", bodies["000003.000.x"]]


def test_outcomes_of_all_writes_come_together(
    audits: AuditStore, ref: RunRef, lease: Lease
) -> None:
    assert audits.outcomes(ref) == ({}, 0)
    first = {"https://ü.example/": LinkOutcome(200, None, "https://b.example/", 12, "image/png")}
    second = {"https://c.example/": LinkOutcome(failure=ReadFailure.TIMEOUT)}
    audits.keep_outcomes(ref, 0, first, lease)
    audits.keep_outcomes(ref, 1, second, lease)
    assert audits.outcomes(ref) == (first | second, 2)
    assert isinstance(audits.outcomes(ref)[0]["https://c.example/"].failure, ReadFailure)


def test_a_run_is_finished_once_and_found_by_the_next_one(
    audits: AuditStore, ref: RunRef, lease: Lease
) -> None:
    done = Progress(ref=ref, phase=AuditPhase.DONE, result={"score": 87.6543})
    first, later = finished(ref), finished(replace(ref, run=2), 1)
    for each in (first, later, finished(replace(ref, run=3), 2, site_key="k2")):
        audits.finish(replace(done, ref=each.ref), each, lease)
    assert audits.progress(ref) == done
    assert audits.finished(ref) == first
    assert audits.finished(replace(ref, run=9)) is None
    assert audits.finished_before(ref.tenant, "k1", later.place) == first
    assert audits.finished_before(ref.tenant, "k1", first.place) is None
    assert audits.finished_before("other", "k1", later.place) is None


def test_a_claim_that_has_ended_writes_nothing(
    audits: AuditStore, store: JobStore, job: Job, ref: RunRef, lease: Lease
) -> None:
    assert job.locked_until is not None
    lost = rules.after_lease_expired(job, job.locked_until)
    store.transition(job, lost)
    for write in (
        lambda: audits.keep_progress(Progress(ref=ref), lease),
        lambda: audits.keep_page(ref, "p", b"x", lease),
        lambda: audits.keep_outcomes(ref, 0, {}, lease),
        lambda: audits.keep_artifacts([artifact(ref, "a")], lease),
        lambda: audits.finish(Progress(ref=ref), finished(ref), lease),
    ):
        with pytest.raises(LeaseLost):
            write()
    assert audits.progress(ref) is None
    assert list(audits.pages(ref)) == []
    assert audits.finished(ref) is None


# ---------------------------------------------------------------- Artifacts


def test_artifacts_are_listed_by_id_and_found(
    audits: AuditStore, ref: RunRef, lease: Lease
) -> None:
    made = [
        artifact(ref, "page", url="https://a.example/"),
        artifact(ref, "json", type=ArtifactType.REPORT_JSON, retention_until=None),
        artifact(replace(ref, run=2), "page"),
    ]
    audits.keep_artifacts(made, lease)
    audits.keep_artifacts(made[:1], lease)
    expected = sorted(made, key=lambda each: each.id)
    whole = audits.artifacts(ref.tenant, ref.audit_id, None, 10)
    assert (list(whole.items), whole.after) == (expected, None)
    first = audits.artifacts(ref.tenant, ref.audit_id, None, 2)
    assert (list(first.items), first.after) == (expected[:2], expected[1].id)
    rest = audits.artifacts(ref.tenant, ref.audit_id, first.after, 2)
    assert list(rest.items) == expected[2:]


#
def test_what_is_over_comes_oldest_first_and_is_marked_once(
    audits: AuditStore, expiries: ExpiryStore, ref: RunRef, lease: Lease
) -> None:
    made = [artifact(ref, f"p{n}", retention_until=START + n * DAY) for n in (3, 1, 2, 5)]
    report = artifact(ref, "report", type=ArtifactType.REPORT_CSV, retention_until=None)
    audits.keep_artifacts([*made, report], lease)
    now = START + 3 * DAY

    def over() -> list[str]:
        found = expiries.expired(now, 100)
        return [each.storage_uri[-2:] for each in found if ref.audit_id in each.storage_uri]

    assert over() == ["p1", "p2"]
    assert len(expiries.expired(now, 1)) == 1
    [first, *_] = [e for e in expiries.expired(now, 100) if ref.audit_id in e.storage_uri]
    assert expiries.mark_deleted(first, now)
    assert expiries.mark_deleted(first, now)  # a retry after a lost response
    assert not expiries.mark_deleted(first, now + DAY)
    assert over() == ["p2"]
    page = audits.artifacts(ref.tenant, ref.audit_id, None, 10).items
    gone = [each for each in page if each.deleted_at is not None]
    assert [(each.storage_uri[-2:], each.deleted_at) for each in gone] == [("p1", now)]


def test_a_row_that_is_kept_for_longer_meanwhile_is_not_marked(
    audits: AuditStore, expiries: ExpiryStore, ref: RunRef, lease: Lease
) -> None:
    audits.keep_artifacts([artifact(ref, "p")], lease)
    [found] = [
        each for each in expiries.expired(START + 2 * DAY, 100) if ref.audit_id in each.storage_uri
    ]
    audits.keep_artifacts([artifact(ref, "p", retention_until=START + 9 * DAY)], lease)
    assert not expiries.mark_deleted(found, START + 2 * DAY)


def test_what_was_refused_comes_again_behind_what_is_older_than_its_next_try(
    audits: AuditStore, expiries: ExpiryStore, ref: RunRef, lease: Lease
) -> None:
    made = [artifact(ref, f"p{n}", retention_until=START + n * DAY) for n in (1, 2)]
    audits.keep_artifacts(made, lease)

    def over(now: datetime) -> list[tuple[str, int]]:
        found = expiries.expired(now, 100)
        mine = [each for each in found if ref.audit_id in each.storage_uri]
        return [(each.storage_uri[-2:], each.refusals) for each in mine]

    [first] = [
        each for each in expiries.expired(START + 2 * DAY, 100) if ref.audit_id in each.storage_uri
    ]
    until = START + 3 * DAY
    assert expiries.defer(first, until)
    assert expiries.defer(first, until)  # a retry after a lost response
    assert not expiries.defer(first, until + DAY)  # this refusal is counted already
    assert over(until) == [("p2", 0)]
    assert over(until + DAY) == [("p2", 0), ("p1", 1)]
    again = replace(first, refusals=1)
    assert expiries.defer(again, until + 2 * DAY)
    assert over(until + 3 * DAY) == [("p2", 0), ("p1", 2)]
    audits.keep_artifacts(made[:1], lease)  # stores it again, without refusals
    assert over(until) == [("p1", 0), ("p2", 0)]
    assert expiries.mark_deleted(first, until)
    assert not expiries.defer(first, until)


# ---------------------------------------------------------------- Schedules


def schedule(tenant: str, **given: Any) -> AuditSchedule:
    made = {
        "tenant": tenant,
        "id": f"asched_{uuid4().hex}",
        "url": "https://a.example/",
        "recipe": "seo",
        "options": {"max_pages": 7},
        "schedule_cron": "0 6 * * *",
        "timezone": "UTC",
        "is_active": True,
        "created_at": START,
        "updated_at": START,
        "next_run_at": START + DAY,
        **given,
    }
    return AuditSchedule(**made)


def test_a_schedule_is_replaced_and_removed_only_as_it_was_read(
    schedules: ScheduleStore, tenant: str
) -> None:
    made = schedule(tenant)
    schedules.add(made)
    assert schedules.get(tenant, made.id) == made
    changed = replace(made, last_error="X", last_audit_id="job_1", last_run_at=START, version=2)
    assert schedules.replace(made, changed)
    assert not schedules.replace(made, changed)
    assert not schedules.remove(made)
    assert schedules.get(tenant, made.id) == changed
    assert schedules.get("other", made.id) is None
    assert schedules.remove(changed)
    assert schedules.get(tenant, made.id) is None


def test_a_schedule_from_before_is_active_was_called_so_is_read(
    schedules: ScheduleStore, tables: Tables | None, tenant: str
) -> None:
    off = schedule(tenant, is_active=False, next_run_at=None)
    schedules.add(off)
    if tables is not None:
        tables.client.update_item(
            TableName=tables.names["Audits"],
            Key={"pk": f"T#{tenant}#SCHEDULES", "sk": off.id},
            UpdateExpression="SET enabled = is_active REMOVE is_active",
        )
    assert schedules.get(tenant, off.id) == off


def test_schedules_are_listed_newest_first(schedules: ScheduleStore, tenant: str) -> None:
    made = [schedule(tenant, id=f"asched_{n}") for n in range(3)]
    for each in made:
        schedules.add(each)
    first = schedules.page(tenant, None, 2)
    assert (first.items, first.after) == ((made[2], made[1]), "asched_1")
    assert schedules.page(tenant, first.after, 2).items == (made[0],)


def test_active_schedules_are_due_at_their_time(schedules: ScheduleStore, tenant: str) -> None:
    made, off = schedule(tenant), schedule(tenant, is_active=False, next_run_at=None)
    schedules.add(made)
    schedules.add(off)

    def due(days: int) -> list[str]:
        found = schedules.due(START + days * DAY, 400)
        return [each.schedule_id for each in found if each.tenant == tenant]

    assert (due(0), due(1)) == ([], [made.id])
    schedules.replace(made, replace(made, next_run_at=START + 2 * DAY, version=2))
    assert (due(1), due(2)) == ([], [made.id])
