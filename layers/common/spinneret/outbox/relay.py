"""The relay: sends stored events to the sinks, in order per subject and sink.

The writer of an event calls `relay` after the commit. `sweep` relays events of writers that died
and events that a sink failed to take. Any number of processes may relay the same subject at once.
Each reads the pending events in order and sends a sink the next one only after the one before. A
sink may therefore get an event twice, but never a later event before it first got an earlier one.
"""

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from itertools import batched
from typing import Any

from spinneret.kernel import bounds, metrics
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable, DomainError, PermanentError
from spinneret.outbox import limits
from spinneret.outbox.models import PendingEvent, SubjectRef
from spinneret.outbox.ports import OutboxStore, Position, Sink

logger = logging.getLogger(__name__)

_GIVE_UP = timedelta(seconds=limits.OUTBOX_GIVE_UP_SECONDS)
_RETRY = timedelta(seconds=limits.OUTBOX_RETRY_SECONDS)


@dataclass(frozen=True, kw_only=True)
class RelayResult:
    """Result of one sweep."""

    handed_on: int = 0
    """Number of events that every sink has now."""
    postponed: int = 0
    """Number of events that a sink failed to take, or that wait for such an earlier event."""
    abandoned: int = 0
    """Number of events that a sink will never get."""
    failed: int = 0
    """Number of subjects and pages that couldn't be read or written; a later sweep retries."""
    unfinished: int = 0
    """Number of shards that a sweep didn't finish within its bounds."""
    lag_seconds: float = 0.0
    """Age of the oldest pending event that the sweep met; 0 if it met none."""


@dataclass(kw_only=True)
class _Walk:
    """State of one walk through the pending events of a subject."""

    until: datetime
    counts: Counter[str]
    swept: bool
    """Whether a sweep does the walk; the next sweep follows in a minute in any case."""
    oldest: datetime | None = None
    """Time of the oldest event of the walk."""
    stopped: dict[str, datetime] = field(default_factory=dict)
    """Sinks that get no further events of this subject, with the time of their next try."""


@dataclass(kw_only=True)
class _Shard:
    number: int
    after: Position | None = None


@dataclass(frozen=True, kw_only=True)
class _Swept:
    """Result of a sweep for one subject."""

    counts: Counter[str]
    oldest: datetime | None
    refusal: DependencyUnavailable | None = None


_Each = Callable[[Callable[[SubjectRef], _Swept], Iterable[SubjectRef]], Iterable[_Swept]]


