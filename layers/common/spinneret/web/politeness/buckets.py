"""A token bucket and the queue of its reservations, as pure functions on a host's pace row.

The bucket is the generic cell rate algorithm in its virtual-scheduling form (ITU-T I.371, annex A):
with the interval T and the tolerance tau = (burst - 1) * T, a request conforms if TAT - tau <= now,
and then TAT becomes max(TAT, now) + T. If all callers have the same T and tau, at most burst + rate
* w requests are admitted in every window of w seconds.

A host has one bucket that all callers share, with the pace that applies to every caller. A caller
with a slower pace also needs a token of a bucket of that pace. It pays the host's interval to the
shared bucket and the longer interval only to its own. So its larger tolerance doesn't admit it when
the shared bucket is empty, and its longer interval doesn't delay faster callers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from spinneret.web import limits
from spinneret.web.politeness.changes import (
    ConditionalUpdate,
    Increment,
    absent_or_at_most,
    different,
    equal,
    greater_than,
)
from spinneret.web.politeness.models import (
    OwnBucket,
    PaceLimits,
    PaceState,
    PermitRequest,
    Wait,
    WaitReason,
    from_ms,
)

_HORIZON_MS: Final = round(1000 * limits.RESERVATION_HORIZON_SECONDS)
_SHORT_MS: Final = round(1000 * limits.SHORT_WAIT_SECONDS)
_KEPT_SECONDS: Final = 24 * 3600  # longer than anything in a row is used


@dataclass(frozen=True)
class Reservation:
    """A refusal that reserves a slot by this change; the state's field `tail` is then the slot."""

    change: ConditionalUpdate
    reason: WaitReason
    tail: str


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """A bucket from one caller's view: names of its attributes in the row, and their values."""

    limits: PaceLimits
    tat_at: str
    tat: int | None
    tail_at: str
    tail: int | None
    field: str
    """Field of the state that holds the tail."""

    @property
    def conforms_at(self) -> int:
        """Moment at which the bucket has a token."""
        return (self.tat or 0) - self.limits.tolerance_ms


def split(requested: PaceLimits, stage: PaceLimits) -> tuple[PaceLimits, OwnBucket | None]:
    """Return the shared pace of the host, and the caller's own bucket if its pace is slower.

    The stage's pace is the fastest. A crawl-delay comes from the host and applies to all callers.
    """
    shared = replace(stage, min_gap_seconds=requested.min_gap_seconds)
    own = PaceLimits(
        rate=min(requested.rate, stage.rate),
        burst=min(requested.burst, stage.burst),
        own_gap_seconds=requested.own_gap_seconds,
    )
    keeps_to_shared = (
        own.interval_ms <= shared.interval_ms
        and own.tolerance_ms >= shared.tolerance_ms
        and (shared.strict or not own.strict)
    )
    return shared, None if keeps_to_shared else OwnBucket(own)


def shared_bucket(seen: PaceState, request: PermitRequest) -> Bucket:
    """Return the bucket that all callers share."""
    return Bucket(
        limits=request.shared,
        tat_at="tat",
        tat=seen.tat,
        tail_at="tail",
        tail=seen.tail,
        field="tail",
    )


def own_bucket(seen: PaceState, own: OwnBucket) -> Bucket:
    """Return the bucket of the caller's own pace."""
    return Bucket(
        limits=own.limits,
        tat_at=own.tat,
        tat=seen.own_tat,
        tail_at=own.tail,
        tail=seen.own_tail,
        field="own_tail",
    )


def refusal(
    bucket: Bucket, request: PermitRequest, earliest: int, reason: WaitReason, *, held: bool
) -> Reservation | Wait | None:
    """Return why the caller must wait, or None if it may pass.

    No request passes before `earliest`, nor before older reservations. While the bucket is `held`,
    its next free time is unknown.
    """
    if earliest > request.now:
        if request.reserved and earliest <= request.now + _SHORT_MS and not held:
            return Wait(until=from_ms(earliest), reason=reason, reserved=True)
        return _reserve(bucket, request, earliest, reason)
    if (
        not request.reserved
        and bucket.tail is not None
        and bucket.tail > _passed_by(bucket, request)
    ):
        return _reserve(bucket, request, request.now, WaitReason.RESERVED)
    return None


