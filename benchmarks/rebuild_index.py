"""Measure how fast a lost chunk index is rebuilt, and compare searches before and after.

    .venv/bin/python benchmarks/rebuild_index.py [--chunks 5000] [--running]

The benchmark deploys to an instance of the local stack, and indexes documents with the product's
own indexer, twelve at a time. Their texts consist of 20,000 random words. Their vectors lie around
the vectors of forty topics, and are already in the vector cache, as after a crawl of their pages.
The benchmark asks 24 questions twice on the quiet stack. Then it deletes the indexes, expects that
searches fail, runs `rebuild-index`, and asks the questions again. It fails if a document or a score
differs. The processor time per chunk shows the possible speed on an otherwise idle machine.
"""

import argparse
import itertools
import json
import math
import os
import random
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import boto3
import httpx
import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from benchmarks.instance import (
    api_url,
    bench,
    endpoints,
    issue_key,
    run_stack,
)
from spinneret.aws.stage import Stage
from spinneret.content.caches.service import CachedVectors
from spinneret.content.caches.wiring import chunk_caches
from spinneret.content.documents import rules
from spinneret.content.documents.chunks import ChunkMaker
from spinneret.content.documents.dynamo import DynamoDocumentStore
from spinneret.content.documents.models import Document, DocumentSource, UrlLease
from spinneret.content.documents.service import DocumentDraft, Indexer
from spinneret.content.extraction.models import Content, Metadata
from spinneret.content.search.wiring import embedder, written_index
from spinneret.content.vectors import Vector
from spinneret.content.wiring import DOCUMENTS_TABLE, content_store
from spinneret.content.worker_wiring import INDEXING
from spinneret.jobs.models import Lease
from spinneret.jobs.wiring import JOBS_TABLE
from spinneret.kernel.clock import utc_now
from stack.deployment import record

TENANT: Final = "bench"
WORDS: Final = 20_000
TOPICS: Final = 40
PARAGRAPHS: Final = 10
PARAGRAPH_WORDS: Final = 150
QUESTIONS: Final = 24
QUIET_SECONDS: Final = 10.0
SUBJECTS: Final = tuple(
    """
    spiders silk looms weaving wool cotton dye baskets willow lace bobbins rope sails felt
    leather paper ink type bread rye barley hops cider honey bees orchards pears soil compost
    rivers bridges locks tides harbours lighthouses maps compass stars clocks glass copper
    """.split()  # noqa: SIM905 - readable
)


class Unleased(DynamoDocumentStore):
    """Document store for commits without a job."""

    def commit(
        self,
        document: Document,
        replaces: Document | None,
        _lease: Lease | None = None,
        _url: UrlLease | None = None,
    ) -> None:
        super().commit(document, replaces)


def plenty() -> float:
    return 120.0


def text_of(source: random.Random, words: int) -> str:
    """Return random words, distributed by Zipf's law."""
    return " ".join(f"w{int(WORDS ** source.random())}" for _ in range(words))


def environment() -> None:
    """Set the environment variables of the deployed worker and of AWS clients for the emulator."""
    options = {
        "endpoint_url": endpoints()["gateway"],
        "region_name": "us-east-1",
        "aws_access_key_id": "000000000000",
        "aws_secret_access_key": "local",
    }
    name = record.current(bench()).resources["DocumentsWorker"]
    client: Any = boto3.client("lambda", **options)
    settings = client.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    os.environ.update(
        AWS_ENDPOINT_URL=options["endpoint_url"],
        AWS_DEFAULT_REGION=options["region_name"],
        AWS_REGION=options["region_name"],
        AWS_ACCESS_KEY_ID=options["aws_access_key_id"],
        AWS_SECRET_ACCESS_KEY=options["aws_secret_access_key"],
    )
    os.environ.update(settings)


