"""Requests and responses of targets."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from spinneret.kernel.clock import optional_stamp, to_iso
from spinneret.kernel.paging import Page, cursor_of
from spinneret.kernel.views import View
from spinneret.monitoring import limits
from spinneret.monitoring.targets.models import Method, Options, QuietHours, TargetWithState

Name = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=limits.TARGET_NAME_MAX_CHARS)
]
Interval = Annotated[
    int, Field(ge=limits.CHECK_INTERVAL_MIN_SECONDS, le=limits.CHECK_INTERVAL_MAX_SECONDS)
]
Threshold = Annotated[int, Field(ge=1, le=limits.TARGET_THRESHOLD_MAX)]
Retry = Annotated[
    int, Field(ge=limits.CHECK_RETRY_MIN_SECONDS, le=limits.CHECK_INTERVAL_MAX_SECONDS)
]
Reminder = Annotated[int, Field(ge=limits.REMINDER_MIN_MINUTES, le=limits.REMINDER_MAX_MINUTES)]
Milliseconds = Annotated[int, Field(ge=1, le=60_000)]
Condition = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=limits.CONDITION_MAX_CHARS),
]
Conditions = Annotated[list[Condition], Field(max_length=limits.CONDITIONS_MAX)]
Days = Annotated[
    list[Annotated[int, Field(ge=1, le=365)]], Field(max_length=limits.CERTIFICATE_DAYS_MAX)
]


WallTime = Annotated[
    str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$"), Field(examples=["22:00"])
]


class DailyHours(View):
    """Daily hours without reports; an end before the start is on the next day."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    start: WallTime
    """Begin by the wall clock, such as 22:00."""
    end: WallTime
    """End, exclusive, such as 07:00."""
    timezone: Annotated[str, StringConstraints(max_length=100)] = "UTC"
    """Time zone, such as Europe/Berlin."""


class _Options(BaseModel):
    """Options of a target."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name | None = None
    """Name for people; null shows the URL."""
    interval_seconds: Interval | None = None
    """Seconds between two checks; by default the stage's CHECK_INTERVAL."""
    method: Method = Method.GET
    """HTTP method of the check."""
    failure_threshold: Threshold = limits.FAILURE_THRESHOLD
    recovery_threshold: Threshold = limits.RECOVERY_THRESHOLD
    degraded_ms: Milliseconds | None = None
    conditions: Conditions = Field(default_factory=list)
    """Conditions of a good response, such as `status == 200`."""
    certificate_days: Days = Field(default_factory=lambda: list(limits.CERTIFICATE_DAYS))
    """Days before a certificate's end on which to warn, 1 to 365."""
    watch_content: bool = False
    """Whether a change of the body is reported."""
    public: bool = False
    retry_seconds: Retry | None = None
    """Seconds until the next check while a failure or its end isn't confirmed; null for the
    interval. Requires an `interval_seconds` of at least 300, and is below it."""
    reminder_minutes: Reminder | None = None
    """Minutes after which an incident that lasts is reported again; null for never."""
    quiet_hours: DailyHours | None = None
    """Hours without reports; what still holds at their end is reported then."""


class TargetRequest(_Options):
    """A URL to monitor, with options."""

    url: str
    """URL to check."""


class TargetChange(_Options):
    """Options to change; omitted options are kept."""

    @model_validator(mode="after")
    def _none_is_null(self) -> TargetChange:
        nullable = {
            "name",
            "degraded_ms",
            "interval_seconds",
            "retry_seconds",
            "reminder_minutes",
            "quiet_hours",
        }
        for field in self.model_fields_set - nullable:
            if getattr(self, field) is None:
                raise ValueError(f"{field} may not be null")
        return self


