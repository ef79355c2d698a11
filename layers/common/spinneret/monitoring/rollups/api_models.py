"""Responses about uptime and latencies."""

from __future__ import annotations

from pydantic import BaseModel

from spinneret.kernel.clock import to_iso
from spinneret.monitoring.rollups import rules
from spinneret.monitoring.rollups.models import Figures, Window


class LatencyView(BaseModel):
    """Latencies of a target."""

    count: int
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    error: float
    """Maximum relative error of a percentile."""


class UptimeView(BaseModel):
    """Uptime and latencies of a target.

    `until` is the last check, because an outcome's duration is known at the next check.
    """

    window: Window
    since: str
    until: str
    uptime: float | None
    """Available share of the known time, 0 to 1; degraded counts as up. null if no time is
    known."""
    maintenance: str
    """Whether maintenance time counts: `exclude` or `include`."""
    up_ms: int
    degraded_ms: int
    down_ms: int
    unknown_ms: int
    maintenance_ms: int
    checks: int
    failed: int
    skipped: int
    latency: LatencyView


def uptime_view(window: Window, figures: Figures, *, with_maintenance: bool) -> UptimeView:
    """Return the view of figures."""
    tally = figures.tally
    return UptimeView(
        window=window,
        since=to_iso(figures.since),
        until=to_iso(figures.until),
        uptime=rules.uptime(tally, with_maintenance=with_maintenance),
        maintenance="include" if with_maintenance else "exclude",
        up_ms=tally.up_ms,
        degraded_ms=tally.degraded_ms,
        down_ms=tally.down_ms,
        unknown_ms=tally.unknown_ms,
        maintenance_ms=tally.maintenance_up_ms + tally.maintenance_down_ms,
        checks=tally.checks,
        failed=tally.failed,
        skipped=tally.skipped,
        latency=LatencyView(
            count=sum(tally.latencies.values()),
            p50_ms=_rounded(rules.percentile(tally.latencies, 0.5)),
            p95_ms=_rounded(rules.percentile(tally.latencies, 0.95)),
            p99_ms=_rounded(rules.percentile(tally.latencies, 0.99)),
            error=rules.LATENCY_ERROR,
        ),
    )


def _rounded(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else round(milliseconds, 1)
