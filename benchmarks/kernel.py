"""Measure the fetch kernel: URLs, addresses, robots.txt, redaction, fetches, coordination.

    .venv/bin/python benchmarks/kernel.py

Everything runs in this process. Fetches go to a loopback server. Coordination uses an emulated
DynamoDB whose calls are counted; `benchmarks/jobs.py` measures the time of real calls.
"""

import logging
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import boto3
import httpx
from moto import mock_aws

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "infra" / "local"), str(ROOT / "layers" / "common")]

from spinneret.kernel.clock import utc_now
from spinneret.redaction import redact, redact_text
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.http import GuardedFetcher
from spinneret.web.fetching.models import FetchRequest
from spinneret.web.fetching.resolver import resolve_by_system
from spinneret.web.fetching.urls import cache_url, canonical_url, parse_url
from spinneret.web.politeness.dynamo import DynamoHostStateStore
from spinneret.web.politeness.models import HostOutcome, PaceLimits, Permit
from spinneret.web.politeness.robots import parse
from spinneret.web.politeness.service import HostRateLimiter
from tests.tables import create_tables

SECONDS: Final = 1.0
ROUNDS: Final = 3
URLS: Final = (
    "HTTPS://Www.Example.COM:443/a/b/?utm=1&b=2&a=1#part",
    "http://bücher.example/weg/../straße?q=größe",
    "https://shop.example.co.uk/products/4711?color=red&size=m",
)
ADDRESSES: Final = ("93.184.216.34", "10.1.2.3", "::ffff:10.0.0.1", "64:ff9b::a9fe:a9fe", "2606::1")
ROBOTS: Final = "User-agent: *\n" + "".join(
    f"Disallow: /part{n}/*/edit$\nAllow: /part{n}/open\n" for n in range(50)
)
LINE: Final = (
    '2026-11-21T12:00:00Z INFO crawled {"url": "https://site.example/a?page=2", "ms": 20}\n'
)
PAGE: Final = b"<!doctype html><title>A page</title>" + b"<p>Spiders weave silk.</p>" * 400


def main() -> None:
    """Measure and print a Markdown table."""
    logging.disable(logging.CRITICAL)
    policy, robots = AddressPolicy(), parse(ROBOTS)
    urls, addresses, paths = cycle(URLS), cycle(ADDRESSES), cycle(range(100))
    text = LINE * (1_000_000 // len(LINE))
    nested = {"items": [{"password": "x", "url": URLS[2], "n": n} for n in range(50)]}
    rows = [
        ("canonical URLs per second", _rate(lambda: canonical_url(parse_url(next(urls))))),
        ("cache keys per second (queries sorted)", _rate(lambda: cache_url(parse_url(next(urls))))),
        (
            "address checks per second",
            _rate(lambda: policy.permits("site.example", 443, next(addresses))),
        ),
        (
            "robots.txt decisions per second, 100 rules",
            _rate(lambda: robots.allows(f"https://a.example/part{next(paths)}/x/edit", "Bot")),
        ),
        ("robots.txt files parsed per second, 100 rules", _rate(lambda: parse(ROBOTS))),
        ("redaction of log text", f"{1 / _seconds(lambda: redact_text(text)):.1f} MB/s"),
        ("redaction of an object of 150 values, per second", _rate(lambda: redact(nested))),
        *_fetches(),
        *_coordination(),
    ]
    print("| figure | value |\n|---|---|")
    for name, value in rows:
        print(f"| {name} | {value} |")


def _rate(call: Callable[[], Any]) -> str:
    """Return the calls per second: the median of three rounds."""
    rates = []
    for _ in range(ROUNDS):
        count, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < SECONDS:
            for _ in range(20):
                call()
            count += 20
        rates.append(count / (time.perf_counter() - begin))
    return f"{statistics.median(rates):,.0f}"


def _seconds(call: Callable[[], Any]) -> float:
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True  # else delayed acknowledgements count

    def do_GET(self) -> None:
        """Send a page of 10 KB."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


def _fetches() -> list[tuple[str, str]]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        authority = f"127.0.0.1:{server.server_port}"
        fetcher = GuardedFetcher(
            AddressPolicy(allowed=frozenset({authority})),
            resolve_by_system,
            user_agent="Benchmark/1.0 (+https://site.example)",
        )
        url = parse_url(f"http://{authority}/")
        request = FetchRequest(url=url, media_types=frozenset({"text/html"}))
        rows = [("guarded fetches per second, one worker", _rate(lambda: fetcher.fetch(request)))]
        for name, kept in (("a connection each", 0), ("its connection kept alive", 1)):
            bounds = httpx.Limits(max_keepalive_connections=kept)
            with httpx.Client(trust_env=False, limits=bounds) as client:
                rate = _rate(lambda client=client: client.get(request.url.text).text)  # type: ignore[misc]  # bound now
            rows.append((f"plain httpx, {name}", rate))
        server.shutdown()
    return rows


def _coordination() -> list[tuple[str, str]]:
    with mock_aws():
        client: Any = boto3.resource(
            "dynamodb",
            region_name="us-east-1",
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        ).meta.client
        table = create_tables(client)["Domains"]
        calls: Counter[str] = Counter()
        client.meta.events.register(
            "before-call.dynamodb", lambda model, **_: calls.update([model.name])
        )
        ledger = DynamoHostStateStore(client, table)
        pace = HostRateLimiter(ledger=ledger, clock=utc_now, new_token=lambda: uuid4().hex)
        cases = {
            "an idle host": PaceLimits(),
            "a host with a crawl-delay": PaceLimits(min_gap_seconds=1),
        }
        rows = []
        for number, (name, limits) in enumerate(cases.items()):
            calls.clear()
            admitted = pace.admit(f"host-{number}.example", owner="bench", limits=limits)
            assert isinstance(admitted, Permit)
            pace.report(admitted, HostOutcome.SUCCESS)
            told = ", ".join(f"{count} {call}" for call, count in calls.items())
            units = sum(calls.values())
            rows.append((f"coordination of one fetch, {name}", f"{told}: {units} write units"))
    return rows


if __name__ == "__main__":
    main()
