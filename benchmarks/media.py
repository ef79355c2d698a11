"""Measure screenshots of pages in the real browser, on loopback: `python benchmarks/media.py`.

A server in this process serves the page, which has 200 paragraphs and 20 images. The prices are
computed from the time: the function has 2,048 MB, and is assumed to be as fast as this machine.
"""

import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Final

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(REPOSITORY / each) for each in ("layers/common", "infra/local", ".")]

from benchmarks.prices import (
    GIGABYTE_SECOND,
    INVOCATION,
    MESSAGE,
    S3_WRITE,
)
from spinneret.web.browser.chromium_process import running
from spinneret.web.browser.models import (
    Dom,
    Pdf,
    RenderRequest,
    Screenshot,
    Task,
)
from spinneret.web.browser.unpacking import unpack
from spinneret.web.fetching.urls import parse_url
from tests.fakes.scripted_server import ScriptedServer, answer
from tests.integration.browsers import chromium, program

GIGABYTES: Final = 2.0
PAGES: Final = 15
POLL_SECONDS: Final = 0.02
_TEXT: Final = "Orb weavers rebuild their webs every night and eat the old silk. " * 5
IMAGE: Final = (
    b"<svg xmlns='http://www.w3.org/2000/svg' width='50' height='50'><circle r='50'/></svg>"
)


def page() -> bytes:
    """Return the page's HTML."""
    images = "".join(f"<img src='/image?{each}'>" for each in range(20))
    return f"<!doctype html><title>Silk</title>{images}{f'<p>{_TEXT}' * 200}".encode()


def measure(server: ScriptedServer, scratch: Path, task: Task) -> list[float]:
    """Return the seconds of each rendering."""
    request = RenderRequest(url=parse_url(server.url()), task=task)
    seconds = []
    for _ in range(PAGES):
        began_at = time.perf_counter()
        chromium(scratch, server.pair).render(request)
        seconds.append(time.perf_counter() - began_at)
    return seconds


def peak_megabytes(server: ScriptedServer, scratch: Path) -> float:
    """Return the largest memory of the browser's processes during one screenshot, as PSS."""
    peak, done = 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(POLL_SECONDS):
            peak = max(peak, sum(map(_pss, Path("/proc").glob("[0-9]*"))))

    def _pss(process: Path) -> int:
        try:
            if str(scratch).encode() not in (process / "environ").read_bytes():
                return 0
            lines = (process / "smaps_rollup").read_text().splitlines()
        except OSError:  # the process has ended
            return 0
        return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))

    watcher = threading.Thread(target=watch)
    watcher.start()
    chromium(scratch, server.pair).render(
        RenderRequest(url=parse_url(server.url()), task=Screenshot(), wait_seconds=0.5)
    )
    done.set()
    watcher.join()
    return peak / 1024


def unpacking_seconds(scratch: Path, package: Path) -> float:
    """Return the seconds that a cold function needs to unpack the browser."""
    began_at = time.perf_counter()
    unpack(package, scratch / "unpacked")
    seconds = time.perf_counter() - began_at
    shutil.rmtree(scratch / "unpacked")
    return seconds


def main() -> None:
    """Print the figures; given the package's folder, also print the time of unpacking."""
    with tempfile.TemporaryDirectory() as folder, ScriptedServer() as server:
        scratch = Path(folder)
        svg = answer(IMAGE, content_type="image/svg+xml")
        server.behaviours = {"/": answer(page()), "/image": svg}
        print(f"browser {program().name}, load {os.getloadavg()[0]:.1f}")
        with running(program(), scratch, ()):
            pass  # loads the browser's file into the page cache
        if len(sys.argv) > 1:
            seconds = unpacking_seconds(scratch, Path(sys.argv[1]))
            print(f"unpacking, once for a cold function: {seconds:.1f} s")
        for task in (Screenshot(), Pdf(), Dom()):
            times = measure(server, scratch, task)
            worst = statistics.quantiles(times, n=20)[-1]
            name = type(task).__name__
            print(f"{name:<11} median {statistics.median(times):.2f} s, p95 {worst:.2f} s")
            if isinstance(task, Screenshot):
                shots = statistics.median(times)
        print(f"browser's memory, one screenshot: {peak_megabytes(server, scratch):.0f} MB (PSS)")
        one = shots * GIGABYTES * GIGABYTE_SECOND + INVOCATION + 3 * MESSAGE + S3_WRITE
        print(f"1,000 screenshots on AWS: ${1000 * one:.3f}, without rows of jobs")


if __name__ == "__main__":
    main()
