"""Measure the job kernel: overhead per job, jobs per second, calls, passes, live latency.

    .venv/bin/python benchmarks/jobs.py

The benchmark starts its own instance of the local stack. All measurements but the last run the
kernel's own code in this process, with a handler that does nothing, on the instance's DynamoDB and
SQS. The live latency is measured through the deployed application while it crawls the demonstration
website.
"""

import json
import logging
import os
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import boto3
import httpx
from botocore.config import Config
from websockets.sync.client import connect

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from benchmarks.instance import (
    SITE_PORT,
    api_url,
    endpoints,
    issue_key,
    outputs,
    run_stack,
    spread,
)
from spinneret.crawl.batches import BatchHandler
from spinneret.crawl.kinds import CRAWL_BATCH
from spinneret.jobs import items, limits
from spinneret.jobs.children import Children
from spinneret.jobs.control import JobControl
from spinneret.jobs.dynamo import DynamoJobStore
from spinneret.jobs.models import Draft, Job, JobRef, JobStatus, Priority, Reply
from spinneret.jobs.parents import ParentEnds, ParentRecheck
from spinneret.jobs.publishing import PublishingJobStore
from spinneret.jobs.service import JobService
from spinneret.jobs.sqs import SqsJobQueue, ref_of
from spinneret.jobs.sweeper import Sweeper
from spinneret.jobs.worker import Worker
from spinneret.kernel.clock import parse_stamp, utc_now
from spinneret.kernel.ids import id_maker
from tests.kinds import CRAWL_NORMAL, KINDS
from tests.site.server import page_paths, serve
from tests.tables import create_tables

JOBS: Final = 200
CHILDREN: Final = 1000
CRAWLS: Final = 12
SECONDS: Final = 120.0
QUEUED: Final = 20_000
WAKING: Final = 100
_BATCH: Final = 25  # the maximum of BatchWriteItem
LANE: Final = CRAWL_NORMAL
# Writes: the job's row, its first event and its key; the claim; the row and two events of the
# outcome. A write takes two units in a transaction, and one more for every index that it changes.
LEAST: Final = "3 calls: 1 transaction of 3 writes, 1 update, 1 transaction of 3 writes"


