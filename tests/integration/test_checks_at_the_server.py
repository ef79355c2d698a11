"""Checks as a web server sees them: at most eight at a time, and one per host.

The test runs 500 targets with 16 pollers, duplicate messages, and workers that are killed in the
middle of a request.

The stores are in memory; the sockets and clocks are real.
"""

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from spinneret.kernel.clock import utc_now
from spinneret.monitoring import limits
from spinneret.monitoring.checks.worker import WAITING
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.http import GuardedFetcher
from tests.fakes.checking import CheckWorld
from tests.fakes.time import HandClock

TARGETS, HOSTS, POLLERS = 500, 60, 16
TRIES = 10
"""Maximum tries of a message while its host or all workers are busy: a killed worker's slots stay
taken for a minute."""


class Watched:
    """Counter of the requests in progress, per host and in total."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.paths: Counter[str] = Counter()

    @contextmanager
    def visit(self, host: str, path: str) -> Iterator[None]:
        with self._lock:
            self.paths[path] += 1
            for name in (host, "*"):
                self._now[name] += 1
                self.most[name] = max(self.most[name], self._now[name])
        try:
            yield
        finally:
            with self._lock:
                for name in (host, "*"):
                    self._now[name] -= 1


@pytest.fixture
def seen() -> Watched:
    return Watched()


@pytest.fixture
def port(seen: Watched) -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        wbufsize = 4096

        def do_GET(self) -> None:
            host = self.headers["Host"].partition(":")[0]
            with seen.visit(host, f"{host}{self.path}"):
                time.sleep(0.02)  # otherwise few requests would overlap
                self.send_response(200)
                self.send_header("Content-Length", "4")
                self.end_headers()
                self.wfile.write(b"fine")

        def log_message(self, *_: Any) -> None:
            """Print no access log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()
    thread.join(10)


class Killed(BaseException):
    """Raised when the process of a worker is killed."""


class Process:
    """Proxy of a part that a worker uses; after the worker's death each use raises Killed."""

    def __init__(self, part: Any, alive: list[bool]) -> None:
        self._part = part
        self._alive = alive

    def __getattr__(self, name: str) -> Any:
        if not self._alive[0]:
            raise Killed
        return getattr(self._part, name)


class Mortal:
    """A fetcher whose process may die after it has the response."""

    def __init__(self, fetcher: GuardedFetcher, alive: list[bool], chance: random.Random) -> None:
        self._fetcher = fetcher
        self._alive = alive
        self._chance = chance

    def fetch(self, request: Any) -> Any:
        page = self._fetcher.fetch(request)
        if self._chance.random() < 0.01:
            self._alive[0] = False
            raise Killed
        return page


# covers M-02
@pytest.mark.timeout(300)
def test_the_server_sees_eight_at_once_and_one_at_a_host(seen: Watched, port: int) -> None:
    names = [f"h{number}.example" for number in range(HOSTS)]
    policy = AddressPolicy(allowed=frozenset(f"{name}:{port}" for name in names))
    fetcher = GuardedFetcher(policy, lambda host, _: ["127.0.0.1"], user_agent="Test/1")
    world = CheckWorld(HandClock(utc_now()))
    world.targets.policy = policy
    for number in range(TARGETS):
        world.target(f"http://{names[number % HOSTS]}:{port}/{number}", interval_seconds=3600)
    chance, killed = random.Random(3), []

    def process() -> tuple[Any, list[bool]]:
        """Return a new worker, and a list with one flag: whether the worker is alive."""
        alive = [True]
        parts: dict[str, Any] = {
            name: Process(part, alive)
            for name, part in (
                ("targets", world.watch),
                ("checks", world.watch),
                ("slots", world.slots),
            )
        }
        return world.worker(**parts, fetcher=Mortal(fetcher, alive, chance)), alive

    def poll(_: int) -> None:
        """Process messages until the queue is empty; replace a killed worker by a new one."""
        worker, alive = process()
        while queue:
            try:
                tries, order = queue.pop()
            except IndexError:  # another poller took it
                break
            try:
                done = worker.run(order, lambda: 900.0)
            except Killed:
                killed.append(order)
                worker, alive = process()
                continue
            if WAITING in done and tries < TRIES:  # all slots are taken, or the host is busy
                queue.insert(0, (tries + 1, order))
                time.sleep(0.01)
        if alive[0] and worker.slot is not None:
            world.slots.give_back(worker.slot)

    world.clock.advance(3600)
    while len(seen.paths) < TARGETS:
        world.lane.sent.clear()
        world.tick().run()
        # The slots of killed processes expire in this time.
        world.clock.advance(100)
        until = world.clock() + timedelta(seconds=3600)
        sent = [each.checks for each in world.lane.sent]
        queue = [(0, [replace(check, until=until) for check in each]) for each in sent * 2]
        with ThreadPoolExecutor(POLLERS) as pool:
            list(pool.map(poll, range(POLLERS)))
    assert killed
    # At least half of the limit: all eight overlap unless other work keeps the machine busy.
    assert limits.CHECK_CONCURRENCY // 2 <= seen.most.pop("*") <= limits.CHECK_CONCURRENCY
    assert set(seen.most.values()) == {1}
    assert not (set(seen.paths) - {f"{names[n % HOSTS]}/{n}" for n in range(TARGETS)})
