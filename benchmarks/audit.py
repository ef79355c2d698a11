"""Measure speed and memory of site audits without a network.

    python benchmarks/audit.py [--html DIR] [--pages 100 500 2000]
    python benchmarks/audit.py --site DIR --pages 500

* pages: facts and checks of generated pages, and of the real pages of a folder (`*.html` or
  `*.html.gz`; by default the labelled set beside the repository, else Python's documentation);
* checks: the time of the ten slowest checks;
* memory: the peak of a process that audits a site of the given number of pages and writes all
  reports; each size has its own process.

With --site, the benchmark instead audits a whole folder that is served on loopback (such as
/usr/share/doc/python3.11/html of Debian's python3.11-doc). It prints requests, time, memory and
reports.
"""

import argparse
import gzip
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

REPOSITORY = Path(__file__).resolve().parent.parent
REAL = (
    REPOSITORY.parent / "shared" / "benchmarks" / "page-types" / "html",
    Path("/usr/share/doc/python3.11/html"),
)
sys.path[:0] = [
    str(REPOSITORY / each) for each in ("layers/common", "functions", "infra/local", ".")
]

from spinneret.audits.checks.catalogue import by_scope, catalogue
from spinneret.audits.checks.models import CheckScope
from spinneret.audits.checks.site import Site
from spinneret.audits.facts.models import PageFacts
from spinneret.audits.facts.pages import read_page
from spinneret.audits.facts.site import FileFacts, SiteFacts
from spinneret.audits.facts.sitemaps import read_sitemap
from spinneret.audits.facts.storing import PAGES
from spinneret.audits.findings import FindingLog
from spinneret.audits.judging import AuditEvaluator
from spinneret.audits.reports.formats import RENDERERS
from spinneret.audits.reports.models import ReportContent
from spinneret.web.fetching.models import FetchedPage
from spinneret.web.fetching.urls import parse_url

HOST = "https://bench.example"
NOW = datetime(2026, 11, 22, tzinfo=UTC)
GENERATED = 300
REAL_PAGES = 150
LINKS = 60
WORDS = 700


def generated(count: int) -> Iterator[FetchedPage]:
    """Yield pages of about 30 kB with a menu, sections, images and a few faults each."""
    for number in range(count):
        rest = random.Random(number)
        words = [f"w{rest.randrange(900)}" for _ in range(WORDS)]
        menu = "".join(
            f'<li class="item"><a href="/p{(number * 7 + n * n) % count}">Page {n}</a></li>'
            for n in range(LINKS)
        )
        sections = "".join(
            f'<section class="part" id="s{n % 9}"><h{2 + n % 3}>Part {n}</h{2 + n % 3}>'
            f'<p class="text">{" ".join(words[n * 70 : n * 70 + 70])}</p>'
            f'<figure><img src="/i{n}.jpg" {"alt=Tree" if n % 2 else ""}></figure>'
            f"<ul>{'<li><b>one</b> <i>two</i></li>' * 12}</ul></section>"
            for n in range(10)
        )
        body = (
            f"<!doctype html><html lang=en><head><meta charset=utf-8><title>Page {number % 900}"
            f"</title><meta name=description content='{' '.join(words[:12])}'>"
            f"<style>{'.part { margin: 1px } ' * 200}</style></head><body>"
            f"<nav><ul>{menu}</ul></nav><main><h1>Page {number}</h1>{sections}</main>"
            f"<footer>{'<div><span>foot</span></div>' * 40}</footer></body></html>"
        )
        yield _fetched(f"{HOST}/p{number}" if number else f"{HOST}/", body.encode())


def real(folder: Path) -> Iterator[FetchedPage]:
    """Yield the first pages of a folder."""
    files = sorted([*folder.rglob("*.html"), *folder.rglob("*.html.gz")])
    for file in files[:REAL_PAGES]:
        body = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        yield _fetched(f"{HOST}/{file.relative_to(folder)}", body)


def _fetched(url: str, body: bytes) -> FetchedPage:
    return FetchedPage(
        requested=parse_url(url),
        url=parse_url(url),
        status_code=200,
        headers={"content-type": "text/html", "etag": '"1"'},
        media_type="text/html",
        charset=None,
        body=body,
        redirects=(),
        duration_ms=20,
    )


def site_facts(urls: Iterable[str]) -> SiteFacts:
    """Return the facts of a site with a robots.txt and a sitemap of all pages."""
    rows = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return SiteFacts(
        start_url=f"{HOST}/",
        audited_at=NOW.isoformat(),
        robots=FileFacts(status=200, content="User-agent: *\nDisallow: /private"),
        sitemaps=(read_sitemap(f"{HOST}/sitemap.xml", f"<urlset>{rows}</urlset>".encode()),),
        is_whole=True,
    )