class TargetView(BaseModel):
    """A target with its current status."""

    id: str
    """Id of the target."""
    url: str
    """URL that is checked, as given."""
    canonical_url: str
    """Canonical form of the URL, unique within the tenant."""
    host: str
    """Host of the URL."""
    created_at: str
    updated_at: str
    name: str | None
    """Name for people; null without one."""
    interval_seconds: int
    method: Method
    failure_threshold: int
    recovery_threshold: int
    degraded_ms: int | None
    conditions: list[str]
    """Conditions of a good response."""
    certificate_days: list[int]
    """Days before a certificate's end on which to warn."""
    watch_content: bool
    """Whether a change of the body is reported."""
    public: bool
    retry_seconds: int | None
    """Seconds until the next check while a failure or its end isn't confirmed; null for the
    interval."""
    reminder_minutes: int | None
    """Minutes after which an incident that lasts is reported again; null for never."""
    quiet_hours: DailyHours | None
    """Hours without reports; null for none."""
    paused: bool
    """Whether checks are suspended."""
    status: str
    """`pending`, `up`, `degraded` or `down`."""
    status_since: str | None
    """Time of the last change of status (RFC 3339, UTC); null before the first check."""
    next_check_at: str | None
    """Time of the next check (RFC 3339, UTC); null while paused."""
    effective_interval_seconds: int
    """Seconds between two checks: the interval, or more at a host with too many checks."""
    paced: str | None
    """Why checks are rarer than the interval: `checked every 70 s: limit of the host`."""
    skipped_in_a_row: int
    """Consecutive checks that were skipped because the host was busy."""
    last_checked_at: str | None
    """Time of the last check (RFC 3339, UTC); null before the first one."""
    last_outcome: str | None
    """Verdict of the last check; null before the first one."""
    last_status_code: int | None
    """HTTP status of the last check; null without a response."""
    last_latency_ms: int | None
    """Duration of the last check in milliseconds; null without a response."""
    last_error: str | None
    """Reason for the last failure; null without one."""
    certificate_not_after: str | None
    """End of the certificate's validity (RFC 3339, UTC); null over http."""
    incident_id: str | None
    """Id of the open incident; null without one."""


class TargetList(BaseModel):
    """A page of targets; `next_page_token` equals `next_cursor`."""

    items: list[TargetView]
    next_page_token: str | None
    next_cursor: str | None
    has_more: bool


def options_of(request: TargetRequest, default_interval: int) -> Options:
    """Return the options of a request."""
    given = request.model_dump(exclude={"url"})
    given["interval_seconds"] = request.interval_seconds or default_interval
    return Options(**_plain(given))


def changes_of(request: TargetChange, default_interval: int) -> dict[str, Any]:
    """Return the options that a request changes."""
    given = request.model_dump(include=request.model_fields_set)
    if given.get("interval_seconds", 0) is None:
        given["interval_seconds"] = default_interval
    return _plain(given)


def target_view(watched: TargetWithState) -> TargetView:
    """Return the view of a target."""
    target, state, last = watched.target, watched.state, watched.state.last
    options = target.options
    return TargetView(
        id=target.id,
        url=target.url,
        canonical_url=target.canonical_url,
        host=target.host,
        created_at=to_iso(target.created_at),
        updated_at=to_iso(target.updated_at),
        name=options.name,
        interval_seconds=options.interval_seconds,
        method=options.method,
        failure_threshold=options.failure_threshold,
        recovery_threshold=options.recovery_threshold,
        degraded_ms=options.degraded_ms,
        conditions=list(options.conditions),
        certificate_days=list(options.certificate_days),
        watch_content=options.watch_content,
        public=options.public,
        retry_seconds=options.retry_seconds,
        reminder_minutes=options.reminder_minutes,
        quiet_hours=None if options.quiet_hours is None else DailyHours.of(options.quiet_hours),
        paused=target.paused,
        status=state.status,
        status_since=optional_stamp(state.status_since),
        next_check_at=optional_stamp(state.due_at),
        effective_interval_seconds=state.paced_seconds or options.interval_seconds,
        paced=None
        if state.paced_seconds is None
        else f"checked every {state.paced_seconds} s: limit of the host",
        skipped_in_a_row=state.skips,
        last_checked_at=None if last is None else to_iso(last.at),
        last_outcome=None if last is None else last.outcome,
        last_status_code=None if last is None else last.status_code,
        last_latency_ms=None if last is None else last.latency_ms,
        last_error=None if last is None else last.error,
        certificate_not_after=None
        if state.certificate is None
        else to_iso(state.certificate.not_after),
        incident_id=None if state.incident is None else state.incident.id,
    )


def target_json(watched: TargetWithState) -> str:
    """Return the view as JSON, which is stored for replays of the request."""
    return target_view(watched).model_dump_json()


def target_list(page: Page[TargetWithState]) -> TargetList:
    """Return the view of a page."""
    cursor = cursor_of(page.after)
    return TargetList(
        items=[target_view(each) for each in page.items],
        next_page_token=cursor,
        next_cursor=cursor,
        has_more=page.after is not None,
    )


def _plain(given: dict[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    if (quiet := plain.get("quiet_hours")) is not None:
        plain["quiet_hours"] = QuietHours(**quiet)
    return plain
