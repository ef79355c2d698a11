"""A random scenario: clients, users, workers and the sweeper, first with faults, then without."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Final

from spinneret.jobs.models import Draft, JobRef, JobStatus, Priority, RequestKey, Transition
from spinneret.jobs.parents import ParentEnds
from spinneret.jobs.worker import Defer
from spinneret.kernel.errors import (
    DependencyUnavailable,
    FetchTimeout,
    HttpUnavailable,
    UrlBlocked,
)
from spinneret.outbox.relay import Relay
from tests.fakes.crashes import Crash
from tests.simulation.actors import TENANT, Actors, Claim, Request
from tests.simulation.expiry import Expiry
from tests.simulation.families import child_drafts, parent_draft
from tests.simulation.faults import SeededFaults
from tests.simulation.parent_invariants import is_in_family
from tests.simulation.policies import DRIVEN, IMPATIENT, ONE_SERIES
from tests.simulation.world import World

SETTLE_SECONDS: Final = 4200.0  # see `Scenario`: the longest time to settle without faults
SWEEP_SECONDS: Final = 60.0
RETRY_AFTER_MAX: Final = 1500.0  # beyond what SQS can delay
PARTS_MAX: Final = 5  # parts of a driven job: two segments
EXECUTIONS_LOST: Final = 0.05  # share of transitions at which an execution is lost
SUPPLIED: Final = 0.5  # share of seeds with a job that waits for its input
OWNER_SECONDS: Final = 12.0  # between two moves of an owner: longer than the lag of an index
PAGES: Final = ("page-1", "page-2", "page-3")
MOVES: Final = (Transition.CANCEL, Transition.PAUSE, Transition.RESUME, Transition.RETRY)
ALLOWED: Final[dict[JobStatus, Sequence[Transition]]] = {
    JobStatus.PENDING: (Transition.PAUSE, Transition.PAUSE, Transition.CANCEL),
    JobStatus.RUNNING: (Transition.PAUSE, Transition.PAUSE, Transition.CANCEL),
    JobStatus.PAUSED: (Transition.RESUME, Transition.RESUME, Transition.RESUME, Transition.CANCEL),
    JobStatus.FAILED: (Transition.RETRY,),
    JobStatus.PARTIALLY_FAILED: (Transition.RETRY,),
    JobStatus.EXPIRED: (Transition.RETRY,),
}

OWNED: Final = ALLOWED | {
    JobStatus.PENDING: (*[Transition.PAUSE] * 15, Transition.CANCEL),
    JobStatus.RUNNING: (*[Transition.PAUSE] * 15, Transition.CANCEL),
    JobStatus.PAUSED: (Transition.RESUME,),
}
"""Moves of an owner; few cancellations, since a cancelled job tests nothing further."""


class Scenario:
    """Faults and new jobs for a while, then only sweeps until everything has settled.

    In the phase without faults, handlers take little time: work that exceeds its time-out again and
    again would never end. This phase may take the longest wait that was stored (RETRY_AFTER_MAX),
    the longest gap between two resends of a job of that age (960 s) and a lease (305 s), then the
    attempts of a job that kills its workers, each a lease and a sweep.
    """

    def __init__(
        self,
        rng: Random,
        faults: SeededFaults,
        world: World,
        relay_of: Callable[..., Relay] = Relay,
        ends_of: Callable[..., ParentEnds] = ParentEnds,
        expiry: Expiry | None = None,
        supplying: Random | None = None,
    ) -> None:
        """Create a scenario; with `expiry`, TTL removes rows.

        The phase with faults may then last longer than rows are kept. `supplying` draws jobs that
        wait for their input, like a file of URLs that waits for its upload.
        """
        self._rng = rng
        self._faults = faults
        self._world = world
        self._actors = Actors(world, self._work, self._timeout, relay_of, ends_of, self._loses)
        self._actors.workers_max = rng.choice([1, 2, 3, 5])
        self._timeouts = rng.choice([(15.0, 40.0), (60.0,), (30.0, 900.0), (900.0,)])
        self._work_seconds = rng.choice([8.0, 30.0, 400.0, 400.0])
        self._stormy_seconds = rng.choice([20.0, 120.0, 600.0])
        self._postponing = rng.choice([0.0, 0.0, 0.1])
        self._overlapping = rng.random() < 0.3
        self._unswept = rng.random() < 0.2
        """Whether the sweeper makes no pass before the faults end."""
        self._late_retries: Sequence[float] = ()
        if expiry is not None:
            self._late_retries = expiry.late_retries()
            self._stormy_seconds = expiry.stormy_seconds(self._stormy_seconds)
            self._unswept = False  # the sweeper never pauses as long as rows are kept
        self._supplying = supplying
        self._waiting = 0
        self.calm_at: int | None = None
        self.settled_at: int | None = None
        """Time when a pass found every job settled; late messages may still be on their way."""
        self.passes = 0
        """Sweeps since the faults ended."""

    def run(self) -> None:
        """Run the world until no process, message or execution remains and every job is settled."""
        for _ in range(self._rng.randint(1, 6)):
            self._later(self._new_request)
        for _ in range(self._rng.choice([0, 0, 1])):
            self._later(self._new_family)
            if self._rng.random() < 0.7:
                self._owner(self._rng.choice([4, 12, 40]), self._rng.choice([0.0, 0.3, 1.0]))
            for seconds in self._late_retries:
                self._world.after(seconds, lambda: self._owner(3, 0.0))
        for _ in range(self._rng.choice([0, 0, 0, 1])):
            self._later(self._new_driven)
        for _ in range(self._rng.choice([0, 4, 16])):
            self._later(self._user)
        self._new_supplied(self._supplying)
        for service in ("store", "queue"):
            if self._rng.random() < 0.3:
                self._outage(service)
        if self._rng.random() < 0.2:
            self._backlog()
        self._world.after(self._rng.uniform(0.0, SWEEP_SECONDS), self._sweep)
        self._world.after(self._stormy_seconds, self._calm)
        self._world.run(self._is_over)

    def _is_over(self) -> bool:
        moving = self._waiting or self._actors.flying or self._actors.machine.running
        idle = not self._world.actors and not moving
        return self.calm_at is not None and idle and not self._world.invariants.unsettled()

    def _later(self, action: Callable[[], None]) -> None:
        self._world.after(self._rng.uniform(0.0, self._stormy_seconds / 2), action)

    def _calm(self) -> None:
        self._faults.quiet = True
        self._faults.down.clear()
        self._actors.workers_stopped = False
        self.calm_at = self._world.now
        self._world.after(SETTLE_SECONDS, self._must_be_settled)

    def _must_be_settled(self) -> None:
        for job in self._world.invariants.unsettled():
            self._world.invariants.violations.append(f"{job.id}: waits for ever, {job}")

    def _outage(self, service: str) -> None:
        begin = self._rng.uniform(0.0, self._stormy_seconds)
        self._world.after(begin, lambda: self._faults.down.add(service))
        end = begin + self._rng.uniform(1.0, 120.0)
        self._world.after(end, lambda: self._faults.down.discard(service))

    def _backlog(self) -> None:
        begin = self._rng.uniform(0.0, self._stormy_seconds / 4)
        self._world.after(begin, lambda: setattr(self._actors, "workers_stopped", True))

    def _sweep(self) -> None:
        if self.calm_at is None or self._world.invariants.unsettled():
            self.settled_at = None
        elif self.settled_at is None:
            self.settled_at = self._world.now
        swept = self.calm_at is not None or not self._unswept
        free = not self._actors.sweepers or self._overlapping
        if self.settled_at is None and swept and free:
            self.passes += self.calm_at is not None
            self._actors.sweep()
        if not self._is_over():
            self._world.after(SWEEP_SECONDS, self._sweep)

    def _new_request(self) -> None:
        drafts = [self._draft() for _ in range(self._rng.choice([1, 1, 2]))]
        key = None
        if self._rng.random() < 0.6:
            scope, payload = self._rng.choice(["key-1", "key-2"]), self._rng.choice(["one", "two"])
            key = RequestKey(tenant=TENANT, scope=scope, payload=payload)
        for _ in range(self._rng.choice([1, 1, 2])):
            self._submit(Request(drafts=drafts, key=key))

    def _new_family(self) -> None:
        planned = self._rng.random() < 0.5
        parent = parent_draft(self._rng, PAGES, planned=planned)
        if planned:
            self._submit(Request(drafts=child_drafts(parent), key=None, parent=parent))
        else:
            self._submit(Request(drafts=[parent], key=None, parents=True))

    def _new_driven(self) -> None:
        nature = self._rng.choice(["well", "well", "well", "broken", "poison"])
        payload = {"parts": self._rng.randint(1, PARTS_MAX), "nature": nature}
        priority = self._rng.choice(list(Priority))
        draft = Draft(kind=DRIVEN, payload=payload, priority=priority, duplicate_key=None)
        self._submit(Request(drafts=[draft], key=None))

    def _new_supplied(self, rng: Random | None) -> None:
        """Submit a job whose input arrives before, around or after the job's due time."""
        if rng is None or rng.random() >= SUPPLIED:
            return
        due_at = self._world.at_now() + timedelta(seconds=rng.choice([5.0, 60.0, 1200.0]))
        draft = Draft(
            kind=ONE_SERIES,
            payload={"nature": "well", "arrives_by": due_at.isoformat()},
            priority=rng.choice(list(Priority)),
            duplicate_key="supplied",
            due_at=due_at,
            waiting_for="upload",
        )
        self._submit(Request(drafts=[draft], key=None))
        for _ in range(rng.choice([1, 2])):  # a bucket may send an event twice
            self._world.after(rng.uniform(0.0, 90.0), self._actors.supply)

    def _loses(self) -> bool:
        return not self._faults.quiet and self._rng.random() < EXECUTIONS_LOST

    def _submit(self, request: Request) -> None:
        """Send a request, and repeat it until there is an answer."""
        self._waiting += 1

        def ended(answered: bool) -> None:
            self._waiting -= 1
            if not answered:
                self._waiting += 1
                self._world.after(self._rng.uniform(1.0, 20.0), again)

        def again() -> None:
            self._waiting -= 1
            self._submit(request)

        self._actors.request(request, ended)

    def _draft(self) -> Draft:
        page = self._rng.choice(PAGES)
        nature = self._rng.choice(["well", "well", "well", "broken", "poison"])
        return Draft(
            kind=self._rng.choice(["crawl", ONE_SERIES, IMPATIENT]),
            payload={"page": page, "nature": nature},
            priority=self._rng.choice(list(Priority)),
            notify=("hook",) if self._rng.random() < 0.5 else (),
            duplicate_key=None if self._rng.random() < 0.2 else page,
        )

    def _user(self) -> None:
        """Make a user's move, mostly one that the job's current status allows."""
        accepted = list(self._world.invariants.accepted)
        if not accepted:
            self._actors.move(JobRef(tenant=TENANT, job_id="job_unknown"), Transition.CANCEL)
            return
        ref = self._rng.choice(accepted)
        watched = self._rng.random() < 0.2
        job = self._world.store.get(ref)
        if job is None:  # its row is purged
            self._actors.move(ref, self._rng.choice(MOVES))
            return
        if watched:
            self._world.store.subscribe(ref, self._rng.choice([1, 1, 2]))
        moves = ALLOWED.get(job.status) if self._rng.random() < 0.8 else None
        self._actors.move(ref, self._rng.choice(moves or MOVES))

    def _owner(self, moves: int, stops: float) -> None:
        """Make an owner's moves of a family; `stops` is the rate of stopping active jobs."""
        if self.calm_at is not None or not moves:
            return
        rows = map(self._world.store.get, self._world.invariants.accepted)
        kin = [job for job in rows if job is not None and is_in_family(job)]
        parents = [job for job in kin if job.family is not None]
        if kin:
            chosen = parents if self._rng.random() < 0.5 else kin
            job = self._rng.choice(chosen or kin)
            works = job.status in (JobStatus.PENDING, JobStatus.RUNNING)
            wanted = OWNED.get(job.status, ())
            if wanted and (not works or self._rng.random() < stops):
                self._actors.move(job.ref, self._rng.choice(wanted))
                moves -= 1
        pause = self._rng.choice([0.3, 2.0, OWNER_SECONDS])
        self._world.after(pause, lambda: self._owner(moves, stops))

    def _timeout(self) -> float:
        return self._rng.choice(self._timeouts)

    def _work(self, claim: Claim) -> None:
        """Handle a job: one to four checkpoints, one effect, the job's own and random faults."""
        rng = self._rng
        payload = claim.context.job.payload
        nature = payload["nature"]
        if "arrives_by" in payload and "input" not in payload:
            arrives_by = datetime.fromisoformat(payload["arrives_by"])
            if self._world.at_now() < arrives_by:
                raise Defer(arrives_by, "upload", appointed=True)
            raise UrlBlocked("nothing was uploaded")
        steps = rng.randint(1, 4)
        effect_at = rng.randrange(steps)
        for number in range(steps):
            longest = 8.0 if self._faults.quiet else self._work_seconds
            claim.work(rng.choice([0.01, 1.0, 8.0, longest]) * rng.uniform(0.7, 1.0))
            if nature == "poison":
                raise Crash("poison")
            if not self._faults.quiet and rng.random() < self._faults.rates.handler_errors:
                raise self._error()
            if rng.random() < self._postponing:
                until = claim.context.job.due_at + timedelta(seconds=rng.uniform(0.0, 300.0))
                raise Defer(until, "site.example")
            if number == effect_at:
                claim.publish()
                claim.commit()
            claim.context.checkpoint(f"step {number + 1}", 100 * (number + 1) // steps)
        if nature == "broken":
            raise UrlBlocked("not to be fetched")

    def _error(self) -> Exception:
        kinds: list[Exception] = [
            FetchTimeout("too slow"),
            HttpUnavailable("busy", retry_after=self._rng.uniform(1.0, RETRY_AFTER_MAX)),
            DependencyUnavailable("embedder"),
            UrlBlocked("not to be fetched"),
            ZeroDivisionError("unexpected"),
        ]
        return self._rng.choice(kinds)
