"""A stage whose breaker has another threshold or another open time than the default."""

from datetime import timedelta

import pytest

from spinneret.web.politeness.models import BreakerLimits, Circuit, HostOutcome, PaceLimits
from spinneret.web.politeness.service import HostRateLimiter
from tests.fakes.politeness import FakeHostStateStore, pace_at
from tests.fakes.time import HandClock
from tests.unit.web.politeness.breaker_calls import HOST, admitted, ask, refused


def failed(pace: HostRateLimiter, breaker: BreakerLimits, times: int) -> None:
    for _ in range(times):
        pace.report(admitted(pace, breaker), HostOutcome.HOST_FAILURE)


@pytest.mark.parametrize("threshold", [1, 2, 8])
def test_it_opens_after_the_stages_failures_for_the_stages_time(
    ledger: FakeHostStateStore, clock: HandClock, threshold: int
) -> None:
    stage = BreakerLimits(threshold=threshold, open_seconds=60)
    pace = pace_at(ledger, clock, PaceLimits(rate=1000, burst=1000, breaker=stage))
    failed(pace, stage, threshold - 1)
    assert pace.state(HOST).circuit is Circuit.CLOSED
    failed(pace, stage, 1)
    assert pace.state(HOST).circuit is Circuit.OPEN
    assert refused(pace, stage).until == clock.now + timedelta(seconds=60)
    clock.advance(60)
    probe = admitted(pace, stage)
    assert probe.probe
    refused(pace, stage)
    pace.report(probe, HostOutcome.HOST_FAILURE)
    assert refused(pace, stage).until == clock.now + timedelta(seconds=60)
    clock.advance(60)
    pace.report(admitted(pace, stage), HostOutcome.SUCCESS)
    assert not admitted(pace, stage).probe


def test_a_careful_tenant_of_a_patient_stage_stays_away_sooner(
    ledger: FakeHostStateStore, clock: HandClock
) -> None:
    stage = BreakerLimits(threshold=8, open_seconds=60)
    careful = BreakerLimits(threshold=6, open_seconds=120)
    pace = pace_at(ledger, clock, PaceLimits(rate=1000, burst=1000, breaker=stage))
    failed(pace, stage, 6)
    assert refused(pace, careful).until == clock.now + timedelta(seconds=120)
    assert not admitted(pace, stage).probe
    clock.advance(120)
    assert admitted(pace, careful).probe
    assert not isinstance(ask(pace, stage), type(refused(pace, careful)))
