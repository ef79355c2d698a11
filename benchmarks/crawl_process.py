"""Crawl application in this process, with its own tables, queues and buckets.

The application is wired from an environment, as in a deployment. Only the client that would start
an execution is replaced, because this process itself runs the steps of the state machine.
"""

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, cast
from uuid import uuid4

import boto3

from benchmarks.prices import Spending
from spinneret.aws.stage import Stage
from spinneret.content import wiring as content_wiring
from spinneret.content import worker_wiring as content_worker_wiring
from spinneret.content.documents import service as documents
from spinneret.crawl import limits, worker_wiring
from spinneret.crawl import wiring as crawl_wiring
from spinneret.crawl.deep.models import DeepCrawlRequest
from spinneret.crawl.models import BatchRequest
from spinneret.crawl.wiring import crawl_api
from spinneret.jobs import limits as jobs_limits
from spinneret.jobs.kinds import all_lanes
from spinneret.jobs.sqs import ref_of
from spinneret.jobs.worker import Worker
from tests.tables import create_tables

TENANT: Final = "bench"
MEMORY_GB: Final = 1.0  # memory of the crawl functions
SECONDS: Final = 60.0  # remaining time that each invocation reports
STEPS: Final = ("fetch", "extract", "chunk", "embed", "index", "store", "job")
"""Steps of a crawl; `job` is everything else: claims, events, queue, frontier."""


