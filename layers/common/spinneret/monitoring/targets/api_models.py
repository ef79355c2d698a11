"""Requests of targets; responses are in `views`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from spinneret.kernel import bounds
from spinneret.kernel.errors import ValidationFailed
from spinneret.kernel.views import View
from spinneret.monitoring import limits
from spinneret.monitoring.targets.models import (
    Kind,
    Method,
    Options,
    OwnRequest,
    QuietHours,
    RecordType,
    SealedRequest,
)
from spinneret.monitoring.targets.rules import host_named, interval_of
from spinneret.monitoring.targets.subjects import DnsName, Heartbeat, Subject, TcpAddress

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
Expected = Annotated[
    list[Annotated[str, StringConstraints(min_length=1, max_length=limits.EXPECTED_MAX_CHARS)]],
    Field(max_length=limits.EXPECTED_MAX),
]
Days = Annotated[
    list[Annotated[int, Field(ge=1, le=365)]], Field(max_length=limits.CERTIFICATE_DAYS_MAX)
]


WallTime = Annotated[
    str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$"), Field(examples=["22:00"])
]


_NEEDED: Final = {
    Kind.HTTP: frozenset({"url"}),
    Kind.TCP: frozenset({"host", "port"}),
    Kind.DNS: frozenset({"host", "record_type"}),
    Kind.HEARTBEAT: frozenset[str](),
}
"""Fields that name what a target of each kind checks."""


class DailyHours(View):
    """Daily hours without reports; an end before the start is on the next day."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    start: WallTime
    """Begin by the wall clock, such as 22:00."""
    end: WallTime
    """End, exclusive, such as 07:00."""
    timezone: Annotated[str, StringConstraints(max_length=100)] = "UTC"
    """Time zone, such as Europe/Berlin."""


class BasicCredentials(BaseModel):
    """User name and password of Basic authentication."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    username: Annotated[str, StringConstraints(pattern=r"^[^:]+$", max_length=255)]
    """User name, without a colon."""
    password: Annotated[str, StringConstraints(max_length=1000)]
    """Password, which no answer shows."""


class TargetHttpRequest(BaseModel):
    """Your part of an HTTP request: at most 4096 bytes, sealed and never shown again."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    headers: dict[str, str] = Field(default_factory=dict)
    """Headers, sent to the origin of the URL only; a redirect to another one drops them."""
    body: Annotated[str, StringConstraints(max_length=bounds.SEALED_MAX_BYTES)] | None = None
    """Body of a request that isn't GET or HEAD."""
    credentials: BasicCredentials | None = None
    """User name and password of Basic authentication; null for none."""


class _Options(BaseModel):
    """Options of a target."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name | None = None
    """Name for people; null shows the URL."""
    interval_seconds: Interval | None = None
    """Seconds between two checks, by default the stage's CHECK_INTERVAL; of a heartbeat, seconds
    between two calls, by default a day."""
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
    request: TargetHttpRequest | None = None
    """Headers, body and credentials of an HTTP check; null for none."""
    expected: Expected = Field(default_factory=list)
    """Values that a DNS answer must contain; empty for any answer."""
    grace_seconds: Annotated[int, Field(ge=0, le=limits.HEARTBEAT_GRACE_MAX_SECONDS)] = 0
    """Seconds by which the call of a heartbeat may be late."""


class TargetRequest(_Options):
    """Something to monitor, with options: give `url`, `host` and `port`, or `host` and
    `record_type`, by the kind. A heartbeat has a `name` only."""

    kind: Kind = Kind.HTTP
    """Way to check: `http`, `tcp` (connect), `dns` (a record) or `heartbeat` (calls of a job)."""
    url: str | None = None
    """URL of an HTTP check."""
    host: Annotated[str, StringConstraints(max_length=255)] | None = None
    """Host of a TCP check, or name of a DNS check."""
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    """Port of a TCP check."""
    record_type: RecordType | None = None
    """Type of the record of a DNS check."""


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
            "request",
        }
        for field in self.model_fields_set - nullable:
            if getattr(self, field) is None:
                raise ValueError(f"{field} may not be null")
        return self


Seal = Callable[[OwnRequest], SealedRequest]
"""Function that seals the owner's part of a request. Raises ValidationFailed."""


def subject_of(request: TargetRequest) -> Subject:
    """Return the subject of a request.

    Raises ValidationFailed unless it names exactly that, by a valid host.
    """
    kind, needed = request.kind, _NEEDED[request.kind]
    for name in ("url", "host", "port", "record_type"):
        if (getattr(request, name) is None) == (name in needed):
            verb = "is required for" if name in needed else "is no field of"
            raise ValidationFailed.about(name, f"{verb} a target of kind {kind}")
    if kind is Kind.HEARTBEAT:
        if not request.name:
            raise ValidationFailed.about("name", f"is required for a target of kind {kind}")
        return Heartbeat()
    if request.url is not None:
        return request.url
    host = host_named(request.host or "")
    if request.record_type is not None:
        return DnsName(host, request.record_type)
    return TcpAddress(host, request.port or 0)


def options_of(request: TargetRequest, default_interval: int, seal: Seal) -> Options:
    """Return the options of a request. The thresholds of a heartbeat are 1 unless given."""
    given = request.model_dump(include=set(_Options.model_fields) - {"request"})
    given["interval_seconds"] = request.interval_seconds or interval_of(
        request.kind, default_interval
    )
    if request.kind is Kind.HEARTBEAT:
        absent = {"failure_threshold", "recovery_threshold"} - request.model_fields_set
        given |= dict.fromkeys(absent, 1)
    return Options(**_plain(given), request=_sealed(request.request, seal))


def changes_of(request: TargetChange, seal: Seal) -> dict[str, Any]:
    """Return the options that a request changes; an interval of None is the default one."""
    changes = _plain(request.model_dump(include=request.model_fields_set - {"request"}))
    if "request" in request.model_fields_set:
        changes["request"] = _sealed(request.request, seal)
    return changes


def _sealed(request: TargetHttpRequest | None, seal: Seal) -> SealedRequest | None:
    if request is None:
        return None
    known = request.credentials
    credentials = {} if known is None else {"username": known.username, "password": known.password}
    return seal(OwnRequest(headers=request.headers, body=request.body, **credentials))


def _plain(given: dict[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    if (quiet := plain.get("quiet_hours")) is not None:
        plain["quiet_hours"] = QuietHours(**quiet)
    return plain
