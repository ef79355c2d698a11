"""Derive state, incidents and reports from a check. All functions are pure.

A target is down after `failure_threshold` failed checks in a row and degraded after as many slow
ones. It is up again after `recovery_threshold` good checks. Checks in maintenance and checks with
an unknown outcome don't count.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from itertools import chain

from spinneret.kernel import histogram
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import optional_stamp
from spinneret.monitoring import event_types, limits
from spinneret.monitoring.checks.models import CheckResult, Outcome
from spinneret.monitoring.incidents.models import (
    EventDraft,
    IncidentChange,
    IncidentStatus,
    StateChange,
    TimelineEntry,
)
from spinneret.monitoring.incidents.reporting import facts_of, reported
from spinneret.monitoring.rollups import rules as rollups
from spinneret.monitoring.rollups.models import HourTally, Rollup
from spinneret.monitoring.targets.models import (
    LastCheck,
    OpenIncident,
    Options,
    Status,
    Target,
    TargetState,
    TargetWithState,
)
from spinneret.monitoring.targets.rules import is_quiet


def step(watched: TargetWithState, result: CheckResult, next_due: datetime) -> StateChange:
    """Return the changes of a check or a skip; `next_due` is the target's next due time."""
    if result.outcome is Outcome.SKIPPED_BUSY:
        return _skipped(watched, result)
    target, former = watched.target, watched.state
    hour, closed = _accounted(former, result)
    state = replace(
        former,
        sequence=former.sequence + 1,
        due_at=next_due,
        skips=0,
        skips_reported=False,
        reservation=None,
        hour=hour,
        checks_total=former.checks_total + 1,
        failures_total=former.failures_total + (result.outcome is Outcome.DOWN),
        last=_last(result, target.options.interval_seconds),
    )
    incident = None
    if not result.in_maintenance and result.outcome is not Outcome.UNKNOWN:
        state = _counted(state, result)
        state, incident = _moved(state, former, target, result)
    state, reports = reported(state, former, target, result)
    return StateChange(state=state, incident=incident, reports=reports, closed=closed)


def is_unconfirmed(state: TargetState) -> bool:
    """Return whether the last checks differ from the status, but not yet for long enough."""
    if state.status is Status.DOWN:
        return state.successes > 0
    if state.status is Status.DEGRADED:
        return state.failures > 0 or state.fast > 0
    return state.failures > 0 or state.slow > 0


def pause(state: TargetState, now: datetime) -> tuple[TargetState, IncidentChange | None]:
    """Return the state of a target that is being paused, and the end of its open incident.

    Checks before the pause count neither towards the status after it nor to a later incident.
    """
    state = replace(
        _settled(state, now),
        failures=0,
        successes=0,
        slow=0,
        fast=0,
        trouble_since=None,
        reported=None,
    )
    incident = state.incident
    if incident is None:
        return state, None
    ended = TimelineEntry(at=now, status=IncidentStatus.PAUSED, message="paused")
    change = _change(incident, ended.status, ended, ended_at=now)
    return replace(state, incident=None, status=Status.PENDING, status_since=now), change


def _settled(state: TargetState, now: datetime) -> TargetState:
    """Count the time for which the last outcome held until now.

    A completed hour stays the current one until the next check, so that no other item is written.
    Later pieces of time count in that hour.
    """
    last = state.last
    if last is None or not last.counts:
        return state
    tally = sum((tally for _, tally in _held(last, now)), Rollup())
    hour = state.hour or HourTally(rollups.hour_of(last.at), Rollup())
    return replace(
        state,
        hour=HourTally(hour.hour, hour.tally + tally),
        last=replace(last, counts=False, paused_at=now),
    )


def tally_of(result: CheckResult) -> Rollup:
    """Return a check's counts, without the time for which its outcome holds."""
    if result.outcome is Outcome.SKIPPED_BUSY:
        return Rollup(skipped=1)
    counts = {histogram.bucket_of(result.latency_ms): 1} if result.is_measured else {}
    failed = result.outcome is Outcome.DOWN and not result.in_maintenance
    return Rollup(checks=1, failed=int(failed), latencies=counts)


def _skipped(watched: TargetWithState, result: CheckResult) -> StateChange:
    """Return the changes of a skip; the sequence stays.

    A new sequence would refuse the outcome of a check of the same target that is still running.
    That check may overwrite the skip, so a skip closes no hour either.
    """
    former, target = watched.state, watched.target
    known = former.hour or HourTally(rollups.hour_of(result.checked_at), Rollup())
    state = replace(
        former,
        skips=former.skips + 1,
        skips_total=former.skips_total + 1,
        hour=HourTally(known.hour, known.tally + tally_of(result)),
    )
    reports: tuple[EventDraft, ...] = ()
    is_news = state.skips >= limits.CHECK_SKIPS_REPORTED and not state.skips_reported
    if is_news and not is_quiet(target.options.quiet_hours, result.checked_at):
        state = replace(state, skips_reported=True)
        data = {
            **facts_of(target, "was not checked: its host is busy"),
            "skips": state.skips,
            "due_at": optional_stamp(state.due_at),
        }
        reports = (EventDraft(event_types.TARGET_SKIPPED, data),)
    return StateChange(state=state, reports=reports, is_skip=True)


