"""Check one target: claim it, send the requests, judge the response, write the result."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from spinneret.jobs.rules import held_for
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable, DomainError
from spinneret.kernel.ids import NewId
from spinneret.monitoring import limits
from spinneret.monitoring.checks import rules
from spinneret.monitoring.checks.asking import CheckFetcher, HostBusy
from spinneret.monitoring.checks.connectivity import Connectivity
from spinneret.monitoring.checks.models import CheckResult, Outcome
from spinneret.monitoring.checks.ports import CheckStore
from spinneret.monitoring.conditions.language import parse_conditions
from spinneret.monitoring.due.models import DueTarget
from spinneret.monitoring.incidents.models import StateChange
from spinneret.monitoring.incidents.rules import is_unconfirmed, step
from spinneret.monitoring.slots.models import (
    SlotLease,
    check_owner,
    host_slot,
    target_of_owner,
)
from spinneret.monitoring.slots.ports import SlotStore
from spinneret.monitoring.targets import rules as target_rules
from spinneret.monitoring.targets.models import Method, TargetWithState
from spinneret.monitoring.targets.ports import Announce, TargetStore
from spinneret.monitoring.windows.service import Maintenance
from spinneret.outbox.ports import HandOn
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.ports import Fetcher
from spinneret.web.fetching.urls import Url, parse_url
from spinneret.web.models import Caller, Purpose, WaitUntil
from spinneret.web.polite_fetcher import PoliteFetcher
from spinneret.web.politeness.rules import host_key

logger = logging.getLogger(__name__)

_SLOT_MARGIN_SECONDS: Final = 2 * bounds.CLOCK_SKEW_SECONDS  # one clock may lag, another may lead


class CheckDisposition(StrEnum):
    """Outcome of one check of a message."""

    CHECKED = "checked"
    SKIPPED = "skipped"
    """The host was busy until the check's time was over."""
    HELD = "held"
    """The tenant is suspended."""
    STALE = "stale"
    """The check was made already, or the target was paused, deleted or changed."""


@dataclass(frozen=True, kw_only=True)
class HostWait:
    """A check that wasn't made, because a host was busy, and left no trace in the stores."""

    until: datetime | None = None
    """When the host's rate limit lets the check through; None if that is unknown."""
    reservation: str | None = None
    """Reservation in the rate limit, for the next try."""
    elsewhere: bool = False
    """Whether another host was busy, to which the target redirects."""


@dataclass(frozen=True, kw_only=True)
class CheckParts:
    """Dependencies that all checks share."""

    targets: TargetStore
    checks: CheckStore
    slots: SlotStore
    fetcher: Fetcher
    polite: Callable[[CheckFetcher], PoliteFetcher]
    """Function that wraps a check's own requests in a polite fetcher."""
    maintenance: Maintenance
    connectivity: Connectivity
    hand_on: HandOn
    announce: Announce
    """Function that sends a check which is due before the tick would send it."""
    clock: Clock
    monotonic: Callable[[], float]
    sleep: Callable[[float], None]
    new_id: NewId
    timeout: float
    """Timeout of one try in seconds (HTTP_TIMEOUT)."""

    @property
    def slot_seconds(self) -> float:
        """Seconds for which a slot is acquired: the longest check plus a margin for clock skew."""
        longest = rules.longest_seconds(self.timeout) + self.timeout + bounds.REDIRECT_WAITS_SECONDS
        return longest + 2 * bounds.AWS_CALL_SECONDS + _SLOT_MARGIN_SECONDS


