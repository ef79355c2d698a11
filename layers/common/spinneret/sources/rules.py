"""Rules for URL patterns, run times and results of sources: pure functions."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from spinneret.kernel.errors import UrlInvalid
from spinneret.outbox.models import DomainEvent
from spinneret.redaction import redact_text
from spinneret.schedules.cron import due, next_run, parse_schedule
from spinneret.sources import limits
from spinneret.sources.event_types import RUN_COMPLETED, RUN_FAILED
from spinneret.sources.models import PageOutcome, Run, RunPage, RunStage, Source
from spinneret.web.exploring.globs import compile_pattern
from spinneret.web.exploring.scope import CrawlScope, ScopeKind
from spinneret.web.fetching.rules import parse_field
from spinneret.web.fetching.urls import Url, cache_url, parse_url

_PATTERN: Final = re.compile(r"(?P<root>https?://[^/*?#\s]+)(?P<path>/\S*)", re.IGNORECASE)


def root_and_path(url_pattern: str) -> tuple[Url, str]:
    """Return the site of a URL pattern, and the pattern of its paths.

    Raises UrlInvalid, and ValidationFailed for a pattern that doesn't compile.
    """
    match = _PATTERN.fullmatch(url_pattern)
    if match is None:
        raise UrlInvalid.of_field(
            "url_pattern", "a pattern begins with http:// or https:// and a host without wildcards"
        )
    compile_pattern(match["path"], "url_pattern")
    return parse_field(match["root"], "url_pattern"), match["path"]


def scheduled(source: Source, now: datetime) -> Source:
    """Return the source with the time of its next check.

    Missed runs become one run, which is due at once.
    """
    if source.run_id is not None:
        return replace(source, due_at=now + timedelta(seconds=limits.SOURCE_LOOK_SECONDS))
    if source.schedule_cron is None or not source.is_active:
        return replace(source, due_at=None)
    schedule = parse_schedule(source.schedule_cron, source.timezone)
    return replace(source, due_at=next_run(schedule, source.scheduled_from))


def is_due(source: Source, now: datetime) -> bool:
    """Return whether a scheduled run is due."""
    if source.run_id is not None or source.schedule_cron is None or not source.is_active:
        return False
    schedule = parse_schedule(source.schedule_cron, source.timezone)
    return due(schedule, now, source.scheduled_from) is not None


def pages_to_crawl(found: Sequence[str], known: Sequence[RunPage]) -> list[str]:
    """Return the discovered pages, then the pages of the last run, whose disappearance is checked.

    Each page is contained once; at most SOURCE_PAGES_MAX.
    """
    first: dict[str, str] = {}
    for url in (*found, *(page.url for page in known if page.outcome is not PageOutcome.GONE)):
        first.setdefault(_key(url), url)
    return list(first.values())[: limits.SOURCE_PAGES_MAX]


def covered(pages: Iterable[RunPage], source: Source) -> tuple[RunPage, ...]:
    """Return the pages that the source has; a former pattern or site of it may have had others."""
    if source.is_pattern:
        root, path = root_and_path(source.url_pattern)
        scope = CrawlScope.of(ScopeKind.HOST, [root], [path])
    else:
        scope = CrawlScope.of(ScopeKind.HOST, [parse_url(source.url_pattern)])
    return tuple(page for page in pages if scope.refusal(parse_url(page.url)) is None)


def reached(pages: Iterable[RunPage], known: Sequence[RunPage], start: str) -> tuple[RunPage, ...]:
    """Return the pages of a deep crawl that belong to the run.

    A link that leads nowhere is no page of the source: it counts only if it was known before.
    """
    keys = {_key(start), *(_key(page.url) for page in known)}
    failed = (PageOutcome.GONE, PageOutcome.FAILED)
    return tuple(page for page in pages if page.outcome not in failed or _key(page.url) in keys)


def not_reached(pages: Iterable[RunPage], known: Sequence[RunPage]) -> list[str]:
    """Return the pages of the last run that a deep crawl no longer reaches.

    Both together are at most SOURCE_PAGES_MAX.
    """
    keys = {_key(page.url) for page in pages}
    left = (page.url for page in known if page.outcome is not PageOutcome.GONE)
    room = max(limits.SOURCE_PAGES_MAX - len(keys), 0)
    return [url for url in left if _key(url) not in keys][:room]


def with_refused(pages: Iterable[RunPage], run: Run) -> list[RunPage]:
    """Return the pages of a run, including those refused before they were crawled."""
    refused = (
        RunPage(url=url, outcome=PageOutcome.FAILED, document_id=None, job_id=None, error=code)
        for url, code in run.refused.items()
    )
    return [*pages, *refused]


def with_documents(pages: Iterable[RunPage], known: Sequence[RunPage]) -> list[RunPage]:
    """Return the pages; a page without a document keeps its earlier one."""
    former = {_key(page.url): page.document_id for page in known}
    return [
        page
        if page.document_id is not None
        else replace(page, document_id=former.get(_key(page.url)))
        for page in pages
    ]


def with_returned(pages: Iterable[RunPage], known: Sequence[RunPage]) -> list[RunPage]:
    """Return the pages; one that the last run lost or lacked is new, even with its former content.

    A page that is gone is in one run only, unless the site still lists it. A run that is full may
    lack pages that aren't gone.
    """
    had = {_key(page.url): page.outcome for page in known}
    lacked = PageOutcome.GONE if len(known) < limits.SOURCE_PAGES_MAX else PageOutcome.UNCHANGED
    there = (PageOutcome.CHANGED, PageOutcome.UNCHANGED)
    return [
        replace(page, outcome=PageOutcome.NEW)
        if page.outcome in there and had.get(_key(page.url), lacked) is PageOutcome.GONE
        else page
        for page in pages
    ]


def event_of(source: Source, run: Run, targets: tuple[str, ...]) -> DomainEvent:
    """Return the event that reports the end of a run; `source` is the source after it."""
    assert run.finished_at is not None  # it has ended
    done = run.stage is RunStage.COMPLETED
    return DomainEvent(
        tenant=source.tenant,
        type=RUN_COMPLETED if done else RUN_FAILED,
        subject=source.id,
        sequence=source.version,
        occurred_at=run.finished_at,
        data={
            "source_id": source.id,
            "run_id": run.id,
            "name": source.name,
            "url_pattern": redact_text(source.url_pattern),
            "status": run.stage.value,
            "error": run.error,
            **{outcome.value: run.counts.get(outcome, 0) for outcome in PageOutcome},
        },
        targets=targets,
    )


def ended(run: Run, pages: Sequence[RunPage], now: datetime) -> Run:
    """Return the finished run with the status that its pages determine."""
    counts = Counter(page.outcome for page in pages)
    failed = counts[PageOutcome.FAILED]
    stage = RunStage.COMPLETED if not failed else RunStage.PARTIALLY_FAILED
    if failed and failed == len(pages):
        stage = RunStage.FAILED
    return replace(run, stage=stage, finished_at=now, counts=dict(counts), refused={})


def _key(url: str) -> str:
    return cache_url(parse_url(url))


def referred(field: str) -> str:
    """Return what a field of a source refers to, in words."""
    return field.removesuffix("_id").replace("_", " ")
