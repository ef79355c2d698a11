"""Measure crawls: pages per second, the share of each step, calls, dollars.

    .venv/bin/python benchmarks/crawl.py [part …]    on a new instance of the local stack
    .venv/bin/python benchmarks/crawl.py --moto      only calls and prices, without a stack

* deployed: a batch and a deep crawl of a generated website, through API, lanes and state machine.
* by step: the same crawls by the application in this process, one page after the other, on the
  instance's DynamoDB, S3, SQS and OpenSearch: seconds, calls, and the price of 1,000 pages on AWS.
* documentation: 300 pages of Debian's python3.11-doc, deployed (benchmarks/crawl_documentation.py).

benchmarks/crawl_memory.py measures the memory of the worker's process.
"""

import argparse
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, cast

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(REPOSITORY / each) for each in ("layers/common", "infra/local", ".")]

import httpx
from botocore.config import Config
from moto import mock_aws

from benchmarks.crawl_documentation import crawl_documentation
from benchmarks.crawl_process import MEMORY_GB, STEPS, Application, environment
from benchmarks.crawl_servers import generated, moto_bridge, quick_embedder
from benchmarks.instance import (
    SITE_PORT,
    api_url,
    endpoints,
    issue_key,
    run_stack,
)
from benchmarks.prices import (
    BUS_EVENT,
    GIGABYTE_SECOND,
    INVOCATION,
    MESSAGE,
    READ,
    S3_READ,
    S3_WRITE,
    TRANSITION,
    WRITE,
)
from spinneret.aws import clients

PAGES: Final = 100
COUNTED: Final = 20
SECONDS: Final = 240.0
LOCAL: Final = {
    "AWS_ACCESS_KEY_ID": "000000000000",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_DEFAULT_REGION": "us-east-1",
}
FAST: Final = {"SPINNERET_RATE_LIMIT__DEFAULT_RPS": "200", "SPINNERET_DOMAIN_BURST": "200"}
"""Higher rate limits: the default of one request per second would dominate the measurement."""


def main() -> None:
    """Measure and print Markdown tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("parts", nargs="*", help=f"on the stack: {', '.join(PARTS)}")
    parser.add_argument("--moto", action="store_true", help="calls alone, without a stack")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    logging.disable(logging.CRITICAL)
    os.environ.update(LOCAL)
    if chosen.child:
        child(json.loads(chosen.child))
    elif chosen.moto:
        over_moto()
    else:
        on_the_stack(chosen.parts or list(PARTS))


# ------------------------------------------------------------ The stack


def on_the_stack(parts: list[str]) -> None:
    """Start and deploy an instance of the local stack, and run these parts in this order."""
    try:
        run_stack("up", "--free-ports")
        run_stack("deploy", **FAST)
        key = issue_key()
        headers = {"X-API-Key": key}
        with httpx.Client(
            base_url=api_url(), headers=headers, trust_env=False, timeout=60
        ) as client:
            for part in parts:
                PARTS[part](client)
    finally:
        run_stack("clean")


def deployed(client: httpx.Client) -> None:
    """Measure a batch and a deep crawl through the API."""
    print(f"| deployed, {PAGES} pages | seconds | pages/s |\n|---|---|---|")
    with generated(SITE_PORT, 2 * PAGES) as site:
        warm = [f"{site}/page/{n}" for n in range(1, 9)]
        _finished(client, "batch", {"urls": warm, "force": True})
        urls = [f"{site}/page/{n}" for n in range(PAGES, 2 * PAGES)]
        begin = time.perf_counter()
        _finished(client, "batch", {"urls": urls})
        _rate("a batch", time.perf_counter() - begin)
    with generated(SITE_PORT, PAGES) as site:
        begin = time.perf_counter()
        body = {"url": f"{site}/", "max_depth": 10, "max_pages": PAGES, "force": True}
        ended = _finished(client, "deep", body)
        assert ended["pages_crawled"] == PAGES, ended
        _rate("a deep crawl", time.perf_counter() - begin)


def _rate(name: str, seconds: float) -> None:
    print(f"| {name} | {seconds:.1f} | {PAGES / seconds:.2f} |", flush=True)


def _finished(client: httpx.Client, what: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = client.post(f"/api/v1/crawl/{what}", json=body).raise_for_status().json()
    job_id = answer.get("batch_id") or answer["job_id"]
    deadline = time.monotonic() + SECONDS
    while True:
        job: dict[str, Any] = client.get(f"/api/v1/crawl/{job_id}").raise_for_status().json()
        if job["status"] == "completed":
            return job
        if job["status"] in {"failed", "cancelled"} or time.monotonic() > deadline:
            raise SystemExit(f"{what}: {job}")
        time.sleep(0.2)


# ------------------------------------------------------------ This process


def by_step(_client: httpx.Client) -> None:
    """Print seconds, calls and dollars of both ways to crawl, on the instance's services."""
    found = endpoints()
    os.environ["AWS_ENDPOINT_URL"] = found["gateway"]
    with generated(0, 2 * COUNTED + 1) as site:
        port = int(site.rpartition(":")[2])
        env = environment(port, embedder_url=found["embedder"], opensearch_url=found["opensearch"])
        both_ways(site, env)
    os.environ.pop("AWS_ENDPOINT_URL")


