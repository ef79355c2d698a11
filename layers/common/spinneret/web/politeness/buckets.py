"""A bucket and the queue at it, as pure functions on a host's pace row.

The bucket is the generic cell rate algorithm in its virtual-scheduling form (ITU-T I.371, annex A):
with the interval T and the tolerance tau = (burst - 1) * T, a request conforms if TAT - tau <= now,
and then TAT becomes max(TAT, now) + T. If all pay the same T and have the same tau, at most
burst + rate * w requests are admitted in every window of w seconds.

A host has one bucket that all callers share, with the pace that the site is owed. A caller whose
own pace is slower has to pass a bucket of that pace too: it pays the site's interval to the site,
and the longer one only there, so that neither its larger tolerance lets it in where the site's
bucket is empty, nor its longer interval delays those who are faster.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from spinneret.kernel import bounds
from spinneret.web.politeness.changes import Change, Plus, different, equal, over, passed
from spinneret.web.politeness.models import (
    Ask,
    OwnBucket,
    PaceLimits,
    PaceState,
    Wait,
    WaitReason,
    from_ms,
)

_HORIZON_MS: Final = round(1000 * bounds.PROMISE_HORIZON_SECONDS)
_SHORT_MS: Final = round(1000 * bounds.SHORT_WAIT_SECONDS)
_KEPT_SECONDS: Final = 24 * 3600  # rows outlive all that is in them


@dataclass(frozen=True)
class Promise:
    """Refuse, and keep a slot by this change; the field `tail` of the state then is the slot."""

    change: Change
    reason: WaitReason
    tail: str


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """A bucket as one caller finds it; its attributes in the row and their values."""

    limits: PaceLimits
    tat_at: str
    tat: int | None
    tail_at: str
    tail: int | None
    field: str
    """Where the state has the tail."""

    @property
    def conforms_at(self) -> int:
        """When it has a token."""
        return (self.tat or 0) - self.limits.tolerance_ms


def split(wished: PaceLimits, stage: PaceLimits) -> tuple[PaceLimits, OwnBucket | None]:
    """The pace that all callers owe the site, and the caller's own where that is slower.

    The stage's pace is the fastest; a crawl-delay is the site's own wish, and holds for all.
    """
    site = replace(stage, min_gap_seconds=wished.min_gap_seconds)
    own = PaceLimits(
        rate=min(wished.rate, stage.rate),
        burst=min(wished.burst, stage.burst),
        own_gap_seconds=wished.own_gap_seconds,
    )
    keeps_to_site = (
        own.interval_ms <= site.interval_ms
        and own.tolerance_ms >= site.tolerance_ms
        and (site.strict or not own.strict)
    )
    return site, None if keeps_to_site else OwnBucket(own)


def of_site(seen: PaceState, ask: Ask) -> Bucket:
    """The bucket that all share."""
    return Bucket(
        limits=ask.site,
        tat_at="tat",
        tat=seen.tat,
        tail_at="tail",
        tail=seen.tail,
        field="tail",
    )


def of_caller(seen: PaceState, own: OwnBucket) -> Bucket:
    """The bucket of the caller's own pace."""
    return Bucket(
        limits=own.limits,
        tat_at=own.tat,
        tat=seen.own_tat,
        tail_at=own.tail,
        tail=seen.own_tail,
        field="own_tail",
    )


def refusal(
    bucket: Bucket, ask: Ask, earliest: int, reason: WaitReason, *, held: bool
) -> Promise | Wait | None:
    """What keeps the caller away: nothing passes before `earliest`, and newcomers don't overtake.

    While it is `held`, nobody knows when it will be free.
    """
    if earliest > ask.now:
        if ask.promised and earliest <= ask.now + _SHORT_MS and not held:
            return Wait(until=from_ms(earliest), reason=reason, promised=True)
        return _promise(bucket, ask, earliest, reason)
    if not ask.promised and bucket.tail is not None and bucket.tail > _passed_by(bucket, ask):
        return _promise(bucket, ask, ask.now, WaitReason.PROMISED)
    return None


