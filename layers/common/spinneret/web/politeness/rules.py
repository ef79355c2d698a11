"""Permits for requests to a host, as pure functions on its pace row.

A plan is made from a state that was read, or guessed. Its guards hold in every state for which the
same plan is right. A ledger that rejects a plan returns the state for the next plan.

The pace of a host (bucket, gaps, reservations) is stored by host. Its health (breaker, Retry-After)
is stored in the same row for the ports of http and https. An unusual port has its own row for its
health. A tenant may name any port of any host, and a port without a server, or with another server,
says nothing about the host.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from spinneret.kernel import bounds
from spinneret.web import limits
from spinneret.web.politeness import breaker, buckets
from spinneret.web.politeness.buckets import Reservation
from spinneret.web.politeness.changes import (
    AttributeUpdates,
    ConditionalUpdate,
    absent_or_at_most,
    different,
    equal,
    together,
)
from spinneret.web.politeness.models import (
    BreakerLimits,
    HostOutcome,
    PaceLimits,
    PaceState,
    Permit,
    PermitRequest,
    Wait,
    WaitReason,
    from_ms,
)

_MEMORY_MS: Final = round(1000 * limits.BREAKER_MEMORY_SECONDS)
_RETRY_AFTER_MS: Final = round(1000 * bounds.RETRY_AFTER_MAX_SECONDS)
_CHECK_COOLDOWN_MS: Final = round(1000 * limits.CHECK_COOLDOWN_SECONDS)


@dataclass(frozen=True)
class Grant:
    """A permit, taken by this change."""

    change: ConditionalUpdate


def host_key(host: str) -> str:
    """Return the key of a host's pace: lower case, no `www.`, no root dot."""
    return host.lower().removesuffix(".").removeprefix("www.")


def health_key(host: str, port: int | None) -> str:
    """Return the key of a host's health: the host key, and an unusual port."""
    name = host_key(host)
    if port is None:
        return name
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"


def slowest(first: PaceLimits, *others: PaceLimits) -> PaceLimits:
    """Return the pace that satisfies all of them, with the most careful breaker."""
    every = (first, *others)
    return PaceLimits(
        rate=min(each.rate for each in every),
        burst=min(each.burst for each in every),
        min_gap_seconds=_longest(each.min_gap_seconds for each in every),
        own_gap_seconds=_longest(each.own_gap_seconds for each in every),
        breaker=BreakerLimits(
            threshold=min(each.breaker.threshold for each in every),
            open_seconds=max(each.breaker.open_seconds for each in every),
        ),
    )


def _longest(gaps: Iterable[float | None]) -> float | None:
    return max((gap for gap in gaps if gap is not None), default=None)


# ---------------------------------------------------------------- Permits


def first_guess(request: PermitRequest) -> PaceState:
    """Return the likeliest state for the first plan.

    That is an idle host, or a busy one for a reservation.
    """
    if not request.reserved:
        return PaceState()
    if request.own is not None:
        return PaceState(own_tat=request.now + 1 if request.own.limits.tolerance_ms else None)
    return PaceState(tat=request.now + 1 if request.shared.tolerance_ms else None)


def plan_for(seen: PaceState, request: PermitRequest) -> Grant | Reservation | Wait:
    """Decide to permit, reserve or wait, given the host's state."""
    if request.port is None and (wait := _while_open(seen, request)):
        return wait
    if request.is_check and (seen.not_before or 0) > request.now:
        # Slots are reserved after the Retry-After, for which the check doesn't wait.
        request = replace(request, reserved=True)
    earliest, reason = max(_waits(seen, request))
    shared = buckets.shared_bucket(seen, request)
    held = seen.held_until is not None and seen.held_until > request.now
    refusal = buckets.refusal_of_own(seen, request) or buckets.refusal(
        shared, request, earliest, reason, held=held
    )
    if refusal is not None:
        return refusal
    parts = [
        buckets.behind_reservations(shared, request),
        buckets.taken_token(shared, request),
        buckets.taken_own_token(seen, request),
        _host_is_free(request),
        _strict_lease(request),
    ]
    if request.port is None:
        parts += [
            breaker.permit_change(seen, request),
            ConditionalUpdate(guards=(absent_or_at_most(request.cooldown, request.now),)),
        ]
    return Grant(together(parts))


def at_port(seen: PaceState, request: PermitRequest) -> ConditionalUpdate | Wait:
    """Return what the row of an unusual port adds to a permit: no change, or a probe's lease."""
    if wait := _while_open(seen, request):
        return wait
    cooled_until: int = getattr(seen, request.cooldown) or 0
    if cooled_until > request.now:
        until = from_ms(cooled_until)
        return Wait(until=until, reason=WaitReason.RETRY_AFTER, reserved=request.reserved)
    return breaker.permit_change(seen, request)


