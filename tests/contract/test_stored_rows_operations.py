"""Rows of statistics, as stored in all releases."""

from datetime import date
from typing import Any

from spinneret.operations.statistics.dynamo import CURSORS, DAYS, HOSTS
from spinneret.operations.statistics.models import CountCursor, DayOfJobs, HostUse
from tests.contract.exact_rows import check_row
from tests.fakes.time import START
from tests.rows import each_row

NEW_CURSOR = {
    "pk": "T#acme#STATISTICS",
    "sk": "PLACE",
    "position": "",
    "unfinished": [],
    "counted": [],
    "version": 0,
}
CURSOR = {
    **NEW_CURSOR,
    "position": "job_1",
    "unfinished": ["job_0"],
    "counted": ["job_2", "job_3"],
    "version": 4,
}
DAY = {
    "pk": "T#acme#STATISTICS",
    "sk": "DAY#2026-01-02",
    "ends": '{"crawl.completed":2}',
    "crawl_ms": '{"3":1}',
    "purge_at": 1770768000,
}
HOST = {
    "pk": "T#acme#STATISTICS#HOSTS",
    "sk": "example.org",
    "crawls": 3,
    "failures": 1,
    "bytes": 2048,
    "timed": 2,
    "duration_ms": 900,
    "last_crawl_at": "2026-01-02T12:00:00.000000Z",
    "purge_at": 1775131200,
}


@each_row(
    [
        ("a new cursor of the count", (CURSORS, CountCursor(tenant="acme"), NEW_CURSOR)),
        (
            "a cursor of the count",
            (
                CURSORS,
                CountCursor(
                    tenant="acme",
                    position="job_1",
                    unfinished=("job_0",),
                    counted=("job_2", "job_3"),
                    version=4,
                ),
                CURSOR,
            ),
        ),
        (
            "a day",
            (
                DAYS,
                DayOfJobs(
                    tenant="acme",
                    day=date(2026, 1, 2),
                    ends={"crawl.completed": 2},
                    crawl_ms={3: 1},
                ),
                DAY,
            ),
        ),
        (
            "a host",
            (
                HOSTS,
                HostUse(
                    tenant="acme",
                    host="example.org",
                    crawls=3,
                    failures=1,
                    bytes=2048,
                    timed=2,
                    duration_ms=900,
                    last_crawl_at=START,
                ),
                HOST,
            ),
        ),
    ]
)
def test_rows_are_written_and_read_as_before(row: Any) -> None:
    check_row(*row)