class Kernel:
    """Job kernel with its own code and a handler that does nothing."""

    def __init__(self, session: boto3.Session, **options: Any) -> None:
        self.dynamodb: Any = session.resource("dynamodb", **options).meta.client
        self.sqs: Any = session.client("sqs", **options)
        tables = create_tables(self.dynamodb)
        self.jobs_table = tables["Jobs"]
        name = f"bench-{uuid4().hex[:8]}-{LANE}"
        self.queue_url = self.sqs.create_queue(QueueName=name)["QueueUrl"]
        queue = self.queue = SqsJobQueue(self.sqs, self.queue_url.removesuffix(LANE))
        store = self.store = DynamoJobStore(
            self.dynamodb,
            tables["Jobs"],
            tables["Idempotency"],
            tables["Events"],
            clock=utc_now,
        )
        self.control = JobControl(store=store, queue=queue, kinds=KINDS, clock=utc_now)
        self.ends = ParentEnds(store=store, clock=utc_now)
        reporting = PublishingJobStore(store)
        reporting.listen(ParentEnds(store=reporting, clock=utc_now))
        children = Children(
            store=reporting,
            queue=queue,
            kinds=KINDS,
            clock=utc_now,
            new_id=id_maker(utc_now),
            move=self.control.move,
        )
        self.done: dict[str, float] = {}
        self._rows: list[dict[str, Any]] = []
        self.service = JobService(
            store=store, queue=queue, kinds=KINDS, clock=utc_now, new_id=id_maker(utc_now)
        )
        self.worker = Worker(
            store=reporting,
            queue=queue,
            kinds=KINDS,
            handlers={"crawl": lambda _: {}, CRAWL_BATCH: BatchHandler(children)},
            clock=utc_now,
            random=random.random,
            new_owner=lambda: uuid4().hex,
        )

    def submit(self) -> str:
        """Submit one job, and return its id."""
        draft = Draft(
            kind="crawl",
            payload={"url": "https://site.example/"},
            priority=Priority.NORMAL,
            duplicate_key=uuid4().hex,
        )
        reply = self.service.submit(
            "bench", [draft], None, lambda placed: Reply(status=202, body={"id": placed[0].job.id})
        )
        return str(reply.reply.body["id"])

    def submit_batch(self, number: int) -> JobRef:
        """Submit `number` jobs as children of one parent; they exist when this returns."""
        drafts = [
            Draft(
                kind="crawl",
                payload={"url": f"https://site.example/{n}"},
                priority=Priority.NORMAL,
                duplicate_key=uuid4().hex,
            )
            for n in range(number)
        ]
        parent = Draft(kind=CRAWL_BATCH, payload={}, priority=Priority.NORMAL, duplicate_key=None)
        reply = self.service.submit_parent(
            "bench",
            parent,
            drafts,
            None,
            lambda job, _: Reply(status=202, body={"id": job.id}),
            begin=lambda ref: self.worker.run(ref, lambda: 900.0),
        )
        return JobRef(tenant="bench", job_id=str(reply.reply.body["id"]))

    def load(self, item: dict[str, Any]) -> None:
        """Write a row without the kernel, in batches of 25."""
        self._rows.append({"PutRequest": {"Item": item}})
        if len(self._rows) == _BATCH:
            self.flush()

    def flush(self) -> None:
        """Write the remaining rows."""
        rows, self._rows = self._rows, []
        while rows:
            answer = self.dynamodb.batch_write_item(RequestItems={self.jobs_table: rows})
            rows = answer["UnprocessedItems"].get(self.jobs_table, [])

    def sweep(self) -> str:
        """Run one pass of the sweeper, and return its seconds and its results as a text."""
        crawl = replace(KINDS["crawl"], lanes=dict.fromkeys(Priority, LANE))
        sweeper = Sweeper(
            store=self.store,
            queue=self.queue,
            kinds={"crawl": crawl},
            clock=utc_now,
            look_at_parent=ParentRecheck(
                store=self.store, ends=self.ends, control=self.control, clock=utc_now
            ),
        )
        begin = time.perf_counter()
        done = {name: count for name, count in asdict(sweeper.sweep()).items() if count}
        facts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in done.items())
        return f"{time.perf_counter() - begin:.1f} s: {facts}"

    def poll(self, enough: Callable[[], bool]) -> None:
        """Receive, run and delete messages as Lambda's poller does, until `enough` returns true."""
        deadline = time.monotonic() + SECONDS
        while not enough() and time.monotonic() < deadline:
            answer = self.sqs.receive_message(
                QueueUrl=self.queue_url, MaxNumberOfMessages=1, WaitTimeSeconds=1
            )
            for message in answer.get("Messages", []):
                ref = ref_of(message["Body"])
                self.worker.run(ref, lambda: 60.0)
                self.done[ref.job_id] = time.perf_counter()
                self.sqs.delete_message(
                    QueueUrl=self.queue_url, ReceiptHandle=message["ReceiptHandle"]
                )


def main() -> None:
    """Measure and print a Markdown table."""
    logging.disable(logging.CRITICAL)
    try:
        run_stack("up", "--free-ports")
        run_stack("deploy")
        os.environ.pop("AWS_ENDPOINT_URL", None)
        kernel = Kernel(
            boto3.Session(),
            endpoint_url=endpoints()["gateway"],
            region_name="us-east-1",
            aws_access_key_id="000000000000",
            aws_secret_access_key="local",
            config=Config(max_pool_connections=20, inject_host_prefix=False),
        )
        rows = [
            ("submit to done, a handler that does nothing, 1 poller", _overhead(kernel)),
            (f"jobs per second, 1 poller, {JOBS} jobs", _throughput(kernel, 1)),
            (f"jobs per second, 8 pollers, {JOBS} jobs", _throughput(kernel, 8)),
            *_batches(kernel),
            *_capacity(kernel),
            *_sweeping(kernel),
            *_live(),
        ]
    finally:
        run_stack("clean")
    print("| figure | value |\n|---|---|")
    for name, value in rows:
        print(f"| {name} | {value} |")


