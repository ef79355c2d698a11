"""Requests and answers about sources."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from spinneret.events.webhooks.service import RequestedEndpoint
from spinneret.kernel import bounds
from spinneret.kernel.clock import optional_stamp, to_iso
from spinneret.kernel.paging import Page
from spinneret.kernel.views import ListOf
from spinneret.sources import limits
from spinneret.sources.event_types import RUN_COMPLETED, RUN_FAILED
from spinneret.sources.models import PageOutcome, Run, RunPage, RunStage, Source, Trigger
from spinneret.sources.service import SourceDraft

SourceName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=limits.SOURCE_NAME_MAX_CHARS),
]
RowId = Annotated[str, StringConstraints(min_length=1, max_length=80)]
UrlText = Annotated[str, StringConstraints(min_length=1, max_length=bounds.URL_MAX_CHARS)]
CronText = Annotated[str, StringConstraints(min_length=1, max_length=bounds.CRON_LINE_MAX_CHARS)]
ZoneName = Annotated[str, StringConstraints(min_length=1, max_length=64)]


class SourceRequest(BaseModel):
    """A source as it is to be; a PUT replaces all fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: SourceName
    url_pattern: UrlText
    """A page, or with `*` all pages of a host whose path matches, found by its sitemaps."""
    crawl_config_id: RowId | None = None
    """Without it the tenant's default config, if it has one; its `max_depth` doesn't count: which
    pages a source has, its pattern says."""
    collection_id: RowId | None = None
    schedule_cron: CronText | None = None
    """Five fields; without it runs are triggered by hand alone."""
    timezone: ZoneName = "UTC"
    is_active: bool = True
    """Whether the schedule is followed."""

    @property
    def draft(self) -> SourceDraft:
        """What the service takes."""
        return SourceDraft(**self.model_dump())


class SourceView(BaseModel):
    """A source."""

    source_id: str
    name: str
    url_pattern: str
    crawl_config_id: str | None
    collection_id: str | None
    schedule_cron: str | None
    timezone: str
    is_active: bool
    next_run_at: str | None
    """By the schedule; null while a run is under way."""
    run_id: str | None
    """The run under way."""
    last_crawled_at: str | None
    created_at: str
    updated_at: str


class SourceList(ListOf[SourceView]):
    """A page of sources, newest first."""


class RunView(BaseModel):
    """One run of a source."""

    run_id: str
    source_id: str
    status: RunStage
    trigger: Trigger
    new: int
    changed: int
    unchanged: int
    gone: int
    failed: int
    batch_id: str | None
    """The job whose parts are the crawls of the pages."""
    discovery_job_id: str | None
    error: str | None
    """Why it failed, or found nothing."""
    started_at: str
    finished_at: str | None


class RunListView(ListOf[RunView]):
    """A page of runs, newest first."""


class RunPageView(BaseModel):
    """One page of a run."""

    url: str
    outcome: PageOutcome
    document_id: str | None
    """Of a page that is gone or failed: the one that it had."""
    job_id: str | None
    error: str | None


class RunDetail(RunView):
    """One run and its pages, up to 500."""

    pages: list[RunPageView]


class TriggeredRun(BaseModel):
    """Answer to a trigger."""

    run_id: str
    status: RunStage
    message: str


class SourceWebhookRequest(BaseModel):
    """Body of `POST /api/v1/sources/{source_id}/webhooks`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    url: UrlText
    headers: Annotated[dict[str, str], Field(repr=False)] = {}
    """Sent with every delivery; never shown again."""
    secret: Annotated[str | None, Field(repr=False, max_length=bounds.WEBHOOK_SECRET_MAX_CHARS)] = (
        None
    )
    """`whsec_` and the base64 form of 24 to 64 random bytes; without it one is generated."""
    events: Annotated[
        frozenset[Literal["completed", "failed"]], Field(min_length=1, strict=False)
    ] = frozenset({"completed", "failed"})
    """How a run ended; one of which a page failed has failed."""
    is_active: bool = True

    def endpoint(self, source: Source) -> RequestedEndpoint:
        """The request as webhooks take it."""
        names = {"completed": RUN_COMPLETED, "failed": RUN_FAILED}
        return RequestedEndpoint(
            name=source.name[: bounds.WEBHOOK_NAME_MAX_CHARS],
            url=self.url,
            events=frozenset(names[event] for event in self.events),
            headers=self.headers,
            is_active=self.is_active,
            source_id=source.id,
        )


def source_view(source: Source) -> SourceView:
    """A source as its tenant sees it."""
    return SourceView(
        source_id=source.id,
        name=source.name,
        url_pattern=source.url_pattern,
        crawl_config_id=source.crawl_config_id,
        collection_id=source.collection_id,
        schedule_cron=source.schedule_cron,
        timezone=source.timezone,
        is_active=source.is_active,
        next_run_at=None if source.run_id else optional_stamp(source.due_at),
        run_id=source.run_id,
        last_crawled_at=optional_stamp(source.last_crawled_at),
        created_at=to_iso(source.created_at),
        updated_at=to_iso(source.updated_at),
    )


def source_list(page: Page[Source]) -> SourceList:
    """A page as its tenant sees it."""
    return SourceList.page(page, source_view)


def run_view(run: Run) -> RunView:
    """A run as its tenant sees it."""
    return RunView(
        run_id=run.id,
        source_id=run.source_id,
        status=run.stage,
        trigger=run.trigger,
        **{outcome.value: run.counts.get(outcome, 0) for outcome in PageOutcome},
        batch_id=run.batch_id,
        discovery_job_id=run.discovery_job_id,
        error=run.error,
        started_at=to_iso(run.started_at),
        finished_at=optional_stamp(run.finished_at),
    )


def run_list(runs: Page[Run]) -> RunListView:
    """A page as its tenant sees it."""
    return RunListView.page(runs, run_view)


def run_detail(run: Run, pages: tuple[RunPage, ...]) -> RunDetail:
    """A run with its pages."""
    shown = [RunPageView(**vars(page)) for page in pages]
    return RunDetail(**run_view(run).model_dump(), pages=shown)
