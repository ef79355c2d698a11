"""Who checks what, and in which order: pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from spinneret.kernel import bounds
from spinneret.monitoring.due.models import DueTarget
from spinneret.web.politeness.models import PaceLimits

MINUTE: Final = 60
_CHECKS_PER_WORKER: Final = 5  # below so many another worker isn't worth its start
_LAST_START_SECONDS: Final = 1.0
_GOLDEN_RATIO: Final = (math.sqrt(5) - 1) / 2


def delays(interval_seconds: int) -> list[int]:
    """When the ticks of a minute are, in seconds from its beginning."""
    return list(range(0, MINUTE, min(interval_seconds, MINUTE)))


def places_of_host(pace: PaceLimits, interval_seconds: int) -> int:
    """How many targets of a host a tick hands out: what its pace lets be checked until the next
    tick, and as many again for each skip until a skip is reported.

    So a host with more targets than its pace allows is still reported as too busy, and what waits
    behind them takes no place from other hosts. Hosts may be slower than the stage's pace, never
    faster.
    """
    seconds = min(interval_seconds, MINUTE)
    checked = math.ceil(seconds * pace.rate) + pace.burst
    return min((bounds.CHECK_SKIPS_REPORTED + 1) * checked, bounds.CHECK_ROUND_TARGETS)


def scan_offset(oldest: datetime, now: datetime, interval_seconds: int) -> datetime:
    """A time between both, another one at each tick, and in the long run any.

    Steps of the golden ratio leave no gap unvisited for long (Weyl's equidistribution).
    """
    number = int(now.timestamp() // min(interval_seconds, MINUTE))
    return oldest + (number * _GOLDEN_RATIO % 1) * (now - oldest)


def assign_to_workers(
    found: Iterable[DueTarget], workers: int, per_host: int
) -> list[list[DueTarget]]:
    """A list for each worker: first of each host the target that waits longest, then the second.

    All targets of a host, `per_host` at most, are on one list, since there is one check at a host
    at a time. Within a list hosts take turns, so that one with many targets holds up no other; of
    all hosts at their turn, the target that waits longest comes first.
    """
    by_host: defaultdict[str, list[DueTarget]] = defaultdict(list)
    for each in sorted(found, key=_longest_waiting):
        by_host[each.host].append(each)
    ranked = (each for of_host in by_host.values() for each in enumerate(of_host[:per_host]))
    chosen = sorted(ranked, key=_turn)[: workers * bounds.CHECK_ROUND_TARGETS]
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
    """When a worker takes up no more targets of its list: the next tick makes new lists."""
    seconds = min(interval_seconds, MINUTE) - _LAST_START_SECONDS
    return ticked_at + timedelta(seconds=seconds)


def _in_turns(ranked: Sequence[tuple[int, DueTarget]]) -> list[DueTarget]:
    return [due for _, due in sorted(ranked, key=_turn)[: bounds.CHECK_ROUND_TARGETS]]


def _turn(ranked: tuple[int, DueTarget]) -> tuple[int, datetime, str]:
    rank, due = ranked
    return rank, *_longest_waiting(due)


def _longest_waiting(due: DueTarget) -> tuple[datetime, str]:
    return due.due_at, due.target_id
