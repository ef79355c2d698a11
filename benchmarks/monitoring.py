"""Measure the speed of checks on loopback, and how late checks begin in simulated time.

    python benchmarks/monitoring.py [--checks 500]

* core: checks per second of one process on a local web server, with stores in memory; the time of
  each phase of a check, without and with TLS.
* lateness: the rule, a queue with delays, and eight workers, in simulated time, in which a check
  takes the time of the core and of AWS: how late checks begin with 100, 1,000 and 10,000 targets.
"""

import argparse
import socketserver
import ssl
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path[:0] = [
    str(REPOSITORY / "layers" / "common"),
    str(REPOSITORY / "infra" / "local"),
    str(REPOSITORY),
]

import trustme

from spinneret.kernel.clock import utc_now
from spinneret.monitoring import limits
from spinneret.monitoring.checks.service import CheckDisposition, Checker
from spinneret.monitoring.targets.models import Options
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.http import GuardedFetcher
from spinneret.web.politeness.models import PaceLimits
from tests.fakes.checking import CheckWorld
from tests.fakes.time import START, HandClock
from tests.unit.monitoring.playing import Playing

PAGE = b"<!doctype html><title>A page</title>" + b"<p>All is well.</p>" * 200
AWS_SECONDS = 0.05  # a check makes eight AWS calls of some 6 ms


class Handler(BaseHTTPRequestHandler):
    """Handler that sends a small page at once."""

    protocol_version = "HTTP/1.1"
    wbufsize = 65536
    disable_nagle_algorithm = True  # else a TLS response waits 40 ms for an acknowledgement

    def do_GET(self) -> None:
        """Send the page."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@contextmanager
def serving(tls: ssl.SSLContext | None) -> Iterator[int]:
    """Run a server on loopback, and yield its port."""
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
    """Print a row for each scheme, and return the mean seconds of a check without TLS."""
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
    checker = Checker(parts=world.parts(fetcher=fetcher, monotonic=time.monotonic))
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
    """Replace the address policy, so that targets may be on loopback; return the target service."""
    world.targets.policy = policy
    return world.targets


# ---------------------------------------------------------------- Lateness


def bench_lateness(core_seconds: float) -> None:
    """Print how late checks begin in the steady state."""
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
                f"{statistics.median(late):11.2f} s{late[int(0.95 * len(late))]:10.2f} s"
                f"{rate:11.1f}{'   yes' if needed > 1 else '   no'} ({needed:.2f})"
            )


def _late(targets: int, interval: int, each: float) -> tuple[list[float], float]:
    """Return the sorted delays of checks in seconds, and the checks per second.

    Both are measured in the second half of the time.
    """
    playing, hosts = Playing(1, PaceLimits(rate=50, burst=50)), max(1, targets // 2)
    for number in range(targets):
        url = f"https://h{number % hosts}.example/{number}"
        made = playing.world.targets.draft("a", url, Options(interval_seconds=interval))
        playing.world.watch.rows["a", made.target.id] = made
    for number in range(hosts):
        playing.sites.seconds[f"h{number}.example"] = each
    half, results = 300.0, playing.world.watch._results  # noqa: SLF001 - a fake's

    since = [START]

    def settle() -> None:
        if playing.clock.now < START + timedelta(seconds=half):
            results.clear()
            since[0] = playing.clock.now

    playing.each_tick = settle
    playing.play(2 * half)
    late = sorted(each.late_ms / 1000 for found in results.values() for each in found)
    return late, len(late) / (playing.clock.now - since[0]).total_seconds()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checks", type=int, default=500)
    arguments = parser.parse_args()
    mean = bench_core(arguments.checks)
    bench_lateness(mean)
