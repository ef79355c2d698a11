"""The pace of a host: who may send a request now, and what its end teaches all others."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from spinneret.kernel.bounds import HOST_HOLD_SECONDS, SHORT_WAIT_SECONDS
from spinneret.kernel.clock import Clock
from spinneret.web.politeness import rules
from spinneret.web.politeness.breaker import CLOSED, view
from spinneret.web.politeness.buckets import Promise, split
from spinneret.web.politeness.models import (
    Admitted,
    Ask,
    BreakerLimits,
    BreakerView,
    Outcome,
    PaceLimits,
    PaceState,
    Record,
    Wait,
    WaitReason,
    from_ms,
    to_ms,
)
from spinneret.web.politeness.ports import DomainLedger, Refused

_STAGE: Final = PaceLimits()
_SHARED: Final = BreakerLimits()
logger = logging.getLogger(__name__)

# A plan is refused only where the state has changed its kind (idle, busy, promised, open) since it
# was seen; more than a few such changes within one call don't happen.
_ROUNDS: Final = 8


class Pace:
    """Bucket, crawl-delay, Retry-After and breaker of every host, for all tenants together.

    An admission is one write in the usual case, and its end none, unless the request was strict or
    the breaker has to learn something. An unusual port costs one read more. All methods raise
    DependencyUnavailable.
    """

    def __init__(
        self,
        *,
        ledger: DomainLedger,
        clock: Clock,
        new_token: Callable[[], str],
        stage: PaceLimits = _STAGE,
    ) -> None:
        """`stage` is the pace at which any host may be asked; nobody is faster."""
        self._ledger = ledger
        self._clock = clock
        self._new_token = new_token
        self._stage = stage

    def admit(
        self,
        host: str,
        *,
        owner: str,
        limits: PaceLimits,
        port: int | None = None,
        promised: bool = False,
        hold_seconds: float = HOST_HOLD_SECONDS,
    ) -> Admitted | Wait:
        """Ask for leave to send one request now.

        `port` is one that isn't the scheme's own. `promised` is what the Wait said that the caller
        comes back from; `owner` tells in the row who was admitted. A request must be over within
        `hold_seconds`: a caller that hasn't reported by then counts as dead. Who is admitted must
        report, whatever happens.
        """
        site, own = split(limits, self._stage)
        ask = Ask(
            token=f"{owner}/{self._new_token()}",
            now=to_ms(self._clock()),
            site=site,
            own=own,
            breaker=limits.breaker,
            hold_ms=round(1000 * hold_seconds),
            promised=promised,
            port=port,
        )
        if port is None:
            return self._admit(rules.site_of(host), ask)
        return self._admit_at_port(rules.site_of(host), rules.place_of(host, port), ask)

    def report(
        self, admitted: Admitted, outcome: Outcome, *, retry_after: float | None = None
    ) -> None:
        """Tell how the request ended; `retry_after` (seconds) is the site's wish, heeded for an
        hour at most. Of no effect if the caller was given up meanwhile."""
        told = rules.Told(
            admitted=admitted,
            outcome=outcome,
            retry_after_ms=None if retry_after is None else round(1000 * retry_after),
            now=to_ms(self._clock()),
        )
        if admitted.port is None:
            self._tell(admitted.host, admitted.seen, told, rules.ended, rules.learned)
            return
        self._tell(admitted.host, admitted.seen, told, rules.ended)
        place = rules.place_of(admitted.host, admitted.port)
        self._tell(place, admitted.learned, told, rules.learned)

    def state(
        self, host: str, port: int | None = None, breaker: BreakerLimits = _SHARED
    ) -> BreakerView:
        """The breaker of a host, or of an unusual port there, as a caller with such limits of its
        own finds it."""
        row = self._ledger.read(rules.place_of(host, port), Record.PACE)
        return view(PaceState.of(row), breaker, to_ms(self._clock()))

    def reset(self, host: str, port: int | None = None) -> None:
        """Close the breaker and forget its failures."""
        place = rules.place_of(host, port)
        if self._ledger.read(place, Record.PACE):  # else the update would make a row to stay
            self._ledger.update(place, Record.PACE, CLOSED)

    def _admit(self, site: str, ask: Ask) -> Admitted | Wait:
        seen = rules.first_guess(ask)
        for _ in range(_ROUNDS):
            plan = rules.admission(seen, ask)
            if isinstance(plan, Wait):
                return plan
            answer = self._ledger.update(site, Record.PACE, plan.change)
            seen = PaceState.of(answer.row, ask.own)
            if seen.admitted_by == ask.token:
                probe = seen.probe_owner == ask.token
                return Admitted(host=site, ask=ask, probe=probe, seen=seen, learned=seen)
            if isinstance(plan, Promise) and seen.promised_to == ask.token:
                slot = from_ms(getattr(seen, plan.tail))
                return Wait(until=slot, reason=plan.reason, promised=True)
        return _soon(ask, WaitReason.PACE)

    def _admit_at_port(self, site: str, place: str, ask: Ask) -> Admitted | Wait:
        """By the port's row, which failures and wishes there make, and then by the host's."""
        learned = PaceState.of(self._ledger.read(place, Record.PACE))
        plan = rules.at_port(learned, ask)
        if isinstance(plan, Wait):
            return plan
        leave = self._admit(site, ask)
        if isinstance(leave, Wait):
            return leave
        if plan.to:
            learned = PaceState.of(self._ledger.update(place, Record.PACE, plan).row)
        leave = replace(leave, probe=learned.probe_owner == ask.token, learned=learned)
        if plan.to and not leave.probe:  # another caller was the first
            self.report(leave, Outcome.NOT_TRIED)
            return _soon(ask, WaitReason.CIRCUIT_OPEN)
        return leave

    def _tell(self, place: str, seen: PaceState, told: rules.Told, *lessons: rules.Lesson) -> None:
        for _ in range(_ROUNDS):
            change = rules.report(seen, told, lessons)
            if change is None:
                return
            answer = self._ledger.update(place, Record.PACE, change)
            if not isinstance(answer, Refused):
                return
            seen = PaceState.of(answer.row, told.admitted.ask.own)
        logger.warning("pace.report.lost", extra={"domain": told.admitted.host})


def _soon(ask: Ask, reason: WaitReason) -> Wait:
    soon = ask.now + round(1000 * SHORT_WAIT_SECONDS)
    return Wait(until=from_ms(soon), reason=reason, promised=ask.promised)
