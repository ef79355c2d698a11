"""Webhooks over fakes: ends of jobs, notifications and deliveries."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from spinneret.events.webhooks.delivery import DeliveryHandler
from spinneret.events.webhooks.kinds import DELIVERY
from spinneret.events.webhooks.models import (
    Delivery,
    Endpoint,
    RequestedEndpoint,
    WebhookEvent,
)
from spinneret.events.webhooks.service import WebhookService
from spinneret.events.webhooks.sink import WebhookSink
from spinneret.events.webhooks.vault import Vault
from spinneret.jobs import limits
from spinneret.jobs.ends import relaying
from spinneret.jobs.models import Draft, Job, JobFilter, JobRef, Priority, Reply
from spinneret.jobs.ports import JobStore
from spinneret.jobs.publishing import PublishingJobStore
from spinneret.jobs.rules import TERMINAL, sweep_at
from spinneret.jobs.service import JobService
from spinneret.jobs.sweeper import Sweeper
from spinneret.jobs.worker import Handler, Worker
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DomainError
from spinneret.outbox.relay import Relay
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from tests.fakes.fetching import fetched_page
from tests.fakes.jobs import FakeJobQueue, FakeJobStore, no_parent
from tests.fakes.sealing import FakeSealer
from tests.fakes.time import HandClock
from tests.fakes.webhooks import URL, FakeCooldowns, FakeDeliveryLog, FakeEndpointStore
from tests.kinds import KINDS, kinds_of

_PASSES = 100
NO_HEADERS: Mapping[str, str] = {}


class Receiver:
    """Implements Fetcher as an endpoint: records its requests and answers them.

    Each request gets the next of the answers; the last one repeats.
    """

    def __init__(self, clock: Clock) -> None:
        self.requests: list[FetchRequest] = []
        self.answers: list[FetchedPage | DomainError] = [answer(200)]
        self.on_request: Callable[[], None] = lambda: None
        """Called during each request; may advance the clock, up to the request's time limit."""
        self._clock = clock

    def fetch(self, request: FetchRequest) -> FetchedPage:
        self.requests.append(request)
        began = self._clock()
        self.on_request()
        took_ms = round((self._clock() - began).total_seconds() * 1000)
        given = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(given, DomainError):
            raise given
        return replace(given, duration_ms=given.duration_ms + took_ms)

    @property
    def ids(self) -> list[str]:
        """Return the `webhook-id` of every request."""
        return [request.headers["webhook-id"] for request in self.requests]


