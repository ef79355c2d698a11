"""Measure the local stack: `make up`, deploy, code and settings, requests, crawls, idle memory.

    .venv/bin/python benchmarks/stack.py

The benchmark uses its own instance and the installed tools, and temporarily changes three files of
the checkout. `--first` also measures a first `up` into an empty folder; the package clients then
use their existing caches.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from benchmarks.instance import (
    ROOT,
    SITE_PORT,
    api_url,
    bench,
    issue_key,
    run_stack,
    spread,
)
from stack.instance import Instance
from stack.process import ProcessId, proportional_bytes
from tests.site.server import serve

REQUESTS = 100
CRAWLS = 10
DOCUMENTS = 1_000
IDLE_SECONDS = 75  # idle environments of functions end after 60 s
COMMON = ROOT / "layers" / "common" / "spinneret" / "kernel" / "paging.py"
FUNCTION = ROOT / "functions" / "watch" / "check_worker.py"
TEMPLATE = ROOT / "template.yaml"


def main() -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", action="store_true", help="also a first `up`, from nothing")
    first = parser.parse_args().first
    print("| figure | value |\n|---|---|")
    if first:
        print(f"| first `make up`, tools not installed | {_first_up()} |")
    try:
        for name, value in _measure():
            print(f"| {name} | {value} |", flush=True)
    finally:
        run_stack("clean")


def _measure() -> Iterator[tuple[str, str]]:
    run_stack("install")
    yield "`make up`, tools installed", _timed(lambda: run_stack("up", "--free-ports"))
    yield "`make up` again", _timed(lambda: run_stack("up"))
    yield "first deploy", _timed(lambda: run_stack("deploy"))
    yield "deploy, nothing changed", _timed(lambda: run_stack("deploy"))
    yield "change of the common layer's code (goal 5 s)", _code_change(COMMON)
    yield "change of a function's code", _code_change(FUNCTION)
    yield "`make set LogLevel=DEBUG`, read by every function", _timed(lambda: _set("DEBUG"))
    yield "… and back", _timed(lambda: _set(""))
    instance = bench()
    headers = {"X-API-Key": issue_key()}
    with (
        httpx.Client(base_url=api_url(), headers=headers, trust_env=False, timeout=60) as http,
        serve(SITE_PORT) as site,
    ):
        with _changed_file(COMMON):
            run_stack("deploy")
            first = _timed(lambda: http.get("/api/v1/jobs").raise_for_status())
            yield "first request after a change of code", first
        run_stack("deploy")
        yield f"warm `GET /health`, {REQUESTS} requests", _requests(lambda: http.get("/health"))
        crawls = [_crawl(http, f"{site}orb-webs?run={n}") for n in range(CRAWLS)]
        yield (
            f"crawl to searchable, page of 6 chunks, {CRAWLS} crawls, first left out",
            spread(crawls[1:]),
        )
        search = {"query": "sticky capture spiral"}
        yield (
            f"warm `POST /api/v1/search`, {REQUESTS} requests",
            _requests(lambda: http.post("/api/v1/search", json=search)),
        )
        for path, body in _one_of_each_area(site).items():
            http.post(path, json=body).raise_for_status()
        yield from ((f"{name}, just after", value) for name, value in _memory(instance))
        time.sleep(IDLE_SECONDS)
    yield from ((f"{name}, idle", value) for name, value in _memory(instance))
    yield from _with_data(headers)
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    yield "load of the machine (1, 5, 15 minutes)", load


def _with_data(headers: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Time the commands that keep data, and check that they keep it."""
    with httpx.Client(base_url=api_url(), headers=headers, trust_env=False, timeout=60) as http:
        last = _store_documents(http)
        held = f"with {DOCUMENTS:,} documents"
        yield "`make down`", _timed(lambda: run_stack("down"))
        up = _timed(lambda: run_stack("deploy"))
        yield f"`make up` after `make down`, {held} (goal 40 s)", up
        yield "first request after it", _timed(lambda: http.get(last).raise_for_status())
        # A time-out is a property of a function, so the deployment creates a new stack.
        with _changed_file(TEMPLATE, "\n      Timeout: 180\n", "\n      Timeout: 181\n"):
            change = _timed(lambda: run_stack("deploy"))
        yield f"change of the template, {held} (goal 60 s)", change
        first = _timed(lambda: http.get(last).raise_for_status())
        yield "first request after it (goal 3 s)", first


