"""Pace of a host: permits for requests, and the effects of their ends on later ones."""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from spinneret.kernel.clock import Clock
from spinneret.kernel.service import service
from spinneret.web.limits import HOST_LEASE_SECONDS, SHORT_WAIT_SECONDS
from spinneret.web.politeness import rules
from spinneret.web.politeness.breaker import CLOSED, view
from spinneret.web.politeness.buckets import Reservation, split
from spinneret.web.politeness.models import (
    BreakerLimits,
    BreakerView,
    HostOutcome,
    PaceLimits,
    PaceState,
    Permit,
    PermitRequest,
    Record,
    Wait,
    WaitReason,
    from_ms,
    to_ms,
)
from spinneret.web.politeness.ports import HostStateStore, Refused

_STAGE: Final = PaceLimits()
logger = logging.getLogger(__name__)

# A plan is rejected only if the kind of state (idle, busy, reserved, open) has changed since it was
# read. More than a few such changes within one call don't occur.
_ROUNDS: Final = 8


@service
class HostRateLimiter:
    """Bucket, crawl-delay, Retry-After and breaker of every host, shared by all tenants.

    A permit usually costs one write. Its end costs none, unless the request was strict or changes
    the breaker. An unusual port costs one more read. All methods raise DependencyUnavailable.
    """

    ledger: HostStateStore
    clock: Clock
    new_token: Callable[[], str]
    stage: PaceLimits = _STAGE
    """Fastest pace for any host, with the breaker of all callers: no caller's breaker may be less
    careful."""

    def admit(
        self,
        host: str,
        *,
        owner: str,
        limits: PaceLimits,
        port: int | None = None,
        reserved: bool = False,
        is_check: bool = False,
        lease_seconds: float = HOST_LEASE_SECONDS,
    ) -> Permit | Wait:
        """Request a permit to send one request now.

        `port` is a port other than the scheme's default. `reserved` is the field of the Wait after
        which the caller retries; `owner` names the caller in the row. A check ignores the breaker,
        waits for a Retry-After for at most CHECK_COOLDOWN_SECONDS, and reports NOT_TRIED. A request
        must end within `lease_seconds`: a caller that hasn't reported by then counts as dead. A
        caller with a permit must always report.
        """
        shared, own = split(limits, self.stage)
        request = PermitRequest(
            token=f"{owner}/{self.new_token()}",
            now=to_ms(self.clock()),
            shared=shared,
            own=own,
            breaker=None if is_check else limits.breaker,
            lease_ms=round(1000 * lease_seconds),
            reserved=reserved,
            port=port,
        )
        if port is None:
            return self._admit(rules.host_key(host), request)
        return self._admit_at_port(rules.host_key(host), rules.health_key(host, port), request)

    def report(
        self,
        permit: Permit,
        outcome: HostOutcome,
        *,
        retry_after: float | None = None,
        cools_checks: bool = True,
    ) -> None:
        """Report the end of a request.

        `retry_after` is in seconds and applies for at most an hour; for checks at most a minute or,
        without `cools_checks`, not at all. The report has no effect after the permit's lease.
        """
        end = rules.RequestEnd(
            permit=permit,
            outcome=outcome,
            retry_after_ms=None if retry_after is None else round(1000 * retry_after),
            cools_checks=cools_checks,
            now=to_ms(self.clock()),
        )
        if permit.port is None:
            self._write(permit.host, permit.seen, end, rules.released, rules.assessed)
            return
        self._write(permit.host, permit.seen, end, rules.released)
        key = rules.health_key(permit.host, permit.port)
        self._write(key, permit.health, end, rules.assessed)

    def state(
        self, host: str, port: int | None = None, breaker: BreakerLimits | None = None
    ) -> BreakerView:
        """Return the breaker of a host, or of its unusual port, for a caller with these limits.

        Without limits, return the breaker that all callers share.
        """
        row = self.ledger.read(rules.health_key(host, port), Record.PACE)
        return view(PaceState.of(row), breaker or self.stage.breaker, to_ms(self.clock()))

    def reset(self, host: str, port: int | None = None) -> None:
        """Close the breaker and clear its failures."""
        key = rules.health_key(host, port)
        if self.ledger.read(key, Record.PACE):  # else the update would create a row
            self.ledger.update(key, Record.PACE, CLOSED)

    def _admit(self, host: str, request: PermitRequest) -> Permit | Wait:
        seen = rules.first_guess(request)
        for _ in range(_ROUNDS):
            plan = rules.plan_for(seen, request)
            if isinstance(plan, Wait):
                return plan
            answer = self.ledger.update(host, Record.PACE, plan.change)
            seen = PaceState.of(answer.row, request.own)
            if seen.permitted_to == request.token:
                probe = seen.probe_owner == request.token
                return Permit(host=host, request=request, probe=probe, seen=seen, health=seen)
            if isinstance(plan, Reservation) and seen.reserved_by == request.token:
                slot = from_ms(getattr(seen, plan.tail))
                return Wait(until=slot, reason=plan.reason, reserved=True)
        return _soon(request, WaitReason.PACE)

    def _admit_at_port(self, host: str, key: str, request: PermitRequest) -> Permit | Wait:
        """Check the health of the port first, then the pace of the host."""
        health = PaceState.of(self.ledger.read(key, Record.PACE))
        plan = rules.at_port(health, request)
        if isinstance(plan, Wait):
            return plan
        permit = self._admit(host, request)
        if isinstance(permit, Wait):
            return permit
        if plan.to:
            health = PaceState.of(self.ledger.update(key, Record.PACE, plan).row)
        permit = replace(permit, probe=health.probe_owner == request.token, health=health)
        if plan.to and not permit.probe:  # another caller took the probe first
            self.report(permit, HostOutcome.NOT_TRIED)
            return _soon(request, WaitReason.CIRCUIT_OPEN)
        return permit

    def _write(
        self, key: str, seen: PaceState, end: rules.RequestEnd, *end_rules: rules.EndRule
    ) -> None:
        for _ in range(_ROUNDS):
            change = rules.report(seen, end, end_rules)
            if change is None:
                return
            answer = self.ledger.update(key, Record.PACE, change)
            if not isinstance(answer, Refused):
                return
            seen = PaceState.of(answer.row, end.permit.request.own)
        logger.warning("pace.report.lost", extra={"domain": end.permit.host})


def _soon(request: PermitRequest, reason: WaitReason) -> Wait:
    soon = request.now + round(1000 * SHORT_WAIT_SECONDS)
    return Wait(until=from_ms(soon), reason=reason, reserved=request.reserved)
