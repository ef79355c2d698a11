"""Value classes of figures: durations in milliseconds, counts, and a latency histogram."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from spinneret.kernel import histogram

NUMBERS: Final = (
    *("up_ms", "degraded_ms", "down_ms", "unknown_ms", "maintenance_up_ms", "maintenance_down_ms"),
    *("checks", "failed", "skipped"),
)
"""Fields of a rollup other than the latencies."""


@dataclass(frozen=True, kw_only=True)
class Rollup:
    """Figures of one target over a period.

    `degraded_ms` counts as available. Time that no outcome covers is in none of the durations.
    """

    up_ms: int = 0
    degraded_ms: int = 0
    down_ms: int = 0
    unknown_ms: int = 0
    """Time of unknown outcomes: our own network failed, or the tenant blocks the host."""
    maintenance_up_ms: int = 0
    maintenance_down_ms: int = 0
    checks: int = 0
    failed: int = 0
    skipped: int = 0
    """Number of checks skipped because the host was busy."""
    latencies: histogram.Buckets = field(default_factory=dict)
    """Number of responses by bucket (`histogram.bucket_of`); failures have no latency."""

    def __add__(self, other: Rollup) -> Rollup:
        sums = {name: getattr(self, name) + getattr(other, name) for name in NUMBERS}
        return Rollup(**sums, latencies=histogram.added(self.latencies, other.latencies))


@dataclass(frozen=True)
class HourTally:
    """A target's figures of one UTC hour."""

    hour: datetime
    tally: Rollup


@dataclass(frozen=True)
class DayTally:
    """A target's figures of one UTC day."""

    day: datetime
    tally: Rollup


class Window(StrEnum):
    """Periods for which uptime and latencies are available."""

    HOUR = "1h"
    DAY = "24h"
    WEEK = "7d"
    MONTH = "30d"
    YEAR = "1y"

    @property
    def length(self) -> timedelta:
        """Length of the window; a year has 365 days."""
        return _LENGTHS[self]


_LENGTHS: Final = {
    Window.HOUR: timedelta(hours=1),
    Window.DAY: timedelta(days=1),
    Window.WEEK: timedelta(days=7),
    Window.MONTH: timedelta(days=30),
    Window.YEAR: timedelta(days=365),
}


@dataclass(frozen=True, kw_only=True)
class Figures:
    """A tally with the period that it covers."""

    since: datetime
    until: datetime
    tally: Rollup
