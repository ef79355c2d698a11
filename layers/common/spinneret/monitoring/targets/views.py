"""Responses of targets."""

from pydantic import BaseModel

from spinneret.kernel.paging import Page, cursor_of
from spinneret.kernel.views import Timestamp, View
from spinneret.monitoring.targets.api_models import DailyHours
from spinneret.monitoring.targets.models import Kind, Method, RecordType, TargetWithState


class TargetRequestView(View):
    """Your part of an HTTP request, without its secrets."""

    header_names: list[str]
    """Names of the headers that you added."""
    has_body: bool
    """Whether the request has a body."""
    has_credentials: bool
    """Whether the request has a user name and a password."""


class TargetView(View):
    """A target with its current status."""

    id: str
    """Id of the target."""
    kind: Kind
    """Way to check: `http`, `tcp`, `dns` or `heartbeat`."""
    url: str
    """URL that is checked, as given; `tcp://…`, `dns:…` or `heartbeat:…` for other kinds."""
    canonical_url: str
    """Canonical form of the URL, unique within the tenant."""
    host: str
    """Host of the URL, name of the record, or id of the heartbeat."""
    port: int | None
    """Port of a TCP check; null for other kinds."""
    record_type: RecordType | None
    """Record type of a DNS check; null for other kinds."""
    created_at: Timestamp
    updated_at: Timestamp
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
    request: TargetRequestView | None
    """Your part of the request of an HTTP check; null for none."""
    expected: list[str]
    """Values that a DNS answer must contain."""
    grace_seconds: int
    """Seconds by which the call of a heartbeat may be late."""
    last_called_at: Timestamp | None
    """Time of a heartbeat's last call (RFC 3339, UTC); null before the first one."""
    paused: bool
    """Whether checks are suspended."""
    status: str
    """`pending`, `up`, `degraded` or `down`."""
    status_since: Timestamp | None
    """Time of the last change of status (RFC 3339, UTC); null before the first check."""
    next_check_at: Timestamp | None
    """Time of the next check (RFC 3339, UTC); null while paused."""
    effective_interval_seconds: int
    """Seconds between two checks: the interval, or more at a host with too many checks."""
    paced: str | None
    """Why checks are rarer than the interval: `checked every 70 s: limit of the host`."""
    skipped_in_a_row: int
    """Consecutive checks that were skipped because the host was busy."""
    last_checked_at: Timestamp | None
    """Time of the last check (RFC 3339, UTC); null before the first one."""
    last_outcome: str | None
    """Verdict of the last check; null before the first one."""
    last_status_code: int | None
    """HTTP status of the last check; null without a response."""
    last_latency_ms: int | None
    """Duration of the last check in milliseconds; null without a response, and for heartbeats."""
    last_error: str | None
    """Reason for the last failure; null without one."""
    certificate_not_after: Timestamp | None
    """End of the certificate's validity (RFC 3339, UTC); null over http."""
    incident_id: str | None
    """Id of the open incident; null without one."""


class HeartbeatView(BaseModel):
    """Where a heartbeat's job calls."""

    path: str
    """Secret path with its query, relative to the API's base URL."""


class TargetList(BaseModel):
    """A page of targets; `next_page_token` equals `next_cursor`."""

    items: list[TargetView]
    next_page_token: str | None
    next_cursor: str | None
    has_more: bool


def target_view(watched: TargetWithState) -> TargetView:
    """Return the view of a target."""
    target, state, last = watched.target, watched.state, watched.state.last
    options, paced, is_called = target.options, state.paced_seconds, target.kind is Kind.HEARTBEAT
    return TargetView.model_validate(
        {
            # Fields of the same name are the target's and its options'.
            **vars(options),
            **vars(target),
            "last_called_at": state.called_at,
            "status": state.status,
            "status_since": state.status_since,
            "next_check_at": state.due_at,
            "effective_interval_seconds": paced or options.interval_seconds,
            "paced": paced and f"checked every {paced} s: limit of the host",
            "skipped_in_a_row": state.skips,
            "last_checked_at": last and last.at,
            "last_outcome": last and last.outcome,
            "last_status_code": last and last.status_code,
            "last_latency_ms": None if last is None or is_called else last.latency_ms,
            "last_error": last and last.error,
            "certificate_not_after": state.certificate and state.certificate.not_after,
            "incident_id": state.incident and state.incident.id,
        }
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
