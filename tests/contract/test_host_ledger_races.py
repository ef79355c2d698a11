"""Rate limit and sessions of one host that many threads use at once, on DynamoDB Local."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import ReadTimeoutError

from spinneret.web import limits
from spinneret.web.politeness.dynamo import DynamoHostStateStore
from spinneret.web.politeness.models import (
    Circuit,
    HostOutcome,
    PaceLimits,
    Permit,
    Record,
    SessionOptions,
    Wait,
    WaitReason,
    to_ms,
)
from spinneret.web.politeness.sessions import Session, Sessions, SessionWait
from tests.contract.backends import Tables
from tests.contract.races import Race, racing
from tests.fakes.politeness import pace_at, tokens
from tests.fakes.time import START, HandClock

pytestmark = pytest.mark.stack

THREADS = 50
QUICK = PaceLimits(rate=1000, burst=1000)  # the token bucket never limits


@pytest.fixture
def host() -> str:
    """Return a host that only this test uses."""
    return f"{uuid4().hex}.example"


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def ledger(stack_tables: Tables) -> DynamoHostStateStore:
    return ledger_on(stack_tables)


def ledger_on(tables: Tables) -> DynamoHostStateStore:
    return DynamoHostStateStore(tables.client, tables.names["Domains"])


@pytest.fixture
def race() -> Iterator[Race]:
    with racing(THREADS) as together:
        yield together


# covers F-06
def test_of_newcomers_a_burst_passes_and_every_other_has_a_slot_of_his_own(
    ledger: DynamoHostStateStore, clock: HandClock, host: str, race: Race
) -> None:
    quick = PaceLimits(rate=2, burst=5)
    paces = [pace_at(ledger, clock, quick) for _ in range(THREADS)]
    outcomes = race(lambda n: paces[n].admit(host, owner="job", limits=quick))
    waits = [each for each in outcomes if isinstance(each, Wait)]
    assert len(waits) == THREADS - 5
    slots = sorted((wait.until - START).total_seconds() for wait in waits)
    assert slots == [n / 2 for n in range(1, len(waits) + 1)]


def test_of_strict_callers_one_passes(
    ledger: DynamoHostStateStore, clock: HandClock, host: str, race: Race
) -> None:
    strict = PaceLimits(min_gap_seconds=1)
    paces = [pace_at(ledger, clock) for _ in range(THREADS)]
    outcomes = race(lambda n: paces[n].admit(host, owner="job", limits=strict, reserved=True))
    assert sum(isinstance(each, Permit) for each in outcomes) == 1


def test_failures_that_are_reported_at_once_open_the_circuit_once_and_one_caller_probes(
    ledger: DynamoHostStateStore, clock: HandClock, host: str, race: Race
) -> None:
    paces = [pace_at(ledger, clock, QUICK) for _ in range(THREADS)]

    def admit(number: int) -> Permit | Wait:
        return paces[number].admit(host, owner="job", limits=QUICK)

    permits = race(admit)
    assert all(isinstance(each, Permit) for each in permits)
    race(lambda n: paces[n].report(permits[n], HostOutcome.HOST_FAILURE))
    view = paces[0].state(host)
    assert (view.circuit, view.failures) == (Circuit.OPEN, limits.BREAKER_FAILURES)
    clock.advance(limits.BREAKER_OPEN_SECONDS)
    for _ in range(3):
        outcomes = race(admit)
        [probe] = [each for each in outcomes if isinstance(each, Permit)]
        assert probe.probe
        waits = [each for each in outcomes if isinstance(each, Wait)]
        assert {wait.reason for wait in waits} == {WaitReason.CIRCUIT_OPEN}
        clock.now = waits[0].until  # the worker with the probe died
    paces[0].report(probe, HostOutcome.SUCCESS)
    assert paces[0].state(host).circuit is Circuit.CLOSED


# covers F-04
def test_of_sessions_one_locks_the_domain(
    ledger: DynamoHostStateStore, clock: HandClock, host: str, race: Race
) -> None:
    sessions = sessions_at(ledger, clock)
    fences = []
    for _ in range(3):
        outcomes = race(lambda n: sessions.open(host, f"session-{n}"))
        [opened] = [each for each in outcomes if isinstance(each, Session)]
        reasons = {each.reason for each in outcomes if isinstance(each, SessionWait)}
        assert reasons == {WaitReason.LOCK}
        sessions.close(opened)
        fences.append(opened.fence)
        clock.advance(2.001)
    assert fences == sorted(set(fences))


# ---------------------------------------------------------------- Lost responses


@pytest.fixture
def lossy(aws: Any, stack_tables: Tables) -> DynamoHostStateStore:
    """Provide a store whose client loses the responses to every other attempt, from the first."""
    client = aws.dynamodb()
    sent: list[str] = []

    def lose(request: Any, **_: Any) -> None:
        sent.append(request.url)
        if len(sent) % 2:
            client._endpoint.http_session.send(request)
            raise ReadTimeoutError(endpoint_url=request.url)

    client.meta.events.register("before-send.dynamodb", lose)
    return ledger_on(replace(stack_tables, client=client))


def test_an_admission_and_its_report_recognise_themselves(
    lossy: DynamoHostStateStore, clock: HandClock, host: str
) -> None:
    pace = pace_at(lossy, clock)
    strict = PaceLimits(min_gap_seconds=10)
    permit = pace.admit(host, owner="job", limits=strict)
    assert isinstance(permit, Permit)
    reservation = pace.admit(host, owner="job", limits=strict)
    assert isinstance(reservation, Wait)
    assert (reservation.until - START).total_seconds() == 10
    clock.advance(5)
    pace.report(permit, HostOutcome.HOST_FAILURE, retry_after=60)
    assert pace.state(host).failures == 1
    assert (lossy.read(host, Record.PACE)["next_at"]) == to_ms(START) + 15_001


def test_a_session_recognises_itself(
    lossy: DynamoHostStateStore, clock: HandClock, host: str
) -> None:
    sessions = sessions_at(lossy, clock)
    one = sessions.open(host, "one")
    assert isinstance(one, Session)
    sessions.renew(one)
    sessions.leave(one)
    clock.advance(3)
    two = sessions.open(host, "two")
    assert isinstance(two, Session)
    assert two.fence == (one.fence or 0) + 1


def sessions_at(ledger: DynamoHostStateStore, clock: HandClock) -> Sessions:
    return Sessions(
        ledger=ledger,
        options=SessionOptions(),
        clock=clock,
        random=lambda: 0.0,
        new_token=tokens(),
        is_over=lambda _: True,
    )
