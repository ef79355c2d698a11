"""The embedder and the chunk index in memory."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence

from spinneret.content.chunking.models import TokenSpan
from spinneret.content.documents.models import EmbedderInfo, IndexedChunk
from spinneret.content.search.models import Candidate, FoundChunk, Leg
from spinneret.kernel.clock import Remaining
from spinneret.kernel.errors import DependencyUnavailable

DIMENSION = 16
_WORD = re.compile(r"\w+")


class FakeEmbedder:
    """Implements Embedder: a vector is a bag of hashed words, a token is a run of non-blanks."""

    def __init__(
        self,
        model_id: str = "fake",
        *,
        max_input_tokens: int = 514,
        max_batch: int = 32,
    ) -> None:
        self._info = EmbedderInfo(
            model_id=model_id,
            dimension=DIMENSION,
            max_input_tokens=max_input_tokens,
            max_batch=max_batch,
        )
        self.available = True
        self.embedded: list[str] = []
        """Every text that was embedded, in order."""

    def info(self, remaining: Remaining) -> EmbedderInfo:
        self._require()
        return self._info

    def tokenize(self, text: str, remaining: Remaining) -> list[TokenSpan]:
        self._require()
        return [TokenSpan(start=m.start(), end=m.end()) for m in re.finditer(r"\S+", text)]

    def embed(self, texts: Sequence[str], remaining: Remaining) -> list[tuple[float, ...]]:
        self._require()
        if len(texts) > self._info.max_batch:
            raise ValueError(f"a batch has at most {self._info.max_batch} texts")
        self.embedded += texts
        return [vector_of(text) for text in texts]

    def _require(self) -> None:
        if not self.available:
            raise DependencyUnavailable("embedder")


class FakeChunkIndex:
    """Implements ChunkIndex: cosine similarity and counted common words; can be told to be down."""

    def __init__(self) -> None:
        self.available = True
        self.chunks: dict[str, IndexedChunk] = {}

    def write(self, chunks: Sequence[IndexedChunk], remaining: Remaining) -> None:
        self._require()
        self.chunks.update({chunk.id: chunk for chunk in chunks})

    def remove_version(
        self, tenant: str, document_id: str, version: str, remaining: Remaining
    ) -> None:
        self._require()
        gone = (tenant, document_id, version)
        for key, chunk in list(self.chunks.items()):
            if (chunk.tenant, chunk.document_id, chunk.version) == gone:
                del self.chunks[key]

    def search(
        self,
        tenant: str,
        text: str,
        vector: Sequence[float] | None,
        window: int,
        remaining: Remaining,
    ) -> Mapping[Leg, Sequence[Candidate]]:
        self._require()
        own = [chunk for chunk in self.chunks.values() if chunk.tenant == tenant]
        words = set(_words(text))
        common = [
            _candidate(chunk, float(len(m)), m) for chunk in own if (m := _matches(chunk, words))
        ]
        legs = {Leg.KEYWORD: _best(common, window)}
        if vector is not None:
            near = [_candidate(chunk, (1 + _dot(chunk.vector, vector)) / 2) for chunk in own]
            legs[Leg.VECTOR] = _best(near, window)
        return legs

    def _require(self) -> None:
        if not self.available:
            raise DependencyUnavailable("opensearch")


def vector_of(text: str) -> tuple[float, ...]:
    """The unit vector of a text; equal words in any order give equal vectors."""
    values = [0.0] * DIMENSION
    for word in _words(text) or [text]:
        digest = hashlib.blake2s(word.encode("utf-8", "surrogatepass")).digest()
        values[digest[0] % DIMENSION] += 1.0
    norm = math.hypot(*values)
    return tuple(value / norm for value in values)


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _matches(chunk: IndexedChunk, words: set[str]) -> tuple[tuple[int, int], ...]:
    return tuple(m.span() for m in _WORD.finditer(chunk.text) if m.group().lower() in words)


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def _best(candidates: list[Candidate], window: int) -> list[Candidate]:
    return sorted(candidates, key=lambda each: (-each.score, each.chunk_id))[:window]


def _candidate(
    chunk: IndexedChunk, score: float, highlights: tuple[tuple[int, int], ...] = ()
) -> Candidate:
    return Candidate(
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        version=chunk.version,
        score=score,
        chunk=FoundChunk(
            url=chunk.url,
            title=chunk.title,
            text=chunk.text,
            section=chunk.section,
            index=chunk.index,
            start=chunk.start,
            end=chunk.end,
        ),
        highlights=highlights,
    )
