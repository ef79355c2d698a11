"""The circuit breaker of a host, as pure functions on its pace row.

Closed → open after enough failures in a row → half-open when its time is over: one request passes
as a probe, under a lease. Its success closes the breaker, its failure opens it anew; if the prober
dies, the lease ends and the next caller becomes the probe.
"""

from __future__ import annotations

from typing import Final

from spinneret.kernel import limits
from spinneret.politeness.changes import (
    Change,
    Effects,
    Guard,
    Plus,
    absent,
    different,
    equal,
    over,
    passed,
)
from spinneret.politeness.models import (
    Admitted,
    Ask,
    BreakerView,
    Circuit,
    Outcome,
    PaceState,
    from_ms,
)

_MEMORY_MS: Final = round(1000 * limits.BREAKER_MEMORY_SECONDS)
_NO_PROBE: Final[Effects] = {"probe_owner": None, "probe_until": None}
_NO_FAILURES: Final[Effects] = {
    "failures": None,
    "failed_at": None,
    "failed_by": None,
}
_NOT_OPEN: Final[Effects] = {"opened_at": None, "open_until": None}
CLOSED: Final = Change(to=_NOT_OPEN | _NO_FAILURES | _NO_PROBE)
"""Closed and without a memory, whatever it was."""


def lets_through_at(seen: PaceState, now: int) -> int:
    """When the breaker lets the next request pass; not after `now` if it does so already."""
    if seen.open_until is None:
        return now
    return max(seen.open_until, seen.probe_until or 0)


def passing(seen: PaceState, ask: Ask) -> Change:
    """The breaker's part of an admission: closed, or the lease of its probe."""
    if seen.open_until is None:
        return Change(guards=(absent("open_until"),))
    return Change(
        guards=(equal("open_until", seen.open_until), passed("probe_until", ask.now)),
        to={"probe_owner": ask.token, "probe_until": ask.now + ask.hold_ms},
    )


def verdict(seen: PaceState, admitted: Admitted, outcome: Outcome, now: int) -> Change | None:
    """What the breaker learns from a request; None for nothing.

    While it isn't closed it listens to its probe alone, and only while the probe is that request.
    """
    if seen.open_until is not None:
        is_probe = seen.probe_owner == admitted.token
        return _verdict_of_probe(admitted, outcome, now) if is_probe else None
    match outcome:
        case Outcome.SITE_FAILURE:
            return _one_more_failure(seen, admitted, now)
        case Outcome.SUCCESS | Outcome.CLIENT_ERROR if seen.failures:
            return Change(guards=(absent("open_until"),), to=_NO_FAILURES)
        case _:
            return None


def view(seen: PaceState, now: int) -> BreakerView:
    """The breaker as it stands."""
    failures = (seen.failures or 0) if _is_remembered(seen, now) else 0
    if seen.open_until is None or seen.opened_at is None:
        return BreakerView(
            circuit=Circuit.CLOSED, failures=failures, opened_at=None, retry_after=None
        )
    return BreakerView(
        circuit=Circuit.OPEN if now < seen.open_until else Circuit.HALF_OPEN,
        failures=seen.failures or 0,
        opened_at=from_ms(seen.opened_at),
        retry_after=max(lets_through_at(seen, now) - now, 0) / 1000,
    )


def _verdict_of_probe(admitted: Admitted, outcome: Outcome, now: int) -> Change:
    mine = (equal("probe_owner", admitted.token),)
    match outcome:
        case Outcome.SITE_FAILURE:
            return Change(guards=mine, to=_opening(admitted, now) | _NO_PROBE)
        case Outcome.NOT_TRIED:
            return Change(guards=mine, to=_NO_PROBE)
        case _:
            return Change(guards=mine, to=CLOSED.to)


def _one_more_failure(seen: PaceState, admitted: Admitted, now: int) -> Change | None:
    """Counts by addition, so that reports which meet don't refuse each other."""
    if seen.failed_by == admitted.token:
        return None
    failed: Effects = {"failed_at": now, "failed_by": admitted.token}
    guards: tuple[Guard, ...] = (
        absent("open_until"),
        different("failed_by", admitted.token),
    )
    forgotten = now - _MEMORY_MS
    last_one = admitted.breaker.threshold - 1
    if not _is_remembered(seen, now):
        if last_one <= 0:
            failed |= _opening(admitted, now)
        return Change(guards=(*guards, passed("failed_at", forgotten)), to=failed | {"failures": 1})
    failed["failures"] = Plus(1)
    if (seen.failures or 0) < last_one:
        return Change(guards=(*guards, passed("failures", last_one - 1)), to=failed)
    return Change(
        guards=(*guards, over("failures", last_one - 1)), to=failed | _opening(admitted, now)
    )


def _opening(admitted: Admitted, now: int) -> Effects:
    return {"opened_at": now, "open_until": now + admitted.breaker.open_ms}


def _is_remembered(seen: PaceState, now: int) -> bool:
    return seen.failed_at is not None and seen.failed_at > now - _MEMORY_MS
