"""Fixtures for the job kernel on fakes."""

from collections.abc import Callable

import pytest

from spinneret.jobs.control import JobControl
from spinneret.jobs.live.pushes import LiveEvents, Pushes
from spinneret.jobs.live.service import LiveService
from spinneret.jobs.models import JobRef, Transition
from spinneret.jobs.service import JobService
from tests.fakes.jobs import FakeJobQueue, FakeJobStore
from tests.fakes.live import FakeConnectionStore, FakeSockets
from tests.fakes.time import HandClock
from tests.kinds import KINDS
from tests.unit.jobs.submissions import service_on
from tests.unit.jobs.worker_world import WorkerWorld


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def store() -> FakeJobStore:
    return FakeJobStore()


@pytest.fixture
def queue() -> FakeJobQueue:
    return FakeJobQueue()


@pytest.fixture
def world(store: FakeJobStore, queue: FakeJobQueue, clock: HandClock) -> WorkerWorld:
    return WorkerWorld(store, queue, clock)


@pytest.fixture
def service(store: FakeJobStore, queue: FakeJobQueue, clock: HandClock) -> JobService:
    return service_on(store, queue, clock)


@pytest.fixture
def control(store: FakeJobStore, queue: FakeJobQueue, clock: HandClock) -> JobControl:
    return JobControl(store=store, queue=queue, kinds=KINDS, clock=clock)


@pytest.fixture
def sockets() -> FakeSockets:
    return FakeSockets()


@pytest.fixture
def connections(store: FakeJobStore) -> FakeConnectionStore:
    return FakeConnectionStore(store)


@pytest.fixture
def pushes(connections: FakeConnectionStore, sockets: FakeSockets, clock: HandClock) -> Pushes:
    return Pushes(
        connections=connections, sockets=sockets, monotonic=lambda: clock().timestamp(), clock=clock
    )


@pytest.fixture
def announcing(
    store: FakeJobStore,
    connections: FakeConnectionStore,
    sockets: FakeSockets,
    clock: HandClock,
    world: WorkerWorld,
    pushes: Pushes,
) -> LiveService:
    """Provide a live service that is notified of changes to the world's job."""
    world.listeners.append(LiveEvents(pushes))
    return LiveService(store=store, connections=connections, sockets=sockets, clock=clock)


@pytest.fixture
def cancel(control: JobControl) -> Callable[[JobRef], None]:
    def by_the_tenant(ref: JobRef) -> None:
        control.move(ref, Transition.CANCEL)

    return by_the_tenant