def over_moto() -> None:
    """Print exact calls, and units from the sizes of items, without a stack."""
    with _moto(2 * COUNTED + 1) as given:
        subprocess.run([sys.executable, __file__, "--child", json.dumps(given)], check=True)


def both_ways(site: str, env: dict[str, str]) -> None:
    """Measure a batch and a deep crawl, and print their figures."""
    app = Application(env)
    app.batch([f"{site}/page/{2 * COUNTED}"])  # creates the index
    urls = [f"{site}/page/{n}" for n in range(COUNTED, 2 * COUNTED)]
    rows = {"batch": _measured(app, lambda: app.batch(urls))}
    rows["deep crawl"] = _measured(app, lambda: app.deep(f"{site}/", COUNTED))
    if env["OPENSEARCH_URL"]:
        _print_steps(rows)
    _print_calls(rows)


def _measured(app: Application, crawl: Any) -> dict[str, float]:
    """Run a crawl, and return its figures per page by name; they include the work of the crawl."""
    before, begin = app.figures(), time.perf_counter()
    crawl()
    seconds = time.perf_counter() - begin
    after = app.figures()
    each = {name: (after[name] - before[name]) / COUNTED for name in after}
    each["seconds"] = seconds / COUNTED
    each["job"] = each["seconds"] - sum(each[step] for step in STEPS if step != "job")
    return each


def _print_steps(rows: dict[str, dict[str, float]]) -> None:
    columns = " | ".join(rows)
    print(f"\n| a page, one after the other | {columns} |\n|---|{'---|' * len(rows)}")
    for step in STEPS:
        shares = (f"{r[step] * 1000:.0f} ms, {r[step] / r['seconds']:.0%}" for r in rows.values())
        print(f"| {step} | {' | '.join(shares)} |")
    wholes = (f"{row['seconds'] * 1000:.0f} ms" for row in rows.values())
    print(f"| together | {' | '.join(wholes)} |")


def _print_calls(rows: dict[str, dict[str, float]]) -> None:
    columns = " | ".join(rows)
    print(f"\n| calls and dollars for 1,000 pages | {columns} |\n|---|{'---|' * len(rows)}")
    totals = dict.fromkeys(rows, 0.0)
    for name, price in PRICES.items():
        cells = []
        for way, row in rows.items():
            amount = 1000 * row[name]
            totals[way] += amount * price
            cells.append(f"{amount:,.0f}, {amount * price:.4f} $")
        print(f"| {name} | {' | '.join(cells)} |")
    print(f"| together | {' | '.join(f'{dollars:.3f} $' for dollars in totals.values())} |")
    calls = sorted({name for row in rows.values() for name in row if "." in name})
    for name in calls:
        print(f"| {name} | {' | '.join(f'{1000 * r.get(name, 0):,.0f}' for r in rows.values())} |")
    sys.stdout.flush()


PRICES: Final = {
    "DynamoDB write units": WRITE,
    "DynamoDB read units": READ,
    "S3 writes": S3_WRITE,
    "S3 reads": S3_READ,
    "SQS requests": MESSAGE,
    "state transitions": TRANSITION,
    "bus events": BUS_EVENT,
    "invocations": INVOCATION,
    "Lambda seconds": MEMORY_GB * GIGABYTE_SECOND,
}


@contextmanager
def _moto(pages: int) -> Iterator[dict[str, Any]]:
    """Yield the settings of a child process: AWS in this process, a website, an environment."""
    os.environ["AWS_DEFAULT_REGION"] = "us-east-1"
    with (
        mock_aws(),
        moto_bridge() as aws,
        quick_embedder() as model,
        generated(0, pages) as site,
    ):
        env = environment(int(site.rpartition(":")[2]), embedder_url=model)
        yield {"site": site, "endpoint": aws, "env": env}


def child(given: dict[str, Any]) -> None:
    """Measure both ways to crawl in a process that uses the moto of its parent."""
    os.environ["AWS_ENDPOINT_URL"] = given["endpoint"]
    patient = clients.CONFIG.merge(Config(read_timeout=60))  # moto takes longer than DynamoDB
    cast("Any", clients).CONFIG = patient
    both_ways(given["site"], given["env"])


PARTS: Final = {
    "deployed": deployed,
    "by-step": by_step,
    "documentation": crawl_documentation,
}


if __name__ == "__main__":
    main()
