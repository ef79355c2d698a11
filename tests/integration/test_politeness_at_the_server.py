"""The purpose of politeness: the timing of many workers' requests, measured at a server.

The workers are processes that fetch through the product's own wiring and share their state in
DynamoDB Local. POLITENESS_GAP_MS and POLITENESS_FETCHES lengthen the test; the default is short.
"""

import itertools
import os
import time
from collections.abc import Iterator
from typing import Any, Final
from uuid import uuid4

import pytest

from spinneret.kernel.clock import utc_now
from spinneret.web import limits
from spinneret.web.hosts.dynamo import DynamoHostStore
from spinneret.web.hosts.models import Override
from spinneret.web.politeness.changes import ConditionalUpdate, Increment
from spinneret.web.politeness.dynamo import DynamoHostStateStore
from spinneret.web.politeness.models import Circuit, Record
from spinneret.web.politeness.rules import health_key
from spinneret.web.politeness.service import HostRateLimiter
from tests.conftest import REGION, ROOT, Aws, Stack
from tests.fakes.politeness import tokens
from tests.integration.paced_server import Site
from tests.integration.polite_process import Orders
from tests.integration.polite_workers import WorkerProcess, reported, start
from tests.tables import own_tables

WORKERS: Final = 8
GAP_MS: Final = int(os.environ.get("POLITENESS_GAP_MS", "50"))
FETCHES: Final = int(os.environ.get("POLITENESS_FETCHES", "80"))
SLOWEST_CYCLE_SECONDS: Final = 1.0  # maximum of admission, fetch and report, without the gap
CLOCKS_SECONDS: Final = 0.001  # largest difference of wall clocks and monotonic clock
SLOWEST_WAY_SECONDS: Final = 0.5  # maximum time from an admission to the arrival at the server
PATIENCE_SECONDS: Final = 60.0 + FETCHES * (GAP_MS / 1000 + SLOWEST_CYCLE_SECONDS)

pytestmark = [
    pytest.mark.stack,
    pytest.mark.timeout(2 * PATIENCE_SECONDS),
]

# ---------------------------------------------------------------- The host and its visitors

_NUMBERS: Final = itertools.count(2)


@pytest.fixture
def site() -> Iterator[Site]:
    """Provide a host that only this test uses, because politeness state is stored per host."""
    made = Site(next(_NUMBERS))
    yield made
    made.close()


@pytest.fixture(scope="module")
def domains(aws: Aws) -> Iterator[tuple[Any, str]]:
    """Provide a DynamoDB client and the name of the Domains table."""
    client = aws.dynamodb()
    with own_tables(client) as names:
        yield client, names["Domains"]


@pytest.fixture(scope="module")
def workers(aws: Aws, stack: Stack, domains: tuple[Any, str]) -> Iterator[list[WorkerProcess]]:
    bucket = f"politeness-{uuid4().hex}"
    s3 = aws("s3")
    s3.create_bucket(Bucket=bucket)
    variables = {
        "AWS_ENDPOINT_URL": stack.gateway_url,
        "AWS_ENDPOINT_URL_DYNAMODB": stack.dynamodb_url,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "000000000000",
        "AWS_SECRET_ACCESS_KEY": "local",
        "DOMAINS_TABLE": domains[1],
        "CONTENT_BUCKET": bucket,
        "SECRETS_KEY_ID": "unused",
        "USER_AGENT": "Spinneret-Test/1 (+https://example.com/bot)",
        "PYTHONPATH": f"{ROOT}/layers/common:{ROOT}",
    }
    made = [WorkerProcess(variables) for _ in range(WORKERS)]
    yield made
    for worker in made:
        worker.end()
    for kept in s3.list_objects_v2(Bucket=bucket)["Contents"]:
        s3.delete_object(Bucket=bucket, Key=kept["Key"])
    s3.delete_bucket(Bucket=bucket)


def orders(site: Site, fetches: int, rate: float, burst: int = 5, **given: Any) -> Orders:
    stage = {
        "FETCH_ALLOWED_ENDPOINTS": f"{site.host}:{site.port}",
        "RATE_LIMIT__DEFAULT_RPS": str(rate),
        "DOMAIN_BURST": str(burst),
    }
    values: dict[str, Any] = {"tenant": "acme", "url": site.url, "stage": stage}
    return Orders(fetches=fetches, **values | given)


def run(workers: list[WorkerProcess], every: list[Orders]) -> None:
    start(workers, every)
    for worker in workers:
        worker.wait("done", seconds=PATIENCE_SECONDS)


# ---------------------------------------------------------------- Pace


