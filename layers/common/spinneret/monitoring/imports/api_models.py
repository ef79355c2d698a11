"""Requests and responses of imports."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from spinneret.jobs.models import JobStatus
from spinneret.kernel import bounds
from spinneret.monitoring import limits
from spinneret.monitoring.targets.api_models import Interval, Milliseconds, Threshold
from spinneret.monitoring.targets.models import Method


class SitemapOptions(BaseModel):
    """Options of all targets imported from a sitemap."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    interval_seconds: Interval | None = None
    method: Method = Method.GET
    failure_threshold: Threshold = limits.FAILURE_THRESHOLD
    recovery_threshold: Threshold = limits.RECOVERY_THRESHOLD
    degraded_ms: Milliseconds | None = None
    public: bool = False


class ImportRequest(BaseModel):
    """A CSV file, or a sitemap's URL."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    csv: Annotated[str, StringConstraints(min_length=1, max_length=100_000)] | None = None
    """Text of the file. The first line names the columns, including `url`; a file with URLs only
    may omit it."""
    sitemap_url: Annotated[str, StringConstraints(max_length=bounds.URL_MAX_CHARS)] | None = None
    """URL of a sitemap whose pages become targets."""
    limit: Annotated[int, Field(ge=1, le=limits.IMPORT_LINES_MAX)] = limits.IMPORT_LINES_MAX
    """Maximum number of URLs, taken in sitemap order."""
    options: SitemapOptions = SitemapOptions()
    """Options for a sitemap's targets; a CSV file has columns instead."""

    @model_validator(mode="after")
    def _one_of_both(self) -> ImportRequest:
        if (self.csv is None) == (self.sitemap_url is None):
            raise ValueError("give either csv or sitemap_url")
        if self.csv is not None and self.options != SitemapOptions():
            raise ValueError("a CSV file has its options in columns")
        return self


class ImportSubmission(BaseModel):
    """The importing job; its result contains an outcome for each line."""

    job_id: str
    status: JobStatus
    """State of the import's job."""
    message: str


def payload_of(request: ImportRequest) -> dict[str, Any]:
    """Return the job's payload."""
    if request.csv is not None:
        return {"csv": request.csv}
    options = request.options.model_dump(mode="json", exclude_defaults=True)
    return {"sitemap_url": request.sitemap_url, "limit": request.limit, "options": options}
