"""Plan the checks of a tick. All functions are pure."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import batched, chain, zip_longest
from typing import Final

from spinneret.monitoring import limits
from spinneret.monitoring.due.models import DueTarget, ListedTarget, Planned, TickWindow
from spinneret.monitoring.targets.models import TargetWithState
from spinneret.monitoring.targets.rules import (
    LISTED_STEP,
    PLANNED_SHARE,
    is_listed_by_step,
    next_slot,
    stretch,
    stretched,
)

EVERY: Final = timedelta(seconds=60)
"""Time between two ticks: the shortest interval of a rule."""
_SPARE: Final = timedelta(seconds=15)
"""Time that the next tick may come late, and for which a check that was sent may yet begin."""
_GOLDEN_RATIO: Final = (math.sqrt(5) - 1) / 2

Timed = tuple[datetime, DueTarget]
"""When a check begins, and the check."""


def window(sent_until: datetime | None, now: datetime) -> TickWindow:
    """Return the window of a tick that looks ahead until after the next one."""
    return TickWindow(since=sent_until or now - _SPARE, now=now, until=now + EVERY + _SPARE)


def scan_offset(oldest: datetime, now: datetime) -> datetime:
    """Return a time between both that differs at each tick and reaches every part in the long run.

    Steps of the golden ratio leave no gap unvisited for long (Weyl's equidistribution).
    """
    number = int(now.timestamp() // EVERY.total_seconds())
    return oldest + (number * _GOLDEN_RATIO % 1) * (now - oldest)


def late_seconds(listed: Iterable[ListedTarget], now: datetime) -> float:
    """Return for how long the target that waits longest has certainly been due."""
    waits = (
        (now - each.listed_at - (LISTED_STEP if _is_short(each) else timedelta())).total_seconds()
        for each in listed
    )
    return max(0.0, *waits, 0.0)


def plan(
    listed: Iterable[ListedTarget], window: TickWindow, *, rate: float, most: int
) -> list[Planned]:
    """Return up to `most` checks of a window, grouped by host and second.

    `rate` is the stage's rate limit of a host, in requests a second. Hosts take turns if there are
    more checks than `most`.
    """
    by_host: defaultdict[str, list[ListedTarget]] = defaultdict(list)
    for each in listed:
        by_host[each.host].append(each)
    ranked = [
        (rank, at, check)
        for of_host in by_host.values()
        for rank, (at, check) in enumerate(sorted(_of_host(of_host, window, rate), key=_turn))
    ]
    chosen = sorted(ranked, key=lambda row: (row[0], *_turn(row[1:])))[:most]
    together: defaultdict[tuple[str, int], list[Timed]] = defaultdict(list)
    for _, at, check in chosen:
        second = math.ceil((at - window.now).total_seconds())
        together[check.host, second].append((at, check))
    return [
        Planned(at=window.now + timedelta(seconds=second), checks=tuple(each for _, each in part))
        for (_, second), found in together.items()
        for part in batched(sorted(found, key=_turn), limits.CHECKS_PER_MESSAGE)
    ]


def first_checks(
    watched: TargetWithState, sent_until: datetime | None, now: datetime
) -> list[Planned]:
    """Return the checks of a new or changed target that the last tick would have sent."""
    target, state = watched.target, watched.state
    if state.due_at is None or sent_until is None:
        return []
    seconds = target.options.interval_seconds
    entry = ListedTarget(
        tenant=target.tenant,
        target_id=target.id,
        host=target.host,
        listed_at=state.due_at,
        interval_seconds=seconds,
    )
    window = TickWindow(since=now, now=now, until=sent_until)
    found = []
    at = state.due_at
    while at <= sent_until:
        found.append(Planned(at=at, checks=(_check(entry, at, window, 1.0),)))
        at = next_slot(target.id, seconds, at)
    return found


def fair_shares(wanted: Mapping[str, float], total: float) -> dict[str, float]:
    """Divide a rate: each share is at most as asked, and the others divide what one leaves."""
    shares: dict[str, float] = {}
    for number, (name, rate) in enumerate(sorted(wanted.items(), key=lambda row: row[1])):
        equal = (total - sum(shares.values())) / (len(wanted) - number)
        shares[name] = min(rate, equal)
    return shares


def _of_host(listed: Sequence[ListedTarget], window: TickWindow, rate: float) -> Iterator[Timed]:
    """Yield the checks of a host that its rate limit allows; tenants share it equally.

    The intervals of a tenant that asks for more than its share grow by one factor.
    """
    by_tenant: defaultdict[str, list[ListedTarget]] = defaultdict(list)
    for each in listed:
        by_tenant[each.tenant].append(each)
    wanted = {tenant: _wanted(those, window) for tenant, those in by_tenant.items()}
    shares = fair_shares(wanted, PLANNED_SHARE * rate)
    overdue: list[list[DueTarget]] = []
    for tenant, those in by_tenant.items():
        factor = stretch(wanted[tenant], shares[tenant]) if wanted[tenant] else 1.0
        for each in those:
            if _is_short(each):
                yield from _slots(each, window, factor)
        waiting, coming = _waiting(those, window, factor)
        overdue.append(waiting)
        yield from ((each.due_at, each) for each in coming)
    in_turns = [check for check in chain(*zip_longest(*overdue)) if check is not None]
    for number, check in enumerate(in_turns):
        yield window.now + timedelta(seconds=number / rate), check


def _wanted(listed: Iterable[ListedTarget], window: TickWindow) -> float:
    """Return how many checks a second these targets want in this window."""
    short, long = 0.0, 0
    for each in listed:
        if _is_short(each):
            short += 1 / _interval(each)
        else:
            long += _is_waiting(each, window) or each.listed_at > window.since
    length = max(EVERY, window.until - max(window.since, window.now)).total_seconds()
    return short + long / length


def _slots(each: ListedTarget, window: TickWindow, factor: float) -> Iterator[Timed]:
    """Yield all checks of a short interval within the window."""
    seconds = _interval(each) * factor
    at = max(window.since, window.now, each.listed_at - timedelta(milliseconds=1))
    while (at := next_slot(each.target_id, seconds, at)) <= window.until:
        yield at, _check(each, at, window, factor)


def _waiting(
    listed: Iterable[ListedTarget], window: TickWindow, factor: float
) -> tuple[list[DueTarget], list[DueTarget]]:
    """Return the checks of long intervals that are overdue, and the ones that come due.

    If not all fit, the ones that are latest in proportion to their intervals are taken.
    """
    found = [
        each
        for each in listed
        if not _is_short(each) and (_is_waiting(each, window) or each.listed_at > window.since)
    ]
    found.sort(key=lambda each: (each.listed_at - window.until) / _interval(each))
    overdue: list[DueTarget] = []
    coming: list[DueTarget] = []
    for each in found[: math.ceil(len(found) / factor)]:
        check = _check(each, each.listed_at, window, factor)
        (overdue if each.listed_at <= window.now else coming).append(check)
    return overdue, coming


def _check(each: ListedTarget, at: datetime, window: TickWindow, factor: float) -> DueTarget:
    """Build a check; it ends when the next message may come, of the next slot or the next tick."""
    begin = max(at, window.now)
    end = max(window.now + EVERY, begin + _SPARE)
    if _is_short(each):
        end = begin + timedelta(seconds=_interval(each) * factor)
    return DueTarget(
        tenant=each.tenant,
        target_id=each.target_id,
        host=each.host,
        due_at=at,
        until=end,
        paced_seconds=stretched(_interval(each), factor),
    )


def _is_waiting(each: ListedTarget, window: TickWindow) -> bool:
    """Return whether the message of an earlier tick has expired without a check."""
    return each.listed_at <= window.now - _SPARE


def _is_short(each: ListedTarget) -> bool:
    """Return whether the index has only the step of the next check."""
    return each.interval_seconds is not None and is_listed_by_step(each.interval_seconds)


def _interval(each: ListedTarget) -> int:
    return each.interval_seconds or limits.CHECK_INTERVAL_SECONDS


def _turn(row: Timed) -> tuple[datetime, str]:
    at, check = row
    return at, check.target_id
