"""Times the local stack: `make up`, deploy, code update, requests, crawl to searchable, memory.

    .venv/bin/python benchmarks/stack.py

Uses an instance of its own and the tools that are installed; `--first` measures a first `up` into
an empty folder as well, with whatever the package clients have in their caches.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from benchmarks.instance import (  # noqa: E402 - after the path above
    SITE_PORT,
    api_url,
    bench,
    issue_key,
    run_stack,
    spread,
)
from stack.instance import Instance  # noqa: E402 - after the path above
from stack.process import resident_bytes  # noqa: E402 - after the path above
from tests.site.server import serve  # noqa: E402 - after the path above

REQUESTS = 100
CRAWLS = 10


def main() -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", action="store_true", help="also a first `up`, from nothing")
    rows: list[tuple[str, str]] = []
    if parser.parse_args().first:
        rows.append(("first `make up`, tools not installed", _first_up()))
    try:
        rows += _measure()
    finally:
        run_stack("clean")
    print("| figure | value |\n|---|---|")
    for name, value in rows:
        print(f"| {name} | {value} |")


def _measure() -> list[tuple[str, str]]:
    run_stack("install")
    rows = [
        ("`make up`, tools installed", _timed(lambda: run_stack("up", "--free-ports"))),
        ("`make up` again", _timed(lambda: run_stack("up"))),
        ("first deploy", _timed(lambda: run_stack("deploy"))),
        ("deploy, nothing changed", _timed(lambda: run_stack("deploy"))),
        ("code update (functions and common layer)", _timed(_code_update)),
    ]
    instance = bench()
    headers = {"X-API-Key": issue_key()}
    with (
        httpx.Client(base_url=api_url(), headers=headers, trust_env=False, timeout=60) as http,
        serve(SITE_PORT) as site,
    ):
        rows.append(
            (f"warm `GET /health`, {REQUESTS} requests", _requests(lambda: http.get("/health")))
        )
        crawls = [_crawl(http, f"{site}orb-webs?run={n}") for n in range(CRAWLS)]
        rows.append(
            (
                f"crawl to searchable, page of 6 chunks, {CRAWLS} crawls, first left out",
                spread(crawls[1:]),
            )
        )
        search = {"query": "sticky capture spiral"}
        rows.append(
            (
                f"warm `POST /api/v1/search`, {REQUESTS} requests",
                _requests(lambda: http.post("/api/v1/search", json=search)),
            )
        )
    return rows + _memory(instance)


def _crawl(http: httpx.Client, url: str) -> float:
    begin = time.perf_counter()
    answer = http.post("/api/v1/crawl", json={"url": url, "force": True}).json()
    deadline = begin + 60
    while True:
        job = http.get(f"/api/v1/crawl/{answer['job_id']}").json()
        if job["status"] == "completed":
            break
        if job["status"] == "failed" or time.perf_counter() > deadline:
            raise SystemExit(f"crawl: {job}")
        time.sleep(0.02)
    # Completed means searchable: the index was asked to wait for its refresh.
    return (time.perf_counter() - begin) * 1000


def _requests(call: Callable[[], httpx.Response]) -> str:
    for _ in range(10):
        call().raise_for_status()
    times = []
    for _ in range(REQUESTS):
        begin = time.perf_counter()
        call().raise_for_status()
        times.append((time.perf_counter() - begin) * 1000)
    return spread(times)


def _memory(instance: Instance) -> list[tuple[str, str]]:
    record = instance.read()
    assert record is not None  # it's running
    rows, total = [], 0
    for part in sorted(record.alive()):
        sizes = [resident_bytes(process) for process in instance.processes(part)]
        total += sum(sizes)
        rows.append((f"memory of {part}, {len(sizes)} processes", f"{sum(sizes) / 2**20:.0f} MiB"))
    return [*rows, ("memory of the whole stack", f"{total / 2**20:.0f} MiB")]


def _code_update() -> None:
    file = bench().folder / "deployment.json"
    record = json.loads(file.read_text())
    file.write_text(json.dumps({**record, "functions": "outdated", "common": "outdated"}))
    run_stack("deploy")


def _first_up() -> str:
    with tempfile.TemporaryDirectory() as folder:
        try:
            return _timed(lambda: run_stack("up", "--free-ports", SPINNERET_LOCAL=folder))
        finally:
            run_stack("down", SPINNERET_LOCAL=folder)


def _timed(call: Callable[[], Any]) -> str:
    begin = time.perf_counter()
    call()
    return f"{time.perf_counter() - begin:.1f} s"


if __name__ == "__main__":
    main()
