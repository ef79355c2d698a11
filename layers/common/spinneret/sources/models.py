"""Values of sources and their runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class RunStage(StrEnum):
    """Stage of a run; the last three are final."""

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
    """Reason why a run started."""

    SCHEDULE = "schedule"
    REQUEST = "request"


class PageOutcome(StrEnum):
    """Outcome of a page in a run."""

    NEW = "new"
    """First crawled, or back after it was gone."""
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
    """Id of the page's document; if the page is gone or failed, of its earlier document."""
    job_id: str | None
    """Id of the crawl; None for a page that was refused."""
    error: str | None = None
    """Code of the error."""


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
    deep_crawl_id: str | None = None
    """Id of the deep crawl, if the source's config has a depth."""
    batch_id: str | None = None
    """Id of the job whose parts are the crawls; of pages that the deep crawl didn't reach."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """URL → code, for pages that were refused before they were crawled."""
    counts: Mapping[PageOutcome, int] = field(default_factory=dict)
    error: str | None = None
    """Reason why it failed, or found nothing."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """Pages that are crawled repeatedly: one URL, or all URLs of a host that match a pattern."""

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
    """Time up to which runs are finished or skipped."""
    due_at: datetime | None
    """Time of the next check: the next run is due, or the current run may have progressed."""
    run_id: str | None = None
    """Id of the current run."""
    last_run_id: str | None = None
    """Id of the last run that reached its pages."""
    last_crawled_at: datetime | None = None
    version: int = 1
    """Version, incremented by every change, which is conditional on it."""

    @property
    def is_pattern(self) -> bool:
        """Whether its pages have to be discovered."""
        return "*" in self.url_pattern


@dataclass(frozen=True, kw_only=True)
class SourceRef:
    """Reference to one source."""

    tenant: str
    source_id: str