class Checker:
    """Checks targets under a worker's slot. All methods raise DependencyUnavailable."""

    def __init__(self, parts: CheckParts) -> None:
        self._parts = parts

    def check(self, due: DueTarget, worker: SlotLease) -> CheckDisposition | HostWait:
        """Make a check unless it is stale; return what was done."""
        parts = self._parts
        watched = self._still_due(due)
        if watched is None:
            return CheckDisposition.STALE
        token, former = parts.new_id("chk"), watched.state.slot
        owner = check_owner(due.tenant, due.target_id, token)
        over = None if former is None else check_owner(due.tenant, due.target_id, former)
        name, now = host_slot(due.host), parts.clock()
        until = now + timedelta(seconds=parts.slot_seconds)
        slot = parts.slots.take(name, owner, now, until, over)
        if slot is None:
            slot = _take_after(parts, name, owner, until)
            watched = self._still_due(due)  # the other check may have been this one
        if slot is None:
            return CheckDisposition.STALE if watched is None else HostWait()
        check = _Check(parts, slot, worker)
        try:
            if watched is None:
                return CheckDisposition.STALE
            return self._checked(check, watched, due, token)
        finally:
            check.leave()

    def skip(self, due: DueTarget) -> CheckDisposition:
        """Record that the host was too busy for a check; the target keeps its due time."""
        watched = self._still_due(due)
        if watched is None:
            return CheckDisposition.STALE
        now = self._parts.clock()
        result = replace(self._blank(watched, now), outcome=Outcome.SKIPPED_BUSY)
        assert watched.state.due_at is not None  # only due targets are skipped
        change = step(watched, result, watched.state.due_at)
        state = replace(change.state, reservation=due.reservation, paced_seconds=due.paced_seconds)
        change = replace(change, state=state)
        if not self._parts.checks.record(watched, result, change):
            return CheckDisposition.STALE
        self._hand_on(watched, change)
        return CheckDisposition.SKIPPED

    def put_off(self, due: DueTarget, since: datetime) -> CheckDisposition:
        """Make a target due later, whose tenant is suspended since that time."""
        watched, now = self._still_due(due), self._parts.clock()
        if watched is None or not self._parts.checks.put_off(watched, now + held_for(since, now)):
            return CheckDisposition.STALE
        return CheckDisposition.HELD

    def _still_due(self, due: DueTarget) -> TargetWithState | None:
        watched = self._parts.targets.get(due.tenant, due.target_id)
        if watched is None or watched.state.due_at is None:
            return None
        return watched if watched.state.due_at <= due.due_at else None

    def _checked(
        self, check: _Check, watched: TargetWithState, due: DueTarget, token: str
    ) -> CheckDisposition | HostWait:
        asked = self._blank(watched, self._parts.clock())
        try:
            answer = check.ask(watched, due.reservation or watched.state.reservation)
        except HostBusy as busy:
            return HostWait(elsewhere=busy.host not in {None, due.host})
        except DependencyUnavailable:
            raise
        except DomainError as error:
            asked = replace(asked, latency_ms=check.asking.latency_ms, tries=check.asking.tries)
            is_online = not rules.may_be_ours(error) or self._parts.connectivity.is_online()
            result = rules.unanswered(asked, error, is_online=is_online)
        else:
            if isinstance(answer, WaitUntil):
                return _wait(answer, due.host)
            asked = replace(asked, latency_ms=answer.duration_ms, tries=check.asking.tries)
            result = self._judged(asked, answer, watched)
            if check.asking.is_resumed:  # this try didn't see the certificates of earlier hosts
                result = replace(result, certificate=None)
        return self._recorded(check, watched, due, result, token)

    def _judged(
        self, asked: CheckResult, page: FetchedPage, watched: TargetWithState
    ) -> CheckResult:
        options = watched.target.options
        return rules.result_of_response(asked, page, options, parse_conditions(options.conditions))

    def _recorded(
        self,
        check: _Check,
        watched: TargetWithState,
        due: DueTarget,
        result: CheckResult,
        token: str,
    ) -> CheckDisposition:
        target = watched.target
        # A clock that lags behind the tick's must not find the same time again.
        after = max(self._parts.clock(), due.due_at)
        next_due = target_rules.next_slot(target.id, target.options.interval_seconds, after)
        change = step(watched, result, next_due)
        retry = target.options.retry_seconds
        is_retried = retry is not None and is_unconfirmed(change.state)
        if retry is not None and is_retried and not result.in_maintenance:
            next_due = min(next_due, after + timedelta(seconds=retry))
        state = replace(change.state, due_at=next_due, slot=token, paced_seconds=due.paced_seconds)
        change = replace(change, state=state)
        if not self._parts.checks.record(watched, result, change):
            logger.info("check_refused", extra={"target_id": target.id})
            return CheckDisposition.STALE
        check.is_over()
        if is_retried:
            self._parts.announce(replace(watched, state=state))
        self._hand_on(watched, change)
        return CheckDisposition.CHECKED

    def _hand_on(self, watched: TargetWithState, change: StateChange) -> None:
        if change.reports:
            self._parts.hand_on(watched.target.tenant, watched.target.id)

    def _blank(self, watched: TargetWithState, now: datetime) -> CheckResult:
        due_at, target = watched.state.due_at, watched.target
        late = now - due_at if due_at is not None else timedelta()
        return CheckResult(
            id=self._parts.new_id("res"),
            checked_at=now,
            outcome=Outcome.UNKNOWN,
            late_ms=max(0, round(late / timedelta(milliseconds=1))),
            in_maintenance=self._parts.maintenance.covers(target.tenant, target.id, now),
        )


