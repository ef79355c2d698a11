"""Who checks what, and in which order: pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from spinneret.kernel import bounds
from spinneret.monitoring.due.models import Due

MINUTE: Final = 60
_CHECKS_PER_WORKER: Final = 5  # below so many another worker isn't worth its start
_LAST_START_SECONDS: Final = 1.0


def delays(interval_seconds: int) -> list[int]:
    """When the ticks of a minute are, in seconds from its beginning."""
    return list(range(0, MINUTE, min(interval_seconds, MINUTE)))


def deal(found: Iterable[Due], workers: int) -> list[list[Due]]:
    """A list for each worker, of those that wait longest.

    All targets of a host are on one list, since there is one check at a host at a time. Within a
    list hosts take turns, so that one with many targets holds up no other; of each host, and of all
    hosts at their turn, the target that waits longest comes first.
    """
    waiting = sorted(found, key=_longest_waiting)[: workers * bounds.CHECK_ROUND_TARGETS]
    lists: list[list[tuple[int, Due]]] = [
        [] for _ in range(min(workers, math.ceil(len(waiting) / _CHECKS_PER_WORKER)))
    ]
    by_host: defaultdict[str, list[Due]] = defaultdict(list)
    for each in waiting:
        by_host[each.host].append(each)
    for of_host in sorted(by_host.values(), key=len, reverse=True):
        min(lists, key=len).extend(enumerate(of_host))
    return [_in_turns(each) for each in lists if each]


def end_of_round(ticked_at: datetime, interval_seconds: int) -> datetime:
    """When a worker takes up no more targets of its list: the next tick makes new lists."""
    seconds = min(interval_seconds, MINUTE) - _LAST_START_SECONDS
    return ticked_at + timedelta(seconds=seconds)


def _in_turns(ranked: Sequence[tuple[int, Due]]) -> list[Due]:
    ordered = sorted(ranked, key=lambda each: (each[0], _longest_waiting(each[1])))
    return [due for _, due in ordered[: bounds.CHECK_ROUND_TARGETS]]


def _longest_waiting(due: Due) -> tuple[datetime, str]:
    return due.due_at, due.target_id
