"""Checks over fakes: scripted sites, stores in memory and a manual clock."""

import itertools
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

from spinneret.kernel.errors import DomainError
from spinneret.monitoring import limits
from spinneret.monitoring.checks.asking import CheckFetcher
from spinneret.monitoring.checks.connectivity import Connectivity
from spinneret.monitoring.checks.parts import CheckParts
from spinneret.monitoring.checks.service import Checker
from spinneret.monitoring.checks.worker import CheckWorker
from spinneret.monitoring.due.models import DueTarget, Planned
from spinneret.monitoring.due.rules import EVERY
from spinneret.monitoring.due.service import Tick
from spinneret.monitoring.slots.models import SlotLease, worker_slot
from spinneret.monitoring.targets.models import Options, TargetWithState
from spinneret.monitoring.targets.sealing import RequestSeal
from spinneret.monitoring.targets.service import TargetService
from spinneret.monitoring.targets.subjects import Subject
from spinneret.monitoring.targets.views import target_json
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.models import Certificate, FetchedPage, FetchRequest, Phases
from spinneret.web.fetching.urls import Url, parse_url
from spinneret.web.hosts.service import HostService
from spinneret.web.permits import PermitServices
from spinneret.web.polite_fetcher import PoliteFetcher
from spinneret.web.polite_visitor import PoliteVisitor
from spinneret.web.politeness.models import PaceLimits
from spinneret.web.politeness.robots_gate import RobotsGate
from tests.fakes.fetching import fetched_page
from tests.fakes.hosts import Hosts
from tests.fakes.monitoring import FakeWatch
from tests.fakes.politeness import FakeProgressStore, FakeRobotsStore, pace_at
from tests.fakes.sealing import FakeSealer
from tests.fakes.time import HandClock

Answer = FetchedPage | DomainError
TIMEOUT = 5.0
FAST = PaceLimits(rate=1000, burst=1000)


class Sites:
    """Implements Fetcher: answers from a table, and counts concurrent requests.

    If the answer is a list, each request gets its next item, and the last item repeats. Each
    request advances the clock by the host's `seconds`.
    """

    def __init__(self, clock: HandClock) -> None:
        self.clock = clock
        self.answers: dict[str, Answer | list[Answer]] = {}
        self.certificates: dict[str, Certificate] = {}
        """Certificates by host."""
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.requests: list[FetchRequest] = []
        self.seen: list[tuple[datetime, str]] = []
        self.at_once: Counter[str] = Counter()
        self.most_at_once: Counter[str] = Counter()
        self.arrived: Callable[[str], None] = lambda _: None
        """Called during each request, with its host."""
        self._lock = Lock()

    def fetch(self, request: FetchRequest) -> FetchedPage:
        self.requests.append(request)
        with self._visit(request.url.host):
            self.arrived(request.url.host)
            self.seen.append((self.clock(), request.url.text))
            self.clock.advance(self.seconds[request.url.host])
            answer = self._answer(request.url.text)
            if isinstance(answer, DomainError):
                raise answer
        self._show(request, request.url)
        left = list(request.left)
        for each in (
            answer.redirects[answer.redirects.index(request.url.text) :]
            if (request.url.text in answer.redirects)
            else ()
        ):
            left.append(parse_url(each))
            following = [*answer.redirects, answer.url.text]
            target = parse_url(following[following.index(each) + 1])
            if request.before_redirect is not None:
                request.before_redirect(target)
            self._show(request, target)
        return replace(
            answer,
            requested=request.requested,
            redirects=tuple(each.text for each in left),
            body=answer.body[: request.excerpt_bytes],
            duration_ms=round(1000 * self.seconds[request.url.host]),
        )

    def _show(self, request: FetchRequest, url: Url) -> None:
        found = self.certificates.get(url.host)
        if found is not None and request.saw_certificate is not None:
            request.saw_certificate(found)

    def _answer(self, url: str) -> Answer:
        answer = self.answers.get(url)
        if answer is None:
            return fetched_page(url, b"fine")
        if isinstance(answer, list):
            return answer.pop(0) if len(answer) > 1 else answer[0]
        return answer

    @contextmanager
    def _visit(self, host: str) -> Iterator[None]:
        with self._lock:
            for name in (host, "*"):
                self.at_once[name] += 1
                self.most_at_once[name] = max(self.most_at_once[name], self.at_once[name])
        try:
            yield
        finally:
            with self._lock:
                for name in (host, "*"):
                    self.at_once[name] -= 1


