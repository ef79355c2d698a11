"""Discovery over fakes: submit, work and read."""

import itertools
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from spinneret.discovery.api_models import DiscoverRequest
from spinneret.discovery.exploring import DiscoveryHandler
from spinneret.discovery.kinds import DISCOVER
from spinneret.discovery.models import FoundPage, FoundUrl
from spinneret.discovery.service import DiscoveryService
from spinneret.jobs.models import Job, JobRef, Lease, RequestKey
from spinneret.jobs.rules import TERMINAL
from spinneret.jobs.service import JobService
from spinneret.jobs.worker import Worker
from spinneret.kernel.errors import DomainError, LeaseLost
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.ports import Fetcher
from spinneret.web.polite_fetcher import PoliteFetcher
from spinneret.web.politeness.robots_gate import RobotsGate
from tests.fakes.fetching import FakeFetcher, fetched_page
from tests.fakes.hosts import Hosts
from tests.fakes.jobs import FakeJobQueue, FakeJobStore
from tests.fakes.politeness import FakeProgressStore, FakeRobotsStore
from tests.fakes.proxies import Proxies
from tests.fakes.time import HandClock
from tests.kinds import KINDS

COMMON_CRAWL = "https://index.example/collinfo.json"
_PASSES = 300  # deliveries of messages; no discovery needs so many


class FakeDiscoveryStore:
    """Implements DiscoveryStore; asks the job store whether a lease is still held."""

    def __init__(self, jobs: FakeJobStore) -> None:
        self._jobs = jobs
        self.states: dict[tuple[JobRef, int], str] = {}
        self._found: dict[JobRef, tuple[FoundUrl, ...]] = {}

    def keep_state(self, lease: Lease, run: int, state: str, now: datetime) -> None:
        self.states[self._ref(lease), run] = state

    def state(self, ref: JobRef, run: int) -> str | None:
        return self.states.get((ref, run))

    def keep_found(self, lease: Lease, found: Sequence[FoundUrl], now: datetime) -> None:
        self._found[self._ref(lease)] = tuple(found)

    def page(self, ref: JobRef, after: int, limit: int) -> FoundPage:
        found = self._found.get(ref, ())
        shown = found[after : after + limit]
        end = after + len(shown)
        return FoundPage(urls=shown, after=end if shown and end < len(found) else None)

    def _ref(self, lease: Lease) -> JobRef:
        if not self._jobs.holds(lease):
            raise LeaseLost("the job is no longer held by this claim")
        return JobRef(tenant=lease.tenant, job_id=lease.job_id)


class DiscoveryWorld:
    """Discovery over fakes, which are the attributes; a URL without a page answers 404."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.store = FakeJobStore()
        self.queue = FakeJobQueue()
        self.found = FakeDiscoveryStore(self.store)
        self.pages: dict[str, FetchedPage | DomainError] = {}
        self.requests: list[str] = []
        self.hosts = Hosts(self.clock)
        self.robots = FakeRobotsStore()
        self.progress = FakeProgressStore()
        self.proxies = Proxies(self.clock, self.pages)
        self.remaining = 200.0
        self.enabled = True
        self._numbers = itertools.count(1)

    @property
    def service(self) -> DiscoveryService:
        jobs = JobService(
            store=self.store,
            queue=self.queue,
            kinds=KINDS,
            clock=self.clock,
            new_id=lambda prefix: f"{prefix}_{next(self._numbers)}",
        )
        return DiscoveryService(
            jobs=jobs,
            store=self.found,
            policy=AddressPolicy(),
            hosts=self.hosts.service,
            enabled=self.enabled,
        )

    def direct(self) -> Fetcher:
        """Return a fetcher that uses no proxy."""
        return _Site(self)

    def submit(self, domain: str = "site.example", tenant: str = "acme", **given: Any) -> JobRef:
        key: RequestKey | None = None
        reply = self.service.submit(tenant, DiscoverRequest(domain=domain, **given), key).reply
        return JobRef(tenant=tenant, job_id=reply.body["job_id"])

    def run(self, ref: JobRef) -> Job:
        """Run a job once, as its message would."""
        polite = PoliteFetcher(
            fetcher=self.proxies.fetcher(self.direct()),
            hosts=self.hosts.service,
            pace=self.hosts.pace,
            robots=RobotsGate(store=self.robots, product_token="Spinneret", clock=self.clock),
            progress=self.progress,
            clock=self.clock,
            sleep=self.clock.advance,
        )
        handler = DiscoveryHandler(
            fetcher=polite, store=self.found, common_crawl_url=COMMON_CRAWL, clock=self.clock
        )
        worker = Worker(
            store=self.store,
            queue=self.queue,
            kinds=KINDS,
            handlers={DISCOVER: handler},
            clock=self.clock,
            random=lambda: 0.5,
            new_owner=lambda: f"owner-{next(self._numbers)}",
        )
        began = self.clock()
        worker.run(ref, lambda: self.remaining - (self.clock() - began).total_seconds())
        return self.job(ref)

    def settle(self, ref: JobRef) -> Job:
        """Deliver messages, while time passes, until the job is finished."""
        for _ in range(_PASSES):
            for sent in self.queue.take():
                self.clock.advance(sent.delay)
                self.run(sent.ref)
            if self.job(ref).status in TERMINAL:
                return self.job(ref)
        raise AssertionError(f"never finished: {self.job(ref)}")

    def discovered(self, **given: Any) -> list[str]:
        """Run a discovery; return the URLs that it finds, in their order."""
        ref = self.submit(**given)
        job = self.settle(ref)
        assert job.result is not None, job.last_error
        return self.urls(ref)

    def urls(self, ref: JobRef) -> list[str]:
        return [each.url for each in self.found.page(ref, 0, 999).urls]

    def job(self, ref: JobRef) -> Job:
        found = self.store.get(ref)
        assert found is not None
        return found


class _Site(FakeFetcher):
    def __init__(self, world: DiscoveryWorld) -> None:
        super().__init__(world.pages)
        self._slice = world

    def fetch(self, request: FetchRequest) -> FetchedPage:
        self._slice.requests.append(request.url.text)
        if request.url.text not in self._pages:
            return fetched_page(request.url.text, b"", status_code=404)
        return super().fetch(request)