def _overhead(kernel: Kernel) -> str:
    times = []
    for _ in range(60):
        begin = time.perf_counter()
        job_id = kernel.submit()
        kernel.poll(lambda job_id=job_id: job_id in kernel.done)  # type: ignore[misc]  # bound now
        times.append((kernel.done[job_id] - begin) * 1000)
    return spread(times[10:])


def _throughput(kernel: Kernel, pollers: int) -> str:
    kernel.done.clear()
    for _ in range(JOBS):
        kernel.submit()
    threads = [
        threading.Thread(target=kernel.poll, args=(lambda: len(kernel.done) >= JOBS,))
        for _ in range(pollers)
    ]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return f"{JOBS / (max(kernel.done.values()) - begin):.0f}"


def _batches(kernel: Kernel) -> list[tuple[str, str]]:
    """Measure a batch and, for comparison, single submissions."""
    begin = time.perf_counter()
    for _ in range(CHILDREN):
        kernel.submit()
    singly = CHILDREN / (time.perf_counter() - begin)
    kernel.done.clear()
    _drain(kernel, CHILDREN)
    begin = time.perf_counter()
    parent = kernel.submit_batch(CHILDREN)
    together = CHILDREN / (time.perf_counter() - begin)
    kernel.done.clear()
    seconds = _drain(kernel, CHILDREN)
    job = kernel.store.get(parent)
    assert job is not None
    return [
        (f"{CHILDREN} jobs submitted one by one, jobs per second", f"{singly:.0f}"),
        (f"{CHILDREN} jobs submitted as one batch, jobs per second", f"{together:.0f}"),
        (
            f"a batch of {CHILDREN} worked off by 8 pollers, jobs per second",
            f"{CHILDREN / seconds:.0f}, the parent is {job.status.value}",
        ),
    ]


def _drain(kernel: Kernel, number: int) -> float:
    """Run `number` jobs with 8 pollers, and return the seconds."""
    threads = [
        threading.Thread(target=kernel.poll, args=(lambda: len(kernel.done) >= number,))
        for _ in range(8)
    ]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return max(kernel.done.values()) - begin


def _capacity(kernel: Kernel) -> list[tuple[str, str]]:
    calls: Counter[str] = Counter()
    units: Counter[str] = Counter()

    def ask(params: dict[str, Any], model: Any, **_: Any) -> None:
        calls[model.name] += 1
        params["ReturnConsumedCapacity"] = "TOTAL"

    def count(parsed: dict[str, Any], model: Any, **_: Any) -> None:
        consumed = parsed.get("ConsumedCapacity") or []
        for each in consumed if isinstance(consumed, list) else [consumed]:
            kind = "read" if model.name in {"GetItem", "BatchGetItem", "Query"} else "write"
            units[kind] += each["CapacityUnits"]

    events = kernel.dynamodb.meta.events
    events.register("before-parameter-build.dynamodb", ask)
    events.register("after-call.dynamodb", count)
    jobs = 20
    for _ in range(jobs):
        job_id = kernel.submit()
        kernel.poll(lambda job_id=job_id: job_id in kernel.done)  # type: ignore[misc]  # bound now
    events.unregister("before-parameter-build.dynamodb", ask)
    events.unregister("after-call.dynamodb", count)
    by_name = ", ".join(f"{count / jobs:g} {name}" for name, count in sorted(calls.items()))
    return [
        ("DynamoDB calls per job", f"{sum(calls.values()) / jobs:g}: {by_name}"),
        ("the least that a fenced job can do with", LEAST),
        (
            "capacity units per job",
            f"{units['write'] / jobs:g} write, {units['read'] / jobs:g} read",
        ),
    ]