class Ports:
    """Implements Connector: ports are open unless a test sets an error."""

    def __init__(self) -> None:
        self.errors: dict[tuple[str, int], DomainError] = {}
        self.connected: list[tuple[str, int]] = []

    def connect(self, host: str, port: int, seconds: float) -> Phases:
        assert seconds == TIMEOUT
        self.connected.append((host, port))
        if error := self.errors.get((host, port)):
            raise error
        return Phases(dns_ms=1, connect_ms=2, tls_ms=None, first_byte_ms=0, transfer_ms=0)


class Records:
    """Implements RecordResolver: names have the records that a test sets."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], list[str] | DomainError] = {}

    def __call__(self, name: str, record_type: str, seconds: float) -> list[str]:
        assert seconds == TIMEOUT
        found = self.answers.get((name, record_type), [])
        if isinstance(found, DomainError):
            raise found
        return found


class FakeLane:
    """Implements CheckLane; keeps the messages that were sent."""

    def __init__(self) -> None:
        self.sent: list[Planned] = []

    def send(self, planned: Sequence[Planned]) -> None:
        self.sent += planned

    @property
    def checks(self) -> list[DueTarget]:
        """Return the checks of all messages, in the order of their arrival."""
        in_order = sorted(self.sent, key=lambda each: each.at)
        return [check for each in in_order for check in each.checks]

    def next_at(self) -> datetime | None:
        """Return the time at which the next message arrives; None if there is none."""
        return min((each.at for each in self.sent), default=None)

    def arrived(self, now: datetime) -> Planned | None:
        """Remove and return the first message that has arrived; None if there is none."""
        first = min(self.sent, key=lambda each: each.at, default=None)
        if first is None or first.at > now:
            return None
        self.sent.remove(first)
        return first


class FakeMaintenance:
    """Maintenance of the targets in `targets`; it always lasts MORE from now."""

    MORE = timedelta(minutes=15)

    def __init__(self) -> None:
        self.targets: set[str] = set()

    def covers(self, tenant: str, target_id: str, now: datetime) -> bool:
        return target_id in self.targets

    def until(self, tenant: str, target_id: str, now: datetime) -> datetime | None:
        return now + self.MORE if target_id in self.targets else None


class CheckWorld:
    """The services of checks over fakes, which are the attributes."""

    def __init__(self, clock: HandClock | None = None, *, limits: PaceLimits = FAST) -> None:
        self.clock = clock or HandClock()
        self.limits = limits
        self.watch = FakeWatch()
        self.slots = self.watch.slots
        self.sites = Sites(self.clock)
        self.hosts = Hosts(self.clock)
        self.pace = pace_at(self.hosts.ledger, self.clock, limits)
        self.host_service = HostService(
            store=self.hosts.store,
            pace=self.pace,
            policy=AddressPolicy(),
            clock=self.clock,
            default=limits,
        )
        self.progress = FakeProgressStore()
        self.seal = RequestSeal(FakeSealer())
        self.ports = Ports()
        self.records = Records()
        self.lane = FakeLane()
        self.references: dict[str, bool] = {}
        self.maintenance = FakeMaintenance()
        self.held: dict[str, datetime] = {}
        """Start of the suspension of each suspended tenant."""
        self.handed_on: list[tuple[str, str]] = []
        self.announced: list[TargetWithState] = []
        self._numbers = itertools.count(1)
        self.targets = target_service(self)

    def new_id(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers):06}"

    def target(self, url: Subject, tenant: str = "acme", **options: Any) -> str:
        """Create a target; return its id."""
        return self.targets.create(tenant, url, Options(**options)).target_id

    def parts(self, **other: Any) -> CheckParts:
        """Return the dependencies of a process's checks."""
        given: dict[str, Any] = {
            "targets": self.watch,
            "checks": self.watch,
            "slots": self.slots,
            "fetcher": self.sites,
            "polite": self._polite,
            "seal": self.seal,
            "visitor": PoliteVisitor(services=self._permits()),
            "connector": self.ports,
            "records": self.records,
            "policy": AddressPolicy(),
            "maintenance": self.maintenance,
            "connectivity": Connectivity(
                references=tuple(self.references),
                answers=lambda url: self.references[url],
                clock=self.clock,
            ),
            "relay_events": lambda tenant, subject: self.handed_on.append((tenant, subject)),
            "announce": self.announced.append,
            "clock": self.clock,
            "monotonic": lambda: self.clock().timestamp(),
            "sleep": self._sleep,
            "new_id": self.new_id,
            "timeout": TIMEOUT,
        }
        return CheckParts(**(given | other))

    def due(self, target_id: str, tenant: str = "acme") -> DueTarget:
        """Return the target's next check; it is given up a second after it is due."""
        watched = self.watched(target_id, tenant)
        due_at = watched.state.due_at
        assert due_at is not None
        return DueTarget(
            tenant=tenant,
            target_id=target_id,
            host=watched.target.host,
            due_at=due_at,
            until=max(due_at, self.clock()) + timedelta(seconds=1),
        )

    def watched(self, target_id: str, tenant: str = "acme") -> TargetWithState:
        found = self.watch.get(tenant, target_id)
        assert found is not None
        return found

    def come_due(self, target_id: str) -> DueTarget:
        """Advance the clock until the target is due; return its check."""
        due = self.due(target_id)
        self.clock.now = max(self.clock.now, due.due_at)
        return self.due(target_id)

    def check(self, target_id: str, **other: Any) -> str:
        """Make one check with a new worker when the target is due; return what the worker did."""
        due = self.come_due(target_id)
        worker = self.worker(**other)
        try:
            [done] = worker.run([due], lambda: 900.0)
        finally:
            if worker.slot is not None:
                self.slots.give_back(worker.slot)
        return done

    def play(self, seconds: float, *, ticks: bool = True) -> Counter[str]:
        """Run a tick each minute and one worker for `seconds`; count the results by kind."""
        end, done, worker = self.clock() + timedelta(seconds=seconds), Counter[str](), self.worker()
        tick, tick_at = self.tick(), self.clock()
        while self.clock() < end:
            if ticks and self.clock() >= tick_at:
                tick.run()
                tick_at = self.clock() + EVERY
            arrived = self.lane.arrived(self.clock())
            if arrived is not None:
                done += worker.run(arrived.checks, lambda: 900.0)
                continue
            coming = [self.lane.next_at() or end, tick_at if ticks else end, end]
            self.clock.now = max(self.clock.now, min(coming))
        if worker.slot is not None:
            self.slots.give_back(worker.slot)
        return done

    def worker_slot(self, number: int = 0, seconds: float = 100.0) -> SlotLease:
        now = self.clock()
        owner = self.new_id("own")
        slot = self.slots.take(worker_slot(number), owner, now, now + timedelta(seconds=seconds))
        assert slot is not None
        return slot

    def tick(self, workers: int = limits.CHECK_CONCURRENCY) -> Tick:
        return Tick(
            index=self.watch,
            lane=self.lane,
            slots=self.slots,
            clock=self.clock,
            new_owner=lambda: self.new_id("own"),
            workers=workers,
            rate=self.limits.rate,
        )

    def worker(self, workers: int = limits.CHECK_CONCURRENCY, **other: Any) -> CheckWorker:
        parts = self.parts(**other)
        return CheckWorker(
            checker=Checker(parts=parts),
            held_since=self.held.get,
            slots=parts.slots,
            lane=self.lane,
            clock=parts.clock,
            new_owner=lambda: f"{next(self._numbers):032x}",
            workers=workers,
            slot_seconds=parts.slot_seconds,
        )

    def _polite(self, asking: CheckFetcher) -> PoliteFetcher:
        permits = self._permits()
        return PoliteFetcher(
            fetcher=asking,
            hosts=permits.hosts,
            pace=permits.pace,
            robots=permits.robots,
            progress=self.progress,
            clock=permits.clock,
            sleep=permits.sleep,
        )

    def _permits(self) -> PermitServices:
        return PermitServices(
            hosts=self.host_service,
            pace=self.pace,
            robots=RobotsGate(store=FakeRobotsStore(), product_token="Spinneret", clock=self.clock),
            clock=self.clock,
            sleep=self._sleep,
        )

    def _sleep(self, seconds: float) -> None:
        self.clock.advance(seconds)


def target_service(world: CheckWorld, most: int = limits.TARGETS_PER_TENANT) -> TargetService:
    """Return the service that the routes call."""
    return TargetService(
        store=world.watch,
        policy=AddressPolicy(),
        clock=world.clock,
        new_id=world.new_id,
        render=target_json,
        most=most,
        shortest_interval=limits.CHECK_INTERVAL_MIN_SECONDS,
        rate=world.limits.rate,
        announce=lambda _: None,
        seal=world.seal,
        random=os.urandom,
    )
