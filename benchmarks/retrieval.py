"""Measure the quality of search on four sets of documents and questions (`retrieval_sets`).

    python benchmarks/retrieval.py [--root /] [--sets documentation web facts website] [--parts]

The benchmark starts the index and the embedder of a local stack, and cuts and embeds each set's
documents with the product's own parts. It requests both legs of each question from OpenSearch once,
and compares fusions on these results. `--root` is the folder of the unpacked Debian packages. A hit
counts by its document: the rank of a document is the rank of its first chunk. Fusions are chosen on
the questions about every other document, and tested on the other questions.

`--parts` also compares chunks by their best part: the vector leg by passages of 128 tokens, and the
first 20 hits reranked by the sentence that is most similar to the question.
"""

import argparse
import json
import math
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Final

import httpx
import numpy as np
from instance import endpoints, run_stack
from retrieval_sets import SETS, Question, Text

from spinneret.aws.opensearch import opensearch_client
from spinneret.content import limits as content_limits
from spinneret.content.documents import rules
from spinneret.content.documents.chunks import ChunkMaker
from spinneret.content.documents.models import Document, EmbedderInfo
from spinneret.content.extraction.models import Metadata
from spinneret.content.search import limits as search_limits
from spinneret.content.search.fusion import Profile, fuse, single_leg_ranking
from spinneret.content.search.models import (
    BOTH,
    Filters,
    Fusion,
    IndexQuery,
    Leg,
    LegCandidate,
    ParsedQuery,
    Ranked,
)
from spinneret.content.search.opensearch import OpenSearchChunkIndex
from spinneret.content.search.tei import TeiEmbedder

TENANT: Final = "bench"
WINDOW: Final = search_limits.SEARCH_WINDOW

SENTENCE_END: Final = re.compile(r"(?<=[.!?:;])\s+|\n+")
PASSAGE: Final = 128  # tokens
RERANKED: Final = 20

Legs = Mapping[Leg, Sequence[LegCandidate]]
Asked = tuple[str, str, str, Legs]
"""Kind, question, wanted document and both legs."""
Rank = Callable[[Legs], Sequence[Ranked]]


class Sized(TeiEmbedder):
    """Embedder that reports a smaller token limit, so that chunks have that size."""

    tokens: int = 512

    def info(self, remaining: Callable[[], float]) -> EmbedderInfo:
        found = super().info(remaining)
        return replace(
            found,
            model_id=f"{found.model_id}-{self.tokens}",
            max_input_tokens=min(found.max_input_tokens, self.tokens + 2),
        )


def plenty() -> float:
    return 120.0


def store(
    index: OpenSearchChunkIndex, maker: ChunkMaker, documents: Sequence[Text]
) -> dict[str, str]:
    """Index the documents, and return the embedded texts by chunk id."""
    now = datetime.now(UTC)
    texts: dict[str, str] = {}
    for each in documents:
        chunks = maker.cut(each.markdown, plenty)
        document = Document(
            tenant=TENANT,
            id=rules.document_id(TENANT, each.key),
            url=f"https://bench.example/{each.key}",
            domain="bench.example",
            title=each.title,
            language="en",
            metadata=Metadata(),
            content_hash="0" * 64,
            content_key="",
            sequence=1,
            version="000001-x",
            chunk_count=len(chunks),
            token_count=0,
            embedding_model=maker.info(plenty).model_id,
            job_id="",
            created_at=now,
            crawled_at=now,
            changed_at=now,
            updated_at=now,
        )
        indexed = maker.indexed(document, chunks, lambda *_: None, plenty)
        index.write(indexed, plenty)
        for made, chunk in zip(indexed, chunks, strict=True):
            texts[made.id] = rules.embedded_text(chunk)
        print(f"\r{len(texts)} chunks of {each.key:30}", end="", file=sys.stderr)
    print(file=sys.stderr)
    return texts


def asked(
    index: OpenSearchChunkIndex, embedder: TeiEmbedder, questions: Sequence[Question]
) -> tuple[list[Asked], float]:
    """Return kind, text, wanted document and both legs of each question, and the median ms."""
    found, times = [], []
    for each in questions:
        [vector] = embedder.embed([each.text], plenty)
        asked_for = IndexQuery(
            tenant=TENANT,
            words=ParsedQuery.of(each.text),
            vector=vector,
            legs=BOTH,
            filters=Filters(),
        )
        started = time.perf_counter()
        legs = index.search(asked_for, WINDOW, plenty)
        times.append(1000 * (time.perf_counter() - started))
        found.append((each.kind, each.text, rules.document_id(TENANT, each.wanted), legs))
    return found, median(times)


