"""Rows of host settings, crawls and their pages, as stored."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Any, Final

from spinneret.web.exploring.frontier.items import CRAWLS, PAGES, page_item
from spinneret.web.exploring.frontier.models import (
    Crawl,
    CrawlRef,
    EndReason,
    FrontierPage,
    PageState,
    Plan,
    Strategy,
)
from spinneret.web.exploring.scope import ScopeKind
from spinneret.web.hosts.dynamo import SETTINGS
from spinneret.web.hosts.models import HostBlock, HostSettings, Override
from tests.contract.exact_rows import Functions, check_read, check_row
from tests.rows import each_row

NOW: Final = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
LATER: Final = datetime(2026, 1, 2, 4, 4, 5, tzinfo=UTC)

UNTOUCHED: Final = HostSettings(tenant="acme", host="a.example", updated_at=NOW)
BLOCKED: Final = HostSettings(
    tenant="acme",
    host="a.example",
    override=Override(
        requests_per_second=0.1,
        burst=3,
        min_gap_seconds=1e-07,
        breaker_failures=2,
        breaker_seconds=30.0,
    ),
    notes="ö",
    block=HostBlock(reason="r", since=NOW),
    updated_at=LATER,
)

BEGUN: Final = Crawl(ref=CrawlRef("acme", "job_1"), plan=Plan(), roots=(), begun_at=NOW)
ENDED: Final = Crawl(
    ref=CrawlRef("acme", "job_1"),
    plan=Plan(
        strategy=Strategy.BEST_FIRST,
        max_depth=5,
        max_pages=50,
        keywords=("größe",),
        score_threshold=0.1,
        scope=ScopeKind.DOMAIN,
        include=("/a*",),
        exclude=("/b*", "/c*"),
        urls_per_host=7,
        batch_pages=3,
    ),
    roots=("https://a.example/", "https://b.example/"),
    begun_at=NOW,
    fence=3,
    batch=4,
    current_depth=2,
    discovered=9,
    crawled=8,
    failed=1,
    ended_at=LATER,
    end_reason=EndReason.BUDGET,
)

PAGES_OF_CRAWL: Final = Functions(partial(page_item, BEGUN), PAGES.decode)
WAITING: Final = FrontierPage(
    key="ab" * 16,
    url="https://a.example/",
    host="a.example",
    depth=0,
    state=PageState.WAITING,
    rank="1",
    discovered_at=NOW,
)
CRAWLED: Final = replace(
    WAITING,
    depth=3,
    state=PageState.CRAWLED,
    score=0.1,
    parent="https://b.example/",
    batch=2,
    position=3,
    fence=4,
    attempts=1,
    due_at=LATER,
    owner="worker",
    leased_until=LATER,
    same_as="cd" * 16,
    link_chunks=1,
    links_fence=4,
    content_hash="h",
    final_url="https://a.example/b",
    status_code=200,
    document_id="doc_1",
    parts_key="k",
    error_code="X",
    error_message="m",
    finished_at=LATER,
    skipped={"scope": 3},
)


@each_row(
    [
        (
            "a new crawl",
            (
                CRAWLS,
                BEGUN,
                {
                    "pk": "T#acme#CRAWL#job_1",
                    "sk": "CRAWL",
                    "plan": (
                        '{"strategy":"bfs","max_depth":2,"max_pages":100,"keywords":['
                        '],"score_threshold":0.4,"scope":"host","include":[],"exclude'
                        '":[],"urls_per_host":null,"batch_pages":25}'
                    ),
                    "roots": [],
                    "begun_at": "2026-01-02T03:04:05.678901Z",
                    "discovered": 0,
                    "crawled": 0,
                    "failed": 0,
                    "fence": 0,
                    "batch": 0,
                    "current_depth": 0,
                    "purge_at": 1772507045,
                },
            ),
        ),
        (
            "a finished crawl",
            (
                CRAWLS,
                ENDED,
                {
                    "pk": "T#acme#CRAWL#job_1",
                    "sk": "CRAWL",
                    "plan": (
                        '{"strategy":"best_first","max_depth":5,"max_pages":50,"keywo'
                        'rds":["gr\\u00f6\\u00dfe"],"score_threshold":0.1,"scope":"doma'
                        'in","include":["/a*"],"exclude":["/b*","/c*"],"urls_per_host'
                        '":7,"batch_pages":3}'
                    ),
                    "roots": ["https://a.example/", "https://b.example/"],
                    "begun_at": "2026-01-02T03:04:05.678901Z",
                    "discovered": 9,
                    "crawled": 8,
                    "failed": 1,
                    "fence": 3,
                    "batch": 4,
                    "current_depth": 2,
                    "ended_at": "2026-01-02T04:04:05.000000Z",
                    "end_reason": "budget",
                    "purge_at": 1769918645,
                },
            ),
        ),
        (
            "a waiting page",
            (
                PAGES_OF_CRAWL,
                WAITING,
                {
                    "pk": "T#acme#CRAWL#job_1",
                    "sk": "URL#abababababababababababababababab",
                    "place": "W#1",
                    "url": "https://a.example/",
                    "host": "a.example",
                    "depth": 0,
                    "state": "waiting",
                    "rank": "1",
                    "discovered_at": "2026-01-02T03:04:05.678901Z",
                    "batch": 0,
                    "position": 0,
                    "fence": 0,
                    "attempts": 0,
                    "link_chunks": 0,
                    "links_fence": 0,
                    "purge_at": 1772507045,
                },
            ),
        ),
        (
            "a crawled page",
            (
                PAGES_OF_CRAWL,
                CRAWLED,
                {
                    "pk": "T#acme#CRAWL#job_1",
                    "sk": "URL#abababababababababababababababab",
                    "place": "C#000002.03",
                    "url": "https://a.example/",
                    "host": "a.example",
                    "depth": 3,
                    "state": "crawled",
                    "rank": "1",
                    "discovered_at": "2026-01-02T03:04:05.678901Z",
                    "score": Decimal("0.1"),
                    "parent": "https://b.example/",
                    "batch": 2,
                    "position": 3,
                    "fence": 4,
                    "attempts": 1,
                    "due_at": "2026-01-02T04:04:05.000000Z",
                    "owner": "worker",
                    "leased_until": "2026-01-02T04:04:05.000000Z",
                    "same_as": "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd",
                    "link_chunks": 1,
                    "links_fence": 4,
                    "content_hash": "h",
                    "final_url": "https://a.example/b",
                    "status_code": 200,
                    "document_id": "doc_1",
                    "parts_key": "k",
                    "error_code": "X",
                    "error_message": "m",
                    "finished_at": "2026-01-02T04:04:05.000000Z",
                    "skipped": {
                        "scope": 3,
                    },
                    "purge_at": 1772507045,
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
            "settings without a value",
            (
                SETTINGS,
                UNTOUCHED,
                {
                    "pk": "T#acme#DOMAIN",
                    "sk": "a.example",
                    "updated_at": "2026-01-02T03:04:05.678901Z",
                },
            ),
        ),
        (
            "settings with an override and a block",
            (
                SETTINGS,
                BLOCKED,
                {
                    "pk": "T#acme#DOMAIN",
                    "sk": "a.example",
                    "requests_per_second": Decimal("0.1"),
                    "burst": 3,
                    "min_gap_seconds": Decimal("1E-7"),
                    "breaker_failures": 2,
                    "breaker_seconds": Decimal("30.0"),
                    "notes": "ö",
                    "blocked_at": "2026-01-02T03:04:05.678901Z",
                    "blocked_reason": "r",
                    "updated_at": "2026-01-02T04:04:05.000000Z",
                },
            ),
        ),
    ]
)
def test_host_settings_are_read(row: Any) -> None:
    check_read(*row)
