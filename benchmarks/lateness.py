"""Measure how late checks begin on the local stack: rule, ticks, queue, functions and DynamoDB.

    python benchmarks/lateness.py [--targets 100:15 1000:60] [--seconds 120] [--here]

The benchmark starts its own instance. With --here it starts none: ticks, messages, workers and
checks run in real time in one process of eight threads, over sockets. The stores are then in
memory, and the process sleeps for the time of AWS's calls (benchmarks/monitoring.py does the same
in simulated time).

Each given number of targets is imported with its interval. After a minute to settle, the checks are
measured for `--seconds`; then the targets are deleted. The targets are spread over forty loopback
addresses whose pages respond at once, so that the site's own time doesn't count. The stage permits
50 requests per second to a host.
"""

import argparse
import heapq
import os
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

import boto3
import httpx

from benchmarks.instance import (
    api_url,
    endpoints,
    issue_key,
    outputs,
    run_stack,
)
from benchmarks.monitoring import AWS_SECONDS, Handler, replace_policy
from spinneret.kernel.clock import utc_now
from spinneret.monitoring import limits
from spinneret.monitoring.checks import items
from spinneret.monitoring.checks.models import CheckResult, Outcome
from spinneret.monitoring.due.models import Planned
from spinneret.monitoring.due.rules import EVERY
from spinneret.monitoring.targets.models import Options
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.http import GuardedFetcher
from spinneret.web.fetching.models import FetchRequest
from spinneret.web.politeness.models import PaceLimits
from tests.fakes.checking import CheckWorld
from tests.fakes.time import HandClock

PORT: Final = 8487
HOSTS: Final = tuple(f"127.0.1.{number}" for number in range(1, 41))
SETTLING: Final = 60.0
TENANT: Final = "bench"


@contextmanager
def served() -> Iterator[None]:
    """Serve the page on every address until the block ends."""
    with ExitStack() as stack:
        for host in HOSTS:
            server = ThreadingHTTPServer((host, PORT), Handler)
            server.daemon_threads = True
            threading.Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
        yield


def imported(http: httpx.Client, number: int, interval: int) -> float:
    """Create `number` targets by import, and return the seconds that it took."""
    began_at, jobs = time.perf_counter(), []
    lines = [
        f"http://{HOSTS[each % len(HOSTS)]}:{PORT}/{each},{interval}" for each in range(number)
    ]
    for first in range(0, number, limits.IMPORT_LINES_MAX):
        part = lines[first : first + limits.IMPORT_LINES_MAX]
        csv = "\n".join(["url,interval_seconds", *part])
        answer = http.post("/v1/targets/import", json={"csv": csv}).raise_for_status()
        jobs.append(answer.json()["job_id"])
    for job in jobs:
        while (found := http.get(f"/api/v1/jobs/{job}").json())["finished_at"] is None:
            time.sleep(0.2)
        assert found["result"]["refused"] == 0, found["result"]["lines"][:3]
    return time.perf_counter() - began_at


def deleted(http: httpx.Client) -> None:
    """Delete all targets of the tenant."""
    while found := http.get("/v1/targets", params={"limit": 100}).json()["items"]:
        for target in found:
            http.delete(f"/v1/targets/{target['id']}").raise_for_status()


def results(table: Any, seconds: float) -> list[CheckResult]:
    """Return the stored results of checks that began within the last `seconds` seconds."""
    since = items.behind(utc_now() - timedelta(seconds=seconds))
    found: list[CheckResult] = []
    request: dict[str, Any] = {
        "FilterExpression": "begins_with(pk, :results) AND sk > :since",
        "ExpressionAttributeValues": {":results": items.partition(TENANT, ""), ":since": since},
    }
    while True:
        answer = table.scan(**request)
        found += (items.result_of(item) for item in answer["Items"] if "result" in item)
        if "LastEvaluatedKey" not in answer:
            return found
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def row(http: httpx.Client, table: Any, number: int, interval: int, seconds: float) -> None:
    """Measure one number of targets, and print its row."""
    making = imported(http, number, interval)
    time.sleep(SETTLING + seconds)
    report(number, interval, seconds, results(table, seconds), f"{number / making:.0f}")


def heading(how: str) -> None:
    """Print the number of cores, the setup, and the head of the table."""
    print(f"{os.cpu_count()} cores: {how}")
    print(
        "| targets | interval | wanted a second | checks a second | late p50 | late p95"
        " | longest | skips | answer p50 | made a second | load |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|", flush=True)


def report(number: int, interval: int, seconds: float, found: list[CheckResult], made: str) -> None:
    """Print a row."""
    outcomes = Counter(each.outcome for each in found)
    late = sorted(each.late_ms / 1000 for each in found if each.outcome is not Outcome.SKIPPED_BUSY)
    took = sorted(each.latency_ms for each in found if each.is_measured)
    wanted = number / interval
    p95 = late[int(0.95 * len(late))]
    print(
        f"| {number} | {interval} s | {wanted:.1f} | {len(late) / seconds:.1f}"
        f" | {statistics.median(late):.1f} s | {p95:.1f} s | {late[-1]:.1f} s"
        f" | {outcomes[Outcome.SKIPPED_BUSY]} | {statistics.median(took):.0f} ms"
        f" | {made} | {os.getloadavg()[0]:.1f} |",
        flush=True,
    )
    others = {str(name): count for name, count in outcomes.items() if name is not Outcome.UP}
    print(f"<!-- {len(found)} results, beside up: {others} -->", flush=True)


