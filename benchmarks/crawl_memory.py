"""The memory of a process that crawls thousands of pages: `python benchmarks/crawl_memory.py`.

The worker with its real fetcher, extraction, chunker and job kernel; AWS, embedder and index are
fakes, which are thrown away every 20 pages, since they keep all that they are given. Pages come
from another process, so that what is weighed is the worker.
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
    """Implements Fetcher: every host is the website on this port of loopback."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._fetcher = GuardedFetcher(
            AddressPolicy(frozenset({f"127.0.0.1:{port}"})),
            lambda host, _: [host],
            user_agent="Spinneret-Benchmark/1 (+https://example.com/bot)",
        )

    def fetch(self, request: FetchRequest) -> FetchedPage:
        """The page as if the host had answered it."""
        url = parse_url(f"http://127.0.0.1:{self._port}{request.url.target}")
        page = self._fetcher.fetch(replace(request, url=url))
        return replace(page, requested=request.url, url=request.url)


class Crawls(CrawlWorld):
    """Fakes around the worker, but for what fetches and what reads a page."""

    def __init__(self, fetcher: Loopback) -> None:
        super().__init__()
        self.extract = extract
        self._fetcher = fetcher

    def run(self, ref: JobRef, wrap: Wrap = lambda _, port: port) -> Job:
        """With the fetcher of the website."""

        def wrapped(name: str, port: Any) -> Any:
            return self._fetcher if name == "fetcher" else wrap(name, port)

        return super().run(ref, wrapped)


def main() -> None:
    """Print the peak after so many pages."""
    logging.disable(logging.CRITICAL)
    if sys.argv[1:2] == ["--child"]:
        crawl(int(sys.argv[2]))
        return
    with generated(0, max(SIZES)) as site:
        port = site.rpartition(":")[2]
        subprocess.run([sys.executable, __file__, "--child", port], check=True)


def crawl(port: int) -> None:
    """One page after the other, in this process."""
    print("| pages | peak of the worker's process, MiB | seconds |\n|---|---|---|", flush=True)
    fetcher, done, begin = Loopback(port), 0, time.perf_counter()
    for size in SIZES:
        while done < size:
            crawls = Crawls(fetcher)
            for number in range(AT_ONCE):  # a host each: none waits for its pace
                ref = crawls.submit(f"https://site-{number}.example/page/{done + number}")
                job = crawls.settle(ref)
                assert job.status is JobStatus.COMPLETED, job
            done += AT_ONCE
        print(f"| {size:,} | {_peak()} | {time.perf_counter() - begin:.0f} |", flush=True)


def _peak() -> int:
    """Of this process alone, as /proc has it."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


if __name__ == "__main__":
    main()