def _while_open(seen: PaceState, request: PermitRequest) -> Wait | None:
    if request.breaker is None:
        return None
    opens_at = breaker.lets_through_at(seen, request.breaker, request.now)
    if opens_at <= request.now:
        return None
    return Wait(until=from_ms(opens_at), reason=WaitReason.CIRCUIT_OPEN, reserved=request.reserved)


def _waits(seen: PaceState, request: PermitRequest) -> Iterator[tuple[int, WaitReason]]:
    """Yield until when each part of the state blocks the caller; past moments don't block.

    The end of a strict request is unknown; its gap can't end before an interval from now.
    """
    interval = request.shared.interval_ms
    yield buckets.shared_bucket(seen, request).conforms_at, WaitReason.PACE
    yield seen.next_at or 0, WaitReason.PACE
    if request.port is None:
        yield getattr(seen, request.cooldown) or 0, WaitReason.RETRY_AFTER
    yield min(seen.held_until or 0, request.now + interval), WaitReason.PACE
    if request.shared.strict and seen.asked_at is not None:
        yield seen.asked_at + interval, WaitReason.PACE


def _host_is_free(request: PermitRequest) -> ConditionalUpdate:
    """Require that no request is in progress or just ended, and store the permit's token.

    `permitted_to` identifies a permit whose response was lost.
    """
    return ConditionalUpdate(
        guards=(
            different("permitted_to", request.token),
            absent_or_at_most("next_at", request.now),
            absent_or_at_most("held_until", request.now),
        ),
        to={
            "permitted_to": request.token,
            "asked_at": request.now,
            "purge_at": buckets.purge_at(
                request.now, buckets.longest_ms(request) + request.lease_ms
            ),
        },
    )


def _strict_lease(request: PermitRequest) -> ConditionalUpdate:
    """Block all other requests until this one's end, if the gap must apply at the server.

    A holder that died may have sent its request at the end of its lease, so a gap follows.
    """
    if not request.shared.strict:
        return ConditionalUpdate()
    interval = request.shared.interval_ms
    return ConditionalUpdate(
        guards=(absent_or_at_most("asked_at", request.now - interval),),
        to={"holder": request.token, "held_until": request.now + request.lease_ms + interval},
    )


# ---------------------------------------------------------------- Report


@dataclass(frozen=True, kw_only=True)
class RequestEnd:
    """End of a request; `now` and Retry-After (an interval) are in milliseconds."""

    permit: Permit
    outcome: HostOutcome
    retry_after_ms: int | None
    cools_checks: bool
    """Whether the Retry-After stops checks too."""
    now: int


EndRule = Callable[[PaceState, RequestEnd], Iterator[ConditionalUpdate]]


def report(
    seen: PaceState, end: RequestEnd, end_rules: Iterable[EndRule]
) -> ConditionalUpdate | None:
    """Return what a request's end changes, or None for no change, which is usual for a success."""
    changes = [change for rule in end_rules for change in rule(seen, end)]
    if not changes:
        return None
    spans = (buckets.longest_ms(end.permit.request), _MEMORY_MS, _RETRY_AFTER_MS)
    return together(
        [*changes, ConditionalUpdate(to={"purge_at": buckets.purge_at(end.now, *spans)})]
    )


def released(seen: PaceState, end: RequestEnd) -> Iterator[ConditionalUpdate]:
    """Begin the gap after a strict request, only if the request holds the host.

    The host's gap applies to all callers, and a longer own gap to strict callers. One millisecond
    is added because `now` was rounded down.
    """
    ended_at, request = end.now + 1, end.permit.request
    if seen.holder == request.token:
        gap: AttributeUpdates = {
            "asked_at": ended_at,
            "next_at": ended_at + request.shared.interval_ms,
        }
        left: AttributeUpdates = {"holder": None, "held_until": None}
        yield ConditionalUpdate(guards=(equal("holder", request.token),), to=left | gap)
    yield from buckets.released_own(seen, request, ended_at)


def assessed(seen: PaceState, end: RequestEnd) -> Iterator[ConditionalUpdate]:
    """Yield the changes of the host's health after a response or a failure."""
    if verdict := breaker.completion_change(seen, end.permit.request, end.outcome, end.now):
        yield verdict
    asked = end.retry_after_ms or 0
    yield from _cooled("not_before", seen.not_before, min(asked, _RETRY_AFTER_MS), end.now)
    if end.cools_checks:
        shorter = min(asked, _CHECK_COOLDOWN_MS)
        yield from _cooled("check_not_before", seen.check_not_before, shorter, end.now)


def _cooled(
    name: str, standing: int | None, milliseconds: int, now: int
) -> Iterator[ConditionalUpdate]:
    """Yield a change that prolongs the wait; Retry-After never shortens it."""
    until = now + milliseconds
    if milliseconds > 0 and (standing or 0) < until:
        yield ConditionalUpdate(guards=(absent_or_at_most(name, until),), to={name: until})
