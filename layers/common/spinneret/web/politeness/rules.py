"""Who may ask a host, and when: pure functions on its pace row.

A plan is made from a state that was seen, or guessed, and its guards hold in every state for which
the same plan is right. A ledger that refuses it answers the state to plan from next.

What a site is owed is kept by host: bucket, gaps, promises. What its answers teach, the breaker and
Retry-After, is kept with it for the ports of http and https. An unusual port has a row of its own
for that: a tenant may name any port of any host, and one where nobody listens, or somebody else
does, says nothing about the site.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from spinneret.kernel import bounds
from spinneret.web.politeness import breaker, buckets
from spinneret.web.politeness.buckets import Promise
from spinneret.web.politeness.changes import (
    Change,
    Effects,
    different,
    equal,
    passed,
    together,
)
from spinneret.web.politeness.models import (
    Admitted,
    Ask,
    BreakerLimits,
    Outcome,
    PaceLimits,
    PaceState,
    Wait,
    WaitReason,
    from_ms,
)

_MEMORY_MS: Final = round(1000 * bounds.BREAKER_MEMORY_SECONDS)
_WISH_MS: Final = round(1000 * bounds.RETRY_AFTER_MAX_SECONDS)


@dataclass(frozen=True)
class Grant:
    """Admit by this change."""

    change: Change


def site_of(host: str) -> str:
    """Under which name a host's politeness is kept: lower case, no `www.`, no root dot."""
    return host.lower().removesuffix(".").removeprefix("www.")


def place_of(host: str, port: int | None) -> str:
    """Under which name a site's answers are kept: the site's, with an unusual port behind it."""
    site = site_of(host)
    if port is None:
        return site
    return f"[{site}]:{port}" if ":" in site else f"{site}:{port}"


def slowest(first: PaceLimits, *others: PaceLimits) -> PaceLimits:
    """The pace that keeps to all of them, and the breaker that is as careful as each."""
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


# ---------------------------------------------------------------- Admission


def first_guess(ask: Ask) -> PaceState:
    """The likeliest state, for the first plan: an idle host, or a busy one for who comes back."""
    if not ask.promised:
        return PaceState()
    if ask.own is not None:
        return PaceState(own_tat=ask.now + 1 if ask.own.limits.tolerance_ms else None)
    return PaceState(tat=ask.now + 1 if ask.site.tolerance_ms else None)


def admission(seen: PaceState, ask: Ask) -> Grant | Promise | Wait:
    """What becomes of a wish, given the host's state."""
    if ask.port is None and (wait := _while_open(seen, ask)):
        return wait
    earliest, reason = max(_barriers(seen, ask))
    site = buckets.of_site(seen, ask)
    held = seen.held_until is not None and seen.held_until > ask.now
    refusal = buckets.own_refusal(seen, ask) or buckets.refusal(
        site, ask, earliest, reason, held=held
    )
    if refusal is not None:
        return refusal
    parts = [
        buckets.newcomers_turn(site, ask),
        buckets.spent(site, ask),
        buckets.own_token(seen, ask),
        _unhindered(ask),
        _hold(ask),
    ]
    if ask.port is None:
        parts += [breaker.passing(seen, ask), Change(guards=(passed("not_before", ask.now),))]
    return Grant(together(parts))


def at_port(seen: PaceState, ask: Ask) -> Change | Wait:
    """What the row of an unusual port adds to an admission: nothing, or the lease of a probe."""
    if wait := _while_open(seen, ask):
        return wait
    if seen.not_before is not None and seen.not_before > ask.now:
        until = from_ms(seen.not_before)
        return Wait(until=until, reason=WaitReason.RETRY_AFTER, promised=ask.promised)
    return breaker.passing(seen, ask)


def _while_open(seen: PaceState, ask: Ask) -> Wait | None:
    opens_at = breaker.lets_through_at(seen, ask.breaker, ask.now)
    if opens_at <= ask.now:
        return None
    return Wait(until=from_ms(opens_at), reason=WaitReason.CIRCUIT_OPEN, promised=ask.promised)


def _barriers(seen: PaceState, ask: Ask) -> Iterator[tuple[int, WaitReason]]:
    """Until when each part of the state refuses the caller; in the past where it doesn't.

    How long a strict holder will stay is unknown; its gap can't end before an interval from now.
    """
    interval = ask.site.interval_ms
    yield buckets.of_site(seen, ask).conforms_at, WaitReason.PACE
    yield seen.next_at or 0, WaitReason.PACE
    if ask.port is None:
        yield seen.not_before or 0, WaitReason.RETRY_AFTER
    yield min(seen.held_until or 0, ask.now + interval), WaitReason.PACE
    if ask.site.strict and seen.asked_at is not None:
        yield seen.asked_at + interval, WaitReason.PACE


def _unhindered(ask: Ask) -> Change:
    """Nobody holds the host or has just left it; by `admitted_by` a lost answer is recognised."""
    return Change(
        guards=(
            different("admitted_by", ask.token),
            passed("next_at", ask.now),
            passed("held_until", ask.now),
        ),
        to={
            "admitted_by": ask.token,
            "asked_at": ask.now,
            "purge_at": buckets.purge_at(ask.now, buckets.longest_ms(ask) + ask.hold_ms),
        },
    )


def _hold(ask: Ask) -> Change:
    """Keeps everybody else away until the request's end, if the gap has to hold at the server.

    Of a holder that died one must think that it sent its request at the very end: a gap follows.
    """
    if not ask.site.strict:
        return Change()
    interval = ask.site.interval_ms
    return Change(
        guards=(passed("asked_at", ask.now - interval),),
        to={"holder": ask.token, "held_until": ask.now + ask.hold_ms + interval},
    )


# ---------------------------------------------------------------- Report


@dataclass(frozen=True, kw_only=True)
class Told:
    """How a request ended; `now` and the site's wish, an interval, in milliseconds."""

    admitted: Admitted
    outcome: Outcome
    retry_after_ms: int | None
    now: int


Lesson = Callable[[PaceState, Told], Iterator[Change]]


def report(seen: PaceState, told: Told, lessons: Iterable[Lesson]) -> Change | None:
    """What a request's end changes; None for nothing, which is so for a success in most states."""
    changes = [change for lesson in lessons for change in lesson(seen, told)]
    if not changes:
        return None
    spans = (buckets.longest_ms(told.admitted.ask), _MEMORY_MS, _WISH_MS)
    return together([*changes, Change(to={"purge_at": buckets.purge_at(told.now, *spans)})])


def ended(seen: PaceState, told: Told) -> Iterator[Change]:
    """The gap after a strict request begins; by the holder only.

    Its own for everybody, and for strict callers theirs if it is longer. A millisecond more makes
    up for `now` having been rounded down.
    """
    end, ask = told.now + 1, told.admitted.ask
    if seen.holder == ask.token:
        gap: Effects = {"asked_at": end, "next_at": end + ask.site.interval_ms}
        left: Effects = {"holder": None, "held_until": None}
        yield Change(guards=(equal("holder", ask.token),), to=left | gap)
    yield from buckets.own_end(seen, ask, end)


def learned(seen: PaceState, told: Told) -> Iterator[Change]:
    """What the answer, or its absence, says of the site."""
    token = told.admitted.ask.token
    if verdict := breaker.verdict(seen, token, told.outcome, told.now):
        yield verdict
    wish = min(told.retry_after_ms or 0, _WISH_MS)
    until = told.now + wish
    if wish > 0 and (seen.not_before or 0) < until:  # Retry-After only ever prolongs the wait
        yield Change(guards=(passed("not_before", until),), to={"not_before": until})
