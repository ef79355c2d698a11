"""Two concurrent calls at one host act as if one had come after the other.

If the second call runs between any two steps of the first, the answers and the row are the same as
in one of the two orders.
"""

import itertools
from typing import Any

import pytest

from spinneret.web import limits
from spinneret.web.politeness.models import (
    HostOutcome,
    PaceLimits,
    Permit,
    Record,
)
from tests.sampling import sampled, spread
from tests.unit.web.politeness.meetings import (
    BUCKET,
    CAREFUL,
    HOST,
    OWN_GAP,
    SLOW,
    STRICT,
    Call,
    Scene,
    World,
    check_meeting,
    wait,
)


def half_open(world: World) -> None:
    world.fail(5)
    wait(world, limits.BREAKER_OPEN_SECONDS)


def half_open_and_busy(world: World) -> None:
    """Make the circuit half-open while the bucket isn't full."""
    half_open(world)
    keep_busy(world)


def keep_busy(world: World) -> None:
    """Take a token by a request to another port, which has its own breaker."""
    permits = [*world.permits]
    world.admit(BUCKET, port=8080)
    world.permits = permits


def probed(world: World) -> None:
    """Admit the probe as the first permit; the second is older than the opening of the breaker."""
    half_open(world)
    world.permits.pop()
    world.admit(BUCKET)
    assert world.permits[-1].probe
    world.permits.reverse()


def doubtful(world: World) -> None:
    """Open the breaker for careful callers only; both permits are older than the failures."""
    world.fail(2)


def doubtful_and_rested(world: World) -> None:
    doubtful(world)
    wait(world, CAREFUL.breaker.open_seconds)


def doubtful_rested_and_busy(world: World) -> None:
    doubtful_and_rested(world)
    keep_busy(world)


def probed_with_care(world: World) -> None:
    """Admit a careful caller's probe as the first permit, while the shared breaker is closed."""
    doubtful_and_rested(world)
    world.permits.pop()
    world.admit(CAREFUL)
    assert world.permits[-1].probe
    world.permits.reverse()


def probe_with_care_lost(world: World) -> None:
    probed_with_care(world)
    wait(world, limits.HOST_LEASE_SECONDS)


def probed_with_care_and_about_to_open(world: World) -> None:
    world.fail(4)
    wait(world, CAREFUL.breaker.open_seconds)
    world.permits.pop()
    world.admit(CAREFUL)
    assert world.permits[-1].probe
    world.permits.reverse()


def probe_lost(world: World) -> None:
    probed(world)
    wait(world, limits.HOST_LEASE_SECONDS)


def forgotten(world: World) -> None:
    world.fail(4)
    wait(world, limits.BREAKER_MEMORY_SECONDS)


def held(world: World) -> None:
    world.admit(BUCKET)
    wait(world, 20)
    world.admit(STRICT)
    world.permits.reverse()


def holder_lost(world: World) -> None:
    held(world)
    wait(world, limits.HOST_LEASE_SECONDS + 10)


def rested(world: World) -> None:
    held(world)
    world.processes[1].report(world.permits[0], HostOutcome.SUCCESS)
    wait(world, 10.001)


def requested(world: World) -> None:
    world.admit(BUCKET, 2)
    world.processes[1].report(world.permits[0], HostOutcome.CLIENT_ERROR, retry_after=30)


def reserved(world: World) -> None:
    world.admit(BUCKET, 6)


def due(world: World) -> None:
    reserved(world)
    wait(world, 1)


def reserved_for_the_hour(world: World) -> None:
    world.admit(SLOW, SLOW.burst + 5)


def slow_and_due(world: World) -> None:
    """Let one reservation of the caller's own bucket be due while another one waits."""
    world.admit(SLOW, SLOW.burst + 2)
    wait(world, 600)


def held_by_one_tenant(world: World) -> None:
    world.admit(BUCKET)
    wait(world, 20)
    world.admit(OWN_GAP)
    world.permits.reverse()


def rested_by_one_tenant(world: World) -> None:
    held_by_one_tenant(world)
    world.processes[1].report(world.permits[0], HostOutcome.SUCCESS)
    wait(world, 20.001)


PACE_SCENES: dict[str, Scene] = {
    "idle": lambda world: None,
    "busy": lambda world: world.admit(BUCKET),
    "empty": lambda world: world.admit(BUCKET, 3),
    "reserved": reserved,
    "a reservation is due": due,
    "reserved for the hour": reserved_for_the_hour,
    "requested": requested,
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
    "doubtful": doubtful,
    "doubtful and rested": doubtful_and_rested,
    "doubtful, rested and busy": doubtful_rested_and_busy,
    "probed with care": probed_with_care,
    "probe with care lost": probe_with_care_lost,
    "probed with care, about to open": probed_with_care_and_about_to_open,
    "slowed": lambda world: world.admit(SLOW),
    "slow and due": slow_and_due,
    "held by one tenant": held_by_one_tenant,
    "rested by one tenant": rested_by_one_tenant,
    "held": held,
    "holder lost": holder_lost,
    "rested": rested,
}


def asking(pace: PaceLimits, *, reserved: bool) -> Call:
    def call(world: World, process: int) -> Any:
        outcome = world.processes[process].admit(HOST, owner="job", limits=pace, reserved=reserved)
        if isinstance(outcome, Permit):
            return "admitted", outcome.probe
        return "waits", outcome.until, outcome.reserved

    return call


def telling(outcome: HostOutcome, retry_after: float | None = None) -> Call:
    def call(world: World, process: int) -> Any:
        if process < len(world.permits):
            permit = world.permits[process]
            world.processes[process].report(permit, outcome, retry_after=retry_after)

    return call


PACE_CALLS: dict[str, Call] = {
    "newcomer": asking(BUCKET, reserved=False),
    "comeback": asking(BUCKET, reserved=True),
    "strict": asking(STRICT, reserved=True),
    "slow": asking(SLOW, reserved=False),
    "slow comeback": asking(SLOW, reserved=True),
    "own gap": asking(OWN_GAP, reserved=True),
    "careful": asking(CAREFUL, reserved=True),
    "success": telling(HostOutcome.SUCCESS),
    "failure": telling(HostOutcome.HOST_FAILURE),
    "failure with a retry_after": telling(HostOutcome.HOST_FAILURE, 60),
    "retry_after": telling(HostOutcome.CLIENT_ERROR, 90),
    "not tried": telling(HostOutcome.NOT_TRIED),
    "reset": lambda world, process: world.processes[process].reset(HOST),
}


@pytest.mark.parametrize(
    "scene",
    sampled(spread(PACE_SCENES, 10), quick=2, tested=10),
)
def test_two_calls_of_the_pace_act_one_after_the_other(scene: str) -> None:
    for first, second in itertools.product(PACE_CALLS, repeat=2):
        check_meeting(
            PACE_SCENES[scene],
            (PACE_CALLS[first], PACE_CALLS[second]),
            Record.PACE,
            f"{scene}: {first}, {second}",
        )