def behind_reservations(bucket: Bucket, request: PermitRequest) -> ConditionalUpdate:
    """Require that a caller without a reservation comes after all reservations."""
    return ConditionalUpdate(
        guards=()
        if request.reserved
        else (absent_or_at_most(bucket.tail_at, _passed_by(bucket, request)),)
    )


def taken_token(bucket: Bucket, request: PermitRequest) -> ConditionalUpdate:
    """Take a token. DynamoDB has no max(), so one of two changes moves TAT."""
    name, now, interval = bucket.tat_at, request.now, bucket.limits.interval_ms
    if bucket.tat is None or bucket.tat <= now:
        return ConditionalUpdate(guards=(absent_or_at_most(name, now),), to={name: now + interval})
    conforms = absent_or_at_most(name, now + bucket.limits.tolerance_ms)
    return ConditionalUpdate(
        guards=(greater_than(name, now), conforms), to={name: Increment(interval)}
    )


# ---------------------------------------------------------------- The caller's own


def refusal_of_own(seen: PaceState, request: PermitRequest) -> Reservation | Wait | None:
    """Return a refusal for the caller's own bucket; see `refusal`."""
    if request.own is None:
        return None
    bucket = own_bucket(seen, request.own)
    held = seen.own_holder is not None and bucket.conforms_at > request.now
    soonest = request.now + bucket.limits.interval_ms
    earliest = min(bucket.conforms_at, soonest) if held else bucket.conforms_at
    return refusal(bucket, request, earliest, WaitReason.PACE, held=held)


def taken_own_token(seen: PaceState, request: PermitRequest) -> ConditionalUpdate:
    """Take a token of the own bucket; a strict request holds the bucket until its end."""
    if request.own is None:
        return ConditionalUpdate()
    bucket = own_bucket(seen, request.own)
    queue = behind_reservations(bucket, request)
    if not bucket.limits.strict:
        token = taken_token(bucket, request)
        return ConditionalUpdate(guards=queue.guards + token.guards, to=token.to)
    free_at = request.now + request.lease_ms + bucket.limits.interval_ms
    return ConditionalUpdate(
        guards=(*queue.guards, absent_or_at_most(bucket.tat_at, request.now)),
        to={bucket.tat_at: free_at, request.own.holder: request.token},
    )


def released_own(seen: PaceState, request: PermitRequest, end: int) -> Iterator[ConditionalUpdate]:
    """Begin the gap after a strict request, only if the request holds the bucket."""
    if request.own is not None and seen.own_holder == request.token:
        free_at = end + request.own.limits.interval_ms
        yield ConditionalUpdate(
            guards=(equal(request.own.holder, request.token),),
            to={request.own.holder: None, request.own.tat: free_at},
        )


# ---------------------------------------------------------------- Slots


def _passed_by(bucket: Bucket, request: PermitRequest) -> int:
    """Return the last slot that no longer blocks others: a slot is reserved for one interval."""
    return request.now - bucket.limits.interval_ms


def _reserve(
    bucket: Bucket, request: PermitRequest, earliest: int, reason: WaitReason
) -> Reservation | Wait:
    """Reserve a slot after all others, not before `earliest`."""
    tail, interval = bucket.tail_at, bucket.limits.interval_ms
    horizon = request.now + _HORIZON_MS
    queued = bucket.tail is not None and bucket.tail + interval > earliest
    slot = (bucket.tail or 0) + interval if queued else earliest
    if slot > horizon:
        until = min(earliest, horizon) if request.reserved else horizon
        return Wait(until=from_ms(until), reason=reason, reserved=request.reserved)
    last = absent_or_at_most(tail, (horizon if queued else earliest) - interval)
    change = ConditionalUpdate(
        guards=(different("reserved_by", request.token), last),
        to={
            tail: Increment(interval) if queued else earliest,
            "reserved_by": request.token,
            "purge_at": purge_at(request.now, interval, _HORIZON_MS),
        },
    )
    return Reservation(change, reason, bucket.field)


def purge_at(now: int, *spans: int) -> int:
    """Return the TTL in epoch seconds: a day after everything in the row has expired."""
    return (now + max(spans)) // 1000 + _KEPT_SECONDS


def longest_ms(request: PermitRequest) -> int:
    """Return the longest interval of the caller's buckets."""
    own_ms = 0 if request.own is None else request.own.limits.interval_ms
    return max(request.shared.interval_ms, own_ms)
