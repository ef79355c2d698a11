"""Schedule and list positions of targets. All functions are pure."""

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from spinneret.kernel.clock import to_iso
from spinneret.kernel.errors import UrlInvalid, ValidationFailed
from spinneret.kernel.sharding import shard_of
from spinneret.kernel.zones import require_zone
from spinneret.monitoring import limits
from spinneret.monitoring.conditions.language import parse_conditions, reads_body
from spinneret.monitoring.targets.models import (
    Kind,
    Method,
    Options,
    QuietHours,
    Target,
    TargetWithState,
)
from spinneret.monitoring.targets.subjects import expected_value
from spinneret.web.fetching.urls import bare_host

LISTED_STEP: Final = timedelta(minutes=5)
"""Step by which the due index lists targets of shorter intervals: a change of an index key costs
two writes, and the check times within a step follow from the target's id."""
PLANNED_SHARE: Final = 0.9
"""Share of a host's rate limit that checks are planned for: redirects and crawls need some."""
_ASKING: Final = frozenset({Kind.HTTP, Kind.TCP, Kind.DNS})
_OF_SOME_KINDS: Final[Mapping[str, frozenset[Kind]]] = {
    "method": frozenset({Kind.HTTP}),
    "conditions": frozenset({Kind.HTTP}),
    "watch_content": frozenset({Kind.HTTP}),
    "request": frozenset({Kind.HTTP}),
    "degraded_ms": _ASKING,
    "retry_seconds": _ASKING,
    "expected": frozenset({Kind.DNS}),
    "grace_seconds": frozenset({Kind.HEARTBEAT}),
}
"""Options that only targets of these kinds have."""
_DEFAULTS: Final = Options()
_STEP_SECONDS: Final = round(LISTED_STEP.total_seconds())
_STEPS: Final = 4  # intervals at a crowded host grow by quarters, and so seldom change
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def checked(target: Target) -> Target:
    """Return the target with normalized options.

    Raises ValidationFailed if they are invalid, incompatible, or of another kind of target.
    """
    options = target.options
    for name, kinds in _OF_SOME_KINDS.items():
        if target.kind not in kinds and getattr(options, name) != getattr(_DEFAULTS, name):
            raise ValidationFailed.about(name, f"is no option of a target of kind {target.kind}")
    _require_request(options)
    _require_retry(options)
    if (quiet := options.quiet_hours) is not None:
        require_zone(quiet.timezone, "quiet_hours.timezone")
        if quiet.start == quiet.end:
            message = "must differ from the start"
            raise ValidationFailed.of_field("quiet_hours.end", message, error=f"the end {message}")
    if target.kind is Kind.HEARTBEAT:
        require_interval(options.interval_seconds, limits.HEARTBEAT_MIN_SECONDS)
    if target.record_type is None:
        return target
    expected = tuple(expected_value(target.record_type, each) for each in options.expected)
    return replace(target, options=replace(options, expected=expected))


def _require_request(options: Options) -> None:
    """Refuse a body where the method has none, and conditions on one."""
    looks = reads_body(parse_conditions(options.conditions)) or options.watch_content
    if looks and options.method is Method.HEAD:
        raise ValidationFailed.of_field(
            "method", "must be GET for the body", error="an answer to HEAD has no body to look at"
        )
    own = options.request
    if own is not None and own.has_body and options.method in {Method.GET, Method.HEAD}:
        raise ValidationFailed.about("request.body", f"must be empty for {options.method}")


def _require_retry(options: Options) -> None:
    """Refuse retries that no tick could send in time, or that are no sooner than the interval."""
    retry, interval = options.retry_seconds, options.interval_seconds
    if retry is None or (retry < interval and not is_listed_by_step(interval)):
        return
    message = f"must be below interval_seconds, which must be at least {_STEP_SECONDS} for it"
    raise ValidationFailed.about("retry_seconds", message)


def require_interval(seconds: int, shortest: int, path: str = "interval_seconds") -> None:
    """Raise ValidationFailed for an interval shorter than the stage's.

    `path` names the field of the request.
    """
    if seconds < shortest:
        message = f"must be at least {shortest}, the shortest interval of this stage"
        raise ValidationFailed.about(path, message)


def interval_of(kind: Kind, of_stage: int) -> int:
    """Return the default interval of a target, given the stage's."""
    return limits.HEARTBEAT_SECONDS if kind is Kind.HEARTBEAT else of_stage


