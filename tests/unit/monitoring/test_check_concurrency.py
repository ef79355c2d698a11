"""The limit of concurrent checks, as the sites see them: threads, duplicates, killed workers."""

import random
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.monitoring import limits
from tests.fakes.checking import CheckWorld

POLLERS = 16
"""Twice the number of slots, so that only the slots limit the checks."""
TARGETS, HOSTS = 500, 60


class Killed(BaseException):
    """Raised in a process that is killed."""


class Process:
    """A worker's view of a part; its calls raise Killed after the worker's death."""

    def __init__(self, part: Any, alive: list[bool]) -> None:
        self._part = part
        self._alive = alive

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            if not self._alive[0]:
                raise Killed
            return getattr(self._part, name)(*args, **kwargs)

        return call


@pytest.fixture(autouse=True)
def _many_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


# covers M-02
@pytest.mark.heavy
def test_never_more_than_eight_at_once_nor_two_at_a_host() -> None:  # noqa: C901 (one story)
    world = CheckWorld()
    chance = random.Random(7)
    for number in range(TARGETS):
        world.target(f"https://h{number % HOSTS}.example/{number}", interval_seconds=600)
    world.clock.advance(600)
    world.sites.seconds.update({f"h{number}.example": 0.001 for number in range(HOSTS)})
    kills = 0

    def process(life: int) -> tuple[Any, list[bool]]:
        """Return a worker, and a list that holds whether it is alive."""
        alive = [True]

        def arrived(_: str) -> None:
            nonlocal kills
            if life and chance.random() < 0.02:
                alive[0] = False
                kills += 1
                raise Killed

        parts = {
            name: Process(part, alive)
            for name, part in {
                "targets": world.watch,
                "checks": world.watch,
                "slots": world.slots,
            }.items()
        }
        return world.worker(**parts, fetcher=Mortal(world, arrived)), alive

    def poll(life: int) -> None:
        """Take messages until none remain; replace a killed process by a new one."""
        worker, alive = process(life)
        while queue:
            try:
                order = queue.pop()
            except IndexError:  # another thread took the last message
                return
            try:
                worker.run(order, lambda: 900.0)
            except Killed:
                worker, alive = process(life)
        if alive[0] and worker.slot is not None:
            world.slots.give_back(worker.slot)

    ticks = 0
    while len({url for _, url in world.sites.seen}) < TARGETS or ticks < 5:
        world.lane.sent.clear()
        world.tick().run()
        world.clock.advance(75)
        sent = [each.checks for each in world.lane.sent]
        until = world.clock() + timedelta(seconds=3600)
        queue = [[replace(check, until=until) for check in each] for each in sent * 2]
        with ThreadPoolExecutor(POLLERS) as pool:
            list(pool.map(poll, [ticks < 10] * POLLERS))
        ticks += 1
        assert ticks < 60
    assert kills > 3
    assert world.sites.most_at_once.pop("*") <= limits.CHECK_CONCURRENCY
    assert set(world.sites.most_at_once.values()) == {1}
    assert all(world.watched(each).state.checks_total for _, each in world.watch.rows)


class Mortal:
    """A fetcher of the sites; a process may die during its requests."""

    def __init__(self, world: CheckWorld, arrived: Any) -> None:
        self._world = world
        self._arrived = arrived

    def fetch(self, request: Any) -> Any:
        with self._world.sites._visit(request.url.host):
            self._arrived(request.url.host)
        return self._world.sites.fetch(request)
