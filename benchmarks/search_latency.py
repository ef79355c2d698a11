"""Measure the time that the product adds to a search of OpenSearch with 100,000 synthetic chunks.

    python benchmarks/search_latency.py [--chunks 100000] [--searches 200] [--seconds 420]

The benchmark starts an instance of the local stack, and fills an index that the product's own
adapter created, for at most `--seconds`. Texts are drawn from 20,000 words by Zipf's law; vectors
are random. Each search runs in this process: the bare `_msearch` of both legs, SearchService with
rows on the instance's DynamoDB, and SearchService with rows in memory, which excludes the
emulator's time. For comparison, two searches run without a second round trip: one with the texts of
all candidates, and one with a second, small body of each leg for texts and highlights. Each search
runs first in turn, because the first one warms the caches of the index.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

import boto3
import numpy as np
from instance import endpoints, run_stack
from opensearchpy import OpenSearch

from spinneret.aws.opensearch import opensearch_client
from spinneret.content.caches.dynamo import DynamoCacheStore
from spinneret.content.caches.ports import CacheStore
from spinneret.content.caches.service import Caches
from spinneret.content.chunking.models import ChunkType, TokenSpan
from spinneret.content.documents.dynamo import DynamoDocumentStore
from spinneret.content.documents.items import DOCUMENTS
from spinneret.content.documents.models import (
    Document,
    DocumentSource,
    EmbedderInfo,
    IndexedChunk,
    IndexedMetadata,
)
from spinneret.content.documents.ports import DocumentStore
from spinneret.content.documents.signatures import signature
from spinneret.content.extraction.models import Metadata
from spinneret.content.search import limits
from spinneret.content.search import opensearch_queries as bodies
from spinneret.content.search.models import BOTH, Filters, IndexQuery, Leg, ParsedQuery, Query
from spinneret.content.search.opensearch import OpenSearchChunkIndex
from spinneret.content.search.opensearch_mapping import names_of, source_of
from spinneret.content.search.service import SearchResult, SearchService
from spinneret.kernel.clock import to_iso, utc_now
from spinneret.kernel.ids import id_maker
from tests.fakes.caches import FakeCacheStore
from tests.fakes.documents import FakeDocumentStore
from tests.fakes.jobs import FakeJobStore
from tests.tables import create_tables, delete_tables

TENANT: Final = "bench"
DIMENSION: Final = 384
CHUNKS_PER_DOCUMENT: Final = 10
WORDS: Final = 20_000
NOW: Final = datetime.now(UTC)
VERSION: Final = "000001-bench"


@dataclass
class Vectors:
    """Embedder that gives each text a random vector, always the same one."""

    model_id: str

    def info(self, _remaining: Any) -> EmbedderInfo:
        return EmbedderInfo(
            model_id=self.model_id, dimension=DIMENSION, max_input_tokens=512, max_batch=32
        )

    def tokenize(self, _text: str, _remaining: Any) -> list[TokenSpan]:
        return []

    def embed(self, texts: Sequence[str], _remaining: Any) -> list[tuple[float, ...]]:
        return [vector(np.random.default_rng(list(text.encode()))) for text in texts]


def vector(source: np.random.Generator) -> tuple[float, ...]:
    values = source.standard_normal(DIMENSION)
    values /= math.sqrt(float(values @ values))
    return tuple(values.round(5).tolist())


def text_of(source: random.Random, words: int) -> str:
    """Return random words, distributed by Zipf's law."""
    return " ".join(f"w{int(WORDS ** source.random())}" for _ in range(words))


def plenty() -> float:
    return 120.0


def chunks_of(source: random.Random, noise: np.random.Generator, number: int) -> list[IndexedChunk]:
    """Return the chunks of one document."""
    made = []
    for place in range(CHUNKS_PER_DOCUMENT):
        text = text_of(source, 120)
        chunk = IndexedChunk(
            tenant=TENANT,
            document_id=f"doc_{number:06}",
            version=VERSION,
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
            changed_at=to_iso(NOW),
            labels=IndexedMetadata(title=None, collection_id=None, tag_ids=(), deleted=False),
            vector=vector(noise),
        )
        made.append(chunk)
    return made


