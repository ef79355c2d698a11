"""What the product adds to a search of OpenSearch: 100,000 chunks with synthetic vectors.

    python benchmarks/search_latency.py [--chunks 100000] [--searches 200]

Starts an instance of the local stack and fills the product's own index by its own adapter. Texts
are drawn from 20,000 words as often as words are (Zipf), vectors are random. Each search runs in
this process, first as the bare `_msearch` of both legs, then by SearchService with rows on the
instance's DynamoDB, whose time is shown apart: it is the emulator's.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import resource
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

import boto3
from instance import endpoints, run_stack

from spinneret.aws.opensearch import opensearch_client
from spinneret.content.caches.dynamo import DynamoCacheStore
from spinneret.content.caches.service import Caches
from spinneret.content.chunking.models import ChunkType, TokenSpan
from spinneret.content.documents.dynamo import DynamoDocumentStore
from spinneret.content.documents.models import (
    Document,
    DocumentSource,
    EmbedderInfo,
    IndexedChunk,
    Labels,
)
from spinneret.content.documents.signatures import signature
from spinneret.content.extraction.models import Metadata
from spinneret.content.search.models import BOTH, Filters, Leg, Query, Wanted, Words
from spinneret.content.search.opensearch import OpenSearchChunkIndex
from spinneret.content.search.service import SearchService
from spinneret.kernel import bounds
from spinneret.kernel.clock import stamp
from tests.tables import create_tables, delete_tables

TENANT: Final = "bench"
DIMENSION: Final = 384
CHUNKS_PER_DOCUMENT: Final = 10
WORDS: Final = 20_000
NOW: Final = datetime.now(UTC)


@dataclass
class Vectors:
    """An embedder of random vectors: a text's own, always the same."""

    model_id: str

    def info(self, _remaining: Any) -> EmbedderInfo:
        return EmbedderInfo(
            model_id=self.model_id, dimension=DIMENSION, max_input_tokens=512, max_batch=32
        )

    def tokenize(self, _text: str, _remaining: Any) -> list[TokenSpan]:
        return []

    def embed(self, texts: Sequence[str], _remaining: Any) -> list[tuple[float, ...]]:
        return [vector(random.Random(text)) for text in texts]


def vector(source: random.Random) -> tuple[float, ...]:
    values = [source.gauss(0, 1) for _ in range(DIMENSION)]
    norm = math.hypot(*values)
    return tuple(value / norm for value in values)


def text_of(source: random.Random, words: int) -> str:
    """Words by Zipf's law."""
    return " ".join(f"w{int(WORDS ** source.random())}" for _ in range(words))


def plenty() -> float:
    return 120.0


