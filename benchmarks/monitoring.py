"""Speed and price of checks, on this machine's loopback and by DynamoDB's rules.

    python benchmarks/monitoring.py [--checks 500]

* core: checks a second of one process over a local web server, the stores in memory; what each
  phase of a check costs, plain and with TLS.
* capacity: read and write units of a steady check, by the sizes of the items that the adapters
  write (counted over moto), and what a million checks cost by the price list of us-east-1
  (on demand, 2026: $0.625 a million writes, $0.125 a million reads).
* lateness: ticks, lists and rounds as they are, in simulated time, where a check takes what AWS
  adds to the core: how late checks begin with 100, 1,000 and 10,000 targets.
"""

import argparse
import math
import socketserver
import ssl
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path[:0] = [
    str(REPOSITORY / "layers" / "common"),
    str(REPOSITORY / "infra" / "local"),
    str(REPOSITORY),
]

import boto3  # noqa: E402 (path set above)
import trustme  # noqa: E402
from moto import mock_aws  # noqa: E402

from spinneret.kernel.clock import utc_now  # noqa: E402
from spinneret.monitoring import limits  # noqa: E402
from spinneret.monitoring.checks.dynamo import DynamoCheckStore  # noqa: E402
from spinneret.monitoring.checks.service import CheckDisposition, Checker  # noqa: E402
from spinneret.monitoring.due import rules  # noqa: E402
from spinneret.monitoring.due.models import DueTarget  # noqa: E402
from spinneret.monitoring.slots.dynamo import DynamoSlotStore  # noqa: E402
from spinneret.monitoring.targets.dynamo import DynamoTargetStore  # noqa: E402
from spinneret.monitoring.targets.rules import next_slot  # noqa: E402
from spinneret.web.fetching.addresses import AddressPolicy  # noqa: E402
from spinneret.web.fetching.http import GuardedFetcher  # noqa: E402
from spinneret.web.fetching.models import Certificate, Phases  # noqa: E402
from spinneret.web.politeness.models import PaceLimits  # noqa: E402
from tests.fakes.checking import CheckWorld  # noqa: E402
from tests.fakes.fetching import fetched_page  # noqa: E402
from tests.fakes.time import START, HandClock  # noqa: E402
from tests.tables import create_tables  # noqa: E402

URL = "https://site.example/health"
CERTIFICATE = Certificate(
    subject="CN=site.example",
    issuer="C=US, O=Let's Encrypt, CN=R11",
    names=("site.example", "www.site.example"),
    not_before=START - timedelta(days=10),
    not_after=START + timedelta(days=80),
)
PAGE = b"<!doctype html><title>A page</title>" + b"<p>All is well.</p>" * 200
WRITE_PRICE, READ_PRICE = 0.625, 0.125  # dollars a million
LAMBDA_PRICE = 0.0000166667  # dollars a GB-second
AWS_SECONDS = 0.05  # eight calls of a check on AWS: some 6 ms each


