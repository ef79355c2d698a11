"""Rows of audit runs, their artifacts and scheduled audits, as stored."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from spinneret.audits.items import ARTIFACTS, FINISHED, PROGRESS
from spinneret.audits.models import Artifact, ArtifactType, AuditPhase, Finished, Progress, RunRef
from spinneret.audits.schedules.dynamo import SCHEDULES
from spinneret.audits.schedules.models import AuditSchedule
from tests.contract.exact_rows import check_read, check_row
from tests.rows import each_row

NOW: Final = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
LATER: Final = datetime(2026, 1, 2, 4, 4, 5, tzinfo=UTC)

RUN: Final = RunRef(tenant="acme", audit_id="job_1", run=2)
BEGUN: Final = Progress(ref=RUN)
DONE: Final = Progress(
    ref=RUN,
    phase=AuditPhase.DONE,
    lock_attempts=3,
    start_url="https://a.example/",
    site_uri="T/acme/site",
    probed=("a", "b"),
    out_of_time=True,
    result={"score": 87.5, "ä": [1, None]},
)
RESULT: Final = Finished(
    ref=RUN,
    site_key="k",
    start_url="https://a.example/",
    finished_at=NOW,
    score=87.1,
    catalogue_version="3",
    issues_uri="T/acme/issues",
)
KEPT: Final = Artifact(
    ref=RUN, type=ArtifactType.ISSUES, storage_uri="T/acme/issues", created_at=NOW
)
EXPIRING: Final = Artifact(
    ref=RUN,
    type=ArtifactType.HTML_GZ,
    storage_uri="T/acme/page",
    created_at=NOW,
    url="https://a.example/",
    retention_until=LATER,
)
PAUSED: Final = AuditSchedule(
    tenant="acme",
    id="schedule_1",
    url="https://a.example/",
    recipe="seo",
    schedule_cron="0 0 * * *",
    timezone="UTC",
    is_active=False,
    created_at=NOW,
    updated_at=NOW,
    next_run_at=None,
)
ACTIVE: Final = replace(
    PAUSED,
    options={"max_pages": 20},
    is_active=True,
    next_run_at=LATER,
    last_run_at=NOW,
    last_audit_id="job_1",
    last_error="X",
    version=4,
)


@each_row(
    [
        (
            "a new run",
            (
                PROGRESS,
                BEGUN,
                {
                    "pk": "T#acme#AUDIT#job_1",
                    "sk": "RUN#0002",
                    "phase": "settling",
                    "lock_attempts": 0,
                    "probed": [],
                    "out_of_time": False,
                    "refusal": "",
                },
            ),
        ),
        (
            "a done run",
            (
                PROGRESS,
                DONE,
                {
                    "pk": "T#acme#AUDIT#job_1",
                    "sk": "RUN#0002",
                    "phase": "done",
                    "lock_attempts": 3,
                    "start_url": "https://a.example/",
                    "site_uri": "T/acme/site",
                    "probed": ["a", "b"],
                    "out_of_time": True,
                    "refusal": "",
                    "result": '{"score": 87.5, "\\u00e4": [1, null]}',
                },
            ),
        ),
        (
            "a finished run",
            (
                FINISHED,
                RESULT,
                {
                    "pk": "T#acme#AUDIT#job_1",
                    "sk": "RUN#0002#FINISHED",
                    "audit_id": "job_1",
                    "run": 2,
                    "site_key": "k",
                    "start_url": "https://a.example/",
                    "finished_at": "2026-01-02T03:04:05.678901Z",
                    "score": "87.1",
                    "catalogue_version": "3",
                    "issues_uri": "T/acme/issues",
                },
            ),
        ),
        (
            "an artifact",
            (
                ARTIFACTS,
                KEPT,
                {
                    "pk": "T#acme#AUDIT#job_1",
                    "sk": "ARTIFACT#0002-issues-1540ec3f05ad017657ac45a7f201bce8",
                    "run": 2,
                    "type": "issues",
                    "storage_uri": "T/acme/issues",
                    "created_at": "2026-01-02T03:04:05.678901Z",
                },
            ),
        ),
        (
            "an artifact that expires",
            (
                ARTIFACTS,
                EXPIRING,
                {
                    "pk": "T#acme#AUDIT#job_1",
                    "sk": "ARTIFACT#0002-html_gz-70ba56e69e986b167f8108d01f7d5441",
                    "run": 2,
                    "type": "html_gz",
                    "storage_uri": "T/acme/page",
                    "created_at": "2026-01-02T03:04:05.678901Z",
                    "url": "https://a.example/",
                    "retention_until": "2026-01-02T04:04:05.000000Z",
                    "due_shard": "EXPIRY#3",
                    "due_at": "2026-01-02T04:04:05.000000Z",
                },
            ),
        ),
        (
            "a deleted artifact",
            (
                ARTIFACTS,
                replace(EXPIRING, deleted_at=LATER),
                {
                    "pk": "T#acme#AUDIT#job_1",
                    "sk": "ARTIFACT#0002-html_gz-70ba56e69e986b167f8108d01f7d5441",
                    "run": 2,
                    "type": "html_gz",
                    "storage_uri": "T/acme/page",
                    "created_at": "2026-01-02T03:04:05.678901Z",
                    "url": "https://a.example/",
                    "retention_until": "2026-01-02T04:04:05.000000Z",
                    "deleted_at": "2026-01-02T04:04:05.000000Z",
                },
            ),
        ),
        (
            "a paused schedule",
            (
                SCHEDULES,
                PAUSED,
                {
                    "pk": "T#acme#SCHEDULES",
                    "sk": "schedule_1",
                    "tenant": "acme",
                    "url": "https://a.example/",
                    "recipe": "seo",
                    "options": {},
                    "schedule_cron": "0 0 * * *",
                    "timezone": "UTC",
                    "is_active": False,
                    "created_at": "2026-01-02T03:04:05.678901Z",
                    "updated_at": "2026-01-02T03:04:05.678901Z",
                    "version": 1,
                },
            ),
        ),
        (
            "an active schedule",
            (
                SCHEDULES,
                ACTIVE,
                {
                    "pk": "T#acme#SCHEDULES",
                    "sk": "schedule_1",
                    "tenant": "acme",
                    "url": "https://a.example/",
                    "recipe": "seo",
                    "options": {
                        "max_pages": 20,
                    },
                    "schedule_cron": "0 0 * * *",
                    "timezone": "UTC",
                    "is_active": True,
                    "created_at": "2026-01-02T03:04:05.678901Z",
                    "updated_at": "2026-01-02T03:04:05.678901Z",
                    "next_run_at": "2026-01-02T04:04:05.000000Z",
                    "last_run_at": "2026-01-02T03:04:05.678901Z",
                    "last_audit_id": "job_1",
                    "last_error": "X",
                    "version": 4,
                    "due_shard": "SCHEDULE#0",
                    "due_at": "2026-01-02T04:04:05.000000Z",
                },
            ),
        ),
    ]
)
def test_rows_are_written_and_read_as_before(row: Any) -> None:
    check_row(*row)


@each_row(
    [
        (
            "a finished run below its site",
            (
                FINISHED,
                RESULT,
                {
                    "pk": "T#acme#SITE#k",
                    "sk": "20260102T030405678901#job_1#0002",
                    "audit_id": "job_1",
                    "run": 2,
                    "site_key": "k",
                    "start_url": "https://a.example/",
                    "finished_at": "2026-01-02T03:04:05.678901Z",
                    "score": "87.1",
                    "catalogue_version": "3",
                    "issues_uri": "T/acme/issues",
                },
            ),
        ),
        (
            "an artifact whose deletion failed",
            (
                ARTIFACTS,
                EXPIRING,
                {
                    "pk": "T#acme#AUDIT#job_1",
                    "sk": "ARTIFACT#0002-html_gz-70ba56e69e986b167f8108d01f7d5441",
                    "run": 2,
                    "type": "html_gz",
                    "storage_uri": "T/acme/page",
                    "created_at": "2026-01-02T03:04:05.678901Z",
                    "url": "https://a.example/",
                    "retention_until": "2026-01-02T04:04:05.000000Z",
                    "due_shard": "EXPIRY#3",
                    "due_at": "2026-01-02T04:04:05.000000Z",
                    "refusals": 1,
                },
            ),
        ),
        (
            "a schedule before 2026-11-22",
            (
                SCHEDULES,
                ACTIVE,
                {
                    "pk": "T#acme#SCHEDULES",
                    "sk": "schedule_1",
                    "tenant": "acme",
                    "url": "https://a.example/",
                    "recipe": "seo",
                    "options": {
                        "max_pages": 20,
                    },
                    "schedule_cron": "0 0 * * *",
                    "timezone": "UTC",
                    "enabled": True,
                    "created_at": "2026-01-02T03:04:05.678901Z",
                    "updated_at": "2026-01-02T03:04:05.678901Z",
                    "next_run_at": "2026-01-02T04:04:05.000000Z",
                    "last_run_at": "2026-01-02T03:04:05.678901Z",
                    "last_audit_id": "job_1",
                    "last_error": "X",
                    "version": 4,
                    "due_shard": "SCHEDULE#0",
                    "due_at": "2026-01-02T04:04:05.000000Z",
                },
            ),
        ),
        (
            "a run before sites' refusals were stored",
            (
                PROGRESS,
                BEGUN,
                {
                    "pk": "T#acme#AUDIT#job_1",
                    "sk": "RUN#0002",
                    "phase": "settling",
                    "lock_attempts": 0,
                    "probed": [],
                    "out_of_time": False,
                },
            ),
        ),
    ]
)
def test_rows_with_other_keys_or_attributes_are_read(row: Any) -> None:
    check_read(*row)