def test_the_server_sees_no_gap_below_the_crawl_delay(
    workers: list[WorkerProcess], site: Site
) -> None:
    site.robots = f"User-agent: *\nCrawl-delay: {GAP_MS / 1000}"
    run(workers, [orders(site, FETCHES // WORKERS, rate=1000)] * WORKERS)
    assert reported(workers, "fetched") == [204] * FETCHES
    assert len(site.arrivals) == FETCHES
    gaps = [then - first for first, then in itertools.pairwise(site.arrivals)]
    assert min(gaps) >= GAP_MS / 1000 - CLOCKS_SECONDS
    lines = [line for worker in workers for line in worker.lines if line.get("strict")]
    admitted = sorted(line["admitted"] for line in lines)
    assert len(admitted) == FETCHES
    assert min(then - first for first, then in itertools.pairwise(admitted)) >= GAP_MS


# covers F-06
def test_no_window_admits_more_than_burst_and_rate(
    workers: list[WorkerProcess], site: Site
) -> None:
    rate, burst = 40, 5
    run(workers, [orders(site, FETCHES // WORKERS, rate, burst)] * WORKERS)
    assert reported(workers, "fetched") == [204] * FETCHES
    admitted = [moment / 1000 for moment in sorted(reported(workers, "admitted"))]
    assert len(admitted) > FETCHES  # robots.txt needs a permit too
    check_windows(admitted, rate, burst, on_the_way=0)
    assert len(site.arrivals) == FETCHES
    check_windows(site.arrivals, rate, burst, on_the_way=SLOWEST_WAY_SECONDS)


def check_windows(moments: list[float], rate: float, burst: int, on_the_way: float) -> None:
    """Check that no window, widened by `on_the_way` seconds, exceeds burst and rate."""
    for first, last in itertools.combinations(range(len(moments)), 2):
        seconds = moments[last] - moments[first] + on_the_way
        # Floats at today's epoch seconds have a precision of 0.24 µs.
        assert last - first + 1 <= burst + rate * seconds + 1e-4


def test_two_tenants_share_one_bucket(
    workers: list[WorkerProcess], site: Site, domains: tuple[Any, str]
) -> None:
    slow = Override(requests_per_second=0.01, burst=3)
    DynamoHostStore(*domains).put("slow", site.host, slow, None, utc_now())
    run(workers[:1], [orders(site, 1, rate=1000)])  # fetches robots.txt first
    domains[0].delete_item(
        TableName=domains[1], Key={"pk": f"DOMAIN#{site.host}", "sk": Record.PACE.value}
    )
    del site.arrivals[:]
    tenants = ["acme", "other", "slow"] * 2
    each = [orders(site, 10, rate=0.02, tenant=name, patient=False) for name in tenants]
    run(workers[:6], each)
    assert len(site.arrivals) == 5
    assert len(reported(workers[:6], "fetched")) == 5
    assert reported(workers[:6], "postponed") == [site.host] * 55  # each has a reservation


# ---------------------------------------------------------------- Breaker


def test_of_fifty_workers_one_probes_and_a_dead_prober_is_followed(
    workers: list[WorkerProcess], site: Site, domains: tuple[Any, str]
) -> None:
    quick = {"rate": 1000, "burst": 1000, "patient": False}
    site.status = 500
    run(workers[:1], [orders(site, limits.BREAKER_FAILURES, **quick)])
    assert circuit(domains, site) is Circuit.OPEN
    pass_time(domains, site, limits.BREAKER_OPEN_SECONDS)
    assert circuit(domains, site) is Circuit.HALF_OPEN
    del site.arrivals[:]
    site.answers.clear()
    ten = orders(site, 10, at_once=10, **quick)
    start(workers[:5], [ten] * 5)
    for worker in workers[:5]:
        worker.wait("postponed", "probe", times=10, seconds=PATIENCE_SECONDS)
    assert len(reported(workers[:5], "postponed")) == 49
    [prober] = [worker for worker in workers[:5] if worker.reported("probe")]
    while not site.arrivals:
        time.sleep(0.01)
    workers[workers.index(prober)] = prober.killed()
    site.answers.set()
    site.status = 204
    one = orders(site, 1, **quick)
    run(workers[:1], [one])
    assert workers[0].reported("postponed") == [f"{site.host}: circuit_open"]
    pass_time(domains, site, limits.HOST_LEASE_SECONDS)
    run(workers[:1], [one])
    assert (workers[0].reported("probe"), workers[0].reported("fetched")) == ([True], [204])
    assert len(site.arrivals) == 2
    assert circuit(domains, site) is Circuit.CLOSED


def circuit(domains: tuple[Any, str], site: Site) -> Circuit:
    """Return the circuit of the host or of its port, whichever isn't closed."""
    pace = HostRateLimiter(ledger=DynamoHostStateStore(*domains), clock=utc_now, new_token=tokens())
    found = {pace.state(site.host, port).circuit for port in (None, site.port)}
    return next(iter(found - {Circuit.CLOSED}), Circuit.CLOSED)


def pass_time(domains: tuple[Any, str], site: Site, seconds: float) -> None:
    """Move the breaker's times into the past, as if it had opened and sent its probe earlier."""
    ledger = DynamoHostStateStore(*domains)
    for port in (None, site.port):
        place = health_key(site.host, port)
        row = ledger.read(place, Record.PACE)
        moments = row.keys() & {"opened_at", "open_until", "probe_until"}
        earlier = Increment(-round(1000 * seconds))
        if moments:
            ledger.update(place, Record.PACE, ConditionalUpdate(to=dict.fromkeys(moments, earlier)))
