"""Who may ask a host, and when: pure functions on its pace row.

The bucket is the generic cell rate algorithm in its virtual-scheduling form (ITU-T I.371, annex A):
with the interval T and the tolerance tau = (burst - 1) * T, a request conforms if TAT - tau <= now,
and then TAT becomes max(TAT, now) + T. Hence in every window of w seconds at most burst + rate * w
requests are admitted.

A plan is made from a state that was seen, or guessed, and its guards hold in every state for which
the same plan is right. A ledger that refuses it answers the state to plan from next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from spinneret.kernel import limits
from spinneret.politeness import breaker
from spinneret.politeness.changes import (
    Change,
    Effects,
    Guard,
    Plus,
    different,
    equal,
    over,
    passed,
    together,
)
from spinneret.politeness.models import (
    Admitted,
    Ask,
    Outcome,
    PaceLimits,
    PaceState,
    Wait,
    WaitReason,
    from_ms,
)

_HORIZON_MS: Final = round(1000 * limits.PROMISE_HORIZON_SECONDS)
_SHORT_MS: Final = round(1000 * limits.SHORT_WAIT_SECONDS)
_KEPT_SECONDS: Final = 24 * 3600  # rows outlive all that is in them


@dataclass(frozen=True)
class Grant:
    """Admit by this change."""

    change: Change


@dataclass(frozen=True)
class Promise:
    """Refuse, and keep a slot by this change; `tail` then is the slot."""

    change: Change
    reason: WaitReason


def site_of(host: str) -> str:
    """Under which name a host's politeness is kept: lower case, no `www.`, no root dot."""
    return host.lower().removesuffix(".").removeprefix("www.")


def slowest(first: PaceLimits, *others: PaceLimits) -> PaceLimits:
    """The pace that keeps to all of them."""
    every = (first, *others)
    gaps = [each.min_gap_seconds for each in every if each.min_gap_seconds is not None]
    return PaceLimits(
        rate=min(each.rate for each in every),
        burst=min(each.burst for each in every),
        min_gap_seconds=max(gaps, default=None),
    )


# ---------------------------------------------------------------- Admission


def first_guess(ask: Ask) -> PaceState:
    """The likeliest state, for the first plan: an idle host, or a busy one for who comes back."""
    if ask.promised and ask.limits.tolerance_ms:
        return PaceState(tat=ask.now + 1)
    return PaceState()


def admission(seen: PaceState, ask: Ask) -> Grant | Promise | Wait:
    """What becomes of a wish, given the host's state."""
    opens_at = breaker.lets_through_at(seen, ask.now)
    if opens_at > ask.now:
        return Wait(until=from_ms(opens_at), reason=WaitReason.CIRCUIT_OPEN, promised=ask.promised)
    earliest, reason = max(_barriers(seen, ask))
    if earliest > ask.now:
        if ask.promised and earliest <= ask.now + _SHORT_MS and not _is_held(seen, ask):
            return Wait(until=from_ms(earliest), reason=reason, promised=True)
        return _promise(seen, ask, earliest, reason)
    if not ask.promised and seen.tail is not None and seen.tail > _tail_passed(ask):
        return _promise(seen, ask, ask.now, WaitReason.PROMISED)
    return Grant(together([breaker.passing(seen, ask), _token(seen, ask), _hold(ask)]))


def _barriers(seen: PaceState, ask: Ask) -> Iterator[tuple[int, WaitReason]]:
    """Until when each part of the state refuses the caller; in the past where it doesn't.

    How long a strict holder will stay is unknown; its gap can't end before an interval from now.
    """
    interval = ask.limits.interval_ms
    yield (seen.tat or 0) - ask.limits.tolerance_ms, WaitReason.PACE
    yield seen.next_at or 0, WaitReason.PACE
    yield seen.not_before or 0, WaitReason.RETRY_AFTER
    yield min(seen.held_until or 0, ask.now + interval), WaitReason.PACE
    if ask.limits.strict and seen.asked_at is not None:
        yield seen.asked_at + interval, WaitReason.PACE


def _is_held(seen: PaceState, ask: Ask) -> bool:
    return seen.held_until is not None and seen.held_until > ask.now