def filled(client: OpenSearch, alias: str, rows: Rows, count: int, seconds: float) -> int:
    """Write chunks until there are `count` or `seconds` have passed; return their number."""
    source, noise = random.Random(7), np.random.default_rng(7)
    until = time.monotonic() + seconds
    written = 0
    while written < count and time.monotonic() < until:
        numbers = range(written // CHUNKS_PER_DOCUMENT, (written + 500) // CHUNKS_PER_DOCUMENT)
        made = [chunk for number in numbers for chunk in chunks_of(source, noise, number)]
        lines = (
            line
            for chunk in made
            for line in (
                {"index": {"_index": alias, "_id": chunk.id}},
                source_of(chunk, to_iso(NOW)),
            )
        )
        body = "".join(json.dumps(line) + "\n" for line in lines)
        # No `refresh`, unlike the adapter, whose writes wait until they are searchable.
        assert not client.bulk(body=body, request_timeout=120)["errors"]
        rows.put([_document(f"doc_{number:06}", VERSION) for number in numbers])
        written += len(made)
        print(f"\r{written} chunks", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return written


@dataclass(frozen=True)
class Rows:
    """Writer of documents' rows in batches; also stores the documents in memory."""

    client: Any
    table: str
    kept: FakeDocumentStore

    def put(self, documents: Sequence[Document]) -> None:
        for each in documents:
            self.kept.commit(each, None)
        for part in (documents[n : n + 25] for n in range(0, len(documents), 25)):
            items = [{"PutRequest": {"Item": DOCUMENTS.encode(each)}} for each in part]
            self.client.batch_write_item(RequestItems={self.table: items})


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
    parser.add_argument("--seconds", type=float, default=420, help="the longest to fill the index")
    parser.add_argument("--running", action="store_true", help="the instance runs already")
    given = parser.parse_args()
    if not given.running:
        run_stack("up", "opensearch", "localstack", "--free-ports")
    try:
        run(given)
    finally:
        if not given.running:
            run_stack("clean")


def run(given: argparse.Namespace) -> None:
    """Fill an index, and measure searches of it."""
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
        index.targets(plenty)
        alias = names_of(embedder.info(plenty)).write
        rows = Rows(dynamodb, names["Documents"], FakeDocumentStore(FakeJobStore()))
        count = filled(client, alias, rows, given.chunks, given.seconds)
        client.indices.refresh(index=alias, request_timeout=120)
        segments = len(client.cat.segments(index=alias, format="json"))
        taken = time.monotonic() - started
        print(f"{count} chunks in {taken:.0f} s, {segments} segments", flush=True)
        trips = OneTrip(client, names_of(embedder.info(plenty)).read)
        stores = [
            (documents, DynamoCacheStore(dynamodb, names["Caches"])),
            (rows.kept, FakeCacheStore()),
        ]
        measure(index, trips, embedder, stores, given.searches)
        print(f"memory of OpenSearch {resident(client)} MB")
    finally:
        client.indices.delete(index="chunks-latency-*")
        delete_tables(dynamodb, names)


@dataclass
class OneTrip:
    """Searches that get the texts together with the candidates, in one round trip."""

    client: OpenSearch
    alias: str
    all_texts: list[float] = field(default_factory=list)
    small_bodies: list[float] = field(default_factory=list)
    found: set[str] = field(default_factory=set)
    """Chunks that the small bodies of the last search returned."""
    whole_pages: int = 0
    """Number of searches whose small bodies returned the whole first page."""

    def with_all_texts(self, asked: IndexQuery) -> None:
        """Search with the texts of all candidates, without highlights."""
        texts = {"_source": bodies.fetch_body(TENANT, [], None)["_source"]}
        legs = bodies.leg_bodies(asked, limits.SEARCH_WINDOW).values()
        self._search([{**each, **texts} for each in legs], self.all_texts)

    def with_small_bodies(self, asked: IndexQuery) -> None:
        """Search with texts and highlights of the first ten candidates of each leg."""
        shown = bodies.fetch_body(TENANT, [], asked.words)
        texts = {name: shown[name] for name in ("_source", "highlight")}
        legs = bodies.leg_bodies(asked, limits.SEARCH_WINDOW).values()
        small = bodies.leg_bodies(asked, limits.SEARCH_LIMIT_DEFAULT).values()
        answers = self._search([*legs, *({**each, **texts} for each in small)], self.small_bodies)
        self.found = {hit["_id"] for each in answers[len(legs) :] for hit in each["hits"]["hits"]}

    def compare(self, shown: Collection[str]) -> None:
        """Count the last search if the small bodies returned all of these chunks."""
        self.whole_pages += self.found >= set(shown)

    def _search(self, asked: list[bodies.Body], times: list[float]) -> list[Any]:
        lines = [line for body in asked for line in ({"index": self.alias}, body)]
        begun = time.perf_counter()
        answer = self.client.msearch(body=lines)
        times.append((time.perf_counter() - begun) * 1000)
        assert all("error" not in each for each in answer["responses"]), answer
        return list(answer["responses"])


@dataclass
class Product:
    """The product's search with given stores."""

    service: SearchService
    new: list[float] = field(default_factory=list)
    cached: list[float] = field(default_factory=list)
    steps: dict[str, list[float]] = field(default_factory=dict)

    def search(self, asked: IndexQuery) -> tuple[str, ...]:
        """Search for a new query, and return the chunks of its first page."""
        found = self._timed(asked, self.new)
        for step, taken in found.timings.items():
            self.steps.setdefault(step, []).append(taken)
        assert len(found.hits) == limits.SEARCH_LIMIT_DEFAULT
        assert not found.result_cached
        return tuple(each.chunk.id for each in found.hits)

    def again(self, asked: IndexQuery) -> None:
        """Repeat the search, which the cache answers."""
        assert self._timed(asked, self.cached).result_cached

    def _timed(self, asked: IndexQuery, times: list[float]) -> SearchResult:
        query = Query(tenant=TENANT, text=asked.words.text)
        begun = time.perf_counter()
        found = self.service.search(query, plenty)
        times.append((time.perf_counter() - begun) * 1000)
        return found


def measure(
    index: OpenSearchChunkIndex,
    trips: OneTrip,
    embedder: Vectors,
    stores: Sequence[tuple[DocumentStore, CacheStore]],
    searches: int,
) -> None:
    """Measure searches with the emulator's DynamoDB and with stores in memory."""
    source, raw = random.Random(11), list[float]()
    new_id = id_maker(utc_now)
    emulated, own = (
        Product(
            SearchService(
                embedder=embedder,
                index=index,
                documents=documents,
                caches=Caches(store=caches, clock=utc_now),
                new_id=new_id,
            )
        )
        for documents, caches in stores
    )

    def bare(asked: IndexQuery) -> None:
        begun = time.perf_counter()
        legs = index.search(asked, limits.SEARCH_WINDOW, plenty)
        raw.append((time.perf_counter() - begun) * 1000)
        assert legs[Leg.VECTOR]

    ways: list[Callable[[IndexQuery], Any]] = [
        bare,
        emulated.search,
        trips.with_all_texts,
        own.search,
        trips.with_small_bodies,
    ]
    for number in range(searches):
        query = text_of(source, 4)
        asked = IndexQuery(
            tenant=TENANT,
            words=ParsedQuery.of(query),
            vector=embedder.embed([query], plenty)[0],
            legs=BOTH,
            filters=Filters(),
        )
        turn = number % len(ways)
        answers = {way: way(asked) for way in ways[turn:] + ways[:turn]}
        trips.compare(answers[own.search])
        emulated.again(asked)
        own.again(asked)
    rows = {
        "both legs, one `_msearch`": raw,
        "… with the texts of all candidates": trips.all_texts,
        "… with texts and highlights of ten, by a second body of each leg": trips.small_bodies,
        "the product, DynamoDB of the emulator": emulated.new,
        "… from its cache": emulated.cached,
        "the product, stores in memory": own.new,
        **{f"… step {step}": times for step, times in own.steps.items()},
        "… from its cache, stores in memory": own.cached,
    }
    print("| ms | p50 | p95 |\n|---|---|---|")
    print(*(spread(row, times) for row, times in rows.items()), sep="\n")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"\n{trips.whole_pages} of {searches} first pages are in the small bodies")
    print(
        f"ratios of medians, stores in memory: {_ratio(own.new, raw)}, with texts of all "
        f"candidates {_ratio(own.new, trips.all_texts)}; memory of this process {memory} MB"
    )


def _ratio(some: Sequence[float], others: Sequence[float]) -> str:
    return f"{statistics.median(some) / statistics.median(others):.2f}"


def resident(client: OpenSearch) -> int:
    """Return the MiB of heap and other memory that the node's JVM uses."""
    [node] = client.nodes.stats(metric="process,jvm")["nodes"].values()
    heap = node["jvm"]["mem"]["heap_used_in_bytes"]
    other = node["jvm"]["mem"]["non_heap_used_in_bytes"]
    return int((heap + other) // 2**20)


if __name__ == "__main__":
    main()