def filled(index: OpenSearchChunkIndex, documents: DynamoDocumentStore, count: int) -> None:
    source = random.Random(7)
    batch: list[IndexedChunk] = []
    for number in range(count // CHUNKS_PER_DOCUMENT):
        identity, version = f"doc_{number:06}", "000001-bench"
        for place in range(CHUNKS_PER_DOCUMENT):
            text = text_of(source, 120)
            batch.append(
                IndexedChunk(
                    tenant=TENANT,
                    document_id=identity,
                    version=version,
                    index=place,
                    text=text,
                    section=None,
                    type=ChunkType.PROSE,
                    start=0,
                    end=len(text),
                    token_count=120,
                    url=f"https://bench.example/{number}",
                    domain="bench.example",
                    source=DocumentSource.CRAWL,
                    language="en",
                    model="bench",
                    signature=signature(text),
                    changed_at=stamp(NOW),
                    labels=Labels(title=None, collection_id=None, tag_ids=(), deleted=False),
                    vector=vector(source),
                )
            )
        documents.commit(_document(identity, version), None)
        if len(batch) >= 1000:
            index.write(batch, plenty)
            batch = []
    if batch:
        index.write(batch, plenty)


def _document(identity: str, version: str) -> Document:
    return Document(
        tenant=TENANT,
        id=identity,
        url=f"https://bench.example/{identity}",
        domain="bench.example",
        title=None,
        language="en",
        metadata=Metadata(),
        content_hash="0" * 64,
        content_key=identity,
        sequence=1,
        version=version,
        chunk_count=CHUNKS_PER_DOCUMENT,
        token_count=0,
        embedding_model="bench",
        job_id="",
        created_at=NOW,
        crawled_at=NOW,
        changed_at=NOW,
        updated_at=NOW,
    )


def spread(name: str, times: Sequence[float]) -> str:
    ordered = sorted(times)
    p95 = ordered[int(len(ordered) * 0.95)]
    return f"| {name} | {statistics.median(ordered):.1f} | {p95:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--running", action="store_true", help="the instance runs already")
    given = parser.parse_args()
    if not given.running:
        run_stack("up", "--free-ports")
    where = endpoints()
    dynamodb = boto3.resource(
        "dynamodb",
        endpoint_url=where["gateway"],
        region_name="us-east-1",
        aws_access_key_id="000000000000",
        aws_secret_access_key="local",
    ).meta.client
    names = create_tables(dynamodb)
    embedder = Vectors(f"latency-{uuid4().hex[:8]}")
    client = opensearch_client(where["opensearch"], "none", 60)
    index = OpenSearchChunkIndex(client, embedder, lambda: datetime.now(UTC))
    documents = DynamoDocumentStore(dynamodb, names["Documents"], names["Jobs"])
    try:
        started = time.monotonic()
        filled(index, documents, given.chunks)
        client.indices.forcemerge(index="chunks-*-read", max_num_segments=1, request_timeout=600)
        print(f"{given.chunks} chunks in {time.monotonic() - started:.0f} s", flush=True)
        measure(index, embedder, documents, DynamoCacheStore(dynamodb, names["Caches"]), given)
    finally:
        client.indices.delete(index="chunks-latency-*")
        delete_tables(dynamodb, names)
        if not given.running:
            run_stack("clean")


def measure(
    index: OpenSearchChunkIndex,
    embedder: Vectors,
    documents: DynamoDocumentStore,
    store: DynamoCacheStore,
    given: argparse.Namespace,
) -> None:
    source = random.Random(11)
    queries = [text_of(source, 4) for _ in range(given.searches)]
    numbers = itertools.count()
    service = SearchService(
        embedder=embedder,
        index=index,
        documents=documents,
        caches=Caches(store, lambda: datetime.now(UTC)),
        new_id=lambda prefix: f"{prefix}_{next(numbers)}",
    )
    raw: list[float] = []
    product: list[float] = []
    tables: list[float] = []
    cached: list[float] = []
    for query in queries:
        asked = Wanted(
            tenant=TENANT,
            words=Words.of(query),
            vector=embedder.embed([query], plenty)[0],
            legs=BOTH,
            filters=Filters(),
        )
        begun = time.perf_counter()
        legs = index.search(asked, bounds.SEARCH_WINDOW, plenty)
        raw.append((time.perf_counter() - begun) * 1000)
        assert legs[Leg.VECTOR]
        begun = time.perf_counter()
        found = service.search(Query(tenant=TENANT, text=query), plenty)
        product.append((time.perf_counter() - begun) * 1000)
        taken = found.timings
        # The lock is taken and freed outside the steps: it is counted as the product's own.
        tables.append(sum(taken.get(step, 0) for step in ("generation", "cache", "versions")))
        assert not found.result_cached
        begun = time.perf_counter()
        again = service.search(Query(tenant=TENANT, text=query), plenty)
        cached.append((time.perf_counter() - begun) * 1000)
        assert again.result_cached
    own = [all_of - part for all_of, part in zip(product, tables, strict=True)]
    print("| ms | p50 | p95 |\n|---|---|---|")
    print(spread("both legs, one `_msearch`", raw))
    print(spread("the product", product))
    print(spread("… of it, DynamoDB of the emulator", tables))
    print(spread("… without it", own))
    print(spread("the product, from its cache", cached))
    ratio = statistics.median(own) / statistics.median(raw)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"\nratio of medians without DynamoDB: {ratio:.2f}; memory of this process {memory} MB")


if __name__ == "__main__":
    main()
