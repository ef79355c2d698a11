"""What a line of the page says: pure."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from spinneret.monitoring.rollups import rules as rollups
from spinneret.monitoring.rollups.models import Tally
from spinneret.monitoring.status_page.models import Line
from spinneret.monitoring.targets.models import Status


class Shade(StrEnum):
    """How good something is; each has a colour."""

    GOOD = "good"
    FAIR = "fair"
    BAD = "bad"
    NONE = "none"


_SHADES = {Status.UP: Shade.GOOD, Status.DEGRADED: Shade.FAIR, Status.DOWN: Shade.BAD}
_WORDS = {
    Status.UP: "up",
    Status.DEGRADED: "slow",
    Status.DOWN: "down",
    Status.PENDING: "not checked yet",
}


def name_of(line: Line) -> str:
    """A target's name, or where it is."""
    target = line.watched.target
    return target.options.name or target.host


def state_of(line: Line) -> tuple[str, Shade]:
    """A word for how it is, and its shade."""
    if line.watched.target.paused:
        return "paused", Shade.NONE
    if line.in_maintenance:
        return "maintenance", Shade.NONE
    status = line.watched.state.status
    return _WORDS[status], _SHADES.get(status, Shade.NONE)


def total_of(line: Line) -> Tally:
    """The figures of all its days."""
    return sum((each.tally for each in line.days), Tally())


def uptime_of(tally: Tally) -> float | None:
    """Without maintenance, which its owner announced."""
    return rollups.uptime(tally, with_maintenance=False)


def shade_of(share: float | None) -> Shade:
    """Of an uptime; the figures are those of "three nines" and of half an hour a day."""
    if share is None:
        return Shade.NONE
    if share >= 0.999:
        return Shade.GOOD
    return Shade.FAIR if share >= 0.98 else Shade.BAD


def percent(share: float | None) -> str:
    """With two decimals, never rounded up to 100."""
    if share is None:
        return "no data"
    if share >= 1:
        return "100 %"
    return f"{min(share * 100, 99.99):.2f} %"


def headline(lines: Sequence[Line]) -> tuple[str, Shade]:
    """What the page says first."""
    shades = [shade for _, shade in map(state_of, lines)]
    for shade, one, many in (
        (Shade.BAD, "One service is down", "{} services are down"),
        (Shade.FAIR, "One service is slow", "{} services are slow"),
    ):
        if count := shades.count(shade):
            return (one if count == 1 else many.format(count)), shade
    if Shade.GOOD in shades:
        return "All services are up", Shade.GOOD
    return "Nothing to show yet", Shade.NONE
