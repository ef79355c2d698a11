"""Measure how fast pages are found, without a network; figures are per second of processor time.

    python benchmarks/exploring.py

* frontier: crawls of generated websites with a store in memory: pages claimed, links merged and
  URLs discovered per second of all work except fetching.
* dynamo: the same crawl's calls and written rows on DynamoDB per page, counted on moto.
* sitemaps: megabytes and URLs per second, plain and compressed.
* memory: the peak of a process that discovers the pages of a sitemap of 50 MB over loopback.
* links: the time of scope, traps and scoring for one link.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(REPOSITORY / "layers" / "common"), str(REPOSITORY)]

import boto3
from moto import mock_aws

from benchmarks.crawl_servers import serving
from spinneret.web.exploring.frontier.dynamo import DynamoFrontierStore
from spinneret.web.exploring.frontier.guide import LinkPolicy
from spinneret.web.exploring.frontier.models import (
    Batch,
    CrawlRef,
    Fetched,
    FoundLink,
    Plan,
    Strategy,
)
from spinneret.web.exploring.frontier.ports import FrontierStore
from spinneret.web.exploring.frontier.service import Frontier
from spinneret.web.exploring.sitemaps.reader import SitemapReader
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.http import GuardedFetcher
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.urls import parse_url
from tests.contract import frontier_table
from tests.fakes.discovering import DiscoveryWorld
from tests.fakes.exploring import FakeFrontierStore

SITE = "https://site.example"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
REF = CrawlRef(tenant="bench", crawl_id="job_1")
CHUNK = 64 * 1024
SITEMAP_MB = 50


def links_of(number: int, count: int, size: int) -> tuple[FoundLink, ...]:
    """Return the links of a page: half are navigation that all pages share, half are its own."""
    common = (FoundLink(url=f"{SITE}/section/{n}", text="A section") for n in range(count // 2))
    own = (
        FoundLink(url=f"{SITE}/docs/{(number * 31 + n) % size}/page.html?lang=en&view=full")
        for n in range(count - count // 2)
    )
    return (*common, *own)


def crawl(store: FrontierStore, plan: Plan, links: int, size: int) -> tuple[int, int, float]:
    """Run a crawl; return its pages, its known URLs, and the seconds in the frontier."""
    frontier = Frontier(store=store, clock=lambda: NOW)
    frontier.begin(REF, plan, [f"{SITE}/"], fence=1)
    start, pages = time.process_time(), 0
    while isinstance(step := frontier.next_batch(REF, fence=1), Batch):
        for key in step.keys:
            visit = frontier.claim(REF, key, f"worker-{pages}", NOW + timedelta(minutes=1))
            assert visit is not None
            pages += 1
            frontier.record(visit, Fetched(links=links_of(pages, links, size)))
    seconds = time.process_time() - start
    return pages, frontier.crawl(REF).discovered, seconds


def bench_frontier() -> None:
    print("frontier, in memory   pages   links/page   known URLs   pages/s   links/s")
    for strategy in Strategy:
        for count in (10, 100):
            plan = Plan(strategy=strategy, max_depth=50, max_pages=500, keywords=("docs",))
            pages, known, seconds = crawl(FakeFrontierStore(), plan, count, 5000)
            print(
                f"{strategy.value:<20} {pages:>6} {count:>12} {known:>12}"
                f" {pages / seconds:>9.0f} {pages * count / seconds:>9.0f}"
            )


def bench_dynamo() -> None:
    print("\ndynamo, 30 pages    links/page   calls/page   rows written/page")
    for count in (10, 100):
        with mock_aws():
            client: Any = boto3.resource("dynamodb", region_name="us-east-1").meta.client
            table = frontier_table.create(client)
            calls: Counter[str] = Counter()
            rows = 0

            def watch(params: dict[str, Any], model: Any, **_: Any) -> None:
                nonlocal rows
                calls[model.name] += 1  # noqa: B023 (used within this turn)
                rows += len(params.get("TransactItems", ())) or ("Item" in params)

            client.meta.events.register("before-parameter-build.dynamodb", watch)
            plan = Plan(max_depth=50, max_pages=30)
            pages, _, _ = crawl(DynamoFrontierStore(client, table), plan, count, 400)
            total = sum(calls.values()) / pages
            print(f"{'':<18} {count:>11} {total:>12.1f} {rows / pages:>19.1f}   {dict(calls)}")


def sitemap(urls: int) -> bytes:
    """Return a typical sitemap."""
    entries = (
        f"<url><loc>{SITE}/articles/{n}/some-title-of-usual-length.html</loc>"
        f"<lastmod>2026-01-{n % 28 + 1:02}T08:00:00+00:00</lastmod>"
        f"<changefreq>weekly</changefreq><priority>0.5</priority></url>\n"
        for n in range(urls)
    )
    return f"<urlset>{''.join(entries)}</urlset>".encode()


def pieces(data: bytes) -> Iterator[bytes]:
    return (data[n : n + CHUNK] for n in range(0, len(data), CHUNK))


def bench_sitemaps() -> None:
    print("\nsitemaps              MB   URLs    MB/s    URLs/s")
    plain = sitemap(50_000)
    text = b"\n".join(b"https://site.example/articles/%d.html" % n for n in range(50_000))
    for name, data, size in (
        ("urlset", plain, len(plain)),
        ("urlset, gzip", gzip.compress(plain), len(plain)),
        ("text", text, len(text)),
    ):
        start = time.process_time()
        count = sum(1 for _ in SitemapReader(f"{SITE}/sitemap.xml").read(pieces(data)))
        seconds = time.process_time() - start
        print(
            f"{name:<18} {size / 1e6:>5.1f} {count:>6}"
            f" {size / 1e6 / seconds:>7.1f} {count / seconds:>9.0f}"
        )


def large_sitemap() -> bytes:
    """Return a sitemap of the largest permitted size, whose pages exist in twelve languages.

    Each page names its versions in the other languages.
    """
    others = "".join(
        f'<xhtml:link rel="alternate" hreflang="x{n}" href="{SITE}/x{n}/some-usual-title.html"/>\n'
        for n in range(12)
    )
    page = (
        "<url><loc>{site}/articles/{n}/some-title.html</loc>{others}"
        "<lastmod>2026-01-01</lastmod></url>\n"
    )
    count = SITEMAP_MB * 1_000_000 // len(page.format(site=SITE, n=10_000, others=others))
    body = "".join(page.format(site=SITE, n=n, others=others) for n in range(count))
    names = (
        'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
        'xmlns:xhtml="http://www.w3.org/1999/xhtml"'
    )
    return f"<urlset {names}>{body}</urlset>".encode()


class Loopback(DiscoveryWorld):
    """Discovery on fakes, except for a website on loopback and the fetcher that requests it."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self._port = port

    def direct(self) -> Loopback:
        """Return this object, which implements Fetcher."""
        return self

    def fetch(self, request: FetchRequest) -> FetchedPage:
        """Fetch from the website on loopback, for any host and scheme."""
        fetcher = GuardedFetcher(
            AddressPolicy(frozenset({f"127.0.0.1:{self._port}"})),
            lambda host, _: [host],
            user_agent="Spinneret-Benchmark/1 (+https://example.com/bot)",
        )
        url = parse_url(f"http://127.0.0.1:{self._port}{request.url.target}")
        return fetcher.fetch(replace(request, url=url))


