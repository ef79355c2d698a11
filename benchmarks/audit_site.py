"""Audit a whole folder of HTML that is served on loopback: `benchmarks/audit.py --site`.

The real fetcher sends requests over sockets, for a made-up host. The stores are in memory. The
default rate limit of one request per second applies on a clock that advances instead of sleeping,
and also advances by the duration of each request.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpcore

from benchmarks.crawl_servers import serving
from spinneret.jobs.models import JobStatus
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.http import GuardedFetcher
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.polite_fetcher import PoliteFetcher
from tests.fakes.auditing import AuditWorld

HOST = "http://site.example"
_PUBLIC = "93.184.216.34"


class _Handler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Log nothing."""


class _ToLoopback(httpcore.SyncBackend):
    """Network backend that connects to the server on loopback for any host."""

    def __init__(self, port: int) -> None:
        self._port = port

    def connect_tcp(
        self,
        host: str,  # noqa: ARG002 (there is one server)
        port: int,  # noqa: ARG002 (as above)
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the server on loopback."""
        return super().connect_tcp("127.0.0.1", self._port, timeout, local_address, socket_options)


class _World(AuditWorld):
    """Audit world with the real fetcher."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self.requests = 0
        self.slices = 0
        self._real = GuardedFetcher(
            AddressPolicy(),
            lambda _host, _port: [_PUBLIC],
            user_agent="Spinneret-Bench/1",
            tcp=_ToLoopback(port),
        )

    def fetcher(self, wrap: Callable[[str, Any], Any] = lambda _, port: port) -> PoliteFetcher:
        """Return the polite fetcher of a worker; it uses this world as its fetcher."""
        return super().fetcher(lambda name, port: self if name == "fetcher" else wrap(name, port))

    def fetch(self, request: FetchRequest) -> FetchedPage:
        """Fetch a page, and advance the clock by the duration of the request."""
        self.requests += 1
        began_at = time.perf_counter()
        try:
            return self._real.fetch(request)
        finally:
            self.clock.advance(time.perf_counter() - began_at)

    def run(self, *arguments: Any, **named: Any) -> Any:
        """Count the slice, and run it."""
        self.slices += 1
        return super().run(*arguments, **named)


def audit_site(folder: Path, pages: int) -> None:
    """Audit the folder, and print pages, issues, time, requests, memory and report sizes."""
    handler = partial(_Handler, directory=str(folder))
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as port:
        world = _World(port)
        started, cpu = time.perf_counter(), time.process_time()
        options = {"max_pages": pages, "max_external_links": 0}  # no requests to other servers
        ref = world.submit(f"{HOST}/index.html", options=options)
        job = world.settle(ref)
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    assert job.status is JobStatus.COMPLETED, job
    assert job.result is not None
    result = job.result
    peak = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
    print(f"\n{folder}: {pages} pages at most\n")
    for name in ("pages", "issues", "score"):
        print(f"{name:34} {_shown(result[name])}")
    for name, value in (
        ("seconds, of CPU (server included)", f"{seconds:.0f}, {cpu:.0f}"),
        ("requests", world.requests),
        ("slices of 300 s, by the pace", world.slices),
        ("peak MiB, stores and pages included", int(peak) // 1024),
    ):
        print(f"{name:34} {value}")
    for key, body in sorted(world.bodies.objects.items()):
        if "report" in key:
            print(f"{key.rpartition('/')[2]:34} {len(body) / 1e6:.1f} MB")


def _shown(value: Any) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    parts = ", ".join(f"{count} {name}" for name, count in value.items())
    return f"{sum(value.values())} ({parts})"
