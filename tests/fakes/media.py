"""Media jobs over fakes: submit, work and read."""

import itertools
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from spinneret.jobs.control import JobControl
from spinneret.jobs.models import Job, JobRef
from spinneret.jobs.parents import ParentEnds, ParentRecheck
from spinneret.jobs.rules import TERMINAL
from spinneret.jobs.service import JobService
from spinneret.jobs.sweeper import Sweeper
from spinneret.jobs.worker import Worker
from spinneret.kernel.errors import DomainError
from spinneret.media import kinds
from spinneret.media.handling import MediaHandler
from spinneret.media.models import MEDIA_TYPES
from spinneret.media.service import MediaService
from spinneret.web.browser.ports import Browser
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.models import FetchedPage
from spinneret.web.polite_browser import PoliteBrowser
from spinneret.web.polite_fetcher import PoliteFetcher
from spinneret.web.politeness.robots_gate import RobotsGate
from tests.fakes.browser import FakeBrowser, Rendering
from tests.fakes.crawling import FakeWebhooks
from tests.fakes.fetching import FakeFetcher, fetched_page
from tests.fakes.jobs import FakeJobQueue, FakeJobStore
from tests.fakes.politeness import FakeProgressStore, FakeRobotsStore
from tests.fakes.proxies import Proxies
from tests.fakes.time import HandClock
from tests.kinds import KINDS

SITE = "https://site.example"
_PASSES = 50  # deliveries of messages; no job needs so many


class FakeMediaStore:
    """Implements MediaStore; keeps objects by key."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def keep(self, ref: JobRef, media_type: str, body: bytes) -> str:
        key = f"T/{ref.tenant}/{ref.job_id}{MEDIA_TYPES[media_type]}"
        self.objects[key] = body
        return key

    def link(self, key: str, seconds: int) -> str:
        return f"https://media.example/{key}?for={seconds}"

    def keep_scripts(self, tenant: str, scripts_id: str, sources: Sequence[str]) -> None:
        self.objects[f"T/{tenant}/scripts/{scripts_id}"] = "\0".join(sources).encode()

    def scripts(self, tenant: str, scripts_id: str) -> tuple[str, ...] | None:
        found = self.objects.get(f"T/{tenant}/scripts/{scripts_id}")
        return None if found is None else tuple(found.decode().split("\0"))


class MediaWorld:
    """Media jobs over fakes, which are the attributes. The fake browser renders `rendered`."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.store = FakeJobStore()
        self.queue = FakeJobQueue()
        self.media = FakeMediaStore()
        self.rendered: dict[str, Rendering | DomainError] = {}
        self.requests: list[Any] = []
        """Every request to the fake browser."""
        self.fetched: dict[str, FetchedPage | DomainError] = {}
        self.proxies = Proxies(self.clock, self.fetched)
        self.hosts = self.proxies.hosts
        self.robots = FakeRobotsStore()
        self.progress = FakeProgressStore()
        self.policy = AddressPolicy()
        self.browser: Browser | None = None
        """Browser that replaces the fake one."""
        self.remaining = 100.0
        self.has_browser = True
        self._numbers = itertools.count(1)
        self.serve_robots("")

    def serve_robots(self, text: str, site: str = SITE) -> None:
        """Serve a robots.txt."""
        url = f"{site}/robots.txt"
        self.fetched[url] = fetched_page(url, text, media_type="text/plain")

    @property
    def service(self) -> MediaService:
        return MediaService(
            jobs=JobService(
                store=self.store,
                queue=self.queue,
                kinds=KINDS,
                clock=self.clock,
                new_id=self.new_id,
            ),
            store=self.media,
            webhooks=FakeWebhooks(),  # type: ignore[arg-type]  # has the one method in use
            policy=self.policy,
            hosts=self.hosts.service,
            clock=self.clock,
            new_id=self.new_id,
            has_browser=self.has_browser,
        )

    def new_id(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers)}"

    def run(self, ref: JobRef) -> Job:
        """Run a job once, as its message would."""
        fake = FakeBrowser({})
        fake.requests = self.requests
        fake.pages = self.rendered
        handler = MediaHandler(
            browser=PoliteBrowser(fetcher=self._fetcher(), browser=self.browser or fake),
            store=self.media,
        )
        worker = Worker(
            store=self.store,
            queue=self.queue,
            kinds=KINDS,
            handlers=dict.fromkeys(kinds.KINDS, handler),
            clock=self.clock,
            random=lambda: 0.5,
            new_owner=lambda: self.new_id("owner"),
        )
        worker.run(ref, lambda: self.remaining)
        return self.job(ref)

    def _fetcher(self) -> PoliteFetcher:
        return PoliteFetcher(
            fetcher=self.proxies.fetcher(FakeFetcher(self.fetched)),
            hosts=self.hosts.service,
            pace=self.hosts.pace,
            robots=RobotsGate(store=self.robots, product_token="Spinneret", clock=self.clock),
            progress=self.progress,
            clock=self.clock,
            sleep=self.clock.advance,
        )

    def settle(self) -> Job:
        """Deliver messages, while time passes, until the last submitted job is finished."""
        last = self.queue.sent[-1].ref
        for _ in range(_PASSES):
            for sent in self.queue.take():
                self.clock.advance(sent.delay)
                self.run(sent.ref)
            if self.job(last).status in TERMINAL:
                return self.job(last)
        raise AssertionError(f"never finished: {self.job(last)}")

    @property
    def control(self) -> JobControl:
        return JobControl(store=self.store, queue=self.queue, kinds=KINDS, clock=self.clock)

    def lose_worker(self, ref: JobRef) -> None:
        """Let the lease of a lost worker end, and let the sweeper find the job."""
        lease = self.job(ref).locked_until
        assert lease is not None
        self.clock.now = max(self.clock.now, lease + timedelta(seconds=1))
        ends = ParentEnds(store=self.store, clock=self.clock)
        Sweeper(
            store=self.store,
            queue=self.queue,
            kinds=KINDS,
            clock=self.clock,
            look_at_parent=ParentRecheck(
                store=self.store, ends=ends, control=self.control, clock=self.clock
            ),
        ).sweep()

    def job(self, ref: JobRef) -> Job:
        found = self.store.get(ref)
        assert found is not None
        return found