def _token(seen: PaceState, ask: Ask) -> Change:
    """Takes a token of the bucket. DynamoDB has no max(), so TAT moves by one of two changes."""
    now, interval = ask.now, ask.limits.interval_ms
    guards = [
        different("admitted_by", ask.token),
        passed("not_before", now),
        passed("next_at", now),
        passed("held_until", now),
    ]
    if not ask.promised:
        guards.append(passed("tail", _tail_passed(ask)))
    to: Effects = {
        "admitted_by": ask.token,
        "asked_at": now,
        "purge_at": _purge_at(now, interval + ask.hold_ms),
    }
    if seen.tat is None or seen.tat <= now:
        guards.append(passed("tat", now))
        to["tat"] = now + interval
    else:
        guards += [over("tat", now), passed("tat", now + ask.limits.tolerance_ms)]
        to["tat"] = Plus(interval)
    return Change(guards=tuple(guards), to=to)


def _hold(ask: Ask) -> Change:
    """Keeps everybody else away until the request's end, if the gap has to hold at the server.

    Of a holder that died one must think that it sent its request at the very end: a gap follows.
    """
    if not ask.limits.strict:
        return Change()
    interval = ask.limits.interval_ms
    return Change(
        guards=(passed("asked_at", ask.now - interval),),
        to={"holder": ask.token, "held_until": ask.now + ask.hold_ms + interval},
    )


def _tail_passed(ask: Ask) -> int:
    """The last slot belongs to its promise for one interval; newcomers come after it."""
    return ask.now - ask.limits.interval_ms


def _promise(seen: PaceState, ask: Ask, earliest: int, reason: WaitReason) -> Promise | Wait:
    """A slot of the caller's own: behind all others, not before `earliest`."""
    interval = ask.limits.interval_ms
    horizon = ask.now + _HORIZON_MS
    queued = seen.tail is not None and seen.tail + interval > earliest
    slot = (seen.tail or 0) + interval if queued else earliest
    if slot > horizon:
        until = min(earliest, horizon) if ask.promised else horizon
        return Wait(until=from_ms(until), reason=reason, promised=ask.promised)
    guards: tuple[Guard, ...] = (different("promised_to", ask.token),)
    if queued:
        guards += (passed("tail", horizon - interval),)
    else:
        guards += (passed("tail", earliest - interval),)
    to: Effects = {
        "tail": Plus(interval) if queued else earliest,
        "promised_to": ask.token,
        "purge_at": _purge_at(ask.now, interval, _HORIZON_MS),
    }
    return Promise(Change(guards=guards, to=to), reason)


# ---------------------------------------------------------------- Report


def report(
    seen: PaceState, admitted: Admitted, outcome: Outcome, retry_after_ms: int | None, now: int
) -> Change | None:
    """What a request's end changes; None for nothing, which is so for a success in most states."""
    parts = [
        _end_of_hold(seen, admitted, now),
        breaker.verdict(seen, admitted, outcome, now),
        _wish_of_site(seen, retry_after_ms, now),
    ]
    changes = [part for part in parts if part is not None]
    if not changes:
        return None
    spans = (admitted.limits.interval_ms, admitted.breaker.open_ms, _HORIZON_MS)
    return together([*changes, Change(to={"purge_at": _purge_at(now, *spans)})])


def _end_of_hold(seen: PaceState, admitted: Admitted, now: int) -> Change | None:
    """The gap begins: its own for everybody, and for strict callers theirs if it is longer.

    By the holder only; a millisecond more makes up for `now` having been rounded down.
    """
    if seen.holder != admitted.token:
        return None
    end = now + 1
    return Change(
        guards=(equal("holder", admitted.token),),
        to={
            "holder": None,
            "held_until": None,
            "asked_at": end,
            "next_at": end + admitted.limits.interval_ms,
        },
    )


def _wish_of_site(seen: PaceState, retry_after_ms: int | None, now: int) -> Change | None:
    """Retry-After only ever prolongs the wait."""
    if retry_after_ms is None or retry_after_ms <= 0:
        return None
    until = now + min(retry_after_ms, round(1000 * limits.RETRY_AFTER_MAX_SECONDS))
    if seen.not_before is not None and seen.not_before >= until:
        return None
    return Change(guards=(passed("not_before", until),), to={"not_before": until})


def _purge_at(now: int, *spans: int) -> int:
    """Epoch seconds, a day after all that the row says is over."""
    return (now + max(spans)) // 1000 + _KEPT_SECONDS
