"""Values of sources and their runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class RunStage(StrEnum):
    """How far a run has come; the last three are final."""

    STARTING = "starting"
    DISCOVERING = "discovering"
    CRAWLING = "crawling"
    COMPLETED = "completed"
    PARTIALLY_FAILED = "partially_failed"
    """Some pages failed."""
    FAILED = "failed"
    """No page could be crawled."""


FINAL = frozenset({RunStage.COMPLETED, RunStage.PARTIALLY_FAILED, RunStage.FAILED})


class Trigger(StrEnum):
    """Why a run began."""

    SCHEDULE = "schedule"
    REQUEST = "request"


class PageOutcome(StrEnum):
    """What a run found of a page."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    GONE = "gone"
    """The site answered that there is no such page (404, 410)."""
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class RunPage:
    """One page of a run."""

    url: str
    outcome: PageOutcome
    document_id: str | None
    """Of a page that is gone or failed: the one that it had."""
    job_id: str | None
    """The crawl; None for a page that was refused."""
    error: str | None = None
    """Code of the reason."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of a source."""

    tenant: str
    source_id: str
    id: str
    trigger: Trigger
    stage: RunStage
    started_at: datetime
    finished_at: datetime | None = None
    discovery_job_id: str | None = None
    batch_id: str | None = None
    """The job whose parts are the crawls."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """URL → code, of pages that were refused before they were crawled."""
    counts: Mapping[PageOutcome, int] = field(default_factory=dict)
    error: str | None = None
    """Why it failed, or found nothing."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """Pages that are crawled again and again: one URL, or all of a host that match a pattern."""

    tenant: str
    id: str
    name: str
    url_pattern: str
    crawl_config_id: str | None
    collection_id: str | None
    schedule_cron: str | None
    timezone: str
    is_active: bool
    created_at: datetime
    updated_at: datetime
    scheduled_from: datetime
    """Runs up to this moment are done or given up."""
    due_at: datetime | None
    """When to look at it again: the next run, or what a run under way has come to."""
    run_id: str | None = None
    """The run under way."""
    last_run_id: str | None = None
    """The last run that came to its pages."""
    last_crawled_at: datetime | None = None
    version: int = 1
    """Goes up by one with every change; the condition of the next one."""

    @property
    def is_pattern(self) -> bool:
        """Whether its pages have to be discovered."""
        return "*" in self.url_pattern


@dataclass(frozen=True, kw_only=True)
class SourceRef:
    """Names one source."""

    tenant: str
    source_id: str