def fused(method: Fusion, keyword: float, k: int = search_limits.RRF_K) -> Rank:
    weights = {Leg.KEYWORD: keyword, Leg.VECTOR: 1 - keyword}
    if method is Fusion.CONFIDENCE:
        profile, weights = Profile(keyword_weight=keyword), dict.fromkeys(Leg, 1.0)
        return lambda legs: fuse(legs, method, weights, k, profile)[0]
    return lambda legs: fuse(legs, method, weights, k)[0]


def page_rank(ranked: Iterable[Ranked], wanted: str) -> int | None:
    """Return the rank of the page, from 1; None if it isn't among the candidates."""
    pages: dict[str, None] = {}
    for each in ranked:
        pages.setdefault(each.candidate.document_id)
        if each.candidate.document_id == wanted:
            return len(pages)
    return None


AUTO: Final = "confidence 0.50"
ALONE: Final[Mapping[str, Rank]] = {
    "reranked": lambda legs: single_leg_ranking(Leg.VECTOR, legs[Leg.VECTOR]),
}
METHODS: Final[Mapping[str, Rank]] = {
    "keyword": lambda legs: single_leg_ranking(Leg.KEYWORD, legs[Leg.KEYWORD]),
    "vector": lambda legs: single_leg_ranking(Leg.VECTOR, legs[Leg.VECTOR]),
    "rrf k=60": fused(Fusion.RRF, 0.5),
    "rrf k=1": fused(Fusion.RRF, 0.5, 1),
    "min_max .5": fused(Fusion.MIN_MAX, 0.5),
    "min_max .7": fused(Fusion.MIN_MAX, 0.7),
    **{
        f"confidence {weight:.2f}": fused(Fusion.CONFIDENCE, weight)
        for weight in (0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8)
    },
}


class Parts:
    """Vectors of parts of texts, each embedded once."""

    def __init__(self, embedder: TeiEmbedder) -> None:
        self._embedder = embedder
        self._known: dict[str, tuple[float, ...]] = {}

    def sentences(self, text: str) -> list[str]:
        """Return the sentences and lines that have at least two words, else the whole text."""
        parts = [part.strip() for part in SENTENCE_END.split(text)]
        return [part[:1000] for part in parts if len(part.split()) > 1] or [text[:1000]]

    def passages(self, text: str) -> list[str]:
        """Return the passages of a text, each of at most PASSAGE tokens."""
        tokens = self._embedder.tokenize(text, plenty)
        return [
            text[run[0].start : run[-1].end]
            for run in (tokens[n : n + PASSAGE] for n in range(0, len(tokens), PASSAGE))
        ]

    def best(self, question: str, parts: Mapping[str, Sequence[str]]) -> dict[str, float]:
        """Return by key the largest cosine of a part with the question, scaled to 0 to 1."""
        self.learn([question, *(part for each in parts.values() for part in each)])
        asked = np.array(self._known[question])
        return {
            key: float((1 + (np.array([self._known[part] for part in each]) @ asked).max()) / 2)
            for key, each in parts.items()
        }

    def learn(self, texts: Iterable[str]) -> None:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        for start in range(0, len(new), content_limits.EMBED_BATCH):
            batch = new[start : start + content_limits.EMBED_BATCH]
            self._known.update(zip(batch, self._embedder.embed(batch, plenty), strict=True))


def by_passages(found: Sequence[Asked], texts: Mapping[str, str], parts: Parts) -> list[Asked]:
    """Return the questions with the vector score of each chunk's best passage as its score."""
    passages = {key: parts.passages(text) for key, text in texts.items()}
    changed = []
    for kind, question, wanted, legs in found:
        scores = parts.best(question, passages)
        first = sorted(scores, key=lambda key: (-scores[key], key))[:WINDOW]
        leg = [LegCandidate(chunk_id=key, score=scores[key]) for key in first]
        changed.append((kind, question, wanted, {**legs, Leg.VECTOR: leg}))
    return changed


def by_sentences(found: Sequence[Asked], texts: Mapping[str, str], parts: Parts) -> list[Asked]:
    """Return the questions with a single leg: the first fused hits, ordered by best sentence."""
    changed = []
    for kind, question, wanted, legs in found:
        first = METHODS[AUTO](legs)[:RERANKED]
        hits = {each.candidate.chunk_id: each.candidate for each in first}
        scores = parts.best(question, {key: parts.sentences(texts[key]) for key in hits})
        order = sorted(hits, key=lambda key: -scores[key])
        leg = [replace(hits[key], score=scores[key]) for key in order]
        changed.append((kind, question, wanted, {Leg.VECTOR: leg}))
    return changed