class Relay:
    """Relays events; each event's row stores which sinks have it."""

    def __init__(
        self, store: OutboxStore, sinks: Sequence[Sink], clock: Clock, at_once: int = 1
    ) -> None:
        """`at_once` is the number of subjects that a sweep relays in parallel."""
        self._at_once = at_once
        self._store = store
        self._sinks = tuple(sinks)
        self._clock = clock

    def relay(self, tenant: str, subject: str) -> None:
        """Relay the subject's pending events, for OUTBOX_SUBJECT_SECONDS at most.

        Raises nothing: the change is committed, and the sweep relays the rest.
        """
        try:
            self._relay_events(SubjectRef(tenant=tenant, subject=subject), self._walk(swept=False))
        except DependencyUnavailable as error:
            facts = {"subject": subject, "reason": error.message}
            logger.warning("relay_deferred_to_sweep", extra=facts)
        except Exception:  # the change is committed: failed reporting must not fail it
            logger.exception("relay_failed", extra={"subject": subject})

    def sweep(self) -> RelayResult:
        """Relay due events, oldest first, taking one page of each shard in turn.

        Ends after OUTBOX_SUBJECTS subjects or OUTBOX_SWEEP_SECONDS. Raises DependencyUnavailable
        after SWEEP_REFUSALS consecutive calls without a response. Logs the lag as a metric, unless
        it raises: the lag is unknown then.
        """
        counts: Counter[str] = Counter()
        begun = self._clock()
        try:
            oldest = self._sweep(begun, counts)
        finally:
            if counts:
                logger.info("relayed", extra=asdict(RelayResult(**counts)))
        lag = round((begun - oldest).total_seconds(), 3)
        metrics.OUTBOX_LAG.add(lag)
        return RelayResult(**counts, lag_seconds=lag)

    def _sweep(self, begun: datetime, counts: Counter[str]) -> datetime:
        if self._at_once == 1:
            return self._sweep_with(map, begun, counts)
        with ThreadPoolExecutor(self._at_once) as pool:
            return self._sweep_with(pool.map, begun, counts)

    def _sweep_with(self, each: _Each, begun: datetime, counts: Counter[str]) -> datetime:
        """Sweep, counting in `counts`; return the time of the oldest event, at most `begun`."""
        oldest = begun
        until = begun + timedelta(seconds=limits.OUTBOX_SWEEP_SECONDS)
        shards = deque(_Shard(number=number) for number in range(limits.OUTBOX_SHARDS))
        shards.rotate(int(begun.timestamp() // 60))  # starts with another shard every minute
        seen: set[SubjectRef] = set()
        refusals = 0
        while shards:
            shard = shards.popleft()
            try:
                page = self._store.to_wake(shard.number, begun, limits.OUTBOX_PAGE, shard.after)
                refusals = 0
            except DependencyUnavailable as error:
                refusals = _refused(error, refusals, counts)
                continue
            fresh = [ref for ref in dict.fromkeys(page.subjects) if ref not in seen]
            for refs in batched(fresh, self._at_once):
                if len(seen) >= limits.OUTBOX_SUBJECTS or self._clock() >= until:
                    counts["unfinished"] += 1
                    break
                seen.update(refs)
                for swept in each(self._swept, refs):
                    counts.update(swept.counts)
                    oldest = min(oldest, swept.oldest or begun)
                    refusal = swept.refusal
                    refusals = _refused(refusal, refusals, counts) if refusal else 0
            else:
                if page.after is not None:
                    shard.after = page.after
                    shards.append(shard)
        return oldest

    def _swept(self, ref: SubjectRef) -> _Swept:
        """Relay a subject's events; return the result, with the error of a failed call."""
        walk = self._walk(swept=True)
        refusal = None
        try:
            self._relay_events(ref, walk)
        except DependencyUnavailable as error:
            refusal = error
        except Exception as error:  # an unreadable row doesn't block the others
            facts = {"subject": ref.subject, "error_type": type(error).__name__}
            logger.exception("relay_failed", extra=facts)
            walk.counts["failed"] += 1
        return _Swept(counts=walk.counts, oldest=walk.oldest, refusal=refusal)

    def _walk(self, *, swept: bool) -> _Walk:
        until = self._clock() + timedelta(seconds=limits.OUTBOX_SUBJECT_SECONDS)
        return _Walk(until=until, counts=Counter(), swept=swept)

    def _relay_events(self, ref: SubjectRef, walk: _Walk) -> None:
        after: Position | None = None
        while True:
            page = self._store.pending(ref, after, limits.OUTBOX_PAGE)
            for pending in page.events:
                occurred_at = pending.event.occurred_at
                walk.oldest = min(walk.oldest or occurred_at, occurred_at)
                if self._clock() >= walk.until:
                    return
                self._offer(pending, walk)
            after = page.after
            if after is None:
                return

    def _offer(self, pending: PendingEvent, walk: _Walk) -> None:
        """Offer an event to each sink that has all earlier ones; store the remaining work."""
        now = self._clock()
        lacking = [sink for sink in self._sinks if sink.name not in pending.taken]
        waits = pending.failing_since is not None and pending.due_at > now
        ready = [sink for sink in lacking if not waits and sink.name not in walk.stopped]
        if walk.swept and ready:
            pending = self._counted(pending, now)
        given = {sink.name for sink in ready if self._takes(sink, pending, now, walk)}
        left = {sink.name for sink in lacking} - given
        if not left:
            self._store.close(pending.event, now)
            walk.counts["handed_on"] += 1
            return
        if not waits:
            failed = len(given) < len(ready)
            pending = self._put_off(pending, given, walk, now, failed=failed)
            self._store.postpone(pending)
            walk.counts["postponed"] += 1
        for name in left:
            walk.stopped.setdefault(name, pending.due_at)

    def _counted(self, pending: PendingEvent, now: datetime) -> PendingEvent:
        """Store the try and the time of the next one before the attempt.

        So an event that ends the process doesn't end each sweep.
        """
        tries = pending.tries + 1
        since = pending.failing_since or now
        counted = replace(pending, tries=tries, due_at=now + _pause(tries), failing_since=since)
        self._store.postpone(counted)
        return counted

    def _put_off(
        self,
        pending: PendingEvent,
        given: set[str],
        walk: _Walk,
        now: datetime,
        *,
        failed: bool,
    ) -> PendingEvent:
        """Return the event after a sink failed, or while a sink is stopped at an earlier event.

        The attempt ended in order, so that former tries no longer count.
        """
        due_at = now + _RETRY if failed else min(walk.stopped.values())
        since = pending.failing_since or now
        taken = pending.taken | given
        return replace(pending, taken=taken, tries=0, due_at=due_at, failing_since=since)

    def _takes(self, sink: Sink, pending: PendingEvent, now: datetime, walk: _Walk) -> bool:
        """Return whether the sink is done with the event: it took it, or will never get it."""
        event = pending.event
        facts: dict[str, Any] = {"sink": sink.name, "event_id": event.id, "event_type": event.type}
        since = pending.failing_since
        try:
            sink.take(event)
        except PermanentError as error:
            reason = error.message
        except DomainError as error:
            if since is None or now - since < _GIVE_UP:
                logger.warning("sink_failed", extra={**facts, "reason": error.message})
                return False
            reason = error.message
        except Exception as error:  # a failing sink affects neither other sinks nor the writer
            facts["error_type"] = type(error).__name__
            logger.exception("sink_failed", extra=facts)
            if since is None or now - since < _GIVE_UP:
                return False
            reason = "an unexpected error"
        else:
            return True
        walk.counts["abandoned"] += 1
        logger.error("event_abandoned", extra={**facts, "reason": reason})
        return True


def _pause(tries: int) -> timedelta:
    """Return the pause before the next try, unless this one ends in order; `tries` counts it."""
    seconds = limits.OUTBOX_CRASH_FIRST_SECONDS * 2 ** min(tries - 1, 16)
    return timedelta(seconds=min(seconds, limits.OUTBOX_CRASH_CAP_SECONDS))


def _refused(error: DependencyUnavailable, refusals: int, counts: Counter[str]) -> int:
    """Count a failed call; raise the error after SWEEP_REFUSALS consecutive failures.

    A single page can be skipped, but a store that is down isn't called for each subject.
    """
    counts["failed"] += 1
    logger.warning("relay_refused", extra={"reason": error.message})
    if refusals + 1 == bounds.SWEEP_REFUSALS:
        raise error
    return refusals + 1
