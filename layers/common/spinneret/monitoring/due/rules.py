"""Distribute due targets over workers, in order. All functions are pure."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from spinneret.monitoring import limits
from spinneret.monitoring.due.models import DueTarget
from spinneret.web.politeness.models import PaceLimits

MINUTE: Final = 60
_CHECKS_PER_WORKER: Final = 5  # fewer checks don't justify starting another worker
_LAST_START_SECONDS: Final = 1.0
_GOLDEN_RATIO: Final = (math.sqrt(5) - 1) / 2


def delays(interval_seconds: int) -> list[int]:
    """Return the offsets of a minute's ticks, in seconds from its start."""
    return list(range(0, MINUTE, min(interval_seconds, MINUTE)))


def places_of_host(pace: PaceLimits, interval_seconds: int) -> int:
    """Return the maximum number of targets of one host that a tick sends.

    It covers the checks that the host's rate limit allows until the next tick. The same number
    again is added for each skip until a skip is reported.

    So a host with more targets than its limit allows is still reported as too busy. The targets
    behind these take no place from other hosts. Hosts may be slower than the stage's limit, never
    faster.
    """
    seconds = min(interval_seconds, MINUTE)
    checked = math.ceil(seconds * pace.rate) + pace.burst
    return min((limits.CHECK_SKIPS_REPORTED + 1) * checked, limits.CHECK_ROUND_TARGETS)


def scan_offset(oldest: datetime, now: datetime, interval_seconds: int) -> datetime:
    """Return a time between both that differs at each tick and reaches every part in the long run.

    Steps of the golden ratio leave no gap unvisited for long (Weyl's equidistribution).
    """
    number = int(now.timestamp() // min(interval_seconds, MINUTE))
    return oldest + (number * _GOLDEN_RATIO % 1) * (now - oldest)


def assign_to_workers(
    found: Iterable[DueTarget], workers: int, per_host: int
) -> list[list[DueTarget]]:
    """Return a list for each worker, ordered by rank within a host, then by waiting time.

    Tenants share a host equally: their targets take turns, so that many targets of one tenant
    don't delay another's few.

    All targets of a host, at most `per_host`, share one list, since a host allows one check at a
    time. Within a list hosts alternate, so that a host with many targets doesn't delay the others.
    Among the hosts' next targets, the one that waits longest comes first.
    """
    by_host: defaultdict[str, list[DueTarget]] = defaultdict(list)
    for each in sorted(found, key=_longest_waiting):
        by_host[each.host].append(each)
    ranked = (
        each for of_host in by_host.values() for each in enumerate(_in_shares(of_host)[:per_host])
    )
    chosen = sorted(ranked, key=_turn)[: workers * limits.CHECK_ROUND_TARGETS]
    turns: defaultdict[str, list[tuple[int, DueTarget]]] = defaultdict(list)
    for rank, each in chosen:
        turns[each.host].append((rank, each))
    lists: list[list[tuple[int, DueTarget]]] = [
        [] for _ in range(min(workers, math.ceil(len(chosen) / _CHECKS_PER_WORKER)))
    ]
    for of_host in sorted(turns.values(), key=len, reverse=True):
        min(lists, key=len).extend(of_host)
    return [_in_turns(each) for each in lists if each]


def end_of_round(ticked_at: datetime, interval_seconds: int) -> datetime:
    """Return when a worker stops starting checks of its list: the next tick makes new lists."""
    seconds = min(interval_seconds, MINUTE) - _LAST_START_SECONDS
    return ticked_at + timedelta(seconds=seconds)


def _in_shares(waiting: Sequence[DueTarget]) -> list[DueTarget]:
    """Return a host's targets, longest waiting first, so that its tenants take turns."""
    ranks: Counter[str] = Counter()
    shared: list[tuple[int, datetime, str, DueTarget]] = []
    for each in waiting:
        shared.append((ranks[each.tenant], *_longest_waiting(each), each))
        ranks[each.tenant] += 1
    return [each for *_, each in sorted(shared, key=lambda row: row[:3])]


def _in_turns(ranked: Sequence[tuple[int, DueTarget]]) -> list[DueTarget]:
    return [due for _, due in sorted(ranked, key=_turn)[: limits.CHECK_ROUND_TARGETS]]


def _turn(ranked: tuple[int, DueTarget]) -> tuple[int, datetime, str]:
    rank, due = ranked
    return rank, *_longest_waiting(due)


def _longest_waiting(due: DueTarget) -> tuple[datetime, str]:
    return due.due_at, due.target_id