class Handler(BaseHTTPRequestHandler):
    """A small page, sent at once."""

    protocol_version = "HTTP/1.1"
    wbufsize = 65536
    disable_nagle_algorithm = True  # else a TLS answer waits 40 ms for an acknowledgement

    def do_GET(self) -> None:
        """Answer it."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@contextmanager
def serving(tls: ssl.SSLContext | None) -> Iterator[int]:
    """A server on loopback; its port."""
    socketserver.TCPServer.allow_reuse_address = True
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def bench_core(checks: int) -> float:
    """Prints a row for each scheme; the mean seconds of a plain check."""
    print("core          checks/s   ms each   dns  connect   tls  first byte  transfer  the rest")
    authority = trustme.CA()
    server_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(server_tls)
    client_tls = ssl.create_default_context()
    authority.configure_trust(client_tls)
    means = []
    for scheme, tls in (("http", None), ("https", server_tls)):
        with serving(tls) as port:
            means.append(_core(scheme, port, checks, client_tls))
    return means[0]


def _core(scheme: str, port: int, checks: int, tls: ssl.SSLContext) -> float:
    pair = f"127.0.0.1:{port}"
    policy = AddressPolicy(allowed=frozenset({pair}))
    fetcher = GuardedFetcher(policy, lambda host, _: [host], user_agent="Bench/1", tls=tls)
    world = CheckWorld(HandClock(utc_now()))
    world.targets = replace_policy(world, policy)
    target_id = world.target(f"{scheme}://{pair}/", interval_seconds=10)
    checker = Checker(world.parts(fetcher=fetcher, monotonic=time.monotonic))
    worker = world.worker_slot(seconds=10**7)
    seconds, phases = 0.0, []
    for _ in range(checks):
        due = world.come_due(target_id)
        began_at = time.perf_counter()
        done = checker.check(due, worker)
        seconds += time.perf_counter() - began_at
        assert done is CheckDisposition.CHECKED
        result = world.watch._results["acme", target_id].pop()  # noqa: SLF001 - a fake's
        assert result.error is None, result.error
        assert result.phases is not None
        phases.append(result.phases)
    each = 1000 * seconds / checks
    parts = [
        statistics.fmean(getattr(phase, name) or 0 for phase in phases)
        for name in ("dns_ms", "connect_ms", "tls_ms", "first_byte_ms", "transfer_ms")
    ]
    columns = "".join(f"{part:9.2f}" for part in parts)
    print(f"  {scheme:8}{checks / seconds:12.0f}{each:10.2f}{columns}{each - sum(parts):10.2f}")
    return seconds / checks


def replace_policy(world: CheckWorld, policy: AddressPolicy) -> Any:
    """The target service, which may take loopback."""
    world.targets.policy = policy
    return world.targets


# ---------------------------------------------------------------- Capacity


class Counting:
    """A client that counts what its calls would consume."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.reads = self.writes = 0.0
        self.calls = 0

    def transact_write_items(self, **request: Any) -> Any:
        self.calls += 1
        answer = self._client.transact_write_items(**request)
        for action in request["TransactItems"]:
            [(kind, what)] = action.items()
            key = what.get("Key") or {name: what["Item"][name] for name in ("pk", "sk")}
            self.writes += 2 * self._size(what["TableName"], key)
            # A moved entry of the index is a deletion and a put (Developer Guide, "Global
            # secondary indexes", "Provisioned throughput considerations").
            self.writes += 2 if kind == "Put" and "due_at" in what["Item"] else 0
        return answer

    def update_item(self, **request: Any) -> Any:
        self.calls += 1
        answer = self._client.update_item(**request)
        self.writes += self._size(request["TableName"], request["Key"])
        return answer

    def query(self, **request: Any) -> Any:
        self.calls += 1
        answer = self._client.query(**request)
        self.reads += max(1, math.ceil(sum(map(_bytes, answer["Items"])) / 4096))
        return answer

    def _size(self, table: str, key: Any) -> int:
        found = self._client.get_item(TableName=table, Key=key).get("Item", {})
        return max(1, math.ceil(_bytes(found) / 1024))


def _bytes(item: Any) -> int:
    """The size of an item (Developer Guide, "DynamoDB Item sizes and formats"), about."""
    return sum(len(name) + len(str(value).encode()) + 1 for name, value in item.items())


