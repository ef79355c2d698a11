"""Measure the memory of a crawl of thousands of pages: `python benchmarks/crawl_memory.py`.

The worker has its real fetcher, extraction, chunker and job kernel. AWS, embedder and index are
fakes; the benchmark replaces them every 20 pages, because they keep all their data. Another process
serves the pages, so that only the worker's memory is measured.
"""

import logging
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(REPOSITORY / each) for each in ("layers/common", "infra/local", ".")]

from benchmarks.crawl_servers import generated
from spinneret.content.extraction.pages import extract
from spinneret.jobs.models import Job, JobRef, JobStatus
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.http import GuardedFetcher
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.urls import parse_url
from tests.fakes.crawling import CrawlWorld, Wrap

SIZES: Final = (100, 500, 1000, 2000)
AT_ONCE: Final = 20


class Loopback:
    """Implements Fetcher; sends the requests to every host to the website on a loopback port."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._fetcher = GuardedFetcher(
            AddressPolicy(frozenset({f"127.0.0.1:{port}"})),
            lambda host, _: [host],
            user_agent="Spinneret-Benchmark/1 (+https://example.com/bot)",
        )

    def fetch(self, request: FetchRequest) -> FetchedPage:
        """Return the page as if the requested host had sent it."""
        url = parse_url(f"http://127.0.0.1:{self._port}{request.url.target}")
        page = self._fetcher.fetch(replace(request, url=url))
        return replace(page, requested=request.url, url=request.url)


class Crawls(CrawlWorld):
    """Crawl world with the real fetcher and extraction of pages; everything else is fake."""

    def __init__(self, fetcher: Loopback) -> None:
        super().__init__()
        self.extract = extract
        self._fetcher = fetcher

    def run(self, ref: JobRef, wrap: Wrap = lambda _, port: port) -> Job:
        """Run the job with the fetcher of the website."""

        def wrapped(name: str, port: Any) -> Any:
            return self._fetcher if name == "fetcher" else wrap(name, port)

        return super().run(ref, wrapped)


def main() -> None:
    """Print the peak memory after each number of pages."""
    logging.disable(logging.CRITICAL)
    if sys.argv[1:2] == ["--child"]:
        crawl(int(sys.argv[2]))
        return
    with generated(0, max(SIZES)) as site:
        port = site.rpartition(":")[2]
        subprocess.run([sys.executable, __file__, "--child", port], check=True)


def crawl(port: int) -> None:
    """Crawl one page after the other in this process."""
    print("| pages | peak of the worker's process, MiB | seconds |\n|---|---|---|", flush=True)
    fetcher, done, begin = Loopback(port), 0, time.perf_counter()
    for size in SIZES:
        while done < size:
            crawls = Crawls(fetcher)
            for number in range(AT_ONCE):  # one host per page: no rate limit delays them
                ref = crawls.submit(f"https://site-{number}.example/page/{done + number}")
                job = crawls.settle(ref)
                assert job.status is JobStatus.COMPLETED, job
            done += AT_ONCE
        print(f"| {size:,} | {_peak()} | {time.perf_counter() - begin:.0f} |", flush=True)


def _peak() -> int:
    """Return the peak memory of this process alone in MiB, from /proc."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


if __name__ == "__main__":
    main()
