"""Check one target: claim it, send the requests, judge the response, write the result."""

import logging
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from spinneret.jobs.rules import held_for
from spinneret.kernel.errors import DependencyUnavailable, DomainError
from spinneret.kernel.service import service
from spinneret.monitoring.checks import rules
from spinneret.monitoring.checks.asking import HostBusy
from spinneret.monitoring.checks.models import CheckResult, Outcome
from spinneret.monitoring.checks.parts import CheckParts
from spinneret.monitoring.checks.probes import PROBES
from spinneret.monitoring.checks.running import RunningCheck, take_after
from spinneret.monitoring.due.models import DueTarget
from spinneret.monitoring.incidents.models import StateChange
from spinneret.monitoring.incidents.rules import is_unconfirmed, step
from spinneret.monitoring.slots.models import SlotLease, check_owner, host_slot
from spinneret.monitoring.targets import rules as target_rules
from spinneret.monitoring.targets.models import Target, TargetState, TargetWithState
from spinneret.web.models import WaitUntil
from spinneret.web.politeness.rules import host_key

logger = logging.getLogger(__name__)

_SECOND: Final = timedelta(seconds=1)


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


@service
class Checker:
    """Checks targets under a worker's slot. All methods raise DependencyUnavailable."""

    parts: CheckParts

    def check(self, due: DueTarget, worker: SlotLease) -> CheckDisposition | HostWait:
        """Make a check unless it is stale; return what was done."""
        parts = self.parts
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
            slot = take_after(parts, name, owner, until)
            watched = self._still_due(due)  # the other check may have been this one
        if slot is None:
            return CheckDisposition.STALE if watched is None else HostWait()
        check = RunningCheck(parts, slot, worker)
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
        now = self.parts.clock()
        result = replace(self._blank(watched, due, now), outcome=Outcome.SKIPPED_BUSY)
        assert watched.state.due_at is not None  # only due targets are skipped
        change = step(watched, result, watched.state.due_at).with_state(
            reservation=due.reservation, paced_seconds=due.paced_seconds
        )
        if not self.parts.checks.record(watched, result, change):
            return CheckDisposition.STALE
        self._relay_events(watched, change)
        return CheckDisposition.SKIPPED

    def put_off(self, due: DueTarget, since: datetime) -> CheckDisposition:
        """Make a target due later, whose tenant is suspended since that time."""
        watched, now = self._still_due(due), self.parts.clock()
        if watched is None or not self.parts.checks.put_off(watched, now + held_for(since, now)):
            return CheckDisposition.STALE
        return CheckDisposition.HELD

    def _still_due(self, due: DueTarget) -> TargetWithState | None:
        watched = self.parts.targets.get(due.tenant, due.target_id)
        if watched is None or watched.state.due_at is None:
            return None
        return watched if watched.state.due_at <= due.due_at else None

    def _checked(
        self, check: RunningCheck, watched: TargetWithState, due: DueTarget, token: str
    ) -> CheckDisposition | HostWait:
        asked = self._blank(watched, due, self.parts.clock())
        probe = PROBES[watched.target.kind](self.parts, watched, check)
        try:
            result = probe.result(asked, due.reservation or watched.state.reservation)
        except HostBusy as busy:
            return HostWait(elsewhere=busy.host not in {None, due.host})
        except DependencyUnavailable:
            raise
        except DomainError as error:
            asked = replace(asked, latency_ms=probe.latency_ms, tries=probe.tries)
            is_online = not rules.may_be_ours(error) or self.parts.connectivity.is_online()
            result = rules.unanswered(asked, error, is_online=is_online)
        if isinstance(result, WaitUntil):
            return _wait(result, due.host)
        return self._recorded(check, watched, due, result, token)

    def _recorded(
        self,
        check: RunningCheck,
        watched: TargetWithState,
        due: DueTarget,
        result: CheckResult,
        token: str,
    ) -> CheckDisposition:
        target = watched.target
        # A clock that lags behind the tick's must not find the same time again.
        after = max(self.parts.clock(), due.due_at)
        regular = target_rules.next_due(target, after)
        change = step(watched, result, regular)
        next_due = min(regular, self._sooner(target, result, change.state, after) or regular)
        change = change.with_state(due_at=next_due, slot=token, paced_seconds=due.paced_seconds)
        if not self.parts.checks.record(watched, result, change):
            logger.info("check_refused", extra={"target_id": target.id})
            return CheckDisposition.STALE
        check.is_over()
        if next_due < regular:
            self.parts.announce(replace(watched, state=change.state))
        self._relay_events(watched, change)
        return CheckDisposition.CHECKED

    def _sooner(
        self, target: Target, result: CheckResult, state: TargetState, after: datetime
    ) -> datetime | None:
        """Return when a check that says too little is repeated; None for the regular time."""
        if not result.in_maintenance:
            retry = target.options.retry_seconds
            is_retried = retry is not None and is_unconfirmed(state)
            return after + timedelta(seconds=retry) if retry and is_retried else None
        if target_rules.is_listed_by_step(target_rules.listed_interval(target)):
            return None
        # The maintenance may cover each regular check, and none of them would count.
        ends_at = self.parts.maintenance.until(target.tenant, target.id, result.checked_at)
        return None if ends_at is None else max(ends_at, after + _SECOND)

    def _relay_events(self, watched: TargetWithState, change: StateChange) -> None:
        if change.reports:
            self.parts.relay_events(watched.target.tenant, watched.target.id)

    def _blank(self, watched: TargetWithState, due: DueTarget, now: datetime) -> CheckResult:
        due_at, target, last = watched.state.due_at, watched.target, watched.state.last
        late = now - due_at if due_at is not None else timedelta()
        return CheckResult(
            id=self.parts.new_id("res"),
            checked_at=now,
            outcome=Outcome.UNKNOWN,
            late_ms=max(0, round(late / timedelta(milliseconds=1))),
            in_maintenance=self.parts.maintenance.covers(target.tenant, target.id, now),
            interval_seconds=target_rules.expected_seconds(target, due.paced_seconds),
            paused_at=None if last is None else last.paused_at,
        )


def _wait(answer: WaitUntil, host: str) -> HostWait:
    own = host_key(host)
    waits = answer.waiting_for
    elsewhere = waits != own and not waits.startswith(f"{own}: ")
    return HostWait(until=answer.until, reservation=waits, elsewhere=elsewhere)