class _Check:
    """A running check with the slots of the hosts that it requests. Implements CheckSlots."""

    def __init__(self, parts: CheckParts, slot: SlotLease, worker: SlotLease) -> None:
        self._parts = parts
        self._worker = worker
        self.slot: SlotLease = slot
        self._others: dict[str, SlotLease] = {}
        self._has_slot = True
        self.asking = CheckFetcher(
            parts.fetcher,
            timeout=parts.timeout,
            slots=self,
            clock=parts.clock,
            monotonic=parts.monotonic,
            sleep=parts.sleep,
        )

    def ask(self, watched: TargetWithState, reservation: str | None) -> FetchedPage | WaitUntil:
        """Request the target. Raises HostBusy and all exceptions of PoliteFetcher.fetch."""
        target, state = watched.target, watched.state
        assert state.due_at is not None  # only due targets are checked
        # The name stays the same for every try of this check, also by another message.
        name = f"{target.id}/{state.due_at:%Y%m%dT%H%M%S%f}"
        request = FetchRequest(
            url=parse_url(target.canonical_url),
            method=target.options.method,
            # One extra byte shows whether the body is longer than the limit.
            excerpt_bytes=limits.CHECK_BODY_BYTES + 1 if target.options.method is Method.GET else 0,
            excerpt_is_vital=True,
            max_redirects=limits.CHECK_REDIRECTS,
        )
        caller = Caller(
            tenant=target.tenant, id=name, purpose=Purpose.CHECK, reservation=reservation
        )
        return self._parts.polite(self.asking).fetch(caller, request)

    def is_over(self) -> None:
        """Mark the slot as ended: the state that has the outcome names its owner."""
        self._has_slot = False

    def leave(self) -> None:
        """Release the remaining slots; a slot that can't be released expires."""
        mine = [self.slot] if self._has_slot else []
        for slot in (*mine, *self._others.values()):
            with suppress(DependencyUnavailable):
                self._parts.slots.give_back(slot)

    def require_room(self, seconds: float) -> None:
        needed = seconds + bounds.REDIRECT_WAITS_SECONDS + _SLOT_MARGIN_SECONDS
        end = min(each.until for each in (self.slot, self._worker, *self._others.values()))
        if self._parts.clock() + timedelta(seconds=needed) > end:
            raise HostBusy

    def enter(self, url: Url) -> None:
        """See CheckSlots; the host also allows one check at a time."""
        name = host_slot(url.host)
        if name == self.slot.name or name in self._others:
            return
        now, mine = self._parts.clock(), self.slot
        slot = self._parts.slots.take(name, mine.owner, now, mine.until)
        if slot is None:
            slot = _take_after(self._parts, name, mine.owner, mine.until)
        if slot is None:
            raise HostBusy(url.host)
        self._others[name] = slot


def _take_after(parts: CheckParts, name: str, owner: str, until: datetime) -> SlotLease | None:
    """Acquire a host's slot after a check whose outcome is written; None if it isn't over."""
    holder = parts.slots.holder(name)
    named = None if holder is None else target_of_owner(holder)
    if holder is None or named is None:
        return None
    other = parts.targets.get(*named)
    if other is None or other.state.slot is None:
        return None
    if check_owner(*named, other.state.slot) != holder:
        return None
    return parts.slots.take(name, owner, parts.clock(), until, holder)


def _wait(answer: WaitUntil, host: str) -> HostWait:
    own = host_key(host)
    waits = answer.waiting_for
    elsewhere = waits != own and not waits.startswith(f"{own}: ")
    return HostWait(until=answer.until, reservation=waits, elsewhere=elsewhere)
