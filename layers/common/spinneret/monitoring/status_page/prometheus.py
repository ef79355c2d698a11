"""Render a tenant's targets in Prometheus's text format, version 0.0.4."""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final

from spinneret.monitoring.checks.models import Outcome
from spinneret.monitoring.status_page import limits
from spinneret.monitoring.targets.models import Kind, Status, TargetWithState

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Value = Callable[[TargetWithState], float | None]
_Metric = tuple[str, str, str, Value]
"""Name, type, help text, and function that returns the value."""
_ANSWERED: Final = frozenset({Outcome.UP, Outcome.DEGRADED})
_NAMES_BYTES: Final = 600  # size of a target's lines without their labels


def metrics_text(found: Iterable[TargetWithState], now: datetime) -> str:
    """Render all metrics; a target without a value has no line.

    The text has at most METRICS_BYTES; omitted targets are counted.
    """
    targets: list[TargetWithState] = []
    size = total = 0
    for each in found:
        total += 1
        size += _size(each)
        if size <= limits.METRICS_BYTES:
            targets.append(each)
    metrics = (*_METRICS, _overdue_at(now))
    lines = [
        line
        for name, kind, note, value in metrics
        for line in _of(targets, name, kind, note, value)
    ]
    for name, note, number in (
        ("targets", "Number of targets, at most ten thousand.", total),
        ("targets_left_out", "Targets omitted from this response.", total - len(targets)),
    ):
        lines += [
            f"# HELP spinneret_{name} {note}",
            f"# TYPE spinneret_{name} gauge",
            f"spinneret_{name} {number}",
        ]
    return "\n".join([*lines, ""])


def _size(watched: TargetWithState) -> int:
    """Return the maximum size of a target's lines, escaped again in Lambda's response."""
    labels = json.dumps(_labels(watched))
    return (len(_METRICS) + 1) * len(labels) + _NAMES_BYTES


def _overdue_at(now: datetime) -> _Metric:
    def overdue(watched: TargetWithState) -> float | None:
        due_at = watched.state.due_at
        return None if due_at is None else max(0.0, (now - due_at).total_seconds())

    return "overdue_seconds", "gauge", "Seconds for which its next check has been due.", overdue


def _of(
    targets: Sequence[TargetWithState], name: str, kind: str, note: str, value: Value
) -> Iterable[str]:
    yield f"# HELP spinneret_target_{name} {note}"
    yield f"# TYPE spinneret_target_{name} {kind}"
    for each in targets:
        number = value(each)
        if number is not None:
            yield f"spinneret_target_{name}{{{_labels(each)}}} {number:.15g}"


def _labels(watched: TargetWithState) -> str:
    target = watched.target
    labels = {
        "id": target.id,
        "host": target.host,
        "name": target.options.name or "",
        "url": target.canonical_url,
    }
    return ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _up(watched: TargetWithState) -> float | None:
    status = watched.state.status
    return None if status is Status.PENDING else float(status is not Status.DOWN)


def _response(watched: TargetWithState) -> float | None:
    last, kind = watched.state.last, watched.target.kind
    if last is None or kind is Kind.HEARTBEAT:
        return None
    answered = last.status_code is not None if kind is Kind.HTTP else last.outcome in _ANSWERED
    return last.latency_ms / 1000 if answered else None


def _certificate(watched: TargetWithState) -> float | None:
    known = watched.state.certificate
    return None if known is None else known.not_after.timestamp()


def _last_check(watched: TargetWithState) -> float | None:
    last = watched.state.last
    return None if last is None else last.at.timestamp()


_METRICS: Final[Sequence[_Metric]] = (
    ("up", "gauge", "1 while it is up or degraded, 0 while it is down.", _up),
    (
        "degraded",
        "gauge",
        "1 while it is degraded.",
        lambda each: float(each.state.status is Status.DEGRADED),
    ),
    ("paused", "gauge", "1 while it is paused.", lambda each: float(each.target.paused)),
    ("response_seconds", "gauge", "Duration of the last response in seconds.", _response),
    (
        "certificate_expiry_timestamp_seconds",
        "gauge",
        "Expiry of its certificate.",
        _certificate,
    ),
    ("last_check_timestamp_seconds", "gauge", "Time of the last check.", _last_check),
    (
        "checks_total",
        "counter",
        "Checks that sent a request.",
        lambda each: float(each.state.checks_total),
    ),
    (
        "failures_total",
        "counter",
        "Checks with the outcome down.",
        lambda each: float(each.state.failures_total),
    ),
    (
        "skips_total",
        "counter",
        "Checks skipped because its host was busy.",
        lambda each: float(each.state.skips_total),
    ),
)
