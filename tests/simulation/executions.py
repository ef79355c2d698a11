"""Executions of driven jobs in the simulated world, and the state machine that runs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from typing import Any, Final

from spinneret.jobs.driven.driving import Driver
from spinneret.jobs.driven.models import ExecutionClaim
from spinneret.jobs.models import Job
from spinneret.kernel.errors import DependencyUnavailable, LeaseLost, UrlBlocked
from tests.fakes.crashes import Crash
from tests.simulation.stepped import SteppedStore
from tests.simulation.turnstile import Actor, Role
from tests.simulation.world import World

State = Mapping[str, Any]
STOP: Final = "stop"
WAIT: Final = "wait"
STEP_SECONDS: Final = 60.0  # the machine retries a step after this time
TRIES_MAX: Final = 8  # tries of one step; then the execution fails
WAIT_MAX: Final = 300.0
SEGMENT_STEPS: Final = 3
WORK_MAX: Final = 40.0
CALLED_BACK: Final = 0.5

Take = Callable[[Actor, State], State]
"""Function that takes one step and returns the state after it.

It raises what a function's invocation may raise.
"""


@dataclass
class _Execution:
    name: str
    token: int = 0
    """Number of the only call that may move the execution to its next step."""


class Machine:
    """Step Functions: retries steps, waits, accepts callbacks, and loses executions."""

    def __init__(self, world: World, take: Take, loses: Callable[[], bool]) -> None:
        """Create a machine; `loses` returns whether an execution is lost at this transition."""
        self._world = world
        self._loses = loses
        self._take = take
        self._started: dict[str, State] = {}
        self.running = 0

    def executions(self, actor: Actor) -> _Started:
        """Return the port through which a worker starts executions."""
        return _Started(self, self._world, actor)

    def start(self, name: str, state: State) -> None:
        """See Executions."""
        if name in self._started:
            self._world.invariants.started_again(name, same=self._started[name] == state)
            return
        self._started[name] = state
        self._world.invariants.started(name)
        self.running += 1
        self._world.counts["executions"] += 1
        self._go_on(_Execution(name), state)

    def _go_on(self, execution: _Execution, state: State) -> None:
        """Schedule the next step, after a wait if the state asks for one."""
        if state.get("action") == STOP or self._loses():
            self.running -= 1
            return
        waits = state["seconds"] if state.get("action") == WAIT else 0.0
        self._call(execution, waits + self._rng.uniform(0.01, 1.0), state)
        if waits and self._rng.random() < CALLED_BACK:
            # The callback arrives twice: before, at or after the time-out.
            token = execution.token
            for _ in range(2):
                seconds = self._rng.uniform(0.0, 1.5 * waits)
                self._world.after(seconds, lambda: self._arrive(execution, token, state, 0))

    def _call(self, execution: _Execution, seconds: float, state: State, tries: int = 0) -> None:
        execution.token += 1
        token = execution.token
        self._world.after(seconds, lambda: self._arrive(execution, token, state, tries))

    def _arrive(self, execution: _Execution, token: int, state: State, tries: int) -> None:
        """Take a step, unless another call has already moved the execution."""
        if token != execution.token:
            return
        execution.token += 1
        mine = execution.token
        after: list[State] = []

        def run(actor: Actor) -> None:
            try:
                after.append(self._take(actor, state))
            except DependencyUnavailable as error:
                self._world.note(actor, "step failed", execution.name, error)
            finally:
                ended()

        def ended() -> None:
            if execution.token != mine:
                return  # the machine has abandoned this step
            execution.token += 1
            if after:
                self._go_on(execution, after[0])
            elif tries + 1 < TRIES_MAX:
                self._call(execution, self._rng.uniform(0.0, 2.0 ** (tries + 1)), state, tries + 1)
            else:
                self.running -= 1

        actor = self._world.start(Role.STEP, run)
        self._world.after(STEP_SECONDS, lambda: self._world.kill(actor))
        self._world.after(STEP_SECONDS + 10.0, ended)

    @property
    def _rng(self) -> Random:
        return self._world.rng


class _Started:
    """Implements Executions."""

    def __init__(self, machine: Machine, world: World, actor: Actor) -> None:
        self._machine = machine
        self._world = world
        self._actor = actor

    def start(self, name: str, state: State) -> None:
        """See Executions."""
        self._world.call(
            self._actor, "machine.start", lambda: self._machine.start(name, state), name
        )


class Steps:
    """The steps of a driven job: they do the parts of its work, in segments."""

    def __init__(self, world: World, driver: Callable[[Actor], Driver]) -> None:
        self._world = world
        self._driver = driver

    def take(self, actor: Actor, state: State) -> State:
        """Take one step. Raises DependencyUnavailable; the machine then retries."""
        turn = replace(ExecutionClaim.of(state), number=state["number"] + 1)
        actor.lease = turn.lease
        driver = self._driver(actor)
        stopped = {**turn.state(), "action": STOP}
        try:
            job = driver.held(turn)
            return self._taken(actor, driver, turn, job, state.get("steps", 0))
        except LeaseLost:
            return stopped
        except UrlBlocked as error:
            with suppress(LeaseLost):
                driver.fail(turn, driver.held(turn), error)
            return stopped

    def _taken(
        self, actor: Actor, driver: Driver, turn: ExecutionClaim, job: Job, steps: int
    ) -> State:
        store, rng = SteppedStore(self._world, actor), self._world.rng
        parts = job.payload["parts"]
        done = self._world.invariants.steps.of(job.ref)
        state = {**turn.state(), "steps": steps + 1}
        if done == parts:
            driver.complete(turn, job, {"parts": parts})
            return {**state, "action": STOP}
        if steps >= SEGMENT_STEPS:
            driver.next_segment(turn, job)
            return {**state, "action": STOP}
        seconds = rng.choice([0.0, 0.0, rng.uniform(1.0, WAIT_MAX)])
        if seconds and steps == 1:
            self._renew(actor, driver, turn, job, seconds)
            return {**state, "action": WAIT, "seconds": seconds}
        self._renew(actor, driver, turn, job, STEP_SECONDS)
        self._world.sleep(actor, rng.uniform(0.01, WORK_MAX))
        if job.payload["nature"] == "broken" and done == parts - 1:
            raise UrlBlocked("not to be fetched")
        if job.payload["nature"] == "poison" and done == parts - 1:
            raise Crash("poison")
        store.record(turn.lease, done + 1)
        return {**state, "action": "go on"}

    def _renew(
        self, actor: Actor, driver: Driver, turn: ExecutionClaim, job: Job, seconds: float
    ) -> None:
        until = self._world.clock_of(actor)() + timedelta(seconds=seconds + 2 * STEP_SECONDS)
        done = self._world.invariants.steps.of(job.ref)
        progress = 100 * done // job.payload["parts"]
        driver.renew(turn, job, until, f"step {turn.number}", progress, {})
