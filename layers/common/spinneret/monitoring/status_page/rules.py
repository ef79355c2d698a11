"""Texts and colours of the page's lines. All functions are pure."""

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from spinneret.monitoring.rollups import rules as rollups
from spinneret.monitoring.rollups.models import Rollup
from spinneret.monitoring.status_page import limits
from spinneret.monitoring.status_page.models import StatusPageContent, StatusPageRow
from spinneret.monitoring.targets.models import Status, TargetWithState

_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    """Replace the characters that XML 1.0 doesn't allow (section 2.2), not even as references."""
    return _NO_XML.sub("\ufffd", text)


class HealthLevel(StrEnum):
    """Health level; each has a colour."""

    GOOD = "good"
    FAIR = "fair"
    BAD = "bad"
    NONE = "none"


_MAINTENANCE: Final = "maintenance"
_SHADES = {
    Status.UP: HealthLevel.GOOD,
    Status.DEGRADED: HealthLevel.FAIR,
    Status.DOWN: HealthLevel.BAD,
}
_TROUBLE = {Status.DOWN: 0, Status.DEGRADED: 1}
_WORDS = {
    Status.UP: "up",
    Status.DEGRADED: "slow",
    Status.DOWN: "down",
    Status.PENDING: "not checked yet",
}


def name_of(line: StatusPageRow) -> str:
    """Return a target's name, or its host if it has none."""
    target = line.watched.target
    return target.options.name or target.host


def state_of(line: StatusPageRow) -> tuple[str, HealthLevel]:
    """Return a word for the target's state, and its shade."""
    if line.watched.target.paused:
        return "paused", HealthLevel.NONE
    if line.in_maintenance:
        return _MAINTENANCE, HealthLevel.NONE
    status = line.watched.state.status
    return _WORDS[status], _SHADES.get(status, HealthLevel.NONE)


def total_of(line: StatusPageRow) -> Rollup:
    """Return the sum of all days' figures."""
    return sum((each.tally for each in line.days), Rollup())


def uptime_of(tally: Rollup) -> float | None:
    """Return the uptime without maintenance, which the owner announced."""
    return rollups.uptime(tally, with_maintenance=False)


def shade_of(share: float | None) -> HealthLevel:
    """Return the shade of an uptime; the limits are "three nines" and half an hour a day."""
    if share is None:
        return HealthLevel.NONE
    if share >= 0.999:
        return HealthLevel.GOOD
    return HealthLevel.FAIR if share >= 0.98 else HealthLevel.BAD


def percent(share: float | None) -> str:
    """Format a share with two decimals, never rounded up to 100."""
    if share is None:
        return "no data"
    if share >= 1:
        return "100 %"
    return f"{min(share * 100, 99.99):.2f} %"


def chosen(found: Sequence[TargetWithState]) -> tuple[list[TargetWithState], list[TargetWithState]]:
    """Select the targets with a line; return them and the others.

    Lines go to targets in trouble first; both lists keep the given order.
    """
    by_trouble = sorted(found, key=lambda each: _TROUBLE.get(each.state.status, 2))
    ids = {each.target.id for each in by_trouble[: limits.STATUS_PAGE_TARGETS]}
    return (
        [each for each in found if each.target.id in ids],
        [each for each in found if each.target.id not in ids],
    )


def is_troubled(watched: TargetWithState) -> bool:
    """Return whether the target is in trouble, so that maintenance must be looked up."""
    return watched.state.status in _TROUBLE


def others_of(shown: StatusPageContent) -> str:
    """Return the text about targets without a line; "" if there are none."""
    if shown.is_all:
        return f"and {len(shown.others)} more" if shown.others else ""
    return f"and more than {len(shown.others)} more"


def headline(shown: StatusPageContent) -> tuple[str, HealthLevel]:
    """Return the page's headline and its shade."""
    lines = [*shown.lines, *shown.others]
    states = [state_of(line) for line in lines]
    shades = [shade for _, shade in states]
    for shade, one, many in (
        (HealthLevel.BAD, "One service is down", "{} services are down"),
        (HealthLevel.FAIR, "One service is slow", "{} services are slow"),
    ):
        if count := shades.count(shade):
            return (one if count == 1 else many.format(count)), shade
    if HealthLevel.GOOD in shades:
        all_of = "All services" if shown.is_all else f"The first {len(lines)} services"
        return f"{all_of} are up", HealthLevel.GOOD
    words = {word for word, _ in states}
    if not words:
        return "Nothing to show yet", HealthLevel.NONE
    if words == {_MAINTENANCE}:
        return "All services are in maintenance", HealthLevel.NONE
    return "No service is checked at present", HealthLevel.NONE
