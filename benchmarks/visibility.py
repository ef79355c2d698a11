"""Measure how soon a written page is searchable, and the cost of refreshes while pages arrive.

    python benchmarks/visibility.py [--chunks 100000] [--seconds 420] [--each 30]

The benchmark starts OpenSearch, and fills an index that the product's own adapter created, as
search_latency.py does, for at most `--seconds`. Then four writers send pages of six chunks, one
after the other, while one client searches with both legs. Each way to refresh runs twice, in turn.
"""

import argparse
import random
import statistics
import threading
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

import numpy as np
from instance import endpoints, run_stack
from opensearchpy import OpenSearch
from search_latency import TENANT, Rows, Vectors, chunks_of, filled, plenty, text_of

from spinneret.aws.opensearch import opensearch_client
from spinneret.content.search import limits
from spinneret.content.search.models import BOTH, Filters, IndexQuery, ParsedQuery
from spinneret.content.search.opensearch import OpenSearchChunkIndex
from spinneret.content.search.opensearch_mapping import names_of

WRITERS: Final = 4
PAGE_CHUNKS: Final = 6
PAUSE_SECONDS: Final = 0.3
"""Minimum time of a worker between two writes, to fetch, extract and embed."""
WAYS: Final = (("1 s", "wait_for"), ("500ms", "wait_for"), ("200ms", "wait_for"), ("1 s", "true"))


class NoRows(Rows):
    """Rows that are never written, because searches of only the index read none."""

    def put(self, documents: Any) -> None:
        pass


@dataclass
class Taken:
    """Measurements of one way to refresh; writes and searches are in milliseconds."""

    writes: list[float] = field(default_factory=list)
    searches: list[float] = field(default_factory=list)
    segments: list[int] = field(default_factory=list)
    refreshes: int = 0


@dataclass
class Measuring:
    """Measurement of an index during writes."""

    client: OpenSearch
    index: OpenSearchChunkIndex
    alias: str
    embedder: Vectors

    def run(self, refresh: str, seconds: float, taken: Taken) -> None:
        until = time.monotonic() + seconds
        before = self._refreshes()
        threads = [
            threading.Thread(target=self._write, args=(number, refresh, until, taken))
            for number in range(WRITERS)
        ]
        for each in threads:
            each.start()
        source = random.Random(3)
        while time.monotonic() < until:
            self._search(text_of(source, 4), taken)
            time.sleep(0.05)
        for each in threads:
            each.join()
        taken.refreshes += self._refreshes() - before
        taken.segments.append(len(self.client.cat.segments(index=self.alias, format="json")))

    def _write(self, number: int, refresh: str, until: float, taken: Taken) -> None:
        source, noise = random.Random(number), np.random.default_rng(number)
        targets = self.index.targets(plenty)
        while time.monotonic() < until:
            name = f"doc_{uuid4().hex[:12]}"
            made = chunks_of(source, noise, 0)[:PAGE_CHUNKS]
            page = [replace(each, document_id=name) for each in made]
            begun = time.perf_counter()
            self.index.put(page, targets, plenty, refresh=refresh)
            taken.writes.append((time.perf_counter() - begun) * 1000)
            time.sleep(PAUSE_SECONDS)

    def _search(self, text: str, taken: Taken) -> None:
        asked = IndexQuery(
            tenant=TENANT,
            words=ParsedQuery.of(text),
            vector=self.embedder.embed([text], plenty)[0],
            legs=BOTH,
            filters=Filters(),
        )
        begun = time.perf_counter()
        self.index.search(asked, limits.SEARCH_WINDOW, plenty)
        taken.searches.append((time.perf_counter() - begun) * 1000)

    def _refreshes(self) -> int:
        stats = self.client.indices.stats(index=self.alias, metric="refresh")
        return int(stats["_all"]["primaries"]["refresh"]["total"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=420, help="the longest to fill the index")
    parser.add_argument("--each", type=float, default=30, help="seconds of each way, twice")
    given = parser.parse_args()
    run_stack("up", "opensearch", "--free-ports")
    try:
        measure(given)
    finally:
        run_stack("clean")


def measure(given: argparse.Namespace) -> None:
    """Fill an index, write to it with each way to refresh, and print the table."""
    embedder = Vectors(f"visibility-{uuid4().hex[:8]}")
    client = opensearch_client(endpoints()["opensearch"], "none", 120)
    index = OpenSearchChunkIndex(client, embedder, lambda: datetime.now(UTC))
    index.targets(plenty)
    alias = names_of(embedder.info(plenty)).write
    begun = time.monotonic()
    count = filled(client, alias, NoRows(None, ""), given.chunks, given.seconds)
    client.indices.refresh(index=alias, request_timeout=120)
    print(f"{count} chunks in {time.monotonic() - begun:.0f} s", flush=True)
    measuring = Measuring(client, index, alias, embedder)
    found: dict[tuple[str, str], Taken] = {way: Taken() for way in WAYS}
    for _ in range(2):
        for way, taken in found.items():
            interval, refresh = way
            settings = {"index.refresh_interval": interval.replace(" ", "")}
            client.indices.put_settings(index=alias, body=settings)
            measuring.run(refresh, given.each, taken)
    print(table(found, 2 * given.each))


def table(found: dict[tuple[str, str], Taken], seconds: float) -> str:
    """Return the table of docs/benchmarks.md."""
    names = (
        *("interval, refresh", "write until found, p50, p95 (ms)", "pages/s"),
        *("search, p50, p95 (ms)", "refreshes/s", "segments"),
    )
    rows = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    for (interval, refresh), taken in found.items():
        rows.append(
            f"| {interval}, `{refresh}` | {spread(taken.writes)} "
            f"| {len(taken.writes) / seconds:.1f} | {spread(taken.searches)} "
            f"| {taken.refreshes / seconds:.1f} | {', '.join(map(str, taken.segments))} |"
        )
    return "\n".join(rows)


def spread(times: list[float]) -> str:
    ordered = sorted(times)
    return f"{statistics.median(ordered):.0f}, {ordered[int(len(ordered) * 0.95)]:.0f}"


if __name__ == "__main__":
    main()