def bench_capacity() -> None:
    """Prints the units of a steady check."""
    with mock_aws():
        client = boto3.resource("dynamodb", region_name="us-east-1").meta.client
        names = create_tables(client)
        counting: Any = Counting(client)
        targets = DynamoTargetStore(counting, names["Targets"])
        world = CheckWorld()
        world.targets.store = targets
        target_id = world.target(URL, interval_seconds=60)
        world.sites.answers[URL] = replace(
            fetched_page(URL, PAGE),
            phases=Phases(dns_ms=12, connect_ms=18, tls_ms=35, first_byte_ms=110, transfer_ms=4),
        )
        world.sites.certificates["site.example"] = CERTIFICATE
        checker = Checker(
            world.parts(
                targets=targets,
                checks=DynamoCheckStore(counting, names["Targets"], names["Checks"]),
                slots=DynamoSlotStore(counting, names["Targets"]),
            )
        )
        checks = 130  # two hours: the closing of hours is in it
        counting.reads = counting.writes = counting.calls = 0
        for number in range(checks):
            watched = targets.get("acme", target_id)
            counting.reads -= 1
            assert watched is not None
            assert watched.state.due_at is not None
            world.clock.now = max(world.clock.now, watched.state.due_at)
            world.sites.seconds["site.example"] = 0.05 + 0.013 * (number % 20)
            due = DueTarget(
                tenant="acme",
                target_id=target_id,
                host="site.example",
                due_at=watched.state.due_at,
            )
            assert checker.check(due, world_slot(world)) is CheckDisposition.CHECKED
    # The host's pace is one write more, its settings two reads, in the table of hosts.
    writes, reads = counting.writes / checks + 1, counting.reads / checks + 2
    dollars = writes * WRITE_PRICE + reads * READ_PRICE
    seconds = AWS_SECONDS + 0.2
    compute = 1_000_000 * seconds * 0.5 * LAMBDA_PRICE
    print(f"\ncapacity      {writes:.1f} write units, {reads:.1f} read units a check")
    print(f"              a million checks: ${dollars:.2f} DynamoDB, ${compute:.2f} Lambda")
    print(f"              (512 MB, {1000 * seconds:.0f} ms a check: a site that takes 200 ms)")


def world_slot(world: CheckWorld) -> Any:
    """A worker's slot that lasts."""
    slot = world.worker_slot()
    world.slots.give_back(slot)
    return replace(slot, until=world.clock() + timedelta(days=1))


# ---------------------------------------------------------------- Lateness


def bench_lateness(core_seconds: float) -> None:
    """Prints how late checks begin, once things have settled."""
    print(
        "\nlateness      targets   interval   site     late p50    late p95   checks/s   overload"
    )
    for targets, interval in ((100, 15), (1_000, 60), (10_000, 300), (10_000, 60)):
        for site_ms in (50, 200):
            each = core_seconds + AWS_SECONDS + site_ms / 1000
            late, rate = _late(targets, interval, each)
            needed = targets / interval * each / limits.CHECK_CONCURRENCY
            print(
                f"            {targets:9}{interval:9} s{site_ms:5} ms"
                f"{statistics.median(late):11.1f} s{late[int(0.95 * len(late))]:10.1f} s"
                f"{rate:11.1f}{'   yes' if needed > 1 else '   no'} ({needed:.2f})"
            )


def _late(targets: int, interval: int, each: float) -> tuple[list[float], float]:
    """Seconds from due to begun, sorted; and checks a second, over the last half of the time."""
    hosts = max(1, targets // 2)
    due_at = {f"t_{number}": next_slot(f"t_{number}", interval, START) for number in range(targets)}
    host_of = {target: f"h{number % hosts}" for number, target in enumerate(due_at)}
    late: list[float] = []
    end = START + timedelta(seconds=max(4 * interval, 600))
    half, now = START + (end - START) / 2, START
    places = rules.places_of_host(PaceLimits(), 15)
    while (now := now + timedelta(seconds=15)) < end:
        found = [
            DueTarget(tenant="a", target_id=target, host=host_of[target], due_at=at)
            for target, at in due_at.items()
            if at <= now
        ]
        for one in rules.assign_to_workers(found, limits.CHECK_CONCURRENCY, places):
            at: datetime = now + timedelta(seconds=0.1)  # queue and start
            for row in one:
                if at >= rules.end_of_round(now, 15):
                    break
                if at > half:
                    late.append((at - row.due_at).total_seconds())
                at += timedelta(seconds=each)
                due_at[row.target_id] = next_slot(row.target_id, interval, at)
    return sorted(late), len(late) / (end - half).total_seconds()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checks", type=int, default=500)
    arguments = parser.parse_args()
    mean = bench_core(arguments.checks)
    bench_capacity()
    bench_lateness(mean)
