"""A parent with children on fakes: processes that may die at any call, a sweeper, and a tenant."""

import itertools
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from spinneret.jobs import rules
from spinneret.jobs.children import Children
from spinneret.jobs.control import JobControl
from spinneret.jobs.kinds import KindPolicy
from spinneret.jobs.models import (
    ChildCounts,
    Draft,
    Job,
    JobRef,
    JobStatus,
    Priority,
    Reply,
    Transition,
)
from spinneret.jobs.parents import ParentEnds, ParentRecheck
from spinneret.jobs.publishing import PublishingJobStore
from spinneret.jobs.service import JobService
from spinneret.jobs.sweeper import Sweeper
from spinneret.jobs.worker import Context, Handler, Worker
from spinneret.kernel.errors import PermanentError
from tests import factories
from tests.factories import TENANT
from tests.fakes.crashes import Crash, CrashPlan
from tests.fakes.jobs import FakeJobQueue, FakeJobStore
from tests.fakes.time import HandClock
from tests.kinds import CRAWL_NORMAL, KINDS

PARENT: Final = "parent"
POLICIES: Final[Mapping[str, KindPolicy]] = {
    "crawl": KindPolicy(lanes=KINDS["crawl"].lanes),
    PARENT: KindPolicy(lanes=KINDS["crawl"].lanes),
}
STEPS: Final = 400


