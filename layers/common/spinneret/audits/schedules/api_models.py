"""Requests and responses of scheduled audits."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from spinneret.audits.api_models import (
    SECRET,
    AuditOptions,
    Cookie,
    Headers,
    RecipeName,
    Score,
    UrlText,
)
from spinneret.kernel import bounds
from spinneret.kernel.views import ListOf, Timestamp, View

CronLine = Annotated[str, StringConstraints(min_length=1, max_length=bounds.CRON_LINE_MAX_CHARS)]
ZoneName = Annotated[str, StringConstraints(min_length=1, max_length=64)]


class AuditScheduleRequest(BaseModel):
    """A new or changed schedule; a PUT replaces all fields except omitted headers."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    url: UrlText | None = None
    """Start page of each audit; omitted with `options.urls`."""
    recipe: RecipeName = "seo"
    options: AuditOptions = AuditOptions()
    """Options of each audit; null fields take the recipe's own."""
    schedule_cron: CronLine
    """Cron expression of five fields, or a name such as `@daily`."""
    timezone: ZoneName = "UTC"
    """Time zone name of the IANA database."""
    is_active: bool = True
    fail_under: Score | None = None
    """Score below which an audit's `passed` is false."""
    headers: Annotated[Headers | None, SECRET] = None
    """Request headers of each audit, as for `POST /audits`. A PUT without them and without a cookie
    keeps both, for the same origin only."""
    cookie: Annotated[Cookie | None, SECRET] = None
    """One cookie, `name=value`, sent and stored like `headers`."""


class AuditScheduleView(View):
    """A schedule, as shown to its tenant."""

    schedule_id: Annotated[str, Field(validation_alias="id")]
    """Id of the schedule."""
    url: str
    """URL of the audited site."""
    recipe: RecipeName
    options: dict[str, Any]
    """Options of each audit, as requested."""
    fail_under: float | None
    """Score below which an audit doesn't pass; null without one."""
    headers: Annotated[list[str], Field(validation_alias="header_names")]
    """Names of the request headers of each audit; their values are never shown."""
    schedule_cron: str
    timezone: str
    is_active: bool
    created_at: Timestamp
    updated_at: Timestamp
    next_run_at: Timestamp | None
    """Time of the next audit; null while the schedule is inactive."""
    last_run_at: Timestamp | None
    """Time of the last audit's start; null before the first one."""
    last_audit_id: str | None
    """Id of the last audit; null before the first one."""
    last_error: str | None
    """Code of the error that kept the last audit from starting; null if it started."""


class AuditScheduleList(ListOf[AuditScheduleView]):
    """A page of schedules, newest first."""