def discover(port: int) -> None:
    """Run a discovery; print its memory before and at the peak (MiB), seconds, files and URLs."""
    world = Loopback(port)
    before, start = _peak(), time.perf_counter()
    ref = world.submit(score_query="article", score_threshold=0)
    result = world.settle(ref).result
    assert result is not None
    seconds = time.perf_counter() - start
    print(
        f"{before:>9.0f} {_peak():>8.0f} {seconds:>9.1f} {result['files_read']:>6}"
        f" {result['files_cut_off']:>8} {result['urls_found']:>6}"
    )


def _peak() -> float:
    """Return the peak memory of this process alone in MiB.

    `ru_maxrss` is unsuitable: it starts at the memory of the parent process.
    """
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def bench_memory() -> None:
    """Print the memory of discoveries, each in a process of its own."""
    plain = large_sitemap()
    print(
        f"\nmemory, {len(plain) / 1e6:.0f} MB   sent MB   MiB before   peak   seconds"
        "   files   cut off   URLs"
    )
    for name, body in (("plain", plain), ("gzip", gzip.compress(plain))):
        with served(body) as port:
            command = [sys.executable, __file__, "--discover", str(port)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        print(f"{name:<16} {len(body) / 1e6:>8.1f} {done.stdout.rstrip()}")


@contextmanager
def served(sitemap: bytes) -> Iterator[int]:
    """Serve a website on loopback that has only this sitemap; yield its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = sitemap if self.path == "/sitemap.xml" else b""
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "application/xml")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as port:
        yield port


def bench_links() -> None:
    patterns = tuple(f"/docs/*/section-{n}/**" for n in range(50))
    print("\nlinks                      µs each")
    for name, plan in (
        ("scope and traps", Plan()),
        ("… and 50 patterns", Plan(exclude=patterns)),
        ("… and 5 keywords", Plan(keywords=("silk", "wool", "hemp", "yarn", "loom"))),
    ):
        frontier = Frontier(store=FakeFrontierStore(), clock=lambda: NOW)
        guide = LinkPolicy(frontier.begin(REF, plan, [f"{SITE}/"], fence=1))
        links = links_of(1, 4000, 4000)
        guide.candidates(links[:10])
        start = time.process_time()
        guide.candidates(links)
        print(f"{name:<25} {1e6 * (time.process_time() - start) / len(links):>8.1f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--discover"]:  # a process of `bench_memory`
        discover(int(sys.argv[2]))
        sys.exit()
    bench_frontier()
    bench_dynamo()
    bench_sitemaps()
    bench_memory()
    bench_links()
