"""The circuit breaker of a host, as pure functions on its pace row.

The breaker opens after enough consecutive failures and becomes half-open when its time ends. Then
one request passes as a probe, under a lease. Its success closes the breaker, its failure opens it
again. If the prober dies, the lease ends and the next caller becomes the probe.

All callers share one breaker, with the stage's threshold and time. A more careful caller reads the
same row with its own limits: for it the breaker opens after fewer failures, or for longer. Its
probe of a breaker that is closed for others delays only equally careful callers.
"""

from dataclasses import dataclass
from typing import Final

from spinneret.web import limits
from spinneret.web.politeness.changes import (
    AttributeUpdates,
    ConditionalUpdate,
    Increment,
    absent,
    absent_or_at_most,
    different,
    equal,
    greater_than,
)
from spinneret.web.politeness.models import (
    BreakerLimits,
    BreakerView,
    Circuit,
    HostOutcome,
    PaceState,
    PermitRequest,
    from_ms,
)

_MEMORY_MS: Final = round(1000 * limits.BREAKER_MEMORY_SECONDS)
_NO_PROBE: Final[AttributeUpdates] = {"probe_owner": None, "probe_until": None}
_NO_FAILURES: Final[AttributeUpdates] = {
    "failures": None,
    "failed_at": None,
    "failed_by": None,
}
_NOT_OPEN: Final[AttributeUpdates] = {"opened_at": None, "open_until": None}
CLOSED: Final = ConditionalUpdate(to=_NOT_OPEN | _NO_FAILURES | _NO_PROBE)
"""Closed and without failures, regardless of the former state."""


def lets_through_at(seen: PaceState, own: BreakerLimits, now: int) -> int:
    """Return when the caller's next request may pass; at most `now` if it may pass now."""
    opening = _opening(seen, own, now)
    return now if opening is None else max(opening.until, seen.probe_until or 0)


def permit_change(seen: PaceState, request: PermitRequest) -> ConditionalUpdate:
    """Return the breaker's part of a permit: closed, or the lease of its probe."""
    if request.breaker is None:
        return ConditionalUpdate()
    lease: AttributeUpdates = {
        "probe_owner": request.token,
        "probe_until": request.now + request.lease_ms,
    }
    unprobed = absent_or_at_most("probe_until", request.now)
    if seen.open_until is not None:
        return ConditionalUpdate(guards=(equal("open_until", seen.open_until), unprobed), to=lease)
    closed, enough = absent("open_until"), request.breaker.threshold
    if enough >= request.shared.breaker.threshold:  # the shared breaker would be open
        return ConditionalUpdate(guards=(closed,))
    if not _has_failed(seen, enough):
        return ConditionalUpdate(guards=(closed, absent_or_at_most("failures", enough - 1)))
    if not _is_remembered(seen, request.now):
        return ConditionalUpdate(
            guards=(closed, absent_or_at_most("failed_at", request.now - _MEMORY_MS))
        )
    rested = absent_or_at_most("failed_at", request.now - request.breaker.open_ms)
    return ConditionalUpdate(
        guards=(closed, greater_than("failures", enough - 1), rested, unprobed), to=lease
    )


def completion_change(
    seen: PaceState, request: PermitRequest, outcome: HostOutcome, now: int
) -> ConditionalUpdate | None:
    """Return what the end of the request changes, or None for no change.

    While the breaker isn't closed, only the end of its current probe changes it.
    """
    token, shared = request.token, request.shared.breaker
    is_probe = seen.probe_owner == token
    mine = equal("probe_owner", token)
    if outcome is HostOutcome.NOT_TRIED:
        return ConditionalUpdate(guards=(mine,), to=_NO_PROBE) if is_probe else None
    if seen.open_until is not None:
        after = _opened(now, shared) if outcome is HostOutcome.HOST_FAILURE else CLOSED.to
        return ConditionalUpdate(guards=(mine,), to=after) if is_probe else None
    if outcome is HostOutcome.HOST_FAILURE:
        return _one_more_failure(seen, token, shared, now)
    success = ConditionalUpdate(guards=(absent("open_until"),), to=_NO_FAILURES | _NO_PROBE)
    return success if seen.failures else None


def view(seen: PaceState, own: BreakerLimits, now: int) -> BreakerView:
    """Return the breaker from the view of a caller with these limits."""
    opening = _opening(seen, own, now)
    if opening is None:
        failures = (seen.failures or 0) if _is_remembered(seen, now) else 0
        return BreakerView(
            circuit=Circuit.CLOSED, failures=failures, opened_at=None, retry_after=None
        )
    return BreakerView(
        circuit=Circuit.OPEN if now < opening.until else Circuit.HALF_OPEN,
        failures=seen.failures or 0,
        opened_at=from_ms(opening.since),
        retry_after=max(lets_through_at(seen, own, now) - now, 0) / 1000,
    )


@dataclass(frozen=True)
class _Opening:
    since: int
    until: int


def _opening(seen: PaceState, own: BreakerLimits, now: int) -> _Opening | None:
    """Return when the breaker opened for the caller and when it becomes half-open, or None."""
    if seen.open_until is not None:
        since = seen.opened_at or 0
        return _Opening(since, max(seen.open_until, since + own.open_ms))
    if _has_failed(seen, own.threshold) and _is_remembered(seen, now):
        since = seen.failed_at or 0
        return _Opening(since, since + own.open_ms)
    return None


def _one_more_failure(
    seen: PaceState, token: str, shared: BreakerLimits, now: int
) -> ConditionalUpdate | None:
    """Count one more failure by addition, so that concurrent reports don't conflict."""
    if seen.failed_by == token:
        return None
    failed: AttributeUpdates = {"failed_at": now, "failed_by": token, "failures": Increment(1)}
    guards = [absent("open_until"), different("failed_by", token)]
    last_one = shared.threshold - 1
    if not _is_remembered(seen, now):
        guards.append(absent_or_at_most("failed_at", now - _MEMORY_MS))
        failed["failures"] = 1
        failed |= {} if last_one else _opened(now, shared)
    elif not _has_failed(seen, last_one):
        guards.append(absent_or_at_most("failures", last_one - 1))
    else:
        guards.append(greater_than("failures", last_one - 1))
        failed |= _opened(now, shared)
    if seen.probe_owner == token:
        guards.append(equal("probe_owner", token))
        failed |= _NO_PROBE
    return ConditionalUpdate(guards=tuple(guards), to=failed)


def _opened(now: int, shared: BreakerLimits) -> AttributeUpdates:
    """Open the breaker; an earlier probe of a more careful caller no longer counts."""
    return {"opened_at": now, "open_until": now + shared.open_ms} | _NO_PROBE


def _has_failed(seen: PaceState, times: int) -> bool:
    return (seen.failures or 0) >= times


def _is_remembered(seen: PaceState, now: int) -> bool:
    return seen.failed_at is not None and seen.failed_at > now - _MEMORY_MS