def _accounted(
    state: TargetState, result: CheckResult
) -> tuple[HourTally | None, tuple[HourTally, ...]]:
    now = result.checked_at
    own = iter([(rollups.hour_of(now), tally_of(result))])
    return rollups.added(state.hour, chain(_held(state.last, now), own))


def _held(last: LastCheck | None, until: datetime) -> Iterator[tuple[datetime, Rollup]]:
    """Yield the time for which the outcome of the last check held, unless a pause ended it."""
    if last is not None and last.counts:
        yield from rollups.held(
            last.outcome, last.at, until, last.interval_seconds, maintenance=last.in_maintenance
        )


def _last(result: CheckResult, interval_seconds: int) -> LastCheck:
    return LastCheck(
        at=result.checked_at,
        outcome=result.outcome,
        in_maintenance=result.in_maintenance,
        interval_seconds=result.interval_seconds or interval_seconds,
        status_code=result.status_code,
        latency_ms=result.latency_ms,
        error=None if result.error is None else result.error.message,
        cause=None if result.error is None else result.error.cause,
    )


# ---------------------------------------------------------------- Status and incidents


def _counted(state: TargetState, result: CheckResult) -> TargetState:
    failed, slow = result.outcome is Outcome.DOWN, result.outcome is Outcome.DEGRADED
    troubled = failed or slow
    began = state.trouble_since if state.failures or state.slow else None
    return replace(
        state,
        failures=state.failures + 1 if failed else 0,
        successes=0 if failed else state.successes + 1,
        # A failure doesn't measure speed, so it ends no series of slow responses.
        slow=state.slow + slow if troubled else 0,
        fast=0 if troubled else state.fast + 1,
        trouble_since=(began or result.checked_at) if troubled else None,
    )


def _status(state: TargetState, options: Options) -> Status:
    former, enough = state.status, options.recovery_threshold
    if state.failures >= options.failure_threshold:
        return Status.DOWN
    if former is Status.DOWN and state.successes < enough:
        return Status.DOWN
    if state.slow >= options.failure_threshold:
        return Status.DEGRADED
    if former is Status.DOWN:  # it responds again, fast or slowly
        return Status.DEGRADED if state.slow else Status.UP
    if former is Status.DEGRADED:
        return Status.UP if state.fast >= enough else Status.DEGRADED
    return Status.UP if state.successes else former


def _moved(
    state: TargetState, former: TargetState, target: Target, result: CheckResult
) -> tuple[TargetState, IncidentChange | None]:
    status = _status(state, target.options)
    changed = status is not former.status
    state = replace(state, status=status)
    if changed:
        state = replace(state, status_since=result.checked_at)
    worse = status in {Status.DEGRADED, Status.DOWN}
    if state.incident is None:
        return _opened(state, target, result) if worse else (state, None)
    if not changed and not _is_news(former, result):
        return state, None
    return _continued(state, state.incident, result, over=not worse)


def _opened(
    state: TargetState, target: Target, result: CheckResult
) -> tuple[TargetState, IncidentChange]:
    started = state.trouble_since or result.checked_at
    named = [target.tenant, target.id, state.sequence]
    incident = OpenIncident(id=f"inc_{fingerprint(named)[:32]}", started_at=started, entries=1)
    change = _change(incident, _incident_status(state), _entry(state, result))
    return replace(state, incident=incident), change


def _continued(
    state: TargetState, incident: OpenIncident, result: CheckResult, *, over: bool
) -> tuple[TargetState, IncidentChange | None]:
    full = incident.entries >= limits.INCIDENT_ENTRIES and not over
    entry = None if full else _entry(state, result)
    ended_at = result.checked_at if over else None
    change = _change(incident, _incident_status(state), entry, ended_at)
    kept = None if over else replace(incident, entries=incident.entries + (not full))
    return replace(state, incident=kept), change


def _change(
    incident: OpenIncident,
    status: IncidentStatus,
    entry: TimelineEntry | None,
    ended_at: datetime | None = None,
) -> IncidentChange:
    return IncidentChange(
        id=incident.id,
        started_at=incident.started_at,
        status=status,
        ended_at=ended_at,
        entry=entry,
    )


def _is_news(former: TargetState, result: CheckResult) -> bool:
    """Return whether a target fails for another reason than at the previous check."""
    error, last = result.error, former.last
    if error is None or last is None or last.outcome is not Outcome.DOWN:
        return False
    return (last.cause or last.error) != (error.cause or error.message)


def _entry(state: TargetState, result: CheckResult) -> TimelineEntry:
    message = "responds as expected" if result.error is None else result.error.message
    return TimelineEntry(at=result.checked_at, status=_incident_status(state), message=message)


def _incident_status(state: TargetState) -> IncidentStatus:
    return IncidentStatus(state.status.value)  # a target that isn't checked yet has no incident