def _store_documents(http: httpx.Client) -> str:
    """Store documents, wait for all, and return the path of one."""
    paths = []
    for number in range(DOCUMENTS):
        body = {"title": f"Web {number}", "content": f"Orb web {number} has sticky spirals."}
        answer = http.post("/api/v1/documents", json=body).raise_for_status().json()
        paths.append(f"/api/v1/documents/{answer['document_id']}")
    deadline = time.perf_counter() + 2 * DOCUMENTS
    for path in paths:
        while http.get(path).status_code != httpx.codes.OK:
            if time.perf_counter() > deadline:
                raise SystemExit(f"{path} isn't stored")
            time.sleep(0.2)
    return paths[-1]


def _one_of_each_area(site: str) -> dict[str, Any]:
    """Return a request to each area that the other figures don't cover."""
    return {
        "/audits": {"url": site},
        "/v1/targets": {"url": site, "name": "bench"},
        "/api/v1/webhooks": {"name": "bench", "url": f"{site}hook"},
        "/api/products": {
            "title": "Wool coat",
            "description": "Worn twice.",
            "price": 8900,
            "currency": "EUR",
            "quantity": 1,
            "images": ["https://images.example/coat.jpg"],
            "attributes": {"brand": "barbour", "color": "navy"},
        },
    }


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
    # A completed page is searchable: its write to the index waits for the refresh.
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
    """Return the proportional set sizes by part; a shared page counts once."""
    record = instance.read()
    assert record is not None  # it's running
    sizes: dict[str, list[int]] = defaultdict(list)
    for part in sorted(record.alive()):
        for process in instance.processes(part):
            sizes[_kind(part, process)].append(proportional_bytes(process))
    total = sum(sum(each) for each in sizes.values())
    return [
        *(
            (f"memory of {name}, {len(each)} processes", f"{sum(each) / 1e6:.0f} MB")
            for name, each in sizes.items()
        ),
        ("memory of the whole stack (goal idle 1,900 MB)", f"{total / 1e6:.0f} MB"),
    ]


def _kind(part: str, process: ProcessId) -> str:
    try:
        command = Path(f"/proc/{process.pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):  # the process has ended
        return part
    known = {b"runtime_entry.py": "functions", b"DynamoDBLocal": "dynamodb", b"guard": "the guard"}
    return next((name for mark, name in known.items() if mark in command), part)


def _code_change(file: Path) -> str:
    """Time a deployment after a change of the file; then deploy the original file again."""
    with _changed_file(file):
        time_of_change = _timed(lambda: run_stack("deploy"))
    run_stack("deploy")
    return time_of_change


@contextmanager
def _changed_file(file: Path, old: str = "", new: str = "\n# changed\n") -> Iterator[None]:
    """Replace a text of the file once, or append one; restore the file after the block."""
    former = file.read_text()
    if old not in former:
        raise SystemExit(f"{file} doesn't contain {old!r}")
    file.write_text(former.replace(old, new, 1) if old else former + new)
    try:
        yield
    finally:
        file.write_text(former)


def _set(level: str) -> None:
    run_stack("set", f"LogLevel={level}")


def _first_up() -> str:
    with tempfile.TemporaryDirectory() as folder:
        try:
            return _timed(lambda: run_stack("up", "--free-ports", SPINNERET_LOCAL=folder))
        finally:
            run_stack("down", SPINNERET_LOCAL=folder)


def _timed(call: Callable[[], Any]) -> str:
    begin = time.perf_counter()
    call()
    seconds = time.perf_counter() - begin
    return f"{seconds:.1f} s (load {os.getloadavg()[0]:.0f})"


if __name__ == "__main__":
    main()
