"""Requests and responses of sources."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from spinneret.events.webhooks.models import RequestedEndpoint
from spinneret.kernel import bounds
from spinneret.kernel.views import ListOf, Timestamp
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
    """A new or changed source; a PUT replaces all fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: SourceName
    """Name for people."""
    url_pattern: UrlText
    """URL of one page, or with `*` all pages of a host whose path matches, found through its
    sitemaps."""
    crawl_config_id: RowId | None = None
    """Crawl config; by default the tenant's default config, if there is one.

    If its `max_depth` isn't 0, each run of a source of one page is a deep crawl from that page. A
    pattern selects its pages itself, at any depth.
    """
    collection_id: RowId | None = None
    """Collection of the documents; null for none."""
    schedule_cron: CronText | None = None
    """Cron expression of five fields; without it runs are only triggered manually."""
    timezone: ZoneName = "UTC"
    is_active: bool = True
    """Whether the schedule triggers runs."""

    @property
    def draft(self) -> SourceDraft:
        """Return the source as the service's input."""
        return SourceDraft(**self.model_dump())


class SourceView(BaseModel):
    """A source."""

    source_id: str
    name: str
    """Name for people."""
    url_pattern: str
    """URL, or pattern of URLs of one host, that is crawled."""
    crawl_config_id: str | None
    collection_id: str | None
    schedule_cron: str | None
    """Cron line with five fields; null for runs on demand only."""
    timezone: str
    is_active: bool
    next_run_at: Timestamp | None
    """Next scheduled run; null during a run."""
    run_id: str | None
    """Id of the run under way."""
    last_crawled_at: Timestamp | None
    """Time of the last crawl (RFC 3339, UTC); null before the first one."""
    created_at: Timestamp
    updated_at: Timestamp


class SourceList(ListOf[SourceView]):
    """A page of sources, newest first."""


class RunView(BaseModel):
    """One run of a source."""

    run_id: str
    source_id: str
    status: RunStage
    """Stage of the run."""
    trigger: Trigger
    """Cause of the run."""
    new: int
    """Number of pages that were new, or back after they were gone."""
    changed: int
    """Number of pages whose content changed."""
    unchanged: int
    """Number of pages whose content was the same."""
    gone: int
    """Number of pages that no longer exist."""
    failed: int
    """Number of pages that couldn't be crawled."""
    deep_crawl_id: str | None
    """Deep crawl of the pages, if the source's config has a depth."""
    batch_id: str | None
    """Job whose children crawl the pages; after a deep crawl, pages of the last run that it didn't
    reach."""
    discovery_job_id: str | None
    """Id of the discovery that found the URLs; null without one."""
    error: str | None
    """Reason why it failed or found no pages."""
    started_at: Timestamp
    finished_at: Timestamp | None


class RunListView(ListOf[RunView]):
    """A page of runs, newest first."""


class RunPageView(BaseModel):
    """One page of a run."""

    url: str
    """URL of the page."""
    outcome: PageOutcome
    """Outcome of the page."""
    document_id: str | None
    """Document of the page; for a gone or failed page its previous one."""
    job_id: str | None
    error: str | None
    """Reason for a failure; null without one."""


class RunDetail(RunView):
    """One run and its pages, up to 500."""

    pages: list[RunPageView]
    """Pages of the run with their outcomes."""


class TriggeredRun(BaseModel):
    """Response to a trigger."""

    run_id: str
    status: RunStage
    """Stage of the run."""
    message: str


class SourceWebhookRequest(BaseModel):
    """Body of `POST /api/v1/sources/{source_id}/webhooks`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    url: UrlText
    """URL that receives the events by POST."""
    headers: Annotated[dict[str, str], Field(repr=False)] = {}
    """Headers of every delivery; never returned."""
    secret: Annotated[str | None, Field(repr=False, max_length=bounds.WEBHOOK_SECRET_MAX_CHARS)] = (
        None
    )
    """`whsec_` and the base64 form of 24 to 64 random bytes; generated if omitted."""
    events: Annotated[
        frozenset[Literal["completed", "failed"]], Field(min_length=1, strict=False)
    ] = frozenset({"completed", "failed"})
    """Ends of runs that are reported; a run with a failed page counts as failed."""
    is_active: bool = True

    def endpoint(self, source: Source) -> RequestedEndpoint:
        """Return the request as the input of the webhook service."""
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
    """Return the view of a source."""
    next_run_at = None if source.run_id else source.due_at
    return SourceView.model_validate(
        {**vars(source), "source_id": source.id, "next_run_at": next_run_at}
    )


def run_view(run: Run) -> RunView:
    """Return the view of a run."""
    counts = {outcome.value: run.counts.get(outcome, 0) for outcome in PageOutcome}
    return RunView.model_validate({**vars(run), **counts, "run_id": run.id, "status": run.stage})


def run_detail(run: Run, pages: tuple[RunPage, ...]) -> RunDetail:
    """Return the view of a run with its pages."""
    shown = [RunPageView(**vars(page)) for page in pages]
    return RunDetail(**run_view(run).model_dump(), pages=shown)