class Shares:
    """Seconds by step; the time of a nested step counts only for the nested step."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._inner: list[float] = []

    @contextmanager
    def of(self, step: str) -> Iterator[None]:
        """Add the seconds of the block to a step."""
        start = time.perf_counter()
        self._inner.append(0.0)
        try:
            yield
        finally:
            spent = time.perf_counter() - start
            self.seconds[step] += spent - self._inner.pop()
            if self._inner:
                self._inner[-1] += spent

    def timed(
        self, step: str, made: Callable[..., Any], others: Mapping[str, str] | None = None
    ) -> Callable[..., Any]:
        """Wrap a factory, so that all methods of its objects are measured as `step`.

        `others` maps the names of methods to other steps.
        """
        return lambda *args, **named: Timed(made(*args, **named), self, step, others or {})


class Timed:
    """Proxy of an object; measures its methods."""

    def __init__(self, inner: Any, shares: Shares, step: str, others: Mapping[str, str]) -> None:
        self._others = others
        self._inner = inner
        self._shares = shares
        self._step = step

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found):
            return found

        def call(*args: Any, **named: Any) -> Any:
            with self._shares.of(self._others.get(name, self._step)):
                return found(*args, **named)

        return call


class NoIndex:
    """Implements ChunkWriter; stores nothing."""

    def targets(self, _remaining: Any) -> frozenset[str]:
        """Return one target."""
        return frozenset({"none"})

    def write(self, _chunks: Any, _remaining: Any, _into: Any = None) -> frozenset[str]:
        """Discard the chunks."""
        return frozenset({"none"})

    def relabel(self, _document: Any, _remaining: Any) -> None:
        """Do nothing: no chunk is stored."""

    def remove_others(self, _document: Any, _remaining: Any, **_: Any) -> None:
        """Do nothing: no chunk is stored."""


class _Executions:
    """Fake of the client of Step Functions."""

    def __init__(self) -> None:
        self.started: list[dict[str, Any]] = []

    def start_execution(self, *, input: str, **_: Any) -> None:  # noqa: A002 (boto3's own name)
        """Store the input of the execution, its first state."""
        self.started.append(json.loads(input))


def environment(
    site_port: int, *, embedder_url: str, opensearch_url: str | None = None
) -> dict[str, str]:
    """Create the functions' resources at AWS_ENDPOINT_URL; return the functions' environment."""
    suffix = uuid4().hex[:8]
    tables = create_tables(boto3.resource("dynamodb").meta.client)
    buckets = {name: f"bench-{name}-{suffix}" for name in ("content", "inbox")}
    for bucket in buckets.values():
        boto3.client("s3").create_bucket(Bucket=bucket)
    sqs, lanes_url = boto3.client("sqs"), ""
    for lane in all_lanes():
        url = sqs.create_queue(QueueName=f"bench-{suffix}-{lane}")["QueueUrl"]
        lanes_url = url.removesuffix(lane)
    boto3.client("events").create_event_bus(Name=f"bench-{suffix}")
    key = boto3.client("kms").create_key()["KeyMetadata"]["KeyId"]
    return {
        **{f"{name.upper()}_TABLE": table for name, table in tables.items()},
        "LABELS_TABLE": tables["TagsAndCollections"],
        "PLANS_TABLE": tables["CrawlDefinitions"],
        "CONTENT_BUCKET": buckets["content"],
        "INBOX_BUCKET": buckets["inbox"],
        "LANES_URL": lanes_url,
        "EVENT_BUS": f"bench-{suffix}",
        "SECRETS_KEY_ID": key,
        "WEBSOCKET_URL": "http://127.0.0.1:9",
        "OPENSEARCH_URL": opensearch_url or "",
        "OPENSEARCH_AUTH": "none",
        "EMBEDDER_URL": embedder_url,
        "USER_AGENT": "Spinneret-Benchmark/1 (+https://example.com/bot)",
        "BROWSER_FOLDER": "none",
        "FETCH_ALLOWED_ENDPOINTS": f"127.0.0.1:{site_port}",
        "RATE_LIMIT__DEFAULT_RPS": "1000",
        "DOMAIN_BURST": "1000",
        "DEEP_CRAWL_MACHINE": "bench",
    }


class Application:
    """Crawl application that submits jobs and runs them, one at a time in one process."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """Wire the application; without an OPENSEARCH_URL it indexes no chunks."""
        self.shares = Shares()
        self.transitions = 0
        self.messages = 0
        self.invocations = 0
        self.seconds = 0.0
        """Seconds of all invocations."""
        self._poller = boto3.client("sqs")  # Lambda's polls aren't counted
        boto3.setup_default_session()
        events = boto3.DEFAULT_SESSION.events  # type: ignore[union-attr]  # made above
        self.spending = Spending(events)
        indexed = bool(env["OPENSEARCH_URL"])
        self._executions = _Executions()
        self._lane = env["LANES_URL"] + "crawl-normal"
        os.environ.update(env)
        self._measure(indexed=indexed)
        # moto is ten times slower than DynamoDB: work every few seconds must not count for a page.
        bounds: Any = limits
        bounds.CLAIM_CHECK_SECONDS, bounds.DEEP_CRAWL_RENEW_SECONDS = 250.0, 250.0
        cast("Any", jobs_limits).PARENT_KNOWN_SECONDS = 250.0
        self._api = crawl_api.of(env)
        self._worker = self._crawl_worker(env)
        step = worker_wiring.deep_crawl_step.of(env)
        step.blocks.at_once = 1  # parallel work can't be divided into steps
        self._step = step

    def _crawl_worker(self, env: Mapping[str, str]) -> Worker:
        stage = Stage(env, worker_wiring.crawl_worker.reads)
        cast("Any", stage).step_functions = self._executions
        return worker_wiring.crawl_worker(stage)

    def _measure(self, *, indexed: bool) -> None:
        """Wrap the parts of the pipeline, so that their calls are measured."""
        of = self.shares.timed
        wiring = cast("Any", worker_wiring)
        wiring.polite_fetcher = of("fetch", wiring.polite_fetcher)
        wiring.embedder = of("embed", wiring.embedder, {"tokenize": "chunk"})
        index = wiring.written_index if indexed else lambda *_: NoIndex()
        wiring.written_index = of("index", index)
        writing = cast("Any", content_worker_wiring)
        writing.CachedVectors = of("embed", writing.CachedVectors)
        for module, name in (
            (worker_wiring, "S3FetchCache"),
            (crawl_wiring, "S3PartStore"),
            (content_wiring, "S3ContentStore"),
            (content_wiring, "DynamoDocumentStore"),
        ):
            setattr(module, name, of("store", getattr(module, name)))
        extract = wiring.extract
        wiring.extract = lambda *args, **named: self._extracted(extract, args, named)
        cast("Any", documents).ChunkMaker = self._chunks(documents.ChunkMaker)

    def _extracted(
        self, extract: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]
    ) -> Any:
        with self.shares.of("extract"):
            return extract(*args, **named)

    def _chunks(self, maker: type[Any]) -> type[Any]:
        shares = self.shares

        class Measured(maker):  # type: ignore[misc]  # the base is a parameter
            def cut(self, *args: Any) -> Any:
                """Cut a text as step `chunk`; the embedder counts its tokens."""
                with shares.of("chunk"):
                    return super().cut(*args)

        return Measured

    def batch(self, urls: list[str]) -> None:
        """Crawl the URLs as batches, until their jobs have ended."""
        for start in range(0, len(urls), limits.URLS_PER_BATCH):
            request = BatchRequest(urls=tuple(urls[start : start + limits.URLS_PER_BATCH]))
            answer = self._api.crawl.submit_batch(TENANT, request, None).reply.body
            self._work_off()
            batch = self._api.crawl.get(TENANT, answer["batch_id"])
            assert batch.status == "completed", batch
            assert batch.completed_count == len(request.urls), batch  # type: ignore[union-attr]

    def deep(self, url: str, pages: int) -> None:
        """Run a deep crawl of `pages` pages until it has completed."""
        request = DeepCrawlRequest(url=url, max_depth=10, max_pages=pages)
        answer = self._api.deep.submit(TENANT, request, None).reply.body
        self._work_off()
        while self._executions.started:
            self._execute(self._executions.started.pop())
        view = self._api.deep.get(TENANT, answer["job_id"])
        assert view is not None
        assert (view.status, view.pages_crawled) == ("completed", pages), view

    def _work_off(self) -> None:
        """Receive, run and delete messages as Lambda's poller does, until the lane is empty."""
        while True:
            answer = self._poller.receive_message(
                QueueUrl=self._lane, MaxNumberOfMessages=10, WaitTimeSeconds=0
            )
            messages = answer.get("Messages", [])
            if not messages:
                return
            for message in messages:
                self.messages += 1
                with self._invocation():
                    self._worker.run(ref_of(message["Body"]), lambda: SECONDS)
                self._poller.delete_message(
                    QueueUrl=self._lane, ReceiptHandle=message["ReceiptHandle"]
                )

    @contextmanager
    def _invocation(self) -> Iterator[None]:
        self.invocations += 1
        begin = time.perf_counter()
        yield
        self.seconds += time.perf_counter() - begin

    def _execute(self, state: dict[str, Any]) -> None:
        """Run the state machine, and count the states that it enters as transitions."""
        action = "more"
        while action != "stop":
            with self._invocation():
                state = self._step(state, lambda: SECONDS)
            action = state["action"]
            self.transitions += 2 if action == "more" else 3  # Crawl, Choose; Wait or Stop

    def figures(self) -> Counter[str]:
        """Return the totals so far: seconds of each step, calls, units, transitions."""
        asked, found = self.spending, Counter[str]()
        found.update({step: self.shares.seconds[step] for step in STEPS})  # type: ignore[arg-type]
        found.update(asked.calls)
        found.update(
            {  # type: ignore[arg-type]  # seconds and units have fractions
                "DynamoDB write units": asked.writes,
                "DynamoDB read units": asked.reads,
                "S3 writes": asked.of("s3", "PutObject"),
                "S3 reads": asked.of("s3", "GetObject", "HeadObject"),
                "SQS requests": asked.of("sqs") + 2 * self.messages,
                "state transitions": self.transitions,
                "bus events": asked.of("events"),
                "invocations": self.invocations,
                "Lambda seconds": self.seconds,
            }
        )
        return found