# ---------------------------------------------------------------- In one process


class RealClock(HandClock):
    """Clock of the real time; `advance` sleeps."""

    def __call__(self) -> datetime:
        """Return the current time."""
        return utc_now()

    def advance(self, seconds: float) -> datetime:
        """Sleep, and return the time afterwards."""
        time.sleep(seconds)
        return self()


class DelayedLane:
    """Implements CheckLane; delivers each message at its time to the first worker that is free."""

    def __init__(self) -> None:
        self._sent: list[tuple[datetime, int, Planned]] = []
        self._changed = threading.Condition()
        self._number = 0

    def send(self, planned: Sequence[Planned]) -> None:
        """Queue the planned checks for their times."""
        with self._changed:
            for each in planned:
                self._number += 1
                heapq.heappush(self._sent, (each.at, self._number, each))
            self._changed.notify_all()

    def serve(self, run: Callable[[Any, Any], object], end: float) -> None:
        """Run the messages that are due, until `end`."""
        while time.monotonic() < end:
            with self._changed:
                wait = 0.5
                if self._sent:
                    wait = min(wait, (self._sent[0][0] - utc_now()).total_seconds())
                if not self._sent or wait > 0:
                    self._changed.wait(max(0.001, wait))
                    continue
                _, _, planned = heapq.heappop(self._sent)
            run(planned.checks, lambda: 900.0)


class Slowed:
    """Fetcher that first sleeps for the time of a check's calls to AWS."""

    def __init__(self, fetcher: GuardedFetcher) -> None:
        self._fetcher = fetcher

    def fetch(self, request: FetchRequest) -> Any:
        """Sleep for the time of the calls to AWS, then fetch the page."""
        time.sleep(AWS_SECONDS)
        return self._fetcher.fetch(request)


def row_here(number: int, interval: int, seconds: float) -> None:
    """Measure one number of targets, and print its row."""
    policy = AddressPolicy(allowed=frozenset(f"{host}:{PORT}" for host in HOSTS))
    fetcher = Slowed(GuardedFetcher(policy, lambda host, _: [host], user_agent="Bench/1"))
    world = CheckWorld(RealClock(), limits=PaceLimits(rate=50, burst=50))
    replace_policy(world, policy)
    ids = []
    for each in range(number):
        url = f"http://{HOSTS[each % len(HOSTS)]}:{PORT}/{each}"
        # Created as in the service; the fake's own method searches all targets each time.
        made = world.targets.draft("acme", url, Options(interval_seconds=interval))
        world.watch.rows["acme", made.target.id] = made
        ids.append(made.target.id)
    lane: Any = DelayedLane()
    world.lane = lane
    end = time.monotonic() + SETTLING + seconds
    with ThreadPoolExecutor(limits.CHECK_CONCURRENCY) as pool:
        for _ in range(limits.CHECK_CONCURRENCY):
            pool.submit(lane.serve, world.worker(fetcher=fetcher).run, end)
        while time.monotonic() < end:
            began_at = time.monotonic()
            world.tick().run()
            time.sleep(max(0.0, min(began_at + EVERY.total_seconds(), end) - time.monotonic()))
    since = utc_now() - timedelta(seconds=seconds)
    found = [
        result
        for target_id in ids
        for result in world.watch.results(
            "acme", target_id, since=since, until=None, after=None, limit=10**6
        ).items
    ]
    report(number, interval, seconds, found, "")


def main() -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", nargs="+", default=["100:15", "1000:60"])
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--here", action="store_true", help="without the stack")
    arguments = parser.parse_args()
    asked = [tuple(map(int, each.split(":"))) for each in arguments.targets]
    if arguments.here:
        heading("one process, eight threads, stores in memory")
        with served():
            for number, interval in asked:
                row_here(number, interval, arguments.seconds)
        return
    allowed = ",".join(f"{host}:{PORT}" for host in HOSTS)
    try:
        run_stack("up", "--free-ports")
        run_stack(
            "deploy",
            SPINNERET_FETCH_ALLOWED=allowed,
            SPINNERET_RATE_LIMIT__DEFAULT_RPS="50",
            SPINNERET_DOMAIN_BURST="50",
        )
        dynamodb: Any = boto3.resource(
            "dynamodb",
            endpoint_url=endpoints()["gateway"],
            region_name="us-east-1",
            aws_access_key_id="000000000000",
            aws_secret_access_key="local",
        )
        table = dynamodb.Table(outputs()["ChecksTable"])
        headers = {"X-API-Key": issue_key(TENANT)}
        base = api_url()
        with (
            served(),
            httpx.Client(base_url=base, headers=headers, trust_env=False, timeout=60) as http,
        ):
            heading("the emulator and the functions' processes share them")
            for number, interval in asked:
                deleted(http)
                row(http, table, number, interval, arguments.seconds)
    finally:
        run_stack("clean")


if __name__ == "__main__":
    main()
