"""Check one target: acquire its slot, send the requests, judge the response, write the result."""

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
from spinneret.monitoring.incidents.rules import step
from spinneret.monitoring.slots.models import SlotLease, host_slot
from spinneret.monitoring.slots.ports import SlotStore
from spinneret.monitoring.targets import rules as target_rules
from spinneret.monitoring.targets.models import Method, TargetWithState
from spinneret.monitoring.targets.ports import TargetStore
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
    """Outcome of one target of a worker's list."""

    CHECKED = "checked"
    SKIPPED = "skipped"
    """The host was busy."""
    DEFERRED = "deferred"
    """Another host, to which the target redirects, was busy."""
    HELD = "held"
    """The tenant is suspended."""
    STALE = "stale"
    """The target was no longer due, or it changed during the check."""


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

    def check(self, due: DueTarget, worker: SlotLease) -> CheckDisposition:
        """Check a target if it is still due; return what was done."""
        parts = self._parts
        now = parts.clock()
        until = now + timedelta(seconds=parts.slot_seconds)
        slot = parts.slots.take(host_slot(due.host), parts.new_id("chk"), now, until)
        if slot is None:
            watched = self._still_due(due)
            return CheckDisposition.STALE if watched is None else self.skip(watched)
        check = _Check(parts, slot, worker)
        try:
            watched = self._still_due(due)
            return CheckDisposition.STALE if watched is None else self._checked(check, watched)
        finally:
            check.leave()

    def skip(self, watched: TargetWithState, *, reservation: str | None = None) -> CheckDisposition:
        """Record that the host was too busy; the target keeps its due time."""
        now = self._parts.clock()
        result = replace(self._blank(watched, now), outcome=Outcome.SKIPPED_BUSY)
        assert watched.state.due_at is not None  # only due targets are skipped
        change = step(watched, result, watched.state.due_at)
        change = replace(change, state=replace(change.state, reservation=reservation))
        if not self._parts.checks.record(watched, result, change, None):
            return CheckDisposition.STALE
        self._hand_on(watched, change)
        return CheckDisposition.SKIPPED

    def put_off(self, due: DueTarget, since: datetime) -> CheckDisposition:
        """Make a target due later, whose tenant is suspended since that time."""
        watched, now = self._still_due(due), self._parts.clock()
        if watched is None or not self._parts.checks.put_off(watched, now + held_for(since, now)):
            return CheckDisposition.STALE
        return CheckDisposition.HELD

    def _skipped(
        self, watched: TargetWithState, *, elsewhere: bool, reservation: str | None = None
    ) -> CheckDisposition:
        """Skip the target; only if its own host is busy do the host's other targets wait, too."""
        done = self.skip(watched, reservation=reservation)
        if done is CheckDisposition.SKIPPED and elsewhere:
            return CheckDisposition.DEFERRED
        return done

    def still_due(self, due: DueTarget) -> TargetWithState | None:
        """Return the target if it is due, else None."""
        return self._still_due(due)

    def _still_due(self, due: DueTarget) -> TargetWithState | None:
        watched = self._parts.targets.get(due.tenant, due.target_id)
        if watched is None or watched.state.due_at is None:
            return None
        return watched if watched.state.due_at <= self._parts.clock() else None

    def _checked(self, check: _Check, watched: TargetWithState) -> CheckDisposition:
        began_at = self._parts.clock()
        asked = self._blank(watched, began_at)
        try:
            answer = check.ask(watched)
        except HostBusy as busy:
            elsewhere = busy.host not in {None, watched.target.host}
            return self._skipped(watched, elsewhere=elsewhere)
        except DependencyUnavailable:
            raise
        except DomainError as error:
            asked = replace(asked, latency_ms=check.asking.latency_ms, tries=check.asking.tries)
            is_online = not rules.may_be_ours(error) or self._parts.connectivity.is_online()
            result = rules.unanswered(asked, error, is_online=is_online)
        else:
            if isinstance(answer, WaitUntil):
                waits = answer.waiting_for
                own = host_key(watched.target.host)
                elsewhere = waits != own and not waits.startswith(f"{own}: ")
                return self._skipped(watched, elsewhere=elsewhere, reservation=waits)
            asked = replace(asked, latency_ms=answer.duration_ms, tries=check.asking.tries)
            result = self._judged(asked, answer, watched)
            if check.asking.is_resumed:  # this try didn't see the certificates of earlier hosts
                result = replace(result, certificate=None)
        return self._recorded(check, watched, result)

    def _judged(
        self, asked: CheckResult, page: FetchedPage, watched: TargetWithState
    ) -> CheckResult:
        options = watched.target.options
        return rules.result_of_response(asked, page, options, parse_conditions(options.conditions))

    def _recorded(
        self, check: _Check, watched: TargetWithState, result: CheckResult
    ) -> CheckDisposition:
        target = watched.target
        next_due = target_rules.next_slot(
            target.id, target.options.interval_seconds, self._parts.clock()
        )
        change = step(watched, result, next_due)
        if not self._parts.checks.record(watched, result, change, check.slot):
            logger.info("check_refused", extra={"target_id": target.id})
            return CheckDisposition.STALE
        check.is_over()
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

    def ask(self, watched: TargetWithState) -> FetchedPage | WaitUntil:
        """Request the target. Raises HostBusy and all exceptions of PoliteFetcher.fetch."""
        target, state = watched.target, watched.state
        assert state.due_at is not None  # only due targets are checked
        # The name stays the same for every try of this check, also at the next tick.
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
            tenant=target.tenant, id=name, purpose=Purpose.CHECK, reservation=state.reservation
        )
        return self._parts.polite(self.asking).fetch(caller, request)

    def is_over(self) -> None:
        """Mark the slot as released: the transaction that wrote the outcome ended it."""
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
        now = self._parts.clock()
        slot = self._parts.slots.take(name, self.slot.owner, now, self.slot.until)
        if slot is None:
            raise HostBusy(url.host)
        self._others[name] = slot
