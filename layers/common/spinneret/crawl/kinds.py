"""Job kinds of crawls, and their lanes."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from spinneret.crawl import limits
from spinneret.jobs.kinds import EndMetrics, KindPolicy
from spinneret.jobs.models import Lane, Priority
from spinneret.kernel import bounds, metrics

CRAWL: Final = "crawl"
RENDERED_CRAWL: Final = "rendered_crawl"
"""A crawl whose worker has a browser."""
PAGE_KINDS: Final = (CRAWL, RENDERED_CRAWL)
"""Kinds of crawls of one page."""
CRAWL_BATCH: Final = "crawl_batch"
"""Parent of the crawls of one request."""
CRAWL_FILE: Final = "crawl_file"
"""Parent of the crawls of a file of URLs."""
DEEP_CRAWL: Final = "deep_crawl"
"""Driven by an execution of statemachines/deep_crawl.asl.yaml."""

LANES: Final[Mapping[Priority, Lane]] = {
    Priority.CRITICAL: Lane("crawl-high"),
    Priority.HIGH: Lane("crawl-high"),
    Priority.NORMAL: Lane("crawl-normal"),
    Priority.LOW: Lane("crawl-low"),
}

_PAGE: Final = KindPolicy(
    lanes=LANES,
    subject="url",
    events="crawl",
    ends_in_part=False,
    end_metrics=EndMetrics(
        ended=metrics.CRAWLS,
        succeeded=metrics.CRAWLS_SUCCEEDED,
        failed=metrics.CRAWLS_FAILED,
        duration=metrics.CRAWL_DURATION,
    ),
    max_redrives=bounds.REDRIVES,
    pending_seconds=bounds.JOB_PENDING_SECONDS,
    holds_steps=True,
)
KINDS: Final = {
    CRAWL: _PAGE,
    RENDERED_CRAWL: replace(_PAGE, lanes=dict.fromkeys(Priority, Lane("crawl-rendered"))),
    DEEP_CRAWL: KindPolicy(
        lanes=LANES,
        subject="url",
        events="deep_crawl",
        pending_seconds=bounds.JOB_PENDING_SECONDS,
    ),
    CRAWL_FILE: KindPolicy(
        lanes=LANES,
        subject="name",
        events="crawl_file",
        work_seconds=limits.INBOX_WORK_SECONDS,
        pending_seconds=bounds.JOB_PENDING_SECONDS,
        holds_steps=True,
    ),
    CRAWL_BATCH: KindPolicy(
        lanes=LANES, events="crawl_batch", pending_seconds=bounds.JOB_PENDING_SECONDS
    ),
}
