"""Two concurrent calls of sessions at one domain act as if one had come after the other."""

import itertools
from typing import Any

import pytest

from spinneret.kernel.errors import DomainLockLost
from spinneret.web.politeness.models import Record
from spinneret.web.politeness.sessions import Session
from tests.unit.web.politeness.meetings import HOST, Call, Scene, World, check_meeting, wait


def opened(world: World) -> None:
    for session_id in ("one", "two"):
        outcome = world.sessions[1].open(HOST, session_id)
        if isinstance(outcome, Session):
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


def left(world: World) -> None:
    """Let a session leave the domain; it won't resume."""
    opened(world)
    world.sessions[1].leave(world.opened[0])
    wait(world, 3)


SESSION_SCENES: dict[str, Scene] = {
    "free": lambda world: None,
    "opened": opened,
    "ran out": ran_out,
    "closed": closed,
    "over": over,
    "left": left,
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


def leaving(world: World, process: int) -> Any:
    return [world.sessions[process].leave(each) for each in world.opened]


def handing_over(world: World, process: int) -> Any:
    """Close the session and open another one that isn't throttled."""
    closing(world, process)
    return world.sessions[process].open(HOST, "four", mode="debug")


SESSION_CALLS: dict[str, Call] = {
    "same session": opening("one"),
    "other session": opening("three"),
    "renew": renewing,
    "leave": leaving,
    "close": closing,
    "hand over": handing_over,
}


@pytest.mark.parametrize("scene", list(SESSION_SCENES))
def test_two_calls_of_sessions_act_one_after_the_other(scene: str) -> None:
    for first, second in itertools.product(SESSION_CALLS, repeat=2):
        if first == "hand over":  # two calls: another may run between them
            continue
        check_meeting(
            SESSION_SCENES[scene],
            (SESSION_CALLS[first], SESSION_CALLS[second]),
            Record.SESSION,
            f"{scene}: {first}, {second}",
        )
