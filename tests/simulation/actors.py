"""The processes of the simulated world; each runs the kernel's own code."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from spinneret.jobs.children import Children
from spinneret.jobs.control import JobControl
from spinneret.jobs.driven.driving import Driver
from spinneret.jobs.driven.starting import Starter
from spinneret.jobs.effects.service import SideEffects
from spinneret.jobs.ends import relaying
from spinneret.jobs.models import Backlog, Draft, Job, JobRef, Reply, RequestKey, Transition
from spinneret.jobs.parents import ParentEnds, ParentRecheck
from spinneret.jobs.placement import Placed
from spinneret.jobs.ports import JobStore
from spinneret.jobs.publishing import PublishingJobStore
from spinneret.jobs.service import JobService, Submitted
from spinneret.jobs.sweeper import Sweeper
from spinneret.jobs.worker import Context, Worker
from spinneret.kernel.errors import (
    Conflict,
    DependencyUnavailable,
    IdempotencyMismatch,
    LeaseLost,
    NotFound,
)
from spinneret.outbox.relay import Relay
from tests.simulation import policies as kinds
from tests.simulation.executions import Machine, Steps
from tests.simulation.families import lead
from tests.simulation.policies import POLICIES, SINKS
from tests.simulation.stepped import (
    SteppedEffects,
    SteppedOutbox,
    SteppedQueue,
    SteppedSink,
    SteppedStore,
)
from tests.simulation.turnstile import Actor, Role
from tests.simulation.world import World

TENANT = "acme"
FOREIGN_SECONDS = 9.0
RECEIVES_MAX = 5  # after these, the message is a dead letter
SWEEP_TIMEOUT = 60.0
REQUEST_TIMEOUT = 29.0

Work = Callable[["Claim"], None]
"""Function that works under a claim; it may raise what handlers raise."""


@dataclass(frozen=True)
class Claim:
    """A handler's side of its work."""

    context: Context
    actor: Actor
    world: World
    store: SteppedStore
    effects: SteppedEffects

    def work(self, seconds: float) -> None:
        """Let time pass."""
        self.world.sleep(self.actor, seconds)

    def commit(self) -> None:
        """Write the one effect of this claim."""
        self.store.commit(self.context.lease)

    def publish(self) -> None:
        """Have a foreign system perform an effect, once for the job even over several runs."""
        key = f"listing of {self.context.job.id}"
        SideEffects(store=self.effects, clock=self.world.clock_of(self.actor)).once(
            self.context,
            key,
            request="as it is",
            seconds=FOREIGN_SECONDS,
            perform=lambda: self.effects.perform(key),
            reconcile=lambda: self.effects.reconcile(key),
        )


@dataclass(frozen=True, kw_only=True)
class Request:
    """A client's request, which it repeats until it gets an answer."""

    drafts: Sequence[Draft]
    key: RequestKey | None
    parent: Draft | None = None
    """Parent of the drafts, which are its plan."""
    parents: bool = False
    """Whether the drafts are parents that find their children themselves."""


