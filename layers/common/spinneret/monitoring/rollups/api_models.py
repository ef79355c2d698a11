"""Responses about uptime and latencies."""

from collections.abc import Sequence
from datetime import date

from pydantic import BaseModel

from spinneret.kernel import histogram
from spinneret.kernel.views import Timestamp
from spinneret.monitoring.rollups import rules
from spinneret.monitoring.rollups.models import DayTally, Figures, Rollup, Window


class LatencyView(BaseModel):
    """Latencies of a target."""

    count: int
    """Number of responses."""
    p50_ms: float | None
    """Median in milliseconds; null without responses."""
    p95_ms: float | None
    """95th percentile in milliseconds; null without responses."""
    p99_ms: float | None
    """99th percentile in milliseconds; null without responses."""
    error: float
    """Maximum relative error of a percentile."""


class UptimeView(BaseModel):
    """Uptime and latencies of a target.

    `until` is the last check, because an outcome's duration is known at the next check.
    """

    window: Window
    """Length of the period."""
    since: Timestamp
    """Begin of the period (RFC 3339, UTC)."""
    until: Timestamp
    """End of the period (RFC 3339, UTC)."""
    uptime: float | None
    """Available share of the known time, 0 to 1; degraded counts as up. null if no time is
    known."""
    maintenance: str
    """Whether maintenance time counts: `exclude` or `include`."""
    up_ms: int
    """Time with good results, in milliseconds."""
    degraded_ms: int
    """Time with slow results, in milliseconds; it counts as available."""
    down_ms: int
    """Time with failures, in milliseconds."""
    unknown_ms: int
    """Time without a verdict, in milliseconds, as our own network failed."""
    maintenance_ms: int
    """Time in maintenance windows, in milliseconds."""
    checks: int
    """Number of checks."""
    failed: int
    """Number of failed checks."""
    skipped: int
    """Number of checks skipped because the host was busy."""
    latency: LatencyView
    """Percentiles of the durations of good checks."""


class UptimeDayView(BaseModel):
    """Uptime and latencies of a target on one day."""

    day: date
    """UTC."""
    uptime: float | None
    """Available share of the known time, 0 to 1, without maintenance; null if no time is known."""
    degraded_ms: int
    """Time with slow results, in milliseconds; it counts as available."""
    down_ms: int
    """Time with failures, in milliseconds."""
    unknown_ms: int
    """Time without a verdict, in milliseconds."""
    checks: int
    """Number of checks."""
    latency: LatencyView
    """Percentiles of the durations of good checks."""


class UptimeDayList(BaseModel):
    """The last 90 UTC days of a target."""

    items: list[UptimeDayView]
    """Days with figures, oldest first; the last one may be today."""


def uptime_days(days: Sequence[DayTally]) -> UptimeDayList:
    """Return the view of days."""
    return UptimeDayList(items=[_day(each) for each in days])


def _day(day: DayTally) -> UptimeDayView:
    tally = day.tally
    return UptimeDayView.model_validate(
        {
            **vars(tally),
            "day": day.day.date(),
            "uptime": rules.uptime(tally, with_maintenance=False),
            "latency": _latency(tally),
        }
    )


def uptime_view(window: Window, figures: Figures, *, with_maintenance: bool) -> UptimeView:
    """Return the view of figures."""
    tally = figures.tally
    return UptimeView.model_validate(
        {
            **vars(tally),
            "window": window,
            "since": figures.since,
            "until": figures.until,
            "uptime": rules.uptime(tally, with_maintenance=with_maintenance),
            "maintenance": "include" if with_maintenance else "exclude",
            "maintenance_ms": tally.maintenance_up_ms + tally.maintenance_down_ms,
            "latency": _latency(tally),
        }
    )


def _latency(tally: Rollup) -> LatencyView:
    return LatencyView(
        count=sum(tally.latencies.values()),
        p50_ms=_rounded(histogram.percentile(tally.latencies, 0.5)),
        p95_ms=_rounded(histogram.percentile(tally.latencies, 0.95)),
        p99_ms=_rounded(histogram.percentile(tally.latencies, 0.99)),
        error=histogram.ERROR,
    )


def _rounded(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else round(milliseconds, 1)
