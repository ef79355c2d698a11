"""Asking one host for leave, in short."""

from __future__ import annotations

from datetime import timedelta

from spinneret.web.politeness.models import Admitted, PaceLimits, Wait
from spinneret.web.politeness.service import Pace

HOST = "site.example"
USUAL = PaceLimits()  # 1 per second, burst 5
STRICT = PaceLimits(min_gap_seconds=10)
SECOND = timedelta(seconds=1)


def ask(
    pace: Pace, limits: PaceLimits = USUAL, *, promised: bool = False, host: str = HOST
) -> Admitted | Wait:
    return pace.admit(host, owner="job_1", limits=limits, promised=promised)


def admitted(
    pace: Pace, limits: PaceLimits = USUAL, *, promised: bool = False, host: str = HOST
) -> Admitted:
    outcome = ask(pace, limits, promised=promised, host=host)
    assert isinstance(outcome, Admitted), outcome
    return outcome


def refused(
    pace: Pace, limits: PaceLimits = USUAL, *, promised: bool = False, host: str = HOST
) -> Wait:
    outcome = ask(pace, limits, promised=promised, host=host)
    assert isinstance(outcome, Wait), outcome
    return outcome


def use_up(pace: Pace, limits: PaceLimits = USUAL) -> None:
    """All tokens of a full bucket."""
    for _ in range(limits.burst):
        admitted(pace, limits)
