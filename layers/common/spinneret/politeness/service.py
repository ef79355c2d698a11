"""The pace of a host: who may send a request now, and what its end teaches all others."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from spinneret.kernel.clock import Clock
from spinneret.kernel.limits import HOST_HOLD_SECONDS, SHORT_WAIT_SECONDS
from spinneret.politeness import rules
from spinneret.politeness.breaker import CLOSED, view
from spinneret.politeness.models import (
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
from spinneret.politeness.ports import DomainLedger, Refused
from spinneret.politeness.rules import Promise

_USUAL: Final = BreakerLimits()
logger = logging.getLogger(__name__)

# A plan is refused only where the state has changed its kind (idle, busy, promised, open) since it
# was seen; more than a few such changes within one call don't happen.
_ROUNDS: Final = 8


class Pace:
    """Bucket, crawl-delay, Retry-After and breaker of every host, for all tenants together.

    An admission is one write in the usual case, and its end none, unless the request was strict or
    the breaker has to learn something. All methods raise DependencyUnavailable.
    """

    def __init__(self, *, ledger: DomainLedger, clock: Clock, new_token: Callable[[], str]) -> None:
        self._ledger = ledger
        self._clock = clock
        self._new_token = new_token

    def admit(
        self,
        host: str,
        *,
        owner: str,
        limits: PaceLimits,
        promised: bool = False,
        breaker: BreakerLimits = _USUAL,
        hold_seconds: float = HOST_HOLD_SECONDS,
    ) -> Admitted | Wait:
        """Ask for leave to send one request now.

        `promised` is what the Wait said that the caller comes back from; `owner` tells in the row
        who was admitted. A request must be over within `hold_seconds`: a caller that hasn't
        reported by then counts as dead. Who is admitted must report, whatever happens.
        """
        ask = Ask(
            token=f"{owner}/{self._new_token()}",
            now=to_ms(self._clock()),
            limits=limits,
            breaker=breaker,
            hold_ms=round(1000 * hold_seconds),
            promised=promised,
        )
        return self._admit(rules.site_of(host), ask)

    def report(
        self, admitted: Admitted, outcome: Outcome, *, retry_after: float | None = None
    ) -> None:
        """Tell how the request ended; `retry_after` (seconds) is the site's wish, heeded for an
        hour at most. Of no effect if the caller was given up meanwhile."""
        now = to_ms(self._clock())
        wish = None if retry_after is None else round(1000 * retry_after)
        seen = admitted.seen
        for _ in range(_ROUNDS):
            change = rules.report(seen, admitted, outcome, wish, now)
            if change is None:
                return
            answer = self._ledger.update(admitted.host, Record.PACE, change)
            if not isinstance(answer, Refused):
                return
            seen = PaceState.of(answer.row)
        logger.warning("pace.report.lost", extra={"domain": admitted.host})

    def state(self, host: str) -> BreakerView:
        """The host's breaker."""
        row = self._ledger.read(rules.site_of(host), Record.PACE)
        return view(PaceState.of(row), to_ms(self._clock()))

    def reset(self, host: str) -> None:
        """Close the host's breaker and forget its failures."""
        site = rules.site_of(host)
        if self._ledger.read(site, Record.PACE):  # else the update would make a row to stay
            self._ledger.update(site, Record.PACE, CLOSED)

    def _admit(self, site: str, ask: Ask) -> Admitted | Wait:
        seen = rules.first_guess(ask)
        for _ in range(_ROUNDS):
            plan = rules.admission(seen, ask)
            if isinstance(plan, Wait):
                return plan
            answer = self._ledger.update(site, Record.PACE, plan.change)
            seen = PaceState.of(answer.row)
            if seen.admitted_by == ask.token:
                return _admitted(site, ask, seen)
            if seen.promised_to == ask.token and seen.tail is not None:
                reason = plan.reason if isinstance(plan, Promise) else WaitReason.PACE
                return Wait(until=from_ms(seen.tail), reason=reason, promised=True)
        soon = ask.now + round(1000 * SHORT_WAIT_SECONDS)
        return Wait(until=from_ms(soon), reason=WaitReason.PACE, promised=ask.promised)


def _admitted(site: str, ask: Ask, seen: PaceState) -> Admitted:
    return Admitted(
        host=site,
        token=ask.token,
        limits=ask.limits,
        breaker=ask.breaker,
        probe=seen.probe_owner == ask.token,
        seen=seen,
    )