def seeded(wanted: int) -> int:
    """Index documents until there are at least `wanted` chunks; return their number."""
    stage = Stage(os.environ, INDEXING)
    model = embedder(stage)
    known = CachedVectors(caches=chunk_caches(stage))
    indexer = Indexer(
        documents=Unleased(stage.dynamodb, stage[DOCUMENTS_TABLE], stage[JOBS_TABLE]),
        contents=content_store(stage),
        embedder=model,
        writer=written_index(stage, model),
        clock=utc_now,
        known=known,
    )
    maker = ChunkMaker(embedder=model)
    topics = [
        np.array(vector)
        for start in range(0, TOPICS, 20)
        for vector in model.embed(
            [f"About {each}." for each in SUBJECTS[start : start + 20]], plenty
        )
    ]
    model_id = model.info(plenty).model_id

    def one(number: int) -> int:
        source, noise = random.Random(number), np.random.default_rng(number)
        topic = number % TOPICS
        paragraphs = [
            f"{SUBJECTS[topic]} {text_of(source, PARAGRAPH_WORDS)}." for _ in range(PARAGRAPHS)
        ]
        markdown = "\n\n".join(paragraphs)
        vectors: dict[str, Vector] = {}
        for chunk in maker.cut(markdown, plenty):
            near = topics[topic] + 0.7 * noise.standard_normal(len(topics[topic])) / math.sqrt(
                len(topics[topic])
            )
            vectors[rules.embedded_text(chunk)] = tuple((near / np.linalg.norm(near)).tolist())
        known.find(TENANT, model_id, []).keep(vectors)
        url = f"https://bench.example/{number}"
        page = DocumentDraft(
            tenant=TENANT,
            url=url,
            url_key=url,
            domain="bench.example",
            content=Content(
                title=f"{SUBJECTS[topic]} {number}",
                markdown=markdown,
                language="en",
                metadata=Metadata(),
            ),
            source=DocumentSource.UPLOAD,
        )
        lease = Lease(tenant=TENANT, job_id="job_bench", fence=1, owner="bench")
        return indexer.index(page, lease, lambda *_: None, plenty).document.chunk_count

    made, numbers = 0, itertools.count()
    with ThreadPoolExecutor(12) as pool:
        while made < wanted:
            made += sum(pool.map(one, itertools.islice(numbers, 24)))
            print(f"\r{made} chunks", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return made


class Asking:
    """Client that searches for the questions without cached results."""

    def __init__(self) -> None:
        self._client = httpx.Client(
            base_url=api_url(),
            headers={"X-API-Key": issue_key(TENANT)},
            trust_env=False,
            timeout=60,
        )
        source = random.Random(11)
        self._questions = [f"{SUBJECTS[n % TOPICS]} {text_of(source, 3)}" for n in range(QUESTIONS)]

    def all(self) -> list[Any]:
        """Return the chunk ids and scores of each question's hits."""
        self._client.delete("/api/v1/cache/query").raise_for_status()
        return [self._one(each) for each in self._questions]

    def _one(self, question: str) -> list[Any]:
        answer = self._client.post("/api/v1/search", json={"query": question}).raise_for_status()
        body = answer.json()
        assert not body["degraded"]
        assert not body["result_cached"]
        assert body["results"]
        names = ("chunk_id", "score", "vector_score", "keyword_score")
        return [[each[name] for name in names] for each in body["results"]]

    def is_refused(self) -> bool:
        """Return whether a search fails with status 503."""
        self._client.delete("/api/v1/cache/query").raise_for_status()
        answer = self._client.post("/api/v1/search", json={"query": self._questions[0]})
        return answer.status_code == 503


def processor_seconds() -> dict[str, float]:
    """Return the processor seconds of the instance's processes by kind."""
    instance = bench()
    found: dict[str, float] = {}
    for part in json.loads((instance.folder / "run.json").read_text())["parts"]:
        for process in instance.processes(part):
            with suppress(FileNotFoundError, ProcessLookupError):
                folder = Path(f"/proc/{process.pid}")
                command = (folder / "cmdline").read_bytes()
                marks = {b"runtime_entry.py": "functions", b"DynamoDBLocal": "dynamodb"}
                kind = next((name for mark, name in marks.items() if mark in command), part)
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                ticks = int(fields[11]) + int(fields[12])
                found[kind] = found.get(kind, 0.0) + ticks / os.sysconf("SC_CLK_TCK")
    return found


def differing(one: Sequence[Any], other: Sequence[Any]) -> int:
    """Return the number of questions whose hits or scores differ."""
    return sum(a != b for a, b in zip(one, other, strict=True))


def run(chunks: int) -> int:
    environment()
    asking = Asking()
    begun = time.monotonic()
    made = seeded(chunks)
    seeding = time.monotonic() - begun
    time.sleep(QUIET_SECONDS)  # OpenSearch still merges segments after the last write
    before = asking.all()
    again = asking.all()
    with httpx.Client(base_url=endpoints()["opensearch"], trust_env=False, timeout=60) as index:
        for name in index.get("/chunks-*/_alias").raise_for_status().json():
            index.delete(f"/{name}").raise_for_status()
    refused = asking.is_refused()
    used = processor_seconds()
    begun = time.monotonic()
    print(run_stack("rebuild-index"), file=sys.stderr)
    rebuilding = time.monotonic() - begun
    spent = {name: each - used.get(name, 0.0) for name, each in processor_seconds().items()}
    after = asking.all()
    load = os.getloadavg()[0]
    print("| | chunks | s | chunks/s |\n|---|---|---|---|")
    print(f"| indexed page by page | {made} | {seeding:.0f} | {made / seeding:.0f} |")
    print(f"| `make rebuild-index` | {made} | {rebuilding:.0f} | {made / rebuilding:.0f} |")
    print("\n| processor time of a chunk's rebuild | ms |\n|---|---|")
    for name, seconds in spent.items():
        print(f"| {name} | {1000 * seconds / made:.2f} |")
    print(f"| together | {1000 * sum(spent.values()) / made:.2f} |")
    print()
    print("| questions of 24 whose documents or scores differ | |\n|---|---|")
    print(f"| asked twice | {differing(before, again)} |")
    print(f"| before and after | {differing(before, after)} |")
    print(f"\nwithout an index a search fails: {refused}; load {load:.1f}")
    return 0 if refused and before == again == after else 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=5000)
    parser.add_argument("--running", action="store_true", help="the instance runs already")
    given = parser.parse_args()
    if not given.running:
        run_stack("up", "--free-ports")
        run_stack("deploy")
    try:
        code = run(given.chunks)
    finally:
        if not given.running:
            run_stack("clean")
    raise SystemExit(code)


if __name__ == "__main__":
    main()
