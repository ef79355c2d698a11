"""Helpers that request permits for one host."""

from datetime import timedelta

from spinneret.web.politeness.models import PaceLimits, Permit, Wait
from spinneret.web.politeness.service import HostRateLimiter

HOST = "site.example"
USUAL = PaceLimits()  # 1 per second, burst 5
STRICT = PaceLimits(min_gap_seconds=10)
SECOND = timedelta(seconds=1)


def ask(
    pace: HostRateLimiter, limits: PaceLimits = USUAL, *, reserved: bool = False, host: str = HOST
) -> Permit | Wait:
    return pace.admit(host, owner="job_1", limits=limits, reserved=reserved)


def admitted(
    pace: HostRateLimiter, limits: PaceLimits = USUAL, *, reserved: bool = False, host: str = HOST
) -> Permit:
    outcome = ask(pace, limits, reserved=reserved, host=host)
    assert isinstance(outcome, Permit), outcome
    return outcome


def refused(
    pace: HostRateLimiter, limits: PaceLimits = USUAL, *, reserved: bool = False, host: str = HOST
) -> Wait:
    outcome = ask(pace, limits, reserved=reserved, host=host)
    assert isinstance(outcome, Wait), outcome
    return outcome


def use_up(pace: HostRateLimiter, limits: PaceLimits = USUAL) -> None:
    """Take all tokens of a full bucket."""
    for _ in range(limits.burst):
        admitted(pace, limits)
