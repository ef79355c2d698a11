"""A turnstile for threads: one moves at a time, all others wait.

The code under test is synchronous and runs unchanged; a thread of its own lets it stop in the
middle of a call. Since only one thread moves, a run is as deterministic as one thread.
"""

from collections.abc import Callable
from concurrent.futures import Executor
from datetime import timedelta
from enum import StrEnum
from threading import Lock

from spinneret.jobs.models import Lease
from tests.fakes.crashes import Crash


class Role(StrEnum):
    """What an actor is; the rules of `invariants` differ by it."""

    CLIENT = "client"
    WORKER = "worker"
    SWEEPER = "sweeper"
    USER = "user"
    STEP = "step"
    """Of an execution: an invocation of one of its functions."""


class Actor:
    """One process of the simulated world: a request, an invocation, a pass of the sweeper."""

    def __init__(self, name: str, role: Role, skew: timedelta, body: Callable[[], None]) -> None:
        self.name = name
        self.role = role
        self.skew = skew
        """How far its clock is ahead."""
        self.ready_at = 0
        """Not to be moved earlier: microseconds of the world's time."""
        self.doomed = False
        """To be ended where it waits."""
        self.frozen = False
        """Its process was stopped as a whole, its time-out included."""
        self.lease: Lease | None = None
        """What its claim was granted, as the store saw it."""
        self.work_ended: BaseException | None = None
        """What its handler raised; None after a result."""
        self.started = False
        self.ended = False
        self.ended_by: BaseException | None = None
        self._body = body
        self._go, self._parked = Lock(), Lock()
        self._go.acquire()
        self._parked.acquire()

    def move(self, threads: Executor) -> None:
        """Let it move until it parks or ends."""
        if not self.started:
            self.started = True
            threads.submit(self._main)
        self._go.release()
        self._parked.acquire()

    def park(self) -> None:
        """Stop until the next `move`; called by the actor itself. Raises Crash when doomed."""
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
