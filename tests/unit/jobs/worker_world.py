"""One job and the workers that run it."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from spinneret.jobs.models import Job, JobEvent, JobRef
from spinneret.jobs.ports import JobStore, Listener, NewJob
from spinneret.jobs.publishing import PublishingJobStore
from spinneret.jobs.sweeper import Sweeper
from spinneret.jobs.worker import Context, Handler, Worker
from spinneret.kernel import bounds
from tests import factories
from tests.fakes.jobs import FakeJobQueue, FakeJobStore, no_parent
from tests.fakes.time import HandClock
from tests.kinds import KINDS, kinds_of

MIDDLE = 0.5  # without jitter
LEASE_SECONDS = 60.0 + bounds.LEASE_MARGIN_SECONDS


class WorkerWorld:
    """A store with one job, and workers that run it with the given handler."""

    def __init__(self, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock) -> None:
        self.store, self.queue, self.clock = store, queue, clock
        self.listeners: list[Listener] = []
        self.remaining = 60.0
        self.holds_steps = False
        """Whether the job's kind holds steps back, as crawls do."""
        self.owners = (f"owner-{n}" for n in itertools.count(1))
        self.ref = factories.job().ref
        self.add(factories.job())

    def add(self, job: Job) -> None:
        news = [NewJob(job=job)]
        self.store.submit(news, [factories.event()], None, factories.reply(), self.clock())

    @property
    def published(self) -> JobStore:
        """The store in production wiring: listeners are called after each write."""
        return PublishingJobStore(self.store, self._publish)

    def _publish(self, job: Job, events: Sequence[JobEvent]) -> None:
        for listener in self.listeners:
            listener(job, events)

    def run(self, handler: Handler, ref: JobRef | None = None) -> Job:
        """Run the job once, as a message would, and return the job afterwards."""
        self.worker(handler).run(ref or self.ref, lambda: self.remaining)
        return self.job

    def worker(self, handler: Handler) -> Worker:
        """Return a worker that runs jobs with the handler."""
        return Worker(
            store=self.published,
            queue=self.queue,
            kinds={"crawl": replace(KINDS["crawl"], holds_steps=self.holds_steps)},
            handlers={"crawl": handler},
            clock=self.clock,
            random=lambda: MIDDLE,
            new_owner=lambda: next(self.owners),
            sleep=self.sleep,
        )

    def sleep(self, seconds: float) -> None:
        """Let time pass, as a worker's sleep in an outage does."""
        self.clock.advance(seconds)
        self.remaining -= seconds

    def sweep(self) -> None:
        Sweeper(
            store=self.published,
            queue=self.queue,
            kinds=kinds_of(self.store),
            clock=self.clock,
            look_at_parent=no_parent,
        ).sweep()

    @property
    def job(self) -> Job:
        found = self.store.get(self.ref)
        assert found is not None
        return found

    @property
    def timeline(self) -> list[tuple[int, str, str]]:
        events = self.store.events(self.ref, None, 999)
        return [(each.fence, each.kind, each.message) for each in events]


def succeed(_: Context) -> Mapping[str, Any]:
    return {"n": 1}


def raising(error: BaseException) -> Handler:
    def handler(_: Context) -> Mapping[str, Any]:
        raise error

    return handler
