"""A turnstile for threads: one moves at a time, all others wait.

The code under test is synchronous and runs unchanged; with its own thread it can stop in the middle
of a call. Since only one thread moves, a run is as deterministic as a single thread.
"""

from collections.abc import Callable
from concurrent.futures import Executor
from datetime import timedelta
from enum import StrEnum
from threading import Lock

from spinneret.jobs.models import Lease
from tests.fakes.crashes import Crash


class Role(StrEnum):
    """Role of an actor; the rules of `invariants` depend on it."""

    CLIENT = "client"
    WORKER = "worker"
    SWEEPER = "sweeper"
    USER = "user"
    STEP = "step"
    """An invocation of one of an execution's functions."""


class Actor:
    """One process of the simulated world: a request, an invocation, a pass of the sweeper."""

    def __init__(self, name: str, role: Role, skew: timedelta, body: Callable[[], None]) -> None:
        self.name = name
        self.role = role
        self.skew = skew
        """Time by which the actor's clock is ahead."""
        self.ready_at = 0
        """Earliest time to move the actor, in microseconds of the world's time."""
        self.doomed = False
        """Whether the actor must end where it waits."""
        self.frozen = False
        """Whether the whole process is stalled, including its time-out."""
        self.lease: Lease | None = None
        """Lease that the store granted to the actor's claim."""
        self.work_ended: BaseException | None = None
        """Exception that the actor's handler raised; None after a result."""
        self.started = False
        self.ended = False
        self.ended_by: BaseException | None = None
        self._body = body
        self._go, self._parked = Lock(), Lock()
        self._go.acquire()
        self._parked.acquire()

    def move(self, threads: Executor) -> None:
        """Let the actor move until it parks or ends."""
        if not self.started:
            self.started = True
            threads.submit(self._main)
        self._go.release()
        self._parked.acquire()

    def park(self) -> None:
        """Wait for the next `move`; the actor itself calls this. Raises Crash if doomed."""
        self._parked.release()
        self._go.acquire()
        if self.doomed:
            raise Crash("killed")

    def _main(self) -> None:
        self._go.acquire()
        try:
            if not self.doomed:
                self._body()
        except BaseException as error:  # noqa: BLE001 - the world judges it on its own thread
            self.ended_by = error
        finally:
            self.ended = True
            self._parked.release()