class Actors:
    """Starts processes in a world and carries messages between them."""

    def __init__(
        self,
        world: World,
        work: Work,
        timeout: Callable[[], float],
        relay_of: Callable[..., Relay] = Relay,
        ends_of: Callable[..., ParentEnds] = ParentEnds,
        loses: Callable[[], bool] = lambda: False,
    ) -> None:
        """Create the actors; `loses` returns whether an execution is lost at a transition."""
        self._world = world
        self.machine = Machine(world, Steps(world, self._driver).take, loses)
        self._relay_of = relay_of
        self._ends_of = ends_of
        self._work = work
        self._timeout = timeout
        self.workers_max = 3
        self.workers_stopped = False
        """Whether no worker may start at the moment, so that a backlog grows."""
        self.flying = 0
        """Number of messages on their way."""
        self._waiting = 0
        self.sweepers = 0

    def request(self, request: Request, on_end: Callable[[bool], None]) -> None:
        """Submit once; call `on_end` with whether the client got an answer."""

        def run(actor: Actor) -> None:
            service = JobService(
                store=SteppedStore(self._world, actor),
                queue=SteppedQueue(self._world, actor, self.post, self.backlog),
                kinds=POLICIES,
                clock=self._world.clock_of(actor),
                new_id=self._new_id,
            )
            answered = False
            try:
                submitted = self._submitted(service, request)
                self._answered(actor, request, submitted)
                answered = True
            except DependencyUnavailable as error:
                self._world.note(actor, "answer", request.key, error)
            except IdempotencyMismatch as error:
                self._world.note(actor, "answer", request.key, error)
                answered = True
            finally:
                on_end(answered)

        self._timed(self._world.start(Role.CLIENT, run), REQUEST_TIMEOUT)

    def move(self, ref: JobRef, move: Transition) -> None:
        """Make a user's move of a job."""

        def run(actor: Actor) -> None:
            control = self._control(actor)
            try:
                job = control.move(ref, move)
                self._world.note(actor, move.value, ref.job_id, job.status)
            except (Conflict, NotFound, DependencyUnavailable) as error:
                self._world.note(actor, move.value, ref.job_id, error)

        self._timed(self._world.start(Role.USER, run), REQUEST_TIMEOUT)

    def supply(self) -> None:
        """Supply the input of all jobs that wait for it; repeat a failed call."""

        def run(actor: Actor) -> None:
            store = SteppedStore(self._world, actor)
            queue = SteppedQueue(self._world, actor, self.post, self.backlog)
            clock = self._world.clock_of(actor)
            service = JobService(
                store=store, queue=queue, kinds=POLICIES, clock=clock, new_id=self._new_id
            )
            for ref in list(self._world.invariants.accepted):
                self._supply(service, ref)

        self._timed(self._world.start(Role.CLIENT, run), REQUEST_TIMEOUT)

    def _supply(self, service: JobService, ref: JobRef) -> None:
        with suppress(Conflict, DependencyUnavailable):
            while (job := self._world.store.get(ref)) and job.waiting_for == "upload":
                with suppress(LeaseLost):
                    service.supply(job, {**job.payload, "input": True})

    def _control(self, actor: Actor) -> JobControl:
        return JobControl(
            store=self._ending(actor, self._relay(actor)),
            queue=SteppedQueue(self._world, actor, self.post, self.backlog),
            kinds=POLICIES,
            clock=self._world.clock_of(actor),
        )

    def sweep(self) -> None:
        """Start one pass of the sweeper."""

        def run(actor: Actor) -> None:
            relay, clock = self._relay(actor), self._world.clock_of(actor)
            store = self._ending(actor, relay)
            control = self._control(actor)
            sweeper = Sweeper(
                store=store,
                queue=SteppedQueue(self._world, actor, self.post, self.backlog),
                kinds=POLICIES,
                clock=clock,
                look_at_parent=ParentRecheck(
                    store=store,
                    ends=self._ends_of(store=store, clock=clock),
                    control=control,
                    clock=clock,
                ),
            )
            try:
                for sweep in (sweeper.sweep, relay.sweep):
                    try:
                        sweep()
                    except DependencyUnavailable as error:
                        self._world.note(actor, "sweep", "", error)
            finally:
                self.sweepers -= 1

        self.sweepers += 1
        self._timed(self._world.start(Role.SWEEPER, run), SWEEP_TIMEOUT)

    def post(self, ref: JobRef, delay: int) -> None:
        """Send a message as SQS does: it may arrive late, twice or never."""
        latencies = self._world.faults.deliveries()
        self._world.counts["lost messages"] += not latencies
        self._world.counts["duplicates"] += len(latencies) > 1
        for latency in latencies:
            self._fly(ref, delay + latency, 1)

    def backlog(self) -> Backlog:
        """Return the number of messages that found no worker; an outdated report shows none."""
        waiting = 0 if self._world.faults.misreports() else self._waiting
        return Backlog(waiting=waiting, in_flight=self._busy())

    def _fly(self, ref: JobRef, seconds: float, receives: int, *, waits: bool = False) -> None:
        self.flying += 1
        self._world.after(seconds, lambda: self._arrive(ref, receives, waits))

    def _arrive(self, ref: JobRef, receives: int, waits: bool) -> None:
        self.flying -= 1
        self._waiting -= waits
        if self.workers_stopped or self._busy() >= self.workers_max:
            self._waiting += 1
            self._fly(ref, 1.0, receives, waits=True)
            return
        timeout = self._timeout()
        actor = self._world.start(
            Role.WORKER, lambda actor: self._invoke(actor, ref, receives, timeout)
        )
        self._timed(actor, timeout)

    def _busy(self) -> int:
        return sum(actor.role is Role.WORKER for actor in self._world.actors)

    def _invoke(self, actor: Actor, ref: JobRef, receives: int, timeout: float) -> None:
        deadline = self._world.now // 1000 + round(timeout * 1000)
        store = SteppedStore(self._world, actor)
        worker = Worker(
            store=self._ending(actor, self._relay(actor)),
            queue=SteppedQueue(self._world, actor, self.post, self.backlog),
            kinds=POLICIES,
            handlers=dict.fromkeys(POLICIES, lambda context: self._handle(actor, store, context)),
            clock=self._world.clock_of(actor),
            random=self._world.rng.random,
            new_owner=lambda: f"owner-{self._world.number('owner')}",
            sleep=lambda seconds: self._world.sleep(actor, seconds),
        )
        done = False
        try:
            # A Lambda function gets its remaining time in whole milliseconds.
            worker.run(ref, lambda: (deadline - self._world.now // 1000) / 1000)
            done = True
            self._world.invariants.left(actor, ref)
        except DependencyUnavailable as error:
            self._world.note(actor, "message back", ref.job_id, error)
        finally:
            if not done and receives < RECEIVES_MAX:
                self._fly(ref, 6 * timeout, receives + 1)

    def _handle(self, actor: Actor, store: SteppedStore, context: Context) -> dict[str, int]:
        try:
            effects = SteppedEffects(self._world, actor)
            match context.job.kind:
                case kinds.FAMILY:
                    lead(context, self._children(actor))
                case kinds.DRIVEN:
                    Starter(executions=self.machine.executions(actor), prepare=self._prepare)(
                        context
                    )
            self._work(Claim(context, actor, self._world, store, effects))
        except BaseException as error:
            actor.work_ended = error
            raise
        return {"fence": context.lease.fence}

    def _prepare(self, context: Context) -> None:
        """Prepare a driven job as its worker does, with up to three checkpoints."""
        for number in range(self._world.rng.choice([0, 0, 1, 3])):
            context.checkpoint(f"part {number} prepared", context.job.progress)

    def _submitted(self, service: JobService, request: Request) -> Submitted:
        def answer(placed: Sequence[Placed]) -> Reply:
            for each in placed:
                stored = self._world.store.get(each.job.ref) is not None
                if each.duplicate and not each.is_answered and stored and self._asks_for_more():
                    service.amend(each.job, {**each.job.payload, "more": each.job.amendments})
            return _answer(placed)

        if request.parent is None:
            drafts, parents = request.drafts, request.parents
            return service.submit(TENANT, drafts, request.key, answer, parents=parents)
        return service.submit_parent(
            TENANT, request.parent, request.drafts, request.key, lambda job, _: _founded(job)
        )

    def _asks_for_more(self) -> bool:
        """Return whether a duplicate asks for more work than its job has: every other one does."""
        return self._world.number("duplicate") % 2 == 0

    def _answered(self, actor: Actor, request: Request, submitted: Submitted) -> None:
        body = submitted.reply.body
        self._world.note(actor, "answer", request.key, submitted)
        self._world.invariants.acknowledged(
            [JobRef(tenant=TENANT, job_id=each["id"]) for each in body["jobs"]]
        )
        if request.key is not None:
            self._world.invariants.answered(request.key, submitted.reply)

    def _children(self, actor: Actor) -> Children:
        return Children(
            store=self._ending(actor, self._relay(actor)),
            queue=SteppedQueue(self._world, actor, self.post, self.backlog),
            kinds=POLICIES,
            clock=self._world.clock_of(actor),
            new_id=self._new_id,
            move=self._control(actor).move,
        )

    def _driver(self, actor: Actor) -> Driver:
        return Driver(
            store=self._ending(actor, self._relay(actor)),
            queue=SteppedQueue(self._world, actor, self.post, self.backlog),
            kinds=POLICIES,
            clock=self._world.clock_of(actor),
            random=self._world.rng.random,
        )

    def _new_id(self, prefix: str) -> str:
        return f"{prefix}_{self._world.number(prefix):04d}"

    def _ending(self, actor: Actor, relay: Relay) -> JobStore:
        """Return the production store: it relays ends, and the last child's end ends its parent."""
        inner = SteppedStore(self._world, actor)
        store = PublishingJobStore(inner, relaying(POLICIES, relay.relay))
        store.listen(self._ends_of(store=store, clock=self._world.clock_of(actor)))
        return store

    def _relay(self, actor: Actor) -> Relay:
        sinks = [SteppedSink(self._world, actor, name) for name in SINKS]
        outbox = SteppedOutbox(self._world, actor)
        return self._relay_of(outbox, sinks, self._world.clock_of(actor))

    def _timed(self, actor: Actor, seconds: float) -> None:
        self._world.after(seconds, lambda: self._world.kill(actor))


def _founded(parent: Job) -> Reply:
    return Reply(status=202, body={"jobs": [{"id": parent.id, "duplicate": False}]})


def _answer(placed: Sequence[Placed]) -> Reply:
    jobs = [{"id": each.job.id, "duplicate": each.duplicate} for each in placed]
    return Reply(status=202, body={"jobs": jobs})