def _sweeping(kernel: Kernel) -> list[tuple[str, str]]:
    """Measure passes over rows that are written directly, without a submission."""
    now = utc_now()
    queued = [_row(now, now - timedelta(seconds=QUEUED - n)) for n in range(QUEUED)]
    ended = [
        replace(
            _row(now, now),
            status=JobStatus.RUNNING,
            fence=1,
            locked_by="lost",
            locked_until=now,
            claimed_at=now,
        )
        for _ in range(WAKING)
    ]
    soon = now + timedelta(minutes=5)
    waits = [replace(_row(now, now), due_at=soon, sends=0) for _ in range(WAKING)]
    for job in (*queued, *ended, *waits):
        kernel.load(items.JOBS.encode(job))
    kernel.flush()
    kernel.queue.send(LANE, [job.ref for job in queued[: 2 * limits.LANE_BACKLOG_MESSAGES]])
    behind = kernel.sweep()
    while kernel.queue.backlog(LANE).waiting > limits.LANE_BACKLOG_MESSAGES:
        kernel.sqs.purge_queue(QueueUrl=kernel.queue_url)
        time.sleep(1)
    empty = kernel.sweep()
    what = f"a pass, {QUEUED:,} queued, {WAKING} ended leases, {WAKING} long waits"
    return [(f"{what}, lane with a backlog", behind), ("… and the next one, lane empty", empty)]


def _row(now: datetime, due: datetime) -> Job:
    return Job(
        tenant="bench",
        id=f"job_{uuid4().hex}",
        kind="crawl",
        status=JobStatus.PENDING,
        priority=Priority.NORMAL,
        payload={"url": "https://site.example/"},
        created_at=min(now, due),
        updated_at=min(now, due),
        due_at=due,
        expires_at=now + timedelta(days=7),
    )


def _live() -> list[tuple[str, str]]:
    key = issue_key()
    with (
        httpx.Client(
            base_url=api_url(), headers={"X-API-Key": key}, trust_env=False, timeout=60
        ) as http,
        serve(SITE_PORT) as site,
    ):
        urls = [site.rstrip("/") + path for path in page_paths()]
        over_socket = _latencies(http, urls[: CRAWLS + 1], lambda job: _socket(key, job))
        over_sse = _latencies(http, urls[: CRAWLS + 1], lambda job: _sse(http, job))
    return [
        (f"event to client over WebSocket, {len(over_socket)} events", spread(over_socket)),
        (f"event to client over SSE, {len(over_sse)} events", spread(over_sse)),
    ]


def _latencies(http: httpx.Client, urls: list[str], follow: Callable[[str], Any]) -> list[float]:
    """Return the milliseconds from each event's own time to its arrival.

    The first crawl is omitted, because it warms up the functions.
    """
    times: list[float] = []
    for number, url in enumerate(urls):
        body = {"url": url, "force": True}
        job_id = http.post("/api/v1/crawl", json=body).raise_for_status().json()["job_id"]
        with follow(job_id) as events:
            ages = list(events)
        times += ages if number else []
    return times


@contextmanager
def _socket(key: str, job_id: str) -> Iterator[Iterator[float]]:
    address = outputs()["WebSocketUrl"].replace("http://", "ws://")
    with connect(address, additional_headers={"X-API-Key": key}) as socket:
        socket.send(json.dumps({"action": "subscribe", "job_id": job_id}))

        def events() -> Iterator[float]:
            subscribed = datetime.max.replace(tzinfo=UTC)
            while True:
                message = json.loads(socket.recv(timeout=60))
                if message["type"] == "subscribed":
                    subscribed = utc_now()
                for item in message.get("items", []):
                    if parse_stamp(item["created_at"]) > subscribed:  # skips replayed events
                        yield _age(item)
                    if item["message"] in {"completed", "failed"}:
                        return

        yield events()


@contextmanager
def _sse(http: httpx.Client, job_id: str) -> Iterator[Iterator[float]]:
    def events() -> Iterator[float]:
        last, began = "", utc_now()
        while True:
            headers = {"Last-Event-ID": last} if last else {}
            answer = http.get(f"/api/v1/jobs/{job_id}/stream", headers=headers)
            if answer.status_code == 204:
                return
            for line in answer.raise_for_status().text.splitlines():
                if line.startswith("data: "):
                    item = json.loads(line[6:])
                    last = item["id"]
                    if parse_stamp(item["created_at"]) > began:
                        yield _age(item)

    yield events()


def _age(item: dict[str, Any]) -> float:
    return (utc_now() - parse_stamp(item["created_at"])).total_seconds() * 1000


if __name__ == "__main__":
    main()
