"""What politeness is for: how far apart the requests of many workers reach a server.

POLITENESS_GAP_MS and POLITENESS_FETCHES lengthen the proof; the default is short.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final
from uuid import uuid4

import pytest

from spinneret.kernel.clock import utc_now
from spinneret.politeness.dynamo import DynamoDomainLedger
from spinneret.politeness.models import Admitted, Outcome, PaceLimits, Wait
from spinneret.politeness.service import Pace
from tests.fakes.politeness import tokens
from tests.tables import create_tables, delete_tables

WORKERS: Final = 8
GAP_MS: Final = int(os.environ.get("POLITENESS_GAP_MS", "50"))
FETCHES: Final = int(os.environ.get("POLITENESS_FETCHES", "200"))
SLOWEST_CYCLE_SECONDS: Final = 1.0  # admission, fetch and report beside the gap, at most

pytestmark = [
    pytest.mark.stack,
    pytest.mark.timeout(60 + FETCHES * (GAP_MS / 1000 + SLOWEST_CYCLE_SECONDS)),
]


class Site:
    """A server on loopback that notes when each request arrives, on the monotonic clock."""

    def __init__(self) -> None:
        arrivals: list[float] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                arrivals.append(time.monotonic())
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.arrivals = arrivals
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def fetch(self) -> None:
        """One request on a connection of its own."""
        host, port = self._server.server_address[:2]
        connection = HTTPConnection(str(host), port, timeout=10)
        try:
            connection.request("GET", "/")
            connection.getresponse().read()
        finally:
            connection.close()

    def close(self) -> None:
        """Ends the server and its thread."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.close()


@pytest.fixture(scope="module")
def ledger(aws: Any) -> Iterator[DynamoDomainLedger]:
    client = aws.dynamodb()
    names = create_tables(client)
    yield DynamoDomainLedger(client, names["Domains"])
    delete_tables(client, names)


def crawl(
    ledger: DynamoDomainLedger, limits: PaceLimits, fetches: int, fetch: Callable[[], None]
) -> list[int]:
    """Fetch by eight workers at once; answers when each admission was, in epoch milliseconds."""
    host = f"{uuid4().hex}.example"
    tickets = iter(range(fetches))
    moments: list[int] = []

    def work(number: int) -> None:
        pace = Pace(ledger=ledger, clock=utc_now, new_token=tokens())
        for _ in tickets:
            leave = admission(pace, f"worker-{number}")
            assert leave.seen.asked_at is not None
            moments.append(leave.seen.asked_at)
            fetch()
            pace.report(leave, Outcome.SUCCESS)

    def admission(pace: Pace, owner: str) -> Admitted:
        promised = False
        while True:
            match pace.admit(host, owner=owner, limits=limits, promised=promised):
                case Admitted() as leave:
                    return leave
                case Wait() as wait:
                    promised = wait.promised
                    pause = (wait.until - utc_now()).total_seconds()
                    time.sleep(min(max(pause, 0.0), 1.0))

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(work, range(WORKERS)))
    return sorted(moments)


def test_the_server_sees_no_gap_below_the_crawl_delay(
    ledger: DynamoDomainLedger, site: Site
) -> None:
    strict = PaceLimits(rate=1000, min_gap_seconds=GAP_MS / 1000)
    crawl(ledger, strict, FETCHES, site.fetch)
    assert len(site.arrivals) == FETCHES
    gaps = [then - first for first, then in itertools.pairwise(site.arrivals)]
    assert min(gaps) >= GAP_MS / 1000


def test_no_window_admits_more_than_burst_and_rate(ledger: DynamoDomainLedger, site: Site) -> None:
    limits = PaceLimits(rate=40, burst=5)
    moments = crawl(ledger, limits, 100, site.fetch)
    assert len(moments) == len(site.arrivals) == 100
    for first, last in itertools.combinations(range(100), 2):
        seconds = (moments[last] - moments[first]) / 1000
        assert last - first + 1 <= limits.burst + limits.rate * seconds