def newcomers_turn(bucket: Bucket, ask: Ask) -> Change:
    """Who was promised nothing comes after all who were."""
    return Change(guards=() if ask.promised else (passed(bucket.tail_at, _passed_by(bucket, ask)),))


def spent(bucket: Bucket, ask: Ask) -> Change:
    """Takes a token. DynamoDB has no max(), so TAT moves by one of two changes."""
    name, now, interval = bucket.tat_at, ask.now, bucket.limits.interval_ms
    if bucket.tat is None or bucket.tat <= now:
        return Change(guards=(passed(name, now),), to={name: now + interval})
    conforms = passed(name, now + bucket.limits.tolerance_ms)
    return Change(guards=(over(name, now), conforms), to={name: Plus(interval)})


# ---------------------------------------------------------------- The caller's own


def own_refusal(seen: PaceState, ask: Ask) -> Promise | Wait | None:
    """As `refusal`, by the caller's own pace."""
    if ask.own is None:
        return None
    bucket = of_caller(seen, ask.own)
    held = seen.own_holder is not None and bucket.conforms_at > ask.now
    soonest = ask.now + bucket.limits.interval_ms
    earliest = min(bucket.conforms_at, soonest) if held else bucket.conforms_at
    return refusal(bucket, ask, earliest, WaitReason.PACE, held=held)


def own_token(seen: PaceState, ask: Ask) -> Change:
    """A strict request keeps the others of its bucket away until its end, as at the site's."""
    if ask.own is None:
        return Change()
    bucket = of_caller(seen, ask.own)
    turn = newcomers_turn(bucket, ask)
    if not bucket.limits.strict:
        token = spent(bucket, ask)
        return Change(guards=turn.guards + token.guards, to=token.to)
    free_at = ask.now + ask.hold_ms + bucket.limits.interval_ms
    return Change(
        guards=(*turn.guards, passed(bucket.tat_at, ask.now)),
        to={bucket.tat_at: free_at, ask.own.holder: ask.token},
    )


def own_end(seen: PaceState, ask: Ask, end: int) -> Iterator[Change]:
    """The gap after a strict request begins; by the holder only."""
    if ask.own is not None and seen.own_holder == ask.token:
        free_at = end + ask.own.limits.interval_ms
        yield Change(
            guards=(equal(ask.own.holder, ask.token),),
            to={ask.own.holder: None, ask.own.tat: free_at},
        )


# ---------------------------------------------------------------- Slots


def _passed_by(bucket: Bucket, ask: Ask) -> int:
    """The last slot belongs to its promise for one interval; newcomers come after it."""
    return ask.now - bucket.limits.interval_ms


def _promise(bucket: Bucket, ask: Ask, earliest: int, reason: WaitReason) -> Promise | Wait:
    """A slot of the caller's own: behind all others, not before `earliest`."""
    tail, interval = bucket.tail_at, bucket.limits.interval_ms
    horizon = ask.now + _HORIZON_MS
    queued = bucket.tail is not None and bucket.tail + interval > earliest
    slot = (bucket.tail or 0) + interval if queued else earliest
    if slot > horizon:
        until = min(earliest, horizon) if ask.promised else horizon
        return Wait(until=from_ms(until), reason=reason, promised=ask.promised)
    last = passed(tail, (horizon if queued else earliest) - interval)
    change = Change(
        guards=(different("promised_to", ask.token), last),
        to={
            tail: Plus(interval) if queued else earliest,
            "promised_to": ask.token,
            "purge_at": purge_at(ask.now, interval, _HORIZON_MS),
        },
    )
    return Promise(change, reason, bucket.field)


def purge_at(now: int, *spans: int) -> int:
    """Epoch seconds, a day after all that the row says is over."""
    return (now + max(spans)) // 1000 + _KEPT_SECONDS


def longest_ms(ask: Ask) -> int:
    """The longer interval of the caller's buckets."""
    own_ms = 0 if ask.own is None else ask.own.limits.interval_ms
    return max(ask.site.interval_ms, own_ms)
