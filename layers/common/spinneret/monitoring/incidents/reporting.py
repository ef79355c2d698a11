"""Derive the reports of a check: changes of status, reminders, certificates, content.

All functions are pure. Quiet hours hold reports back. What still holds at their end is reported by
the first check after them.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.kernel.clock import to_iso
from spinneret.monitoring import event_types
from spinneret.monitoring.checks.models import CheckResult, Outcome
from spinneret.monitoring.incidents.models import EventDraft, StateChange
from spinneret.monitoring.targets.models import (
    CertificateState,
    Reported,
    Status,
    Target,
    TargetState,
)
from spinneret.monitoring.targets.rules import is_quiet
from spinneret.outbox.models import DomainEvent
from spinneret.web.fetching.models import Certificate

_DAY: Final = timedelta(days=1)
_REPORTED: Final = {
    Status.UP: event_types.TARGET_UP,
    Status.DEGRADED: event_types.TARGET_DEGRADED,
    Status.DOWN: event_types.TARGET_DOWN,
}
_PREDICATES: Final = {
    event_types.TARGET_UP: "is up again",
    event_types.TARGET_DEGRADED: "is slow",
    event_types.TARGET_DOWN: "is down",
    event_types.TARGET_REMINDER: "is still not up",
}


def reported(
    state: TargetState, former: TargetState, target: Target, result: CheckResult
) -> tuple[TargetState, tuple[EventDraft, ...]]:
    """Return the reports of a check, and the state that remembers them."""
    known = former.reported or Reported(status=former.status, incident=former.incident)
    if is_quiet(target.options.quiet_hours, result.checked_at):
        held = None if known.status is state.status else known
        return replace(_with_certificate(state, result), reported=held), ()
    of_status: list[EventDraft] = []
    if not result.in_maintenance and result.outcome is not Outcome.UNKNOWN:
        state, of_status = _status(state, known, target, result)
    state, of_certificate = _certificate(state, target, result)
    state, of_content = _content(state, target, result)
    return state, (*of_status, *of_certificate, *of_content)


def domain_events(target: Target, change: StateChange, at: datetime) -> list[DomainEvent]:
    """Return the domain events of a check's reports."""
    return [
        DomainEvent(
            tenant=target.tenant,
            type=report.type,
            subject=target.id,
            sequence=change.event_sequence,
            occurred_at=at,
            data=report.data,
        )
        for report in change.reports
    ]


def facts_of(target: Target, predicate: str) -> dict[str, Any]:
    """Return what every report says about its target; `predicate` follows the target's name."""
    name = target.options.name
    summary = f"{name or target.url} {predicate}"
    return {"target_id": target.id, "url": target.url, "name": name, "summary": summary}


def _summary(event_type: str, error: str | None) -> str:
    predicate = _PREDICATES[event_type]
    return predicate if error is None else f"{predicate}: {error}"


def _status(
    state: TargetState, known: Reported, target: Target, result: CheckResult
) -> tuple[TargetState, list[EventDraft]]:
    state = replace(state, reported=None)
    if state.status is not known.status:
        event_type = _REPORTED[state.status]
    elif _is_reminded(state, target, result):
        event_type = event_types.TARGET_REMINDER
    else:
        return state, []
    if (known.status, state.status) == (Status.PENDING, Status.UP):
        return state, []
    if state.incident is not None:
        incident = replace(state.incident, reported_at=result.checked_at)
        state = replace(state, incident=incident)
    return state, [_report(event_type, state, known, target, result)]


def _is_reminded(state: TargetState, target: Target, result: CheckResult) -> bool:
    minutes, incident = target.options.reminder_minutes, state.incident
    if minutes is None or incident is None:
        return False
    last = incident.reported_at or incident.started_at
    return result.checked_at - last >= timedelta(minutes=minutes)


def _report(
    event_type: str, state: TargetState, known: Reported, target: Target, result: CheckResult
) -> EventDraft:
    incident = state.incident or known.incident
    error = None if result.error is None else result.error.message
    data = {
        **facts_of(target, _summary(event_type, error)),
        "status": state.status,
        "from": known.status,
        "since": to_iso(state.status_since or result.checked_at),
        "status_code": result.status_code,
        "latency_ms": result.latency_ms,
        "error": error,
        "incident_id": None if incident is None else incident.id,
        "incident_started_at": None if incident is None else to_iso(incident.started_at),
    }
    return EventDraft(event_type, data)


def _certificate(
    state: TargetState, target: Target, result: CheckResult
) -> tuple[TargetState, list[EventDraft]]:
    found = result.certificate
    if found is None:
        return state, []
    state = _with_certificate(state, result)
    known = state.certificate
    assert known is not None  # it was found
    left = found.not_after - result.checked_at
    reached = [days for days in target.options.certificate_days if left <= _warning_at(days, found)]
    days = min(reached, default=None)
    if days is None or (known.warned_days is not None and days >= known.warned_days):
        return state, []
    data = {
        **facts_of(target, f"has a certificate that ends in {left // _DAY} days"),
        "not_after": to_iso(found.not_after),
        "days_left": left // _DAY,
        "issuer": found.issuer,
    }
    known = replace(known, warned_days=days, warned_end=found.not_after)
    return replace(state, certificate=known), [EventDraft(event_types.CERTIFICATE_EXPIRING, data)]


def _with_certificate(state: TargetState, result: CheckResult) -> TargetState:
    found, known = result.certificate, state.certificate
    if found is None:
        return state
    now = CertificateState(not_after=found.not_after)
    if known is not None and known.warned_days is not None:
        end = known.warned_end or known.not_after
        # Servers of one host may have several certificates, which take turns.
        if end == found.not_after or result.checked_at < end < found.not_after:
            now = replace(now, warned_days=known.warned_days, warned_end=end)
    return replace(state, certificate=now)


def _warning_at(days: int, certificate: Certificate) -> timedelta:
    """Return how long before the end a warning is due.

    The warning waits for the last third of the lifetime: short-lived certificates are renewed late
    by plan.
    """
    return min(days * _DAY, (certificate.not_after - certificate.not_before) / 3)


def _content(
    state: TargetState, target: Target, result: CheckResult
) -> tuple[TargetState, list[EventDraft]]:
    if result.body_sha256 is None or not result.is_measured:
        return state, []
    former = state.body_sha256
    state = replace(state, body_sha256=result.body_sha256)
    if not target.options.watch_content or former in {None, result.body_sha256}:
        return state, []
    data = {**facts_of(target, "has a new content"), "from": former, "to": result.body_sha256}
    return state, [EventDraft(event_types.CONTENT_CHANGED, data)]
