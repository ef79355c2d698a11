"""Rows and objects of audits in memory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import IO

from spinneret.audits.facts.site import LinkOutcome
from spinneret.audits.models import Artifact, Finished, Progress, RunRef
from spinneret.audits.schedules.models import AuditSchedule, ScheduleRef
from spinneret.jobs.models import Lease
from spinneret.kernel.errors import LeaseLost
from spinneret.kernel.paging import Page
from spinneret.retention.models import Expired
from tests.fakes.dependency import FakeDependency
from tests.fakes.jobs import FakeJobStore
from tests.fakes.tenant_rows import FakeRows


class FakeAuditStore:
    """Implements AuditStore; the claims of a job store guard its writes."""

    def __init__(self, jobs: FakeJobStore) -> None:
        self._jobs = jobs
        self.runs: dict[RunRef, Progress] = {}
        self.facts: dict[tuple[RunRef, str], bytes] = {}
        self.links: dict[tuple[RunRef, int], dict[str, LinkOutcome]] = {}
        self.rows: dict[tuple[str, str, str], Artifact] = {}
        self.ends: dict[RunRef, Finished] = {}
        self.refused: dict[tuple[str, str, str], tuple[int, datetime]] = {}
        """Number of refusals and time of the next try, by row."""

    def progress(self, ref: RunRef) -> Progress | None:
        return self.runs.get(ref)

    def keep_progress(self, progress: Progress, lease: Lease) -> None:
        self._require(lease)
        self.runs[progress.ref] = progress

    def keep_page(self, ref: RunRef, place: str, facts: bytes, lease: Lease) -> None:
        self._require(lease)
        self.facts[ref, place] = facts

    def pages(self, ref: RunRef) -> Iterator[bytes]:
        places = sorted(place for owner, place in self.facts if owner == ref)
        return (self.facts[ref, place] for place in places)

    def keep_outcomes(
        self, ref: RunRef, number: int, outcomes: Mapping[str, LinkOutcome], lease: Lease
    ) -> None:
        self._require(lease)
        self.links[ref, number] = dict(outcomes)

    def outcomes(self, ref: RunRef) -> tuple[dict[str, LinkOutcome], int]:
        numbers = sorted(number for owner, number in self.links if owner == ref)
        found: dict[str, LinkOutcome] = {}
        for number in numbers:
            found.update(self.links[ref, number])
        return found, numbers[-1] + 1 if numbers else 0

    def keep_artifacts(self, artifacts: Sequence[Artifact], lease: Lease) -> None:
        self._require(lease)
        for each in artifacts:
            key = (each.ref.tenant, each.ref.audit_id, each.id)
            self.rows[key] = each
            self.refused.pop(key, None)

    def artifacts(
        self, tenant: str, audit_id: str, after: str | None, limit: int
    ) -> Page[Artifact]:
        found = [
            self.rows[key]
            for key in sorted(self.rows)
            if key[:2] == (tenant, audit_id) and (after is None or key[2] > after)
        ]
        return Page.cut(found, limit, lambda each: each.id)

    def finish(self, progress: Progress, finished: Finished, lease: Lease) -> None:
        self._require(lease)
        self.runs[progress.ref] = progress
        self.ends[finished.ref] = finished

    def finished(self, ref: RunRef) -> Finished | None:
        return self.ends.get(ref)

    def finished_before(self, tenant: str, site_key: str, place: str) -> Finished | None:
        found = [
            each
            for each in self.ends.values()
            if (each.ref.tenant, each.site_key) == (tenant, site_key) and each.place < place
        ]
        return max(found, key=lambda each: each.place, default=None)

    # ------------------------------------------------------------ As ExpiryStore

    def expired(self, now: datetime, limit: int) -> list[Expired]:
        found: list[tuple[datetime, Expired]] = []
        for (tenant, audit_id, artifact_id), each in self.rows.items():
            if each.retention_until is None or each.deleted_at is not None:
                continue
            refusals, due_at = self.refused.get(
                (tenant, audit_id, artifact_id), (0, each.retention_until)
            )
            expired = Expired(
                row=(f"{tenant}/{audit_id}", artifact_id),
                storage_uri=each.storage_uri,
                retention_until=each.retention_until,
                refusals=refusals,
            )
            found.append((due_at, expired))
        found.sort(key=lambda pair: (pair[0], pair[1].row))
        return [expired for due_at, expired in found if due_at < now][:limit]

    def defer(self, expired: Expired, until: datetime) -> bool:
        owner, artifact_id = expired.row
        tenant, audit_id = owner.split("/")
        key = (tenant, audit_id, artifact_id)
        row = self.rows[key]
        if row.deleted_at is not None or row.retention_until != expired.retention_until:
            return False
        refusals, due_at = self.refused.get(key, (0, until))
        if refusals != expired.refusals:
            return (refusals, due_at) == (expired.refusals + 1, until)
        self.refused[key] = (expired.refusals + 1, until)
        return True

    def mark_deleted(self, expired: Expired, now: datetime) -> bool:
        owner, artifact_id = expired.row
        tenant, audit_id = owner.split("/")
        row = self.rows[tenant, audit_id, artifact_id]
        if row.deleted_at is not None or row.retention_until != expired.retention_until:
            return row.deleted_at == now
        self.rows[tenant, audit_id, artifact_id] = replace(row, deleted_at=now)
        return True

    def _require(self, lease: Lease) -> None:
        if not self._jobs.holds(lease):
            raise LeaseLost(f"job {lease.job_id} is no longer held by this claim")


class FakeAuditObjectStore(FakeDependency):
    """Implements AuditObjectStore and ObjectStore; a test can make it refuse some keys."""

    dependency = "s3"

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.types: dict[str, str] = {}
        self.refused: dict[str, str] = {}

    def put(self, key: str, body: bytes | IO[bytes], media_type: str) -> None:
        self._require()
        self.objects[key] = body if isinstance(body, bytes) else body.read()
        self.types[key] = media_type

    def get(self, key: str) -> bytes | None:
        self._require()
        return self.objects.get(key)

    def url(self, key: str, *, file_name: str, media_type: str, seconds: int) -> str:
        return f"https://bucket.example/{key}?name={file_name}&seconds={seconds}"

    def delete(self, keys: Sequence[str]) -> Mapping[str, str]:
        self._require()
        for key in keys:
            if key not in self.refused:
                self.objects.pop(key, None)
        return {key: why for key, why in self.refused.items() if key in keys}


class FakeScheduleStore(FakeRows[AuditSchedule]):
    """Implements ScheduleStore."""

    def due(self, now: datetime, limit: int) -> list[ScheduleRef]:
        found = [
            each
            for each in self.rows.values()
            if each.next_run_at is not None and each.next_run_at <= now
        ]
        found.sort(key=lambda each: str(each.next_run_at))
        return [ScheduleRef(each.tenant, each.id) for each in found[:limit]]
