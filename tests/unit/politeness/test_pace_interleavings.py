"""Two calls that meet at one host act as if one had come after the other.

Wherever the second call comes between two steps of the first, their answers and the row are those
of one of the two orders.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from spinneret.kernel import limits
from spinneret.kernel.errors import DomainLockLost
from spinneret.politeness.models import (
    Admitted,
    Opened,
    Outcome,
    PaceLimits,
    Record,
)
from tests.unit.politeness.meetings import (
    BUCKET,
    HOST,
    QUICK,
    SLOW,
    STRICT,
    Call,
    Scene,
    World,
    check_meeting,
)

# ---------------------------------------------------------------- Pace


def wait(world: World, seconds: float) -> None:
    world.clock.advance(seconds)


def half_open(world: World) -> None:
    world.fail(5)
    wait(world, limits.BREAKER_OPEN_SECONDS)


def half_open_and_busy(world: World) -> None:
    """The bucket isn't full again when the circuit's time is over."""
    world.fail(5, open_seconds=0.001)
    wait(world, 0.002)


def probed(world: World) -> None:
    """The first of the leaves is the probe; the other is older than the opening."""
    half_open(world)
    world.leaves.pop()
    world.admit(QUICK)
    assert world.leaves[-1].probe
    world.leaves.reverse()


def probe_lost(world: World) -> None:
    probed(world)
    wait(world, limits.HOST_HOLD_SECONDS)


def forgotten(world: World) -> None:
    world.fail(4)
    wait(world, limits.BREAKER_MEMORY_SECONDS)


def held(world: World) -> None:
    world.admit(QUICK)
    wait(world, 20)
    world.admit(STRICT)
    world.leaves.reverse()


def holder_lost(world: World) -> None:
    held(world)
    wait(world, limits.HOST_HOLD_SECONDS + 10)


def rested(world: World) -> None:
    held(world)
    world.processes[1].report(world.leaves[0], Outcome.SUCCESS)
    wait(world, 10.001)


def wished(world: World) -> None:
    world.admit(BUCKET, 2)
    world.processes[1].report(world.leaves[0], Outcome.CLIENT_ERROR, retry_after=30)


def promised(world: World) -> None:
    world.admit(BUCKET, 6)


def due(world: World) -> None:
    promised(world)
    wait(world, 1)


def promised_for_the_hour(world: World) -> None:
    world.admit(SLOW, SLOW.burst + 5)


PACE_SCENES: dict[str, Scene] = {
    "idle": lambda world: None,
    "busy": lambda world: world.admit(BUCKET),
    "empty": lambda world: world.admit(BUCKET, 3),
    "promised": promised,
    "a promise is due": due,
    "promised for the hour": promised_for_the_hour,
    "wished": wished,
    "failing": lambda world: world.fail(2),
    "about to open": lambda world: world.fail(4),
    "failing, as seen": lambda world: world.fail_and_go_on(3),
    "about to open, as seen": lambda world: world.fail_and_go_on(4),
    "failures forgotten": forgotten,
    "open": lambda world: world.fail(5),
    "half-open": half_open,
    "half-open and busy": half_open_and_busy,
    "probed": probed,
    "probe lost": probe_lost,
    "held": held,
    "holder lost": holder_lost,
    "rested": rested,
}


def asking(pace: PaceLimits, *, promised: bool) -> Call:
    def call(world: World, process: int) -> Any:
        outcome = world.processes[process].admit(HOST, owner="job", limits=pace, promised=promised)
        if isinstance(outcome, Admitted):
            return "admitted", outcome.probe
        return "waits", outcome.until, outcome.promised

    return call


def telling(outcome: Outcome, retry_after: float | None = None) -> Call:
    def call(world: World, process: int) -> Any:
        if process < len(world.leaves):
            leave = world.leaves[process]
            world.processes[process].report(leave, outcome, retry_after=retry_after)

    return call


PACE_CALLS: dict[str, Call] = {
    "newcomer": asking(BUCKET, promised=False),
    "comeback": asking(BUCKET, promised=True),
    "quick": asking(QUICK, promised=True),
    "strict": asking(STRICT, promised=True),
    "slow": asking(SLOW, promised=False),
    "success": telling(Outcome.SUCCESS),
    "failure": telling(Outcome.SITE_FAILURE),
    "failure with a wish": telling(Outcome.SITE_FAILURE, 60),
    "wish": telling(Outcome.CLIENT_ERROR, 90),
    "not tried": telling(Outcome.NOT_TRIED),
    "reset": lambda world, process: world.processes[process].reset(HOST),
}


@pytest.mark.parametrize("scene", list(PACE_SCENES))
def test_two_calls_of_the_pace_act_one_after_the_other(scene: str) -> None:
    for first, second in itertools.product(PACE_CALLS, repeat=2):
        check_meeting(
            PACE_SCENES[scene],
            (PACE_CALLS[first], PACE_CALLS[second]),
            Record.PACE,
            f"{scene}: {first}, {second}",
        )


# ---------------------------------------------------------------- Sessions


def opened(world: World) -> None:
    for session_id in ("one", "two"):
        outcome = world.sessions[1].open(HOST, session_id)
        if isinstance(outcome, Opened):
            world.opened.append(outcome)


def ran_out(world: World) -> None:
    opened(world)
    wait(world, 300)


def closed(world: World) -> None:
    opened(world)
    world.sessions[1].close(world.opened[0])
    wait(world, 1)


def over(world: World) -> None:
    closed(world)
    wait(world, 2)


SESSION_SCENES: dict[str, Scene] = {
    "free": lambda world: None,
    "opened": opened,
    "ran out": ran_out,
    "closed": closed,
    "over": over,
}


def opening(session_id: str) -> Call:
    return lambda world, process: world.sessions[process].open(HOST, session_id)


def renewing(world: World, process: int) -> Any:
    try:
        return [world.sessions[process].renew(each) for each in world.opened]
    except DomainLockLost:
        return "lost"


def closing(world: World, process: int) -> Any:
    return [world.sessions[process].close(each) for each in world.opened]


def handing_over(world: World, process: int) -> Any:
    """The session ends, and one that isn't throttled follows."""
    closing(world, process)
    return world.sessions[process].open(HOST, "four", mode="debug")


SESSION_CALLS: dict[str, Call] = {
    "same session": opening("one"),
    "other session": opening("three"),
    "renew": renewing,
    "close": closing,
    "hand over": handing_over,
}


@pytest.mark.parametrize("scene", list(SESSION_SCENES))
def test_two_calls_of_sessions_act_one_after_the_other(scene: str) -> None:
    for first, second in itertools.product(SESSION_CALLS, repeat=2):
        if first == "hand over":  # two calls, between which another may well come
            continue
        check_meeting(
            SESSION_SCENES[scene],
            (SESSION_CALLS[first], SESSION_CALLS[second]),
            Record.SESSION,
            f"{scene}: {first}, {second}",
        )