def next_slot(target_id: str, interval_seconds: float, after: datetime) -> datetime:
    """Return the target's first check time after this moment.

    A target's check times are an interval apart. Their offset follows from the id, so that targets
    of one interval spread evenly over it. Missed checks aren't made up for.
    """
    interval = round(1000 * interval_seconds)
    offset = _number(target_id) % interval
    passed = (after - _EPOCH) // _MILLISECOND
    return _EPOCH + (passed - (passed - offset) % interval + interval) * _MILLISECOND


def first_due(target: Target, now: datetime) -> datetime:
    """Return the first check time of a new or changed target, at most CHECK_FIRST_SECONDS away.

    A heartbeat is due when the call that is expected from now on is late.
    """
    if target.kind is Kind.HEARTBEAT:
        return call_deadline(target, now)
    seconds = min(target.options.interval_seconds, limits.CHECK_FIRST_SECONDS)
    return next_slot(target.id, seconds, now)


def next_due(target: Target, after: datetime) -> datetime:
    """Return the next check time of a target that was checked at this moment."""
    seconds = target.options.interval_seconds
    if target.kind is Kind.HEARTBEAT:
        return after + timedelta(seconds=seconds)
    return next_slot(target.id, seconds, after)


def call_deadline(target: Target, called_at: datetime) -> datetime:
    """Return when the call of a heartbeat that follows a call is late."""
    return called_at + timedelta(seconds=expected_seconds(target, None))


def expected_seconds(target: Target, paced_seconds: int | None) -> int:
    """Return the seconds within which the next check, or the next call, is expected."""
    options = target.options
    if target.kind is Kind.HEARTBEAT:
        return options.interval_seconds + options.grace_seconds
    return paced_seconds or options.interval_seconds


def is_another_request(options: Options, other: Options) -> bool:
    """Return whether checks send another request, whose answer is no new content."""
    return (options.method, options.request) != (other.method, other.request)


def has_same_times(options: Options, other: Options) -> bool:
    """Return whether a target keeps its check times after this change of options."""
    return (options.interval_seconds, options.grace_seconds) == (
        other.interval_seconds,
        other.grace_seconds,
    )


def listed_interval(target: Target) -> int:
    """Return the interval in the due index; a heartbeat's check times are always exact."""
    seconds = target.options.interval_seconds
    return max(seconds, _STEP_SECONDS) if target.kind is Kind.HEARTBEAT else seconds


def is_quiet(hours: QuietHours | None, now: datetime) -> bool:
    """Return whether these are quiet hours."""
    if hours is None:
        return False
    wall = now.astimezone(ZoneInfo(hours.timezone)).strftime("%H:%M")
    if hours.start < hours.end:
        return hours.start <= wall < hours.end
    return wall >= hours.start or wall < hours.end


def is_listed_by_step(interval_seconds: int) -> bool:
    """Return whether the due index has the step of a target's next check, not its time."""
    return interval_seconds < LISTED_STEP.total_seconds()


def listed_at(due_at: datetime, interval_seconds: int) -> datetime:
    """Return the time by which the due index lists a target."""
    if not is_listed_by_step(interval_seconds):
        return due_at
    return due_at - (due_at - _EPOCH) % LISTED_STEP


def stretch(wanted: float, share: float) -> float:
    """Return by what factor intervals grow if checks wanted a second get a smaller share."""
    return max(1.0, math.ceil(_STEPS * wanted / share - 1e-9) / _STEPS)


def stretched(interval_seconds: int, factor: float) -> int | None:
    """Return an interval that grew, in seconds; None if it didn't."""
    return math.ceil(interval_seconds * factor) if factor > 1 else None


def paced_seconds(options: Options, others: Iterable[TargetWithState], rate: float) -> int | None:
    """Return the seconds between two checks of a target, given the tenant's others at its host.

    None if `rate`, the host's requests a second, leaves the target its interval.
    """
    wanted = 1 / options.interval_seconds + sum(
        1 / each.target.options.interval_seconds for each in others if not each.target.paused
    )
    return stretched(options.interval_seconds, stretch(wanted, PLANNED_SHARE * rate))


def due_shard_of(target_id: str) -> int:
    """Return the shard of the due index that contains a target."""
    return shard_of(f"shard/{target_id}", limits.CHECK_SHARDS)


def position_of_target(target: Target) -> str:
    """Return a target's position in lists, which sort by creation time and id."""
    return f"{to_iso(target.created_at)}#{target.id}"


def host_named(text: str) -> str:
    """Return the host as targets store it: lower case, IDNA for non-ASCII, IPv6 without brackets.

    Raises ValidationFailed for other text.
    """
    try:
        return bare_host(text)
    except UrlInvalid as error:
        raise ValidationFailed.about("host", "is not a host") from error


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
