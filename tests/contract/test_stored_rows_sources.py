"""Rows of sources and their runs, as stored."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import pytest

from spinneret.sources.dynamo import RUNS, SOURCES
from spinneret.sources.models import PageOutcome, Run, RunStage, Source, Trigger
from tests.contract.stored_rows import StoredRow, readable

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

ROWS: Final = [
    StoredRow(
        "an inactive source",
        SOURCES,
        INACTIVE,
        {
            "pk": "T#acme#SOURCES",
            "sk": "source_1",
            "name": "Ä",
            "url_pattern": "https://a.example/*",
            "timezone": "UTC",
            "is_active": False,
            "created_at": "2026-01-02T03:04:05.678901Z",
            "updated_at": "2026-01-02T03:04:05.678901Z",
            "scheduled_from": "2026-01-02T03:04:05.678901Z",
            "version": 1,
        },
    ),
    StoredRow(
        "a due source",
        SOURCES,
        DUE,
        {
            "pk": "T#acme#SOURCES",
            "sk": "source_1",
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
            "due_shard": "DUE#2",
        },
    ),
    StoredRow(
        "a started run",
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
    StoredRow(
        "a finished run",
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
]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_row_is_written_in_its_form(row: StoredRow) -> None:
    assert row.written() == readable(row.item)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_stored_row_is_read(row: StoredRow) -> None:
    assert row.read() == row.value
