"""Rows of sources and their runs, as stored."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from spinneret.sources.dynamo import RUNS, SOURCES
from spinneret.sources.models import PageOutcome, Run, RunStage, Source, Trigger
from tests.contract.exact_rows import check_row
from tests.rows import each_row

NOW: Final = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
LATER: Final = datetime(2026, 1, 2, 4, 4, 5, tzinfo=UTC)

INACTIVE: Final = Source(
    tenant="acme",
    id="source_1",
    name="Ä",
    url_pattern="https://a.example/*",
    crawl_config_id=None,
    collection_id=None,
    schedule_cron=None,
    timezone="UTC",
    is_active=False,
    created_at=NOW,
    updated_at=NOW,
    scheduled_from=NOW,
    due_at=None,
)
DUE: Final = replace(
    INACTIVE,
    crawl_config_id="config_1",
    collection_id="collection_1",
    schedule_cron="0 0 * * *",
    is_active=True,
    due_at=LATER,
    run_id="run_1",
    last_run_id="run_0",
    last_crawled_at=NOW,
    version=7,
)
STARTED: Final = Run(
    tenant="acme",
    source_id="source_1",
    id="run_1",
    trigger=Trigger.SCHEDULE,
    stage=RunStage.STARTING,
    started_at=NOW,
)
FINISHED: Final = replace(
    STARTED,
    trigger=Trigger.REQUEST,
    stage=RunStage.PARTIALLY_FAILED,
    finished_at=LATER,
    discovery_job_id="job_1",
    batch_id="job_2",
    refused={"https://ä.example/": "blocked"},
    counts={PageOutcome.NEW: 3, PageOutcome.FAILED: 0},
    error="X",
)


@each_row(
    [
        (
            "an inactive source",
            (
                SOURCES,
                INACTIVE,
                {
                    "name": "Ä",
                    "url_pattern": "https://a.example/*",
                    "timezone": "UTC",
                    "is_active": False,
                    "created_at": "2026-01-02T03:04:05.678901Z",
                    "updated_at": "2026-01-02T03:04:05.678901Z",
                    "scheduled_from": "2026-01-02T03:04:05.678901Z",
                    "version": 1,
                    "pk": "T#acme#SOURCES",
                    "sk": "source_1",
                },
            ),
        ),
        (
            "a due source",
            (
                SOURCES,
                DUE,
                {
                    "name": "Ä",
                    "url_pattern": "https://a.example/*",
                    "crawl_config_id": "config_1",
                    "collection_id": "collection_1",
                    "schedule_cron": "0 0 * * *",
                    "timezone": "UTC",
                    "is_active": True,
                    "created_at": "2026-01-02T03:04:05.678901Z",
                    "updated_at": "2026-01-02T03:04:05.678901Z",
                    "scheduled_from": "2026-01-02T03:04:05.678901Z",
                    "due_at": "2026-01-02T04:04:05.000000Z",
                    "run_id": "run_1",
                    "last_run_id": "run_0",
                    "last_crawled_at": "2026-01-02T03:04:05.678901Z",
                    "version": 7,
                    "pk": "T#acme#SOURCES",
                    "sk": "source_1",
                    "due_shard": "DUE#2",
                },
            ),
        ),
        (
            "a started run",
            (
                RUNS,
                STARTED,
                {
                    "pk": "T#acme#SOURCE#source_1#RUNS",
                    "sk": "run_1",
                    "trigger": "schedule",
                    "stage": "starting",
                    "started_at": "2026-01-02T03:04:05.678901Z",
                    "refused": "{}",
                    "counts": "{}",
                    "purge_at": 1801883045,
                },
            ),
        ),
        (
            "a finished run",
            (
                RUNS,
                FINISHED,
                {
                    "pk": "T#acme#SOURCE#source_1#RUNS",
                    "sk": "run_1",
                    "trigger": "request",
                    "stage": "partially_failed",
                    "started_at": "2026-01-02T03:04:05.678901Z",
                    "finished_at": "2026-01-02T04:04:05.000000Z",
                    "discovery_job_id": "job_1",
                    "batch_id": "job_2",
                    "refused": '{"https://\\u00e4.example/": "blocked"}',
                    "counts": '{"new": 3, "failed": 0}',
                    "error": "X",
                    "purge_at": 1801886645,
                },
            ),
        ),
    ]
)
def test_rows_are_written_and_read_as_before(row: Any) -> None:
    check_row(*row)