def halves(found: Sequence[Asked]) -> tuple[list[Asked], list[Asked]]:
    """Return the questions of every other page, on which fusions are chosen, and the others."""
    pages = list(dict.fromkeys(wanted for _, _, wanted, _ in found))
    chosen = set(pages[::2])
    return [each for each in found if each[2] in chosen], [
        each for each in found if each[2] not in chosen
    ]


def table(found: Sequence[Asked], methods: Mapping[str, Rank] | None = None) -> str:
    """Return a table of each method's measures and mean reciprocal rank by kind of question."""
    kinds = list(dict.fromkeys(kind for kind, *_ in found))
    head = ["method", "r@1", "r@3", "r@10", "MRR", "nDCG@10", *kinds]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for name, rank in (methods or METHODS).items():
        ranks = [(kind, page_rank(rank(legs), wanted)) for kind, _, wanted, legs in found]
        values = [each for _, each in ranks]
        cells = [
            *(sum(1 for n in values if n and n <= top) / len(values) for top in (1, 3, 10)),
            _mean(1 / n if n else 0.0 for n in values),
            _mean(1 / math.log2(n + 1) if n and n <= 10 else 0.0 for n in values),
            *(_mean(1 / n if n else 0.0 for of, n in ranks if of == kind) for kind in kinds),
        ]
        lines.append("| " + " | ".join([name, *(f"{cell:.3f}" for cell in cells)]) + " |")
    return "\n".join(lines)


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def kept(found: Sequence[Asked], where: Path) -> None:
    """Write both legs of every question, so that other fusions can be tried on them."""
    where.write_text(
        json.dumps(
            [
                [kind, question, wanted, {leg: [asdict(c) for c in legs[leg]] for leg in legs}]
                for kind, question, wanted, legs in found
            ]
        )
    )


def read(where: Path) -> list[Asked]:
    """Return the questions that `kept` wrote."""
    return [
        (kind, question, wanted, {Leg(leg): [LegCandidate(**c) for c in legs[leg]] for leg in legs})
        for kind, question, wanted, legs in json.loads(where.read_text())
    ]


def show(found: Sequence[Asked]) -> None:
    """Print the table of all questions, and that of each half."""
    for name, part in zip(("all", "chosen on", "held out"), (found, *halves(found)), strict=True):
        print(f"\n{len(part)} questions, {name}\n\n{table(part)}", flush=True)


def measure(name: str, given: argparse.Namespace, where: Mapping[str, str]) -> None:
    """Index one set, ask its questions, print the tables."""
    documents, questions = SETS[name](given.root)
    for size in given.sizes:
        embedder = Sized(where["embedder"], httpx.Client(trust_env=False, timeout=120))
        embedder.tokens = size
        client = opensearch_client(where["opensearch"], "none")
        prefix = f"retrieval-{name}"
        index = OpenSearchChunkIndex(client, embedder, lambda: datetime.now(UTC), prefix=prefix)
        started = time.monotonic()
        texts = store(index, ChunkMaker(embedder=embedder), documents)
        seconds = time.monotonic() - started
        client.indices.forcemerge(index=f"{prefix}-*", max_num_segments=1)
        stored = client.indices.stats(index=f"{prefix}-*")["_all"]["primaries"]["store"]
        found, milliseconds = asked(index, embedder, questions)
        print(
            f"\n{name}: {len(documents)} documents, {len(texts)} chunks of {size} tokens at most, "
            f"indexed in {seconds:.0f} s; {len(found)} questions; index "
            f"{stored['size_in_bytes'] / 1e6:.1f} MB; both legs p50 {milliseconds:.0f} ms\n"
        )
        show(found)
        if given.parts:
            parts = Parts(embedder)
            print("\nby passages")
            show(by_passages(found, texts, parts))
            print(f"\nthe first {RERANKED} by their best sentence")
            print(table(by_sentences(found, texts, parts), ALONE), flush=True)
        if given.keep:
            kept(found, given.keep / f"{name}.{size}.json")
        client.indices.delete(index=f"{prefix}-*")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path("/"))
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--sizes", type=int, nargs="+", default=[512])
    parser.add_argument("--parts", action="store_true", help="also compare chunks by their parts")
    parser.add_argument("--keep", type=Path, help="folder for both legs of every question")
    parser.add_argument("--legs", type=Path, help="only compare fusions on answers that were kept")
    parser.add_argument("--running", action="store_true", help="the instance runs already")
    given = parser.parse_args()
    if given.legs:
        show(read(given.legs))
        return
    if not given.running:
        run_stack("up", "opensearch", "embedder", "--free-ports")
    try:
        for name in given.sets:
            measure(name, given, endpoints())
    finally:
        if not given.running:
            run_stack("clean")


if __name__ == "__main__":
    main()