class ParentWorld:
    """One tenant's parent with its children, workers and sweeper."""

    def __init__(
        self,
        children: int,
        failing: Callable[[Job], bool] = lambda _: False,
        *,
        store: FakeJobStore | None = None,
        ends: type[ParentEnds] = ParentEnds,
    ) -> None:
        self.store, self.queue, self.clock = store or FakeJobStore(), FakeJobQueue(), HandClock()
        self.ended_early = False
        """Whether the parent ended while a child was alive."""
        self._ends = ends
        self.failing = failing
        self.lead: Callable[[Children], Handler] = _parent
        """Function that makes the handler of the parent."""
        self.worked: Counter[str] = Counter()
        """Number of times that each child's work was done."""
        self.ended: list[JobStatus] = []
        """Final status of each run of the parent."""
        self._numbers = itertools.count(1)
        self.noted = PublishingJobStore(self.store, self._note)
        """The store as processes use it; a process may die before or after each of its calls."""
        self.parent = self.submit(children)

    def new_id(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers):04d}"

    def submit(self, children: int) -> JobRef:
        """Submit one more parent with the same children; store the response's body in `reply`."""
        drafts = [
            factories.draft(payload={"n": n}, duplicate_key=f"page-{n}") for n in range(children)
        ]
        service = JobService(
            store=self.store,
            queue=self.queue,
            kinds=POLICIES,
            clock=self.clock,
            new_id=self.new_id,
        )
        parent = Draft(
            kind=PARENT, payload={}, priority=Priority.NORMAL, duplicate_key=None, domain=None
        )
        submitted = service.submit_parent(
            TENANT,
            parent,
            drafts,
            None,
            lambda job, placed: Reply(
                status=202,
                body={
                    "parent": job.id,
                    "jobs": [each.job.id for each in placed],
                    "duplicates": sum(each.duplicate for each in placed),
                },
            ),
        )
        self.reply = submitted.reply.body
        return JobRef(tenant=TENANT, job_id=submitted.reply.body["parent"])

    # ------------------------------------------------------------ Processes

    def deliver(self, plan: CrashPlan | None = None, number: int = 0) -> bool:
        """Let a worker take one of the waiting messages; return False if there was none."""
        if not self.queue.sent:
            return False
        sent = self.queue.sent.pop(number % len(self.queue.sent))
        self.clock.advance(sent.delay)
        self.run(sent.ref, plan)
        return True

    def run(self, ref: JobRef, plan: CrashPlan | None = None) -> None:
        """Run one job in a worker that dies as planned."""
        store = self._store(plan)
        control = self._control(store)
        children = Children(
            store=store,
            queue=self.queue,
            kinds=POLICIES,
            clock=self.clock,
            new_id=self.new_id,
            move=control.move,
        )
        worker = Worker(
            store=store,
            queue=self.queue,
            kinds=POLICIES,
            handlers={PARENT: self.lead(children), "crawl": self._child},
            clock=self.clock,
            random=lambda: 0.5,
            new_owner=lambda: self.new_id("owner"),
            sleep=self.clock.advance,
        )
        try:
            worker.run(ref, lambda: 60.0)
        except Crash:
            return

    def sweep(self, plan: CrashPlan | None = None) -> None:
        """Run one sweeper pass, 400 seconds later."""
        self.clock.advance(400.0)
        store = self._store(plan)
        ends = self._ends(store=store, clock=self.clock)
        try:
            Sweeper(
                store=store,
                queue=self.queue,
                kinds=POLICIES,
                clock=self.clock,
                look_at_parent=ParentRecheck(
                    store=store, ends=ends, control=self._control(store), clock=self.clock
                ),
            ).sweep()
        except Crash:
            return

    def move(self, ref: JobRef, move: Transition, plan: CrashPlan | None = None) -> None:
        """Move a job as its tenant does. Raises Conflict."""
        try:
            self._control(self._store(plan)).move(ref, move)
        except Crash:
            return

    def settle(self) -> None:
        """Deliver messages and run sweeper passes until all jobs have ended."""
        for _ in range(STEPS):
            while self.deliver():
                pass
            if self.is_settled():
                return
            self.sweep()
        raise AssertionError("the parent doesn't come to rest")

    def is_settled(self) -> bool:
        """Return whether the parent and all its children have ended."""
        parent = self.job(self.parent)
        return parent.status in rules.TERMINAL and self.counts().pending == 0

    def _store(self, plan: CrashPlan | None) -> Any:
        """Return the store as one process uses it; it also ends parents."""
        store = PublishingJobStore(plan.wrap("store", self.noted) if plan else self.noted)
        store.listen(self._ends(store=store, clock=self.clock))
        return store

    def _control(self, store: Any) -> JobControl:
        return JobControl(
            store=store,
            queue=self.queue,
            kinds=POLICIES,
            clock=self.clock,
        )

    def _child(self, context: Context) -> Mapping[str, Any]:
        self.worked[context.job.id] += 1
        self.clock.advance(1.0)
        if self.failing(context.job):
            raise PermanentError("as planned")
        return {"n": context.job.payload["n"]}

    def _note(self, job: Job, _: object) -> None:
        if job.ref == self.parent and job.status in rules.TERMINAL:
            self.ended.append(job.status)
            alive = job.status is not JobStatus.CANCELLED and self.true_counts().pending
            self.ended_early = self.ended_early or bool(alive)

    # ------------------------------------------------------------ Results

    def job(self, ref: JobRef) -> Job:
        found = self.store.get(ref)
        assert found is not None
        return found

    def children(self) -> list[Job]:
        page = self.store.children(self.parent, tuple(JobStatus), None, 100_000)
        return [self.job(ref) for ref in page.items]

    def counts(self) -> ChildCounts:
        family = self.job(self.parent).family
        assert family is not None
        return rules.total(self.store.child_counts(self.parent, range(family.shards)))

    def true_counts(self) -> ChildCounts:
        """Return the correct counts, computed from the children's own rows."""
        statuses = Counter(child.status for child in self.children())
        ended = {status.value: statuses[status] for status in rules.TERMINAL}
        return ChildCounts(created=len(self.children()), **ended)

    def send(self, ref: JobRef) -> None:
        """Send an additional message for a job; it may be a duplicate, or early."""
        self.queue.send(CRAWL_NORMAL, [ref])


def _parent(children: Children) -> Handler:
    def handle(context: Context) -> Mapping[str, Any]:
        children.create_planned(context)
        children.await_all(context)

    return handle
