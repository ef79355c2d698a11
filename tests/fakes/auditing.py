"""Audits over fakes, from their submission to their end."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from spinneret.audits.api_models import AuditRequest
from spinneret.audits.kinds import AUDIT
from spinneret.audits.models import FormatName, RunRef
from spinneret.audits.preview import Previews
from spinneret.audits.request_headers import HeaderIntake
from spinneret.audits.running.pipeline import AuditPipeline
from spinneret.audits.running.storage import Storage
from spinneret.audits.service import AuditService
from spinneret.audits.sessions import has_left
from spinneret.audits.wiring import links_of
from spinneret.jobs import limits
from spinneret.jobs.control import JobControl
from spinneret.jobs.models import Job, JobRef, RequestKey
from spinneret.jobs.rules import TERMINAL
from spinneret.jobs.service import JobService
from spinneret.jobs.sweeper import Sweeper
from spinneret.jobs.worker import Worker
from spinneret.kernel.errors import DomainError
from spinneret.web.exploring.frontier.service import Frontier
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.models import FetchedPage
from spinneret.web.headers.sealing import AUDITS as HEADERS
from spinneret.web.headers.sealing import HeaderSeal
from spinneret.web.polite_browser import PoliteBrowser
from spinneret.web.polite_fetcher import PoliteFetcher
from spinneret.web.politeness.models import SessionOptions
from spinneret.web.politeness.ports import HostStateStore
from spinneret.web.politeness.robots_gate import RobotsGate
from spinneret.web.politeness.sessions import Session, Sessions
from tests.fakes.audits import FakeAuditObjectStore, FakeAuditStore
from tests.fakes.browser import FakeBrowser
from tests.fakes.exploring import FakeFrontierStore
from tests.fakes.fetching import FakeFetcher, fetched_page
from tests.fakes.jobs import FakeJobQueue, FakeJobStore
from tests.fakes.politeness import FakeHostStateStore, FakeProgressStore, FakeRobotsStore, tokens
from tests.fakes.proxies import Proxies
from tests.fakes.sealing import FakeSealer
from tests.fakes.time import HandClock
from tests.kinds import KINDS, kinds_of

Wrap = Callable[[str, Any], Any]
_PASSES = 400


class _Website(FakeFetcher):
    """A site that answers unknown URLs with 404; each request takes `request_seconds`."""

    def __init__(self, world: AuditWorld) -> None:
        super().__init__(world.pages)
        self._world = world

    def fetch(self, request: Any) -> FetchedPage:
        url = request.url.text
        self._world.asked.append((self._world.clock(), request.method, url))
        self._world.sent[url] = dict(request.headers)
        self._world.clock.advance(self._world.request_seconds)
        if url not in self._pages:
            return fetched_page(url, b"nothing here", status_code=404)
        return super().fetch(request)


class AuditWorld:
    """The services of audits over fakes, which are the attributes; `wrap` may replace each port."""

    def __init__(self, **session_settings: Any) -> None:
        self.clock = HandClock()
        self.store = FakeJobStore()
        self.queue = FakeJobQueue()
        self.audits = FakeAuditStore(self.store)
        self.bodies = FakeAuditObjectStore()
        self.frontier = FakeFrontierStore()
        self.sessions = FakeHostStateStore()
        self.pages: dict[str, FetchedPage | DomainError] = {}
        self.proxies = Proxies(self.clock, self.pages)
        self.hosts = self.proxies.hosts
        self.robots = FakeRobotsStore()
        self.progress = FakeProgressStore()
        self.options = SessionOptions(**session_settings)
        self.seal = HeaderSeal(FakeSealer(), HEADERS)
        self.browser: FakeBrowser | None = None
        self.sent: dict[str, Any] = {}
        """Headers of the last request, by URL."""
        self.asked: list[tuple[Any, str, str]] = []
        """Time, method and URL of each request."""
        self.slice_seconds = 300.0
        self.request_seconds = 0.05
        self._numbers = itertools.count(1)

    def service(self, wrap: Wrap = lambda _, port: port) -> AuditService:
        """Return the service that the routes call."""
        return AuditService(
            jobs=JobService(
                store=wrap("store", self.store),
                queue=wrap("queue", self.queue),
                kinds=KINDS,
                clock=self.clock,
                new_id=lambda prefix: f"{prefix}_{next(self._numbers):06}",
            ),
            control=self.control,
            store=self.audits,
            bodies=self.bodies,
            policy=AddressPolicy(),
            hosts=self.hosts.service,
            has_browser=self.browser is not None,
            intake=HeaderIntake(seal=self.seal, user_agent="Spinneret/0.1"),
        )

    @property
    def control(self) -> JobControl:
        """Return the service of a tenant's operations on its jobs."""
        return JobControl(
            store=self.store,
            queue=self.queue,
            kinds=KINDS,
            clock=self.clock,
        )

    def fetcher(self, wrap: Wrap = lambda _, port: port) -> PoliteFetcher:
        """Return the polite fetcher of a new process."""
        return PoliteFetcher(
            fetcher=self.proxies.fetcher(wrap("fetcher", _Website(self))),
            hosts=self.hosts.service,
            pace=self.hosts.pace,
            robots=RobotsGate(store=self.robots, product_token="Spinneret", clock=self.clock),
            progress=self.progress,
            clock=self.clock,
            sleep=self.clock.advance,
        )

    def previews(self) -> Previews:
        """Return the preview service of a new process."""
        return Previews(
            fetcher=self.fetcher(),
            policy=AddressPolicy(),
            links_of=links_of,
            product_token="Spinneret",
            clock=self.clock,
            new_id=lambda prefix: f"{prefix}_{next(self._numbers)}",
        )

    def worker(self, wrap: Wrap = lambda _, port: port) -> Worker:
        """Return the worker of a new process."""
        fetcher = self.fetcher(wrap)
        browser = self.browser
        pipeline = AuditPipeline(
            storage=Storage(
                store=wrap("audits", self.audits),
                bodies=wrap("bodies", self.bodies),
                html_retention_days=14,
            ),
            frontier=Frontier(store=wrap("frontier", self.frontier), clock=self.clock),
            fetcher=fetcher,
            sessions=self.sessions_at(wrap("sessions", self.sessions)),
            seal=self.seal,
            browser=(lambda: PoliteBrowser(fetcher=fetcher, browser=browser)) if browser else None,
            clock=self.clock,
        )
        return Worker(
            store=wrap("store", self.store),
            queue=wrap("queue", self.queue),
            kinds=KINDS,
            handlers={AUDIT: pipeline},
            clock=self.clock,
            random=lambda: 0.5,
            new_owner=lambda: f"owner-{next(self._numbers)}",
        )

    def sessions_at(self, ledger: HostStateStore) -> Sessions:
        """Return a new process's service that locks and throttles hosts."""
        return Sessions(
            ledger=ledger,
            options=self.options,
            clock=self.clock,
            random=lambda: 0.5,
            new_token=tokens(),
            is_over=has_left(self.store.get),
        )

    def session(self, host: str, session_id: str) -> Session:
        """Open another session on a host that no session has locked."""
        opened = self.sessions_at(self.sessions).open(host, session_id, mode="debug")
        assert isinstance(opened, Session), opened
        return opened

    def close(self, session: Session) -> None:
        """Close a session."""
        self.sessions_at(self.sessions).close(session)

    def submit(
        self, url: str, tenant: str = "acme", *, key: RequestKey | None = None, **request: Any
    ) -> JobRef:
        """Submit an audit; return its job."""
        body = AuditRequest(url=url, **request)
        submitted = self.service().submit(tenant, body, key)
        return JobRef(tenant=tenant, job_id=submitted.reply.body["audit_id"])

    def run(self, ref: JobRef, wrap: Wrap = lambda _, port: port) -> Job:
        """Run one slice of an audit, as a message would start it."""
        until = self.clock().timestamp() + self.slice_seconds
        self.worker(wrap).run(ref, lambda: until - self.clock().timestamp())
        return self.job(ref)

    def settle(self, *refs: JobRef) -> Job:
        """Deliver messages and sweep until all jobs are finished; return the first one."""
        for _ in range(_PASSES):
            for sent in sorted(self.queue.take(), key=lambda each: each.delay):
                job = self.job(sent.ref)
                self.clock.now = max(self.clock.now, job.due_at)
                self.run(sent.ref)
            if all(self.job(ref).status in TERMINAL for ref in refs):
                return self.job(refs[0])
            if not self.queue.sent:
                self.clock.advance(limits.RESEND_GRACE_SECONDS)
                self.sweep()
        raise AssertionError(f"never finished: {[self.job(ref) for ref in refs]}")

    def sweep(self) -> None:
        """Run one pass of a new sweeper."""
        Sweeper(
            store=self.store,
            queue=self.queue,
            kinds=kinds_of(self.store),
            clock=self.clock,
            look_at_parent=lambda _: None,
        ).sweep()

    def report(self, ref: JobRef, name: FormatName = "json") -> bytes:
        """Return a report of the first run of an audit."""
        run = RunRef(tenant=ref.tenant, audit_id=ref.job_id, run=1)
        return self.bodies.objects[self.audits.ends[run].report_uri(name)]

    def job(self, ref: JobRef) -> Job:
        """Return the stored job."""
        found = self.store.get(ref)
        assert found is not None
        return found
