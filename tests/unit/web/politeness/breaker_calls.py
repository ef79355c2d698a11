"""Helpers that request permits with a rate limit too high to delay them."""

from dataclasses import replace
from datetime import timedelta

from spinneret.web import limits
from spinneret.web.politeness.models import (
    BreakerLimits,
    BreakerView,
    Circuit,
    HostOutcome,
    PaceLimits,
    Permit,
    Wait,
)
from spinneret.web.politeness.service import HostRateLimiter

HOST = "site.example"
QUICK = PaceLimits(rate=1000, burst=1000)
USUAL = BreakerLimits()
CLOSED = BreakerView(circuit=Circuit.CLOSED, failures=0, opened_at=None, retry_after=None)
LEASE = timedelta(seconds=limits.HOST_LEASE_SECONDS)
OPEN = timedelta(seconds=limits.BREAKER_OPEN_SECONDS)


def ask(
    pace: HostRateLimiter, breaker: BreakerLimits = USUAL, port: int | None = None
) -> Permit | Wait:
    return pace.admit(HOST, owner="job_1", limits=replace(QUICK, breaker=breaker), port=port)


def admitted(
    pace: HostRateLimiter, breaker: BreakerLimits = USUAL, port: int | None = None
) -> Permit:
    outcome = ask(pace, breaker, port)
    assert isinstance(outcome, Permit), outcome
    return outcome


def refused(pace: HostRateLimiter, breaker: BreakerLimits = USUAL, port: int | None = None) -> Wait:
    outcome = ask(pace, breaker, port)
    assert isinstance(outcome, Wait), outcome
    return outcome


def send(
    pace: HostRateLimiter, outcome: HostOutcome, times: int = 1, port: int | None = None
) -> None:
    for _ in range(times):
        pace.report(admitted(pace, port=port), outcome)


def open_circuit(pace: HostRateLimiter, port: int | None = None) -> None:
    send(pace, HostOutcome.HOST_FAILURE, limits.BREAKER_FAILURES, port)
    assert pace.state(HOST, port).circuit is Circuit.OPEN