def main() -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--html", type=Path)
    parser.add_argument("--pages", type=int, nargs="*", default=[100, 500, 2000])
    parser.add_argument("--site", type=Path, help="audit this folder over loopback")
    parser.add_argument("--memory-of", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.memory_of is not None:
        print(memory(arguments.memory_of))
        return
    if arguments.site is not None:
        # This import must not count in the memory of the other measurements.
        from benchmarks.audit_site import audit_site  # noqa: PLC0415 (see above)

        audit_site(arguments.site, arguments.pages[0])
        return
    folder = arguments.html or next((each for each in REAL if each.is_dir()), None)
    print("pages                      kB each  facts/s  checks/s  together/s  facts kB  findings")
    speed("generated", list(generated(GENERATED)))
    if folder is not None:
        speed(folder.parent.name[:24], list(real(folder)))
    print("\ndearest checks             µs a page")
    for name, micros in dearest(list(generated(GENERATED)))[:10]:
        print(f"{name:26} {micros:9.1f}")
    print("\npages  findings  seconds  peak MiB (importing alone: process of 0 pages)")
    for count in (0, *arguments.pages):
        done = subprocess.run(
            [sys.executable, __file__, "--memory-of", str(count)],
            capture_output=True,
            text=True,
            check=True,
        )
        print(done.stdout.rstrip())


def speed(name: str, pages: list[FetchedPage]) -> None:
    """Print the pages per second of one core: for facts, and for checks with the score."""
    started = time.process_time()
    facts = [each for page in pages for each in read_page(page, NOW)]
    read = time.process_time() - started
    with tempfile.TemporaryFile() as file:
        log = FindingLog(file)
        started = time.process_time()
        _audited(facts, log)
        judged = time.process_time() - started
        size = sum(len(page.body) for page in pages) / len(pages) / 1000
        stored = sum(len(PAGES.dump(each).encode()) for each in facts) / len(facts) / 1000
        count = len(pages)
        print(
            f"{f'{count} {name}':26} {size:7.0f} {count / read:8.0f} {count / judged:9.0f} "
            f"{count / (read + judged):11.0f} {stored:9.1f} {len(log):9}"
        )


def dearest(pages: list[FetchedPage]) -> list[tuple[str, float]]:
    """Return the microseconds per page of each check, slowest first.

    The time of a check of the whole site is divided by the number of pages.
    """
    facts = [each for page in pages for each in read_page(page, NOW)]
    site = Site(f"{HOST}/")
    for each in facts:
        site.add(each)
    site.close(site_facts(each.url for each in facts))
    nodes = list(site.nodes)
    subjects: dict[CheckScope, list[tuple[Any, ...]]] = {
        CheckScope.PAGE: [(each,) for each in facts],
        CheckScope.PAGE_IN_SITE: [(node, site) for node in nodes],
        CheckScope.SITE: [(site,)],
    }
    spent: dict[str, float] = defaultdict(float)
    for scope in CheckScope:
        for check in by_scope(scope):
            started = time.perf_counter()
            for subject in subjects[scope]:
                check.judge(*subject)
            spent[check.id] = (time.perf_counter() - started) / len(facts) * 1e6
    return sorted(spent.items(), key=lambda item: -item[1])


def memory(count: int) -> str:
    """Audit `count` pages as a worker does, and return one row of the table.

    The audit reads the facts in their stored form.
    """
    catalogue()
    with tempfile.TemporaryFile() as stored, tempfile.TemporaryFile() as found:
        urls = []
        for page in generated(count):
            for each in read_page(page, NOW):
                stored.write(PAGES.dump(each).encode() + b"\n")
                urls.append(each.url)
        stored.seek(0)
        log = FindingLog(found)
        started = time.perf_counter()
        result = _audited(_read(stored), log, urls)
        report = ReportContent(result=result, findings=log)
        for render in RENDERERS.values():
            for _ in render(report):
                pass
        seconds = time.perf_counter() - started
        # `ru_maxrss` of a new process starts at the value of its parent.
        status = Path("/proc/self/status").read_text()
        peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
        return f"{count:5} {len(log):9} {seconds:8.1f} {peak:9.0f}"


def _read(file: IO[bytes]) -> Iterator[PageFacts]:
    for line in file:
        yield PAGES.load(line)


def _audited(facts: Iterable[PageFacts], log: FindingLog, urls: list[str] | None = None) -> Any:
    audit = AuditEvaluator(f"{HOST}/", log.add)
    seen = []
    for each in facts:
        audit.page(each)
        seen.append(each.url)
    return audit.finish(site_facts(urls or seen))


if __name__ == "__main__":
    main()