def answer(status: int, body: str = "", **headers: str) -> FetchedPage:
    """Return an answer of the receiver; underscores in header names become hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return fetched_page(URL, body, status_code=status, headers=named)


class WebhookWorld:
    """Webhooks over fakes, which are the attributes; `work` is the handler of `crawl` jobs."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.store = FakeJobStore()
        self.queue = FakeJobQueue()
        self.endpoints = FakeEndpointStore()
        self.log = FakeDeliveryLog(self.store)
        self.cooldowns = FakeCooldowns()
        self.sealer = FakeSealer()
        self.receiver = Receiver(self.clock)
        self.work: Handler = lambda _: {"title": "Silk"}
        self.enabled = True
        self.random: Callable[[], float] = lambda: 0.5
        """Source of jitter; the default adds none."""
        self.wrap: Callable[[str, Any], Any] = lambda _, port: port
        """Function that may replace each port of the workers and the relay, given its name."""
        self._numbers = itertools.count(1)
        self.listening = True
        """Whether a write that ends a run also relays its event."""

    @property
    def jobs(self) -> JobService:
        return JobService(
            store=self.wrap("store", self.store),
            queue=self.wrap("queue", self.queue),
            kinds=KINDS,
            clock=self.clock,
            new_id=self._new_id,
        )

    @property
    def vault(self) -> Vault:
        return Vault(
            sealer=self.wrap("sealer", self.sealer),
            random=lambda length: next(self._numbers).to_bytes(length, "big"),
        )

    @property
    def service(self) -> WebhookService:
        return WebhookService(
            endpoints=self.endpoints,
            log=self.log,
            jobs=self.jobs,
            vault=self.vault,
            policy=AddressPolicy(),
            clock=self.clock,
            new_id=self._new_id,
            enabled=self.enabled,
        )

    @property
    def sink(self) -> WebhookSink:
        return WebhookSink(
            endpoints=self.wrap("endpoints", self.endpoints),
            jobs=self.jobs,
            kinds=KINDS,
            enabled=self.enabled,
        )

    @property
    def relay(self) -> Relay:
        return Relay(self.wrap("outbox", self.store.outbox), [self.sink], self.clock)

    def ending_store(self) -> JobStore:
        """Return the store, wired as deployed: a write that ends a run relays its event."""
        store = self.wrap("store", self.store)
        return PublishingJobStore(store, relaying(KINDS, self._relay_events))

    def endpoint(self, tenant: str = "acme", **given: Any) -> tuple[Endpoint, str]:
        """Create an endpoint; return it and its secret."""
        return self.service.create(tenant, requested(**given))

    def submit(
        self,
        *,
        webhook_url: str | None = None,
        webhook_headers: Mapping[str, str] = NO_HEADERS,
        payload: Any = None,
    ) -> JobRef:
        """Submit a job of the tenant `acme`, with its current targets."""
        return self.submit_to(
            self.service.targets("acme", webhook_url, webhook_headers), payload=payload
        )

    def submit_to(self, targets: tuple[str, ...], *, payload: Any = None) -> JobRef:
        """Submit a job of the tenant `acme` with these targets."""
        draft = Draft(
            kind="crawl",
            payload=payload or {"url": "https://site.example/page"},
            priority=Priority.NORMAL,
            domain="site.example",
            notify=targets,
            duplicate_key=None,
        )
        placed: list[JobRef] = []

        def accepted(jobs: Sequence[Any]) -> Reply:
            placed.append(jobs[0].job.ref)
            return Reply(status=202, body={})

        self.jobs.submit("acme", [draft], None, accepted)
        return placed[0]

    def finish(self, **given: Any) -> Job:
        """Submit a job and run it to its end; its deliveries are only queued."""
        ref = self.submit(**given)
        self.queue.sent = [sent for sent in self.queue.sent if sent.ref != ref]
        self.run(ref)
        return self.job(ref)

    def run(self, ref: JobRef) -> Job:
        """Run a job once, as its message would."""
        handler = DeliveryHandler(
            endpoints=self.wrap("endpoints", self.endpoints),
            log=self.wrap("log", self.log),
            cooldowns=self.wrap("cooldowns", self.cooldowns),
            fetcher=self.wrap("receiver", self.receiver),
            vault=self.vault,
            clock=self.clock,
            random=self.random,
        )
        worker = Worker(
            store=self.ending_store(),
            queue=self.wrap("queue", self.queue),
            kinds=KINDS,
            handlers={"crawl": self.work, DELIVERY: handler},
            clock=self.clock,
            random=lambda: 0.5,
            new_owner=lambda: self._new_id("owner"),
        )
        worker.run(ref, lambda: 60.0)
        return self.job(ref)

    def deliveries(self) -> list[Job]:
        """Return all delivery jobs, oldest first."""
        page = self.store.page("acme", JobFilter(kind=DELIVERY), None, 100)
        return list(page.items)[::-1]

    def settle(self, passes: int = _PASSES) -> None:
        """Run each delivery when it is due, until all are finished."""
        for _ in range(passes):
            self.queue.take()
            waiting = [job for job in self.deliveries() if job.status not in TERMINAL]
            if not waiting:
                return
            soonest = min(waiting, key=lambda job: job.due_at)
            self.clock.now = max(self.clock.now, soonest.due_at)
            self.run(soonest.ref)
        raise AssertionError("never finished")

    def recover(self) -> None:
        """Deliver messages and sweep, while time passes, until there is no more work."""
        for _ in range(_PASSES):
            for sent in self.queue.take():
                self.run(sent.ref)
            page = self.store.page("acme", JobFilter(), None, 100)
            if all(sweep_at(job) is None for job in page.items) and not self.store.outbox.rows:
                return
            self.sweep()
        raise AssertionError("never at rest")

    def sweep(self) -> None:
        """Run one pass of the sweeper and the relay, after the grace time of messages."""
        self.clock.advance(limits.RESEND_GRACE_SECONDS)
        Sweeper(
            store=self.ending_store(),
            queue=self.queue,
            kinds=kinds_of(self.store),
            clock=self.clock,
            look_at_parent=no_parent,
        ).sweep()
        self.relay.sweep()

    def job(self, ref: JobRef) -> Job:
        """Return the stored job."""
        found = self.store.get(ref)
        assert found is not None
        return found

    def lines(self, endpoint_id: str) -> tuple[Delivery, ...]:
        """Return the delivery log of an endpoint, newest first."""
        return self.service.deliveries("acme", endpoint_id, None, 100).items

    def _relay_events(self, tenant: str, subject: str) -> None:
        if self.listening:
            self.relay.relay(tenant, subject)

    def _new_id(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers):04}"


def requested(**given: Any) -> RequestedEndpoint:
    """Return a requested endpoint that gets the events of completed and failed jobs."""
    values: dict[str, Any] = {
        "name": "ours",
        "url": URL,
        "events": frozenset({WebhookEvent.JOB_COMPLETED, WebhookEvent.JOB_FAILED}),
    }
    return RequestedEndpoint(**values | given)
