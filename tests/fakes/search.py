"""The embedder and the chunk index in memory."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from spinneret.content.chunking.models import TokenSpan
from spinneret.content.documents.models import Document, EmbedderInfo, IndexedChunk, labels_of
from spinneret.content.search.models import FoundChunk, IndexQuery, Leg, LegCandidate, ParsedQuery
from spinneret.content.search.ports import IndexMissing
from spinneret.content.vectors import rounded
from spinneret.kernel.clock import Remaining, to_iso
from spinneret.kernel.errors import DependencyUnavailable
from tests.fakes.dependency import FakeDependency

DIMENSION = 16
_WORD = re.compile(r"\w+")


class FakeEmbedder(FakeDependency):
    """Implements Embedder: a vector counts hashed words, a token is a run of non-blanks."""

    dependency = "embedder"

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
        self.embedded: list[str] = []
        """Every embedded text, in order."""

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


class FakeChunkIndex(FakeDependency):
    """Implements ChunkIndex: scores by cosine similarity, or by common words and neighbours."""

    dependency = "opensearch"

    def __init__(self) -> None:
        self.held_by_target: dict[str, dict[str, IndexedChunk]] = {"first": {}}
        self.read_from = "first"
        self.former: FakeChunkIndex | None = None
        """Index of the former model."""

    def lose(self) -> None:
        """Remove the index, as if somebody had deleted it."""
        self.held_by_target = {}

    def of_another_model(self) -> FakeChunkIndex:
        """Return the index after a change of the model."""
        later = FakeChunkIndex()
        later.former = self
        return later

    @property
    def held(self) -> dict[str, IndexedChunk]:
        """Return the chunks that searches see, by id."""
        if self.read_from not in self.held_by_target:
            raise IndexMissing
        return self.held_by_target[self.read_from]

    def targets(self, remaining: Remaining) -> frozenset[str]:
        self._require()
        return frozenset(self.held_by_target)

    def write(
        self,
        chunks: Sequence[IndexedChunk],
        remaining: Remaining,
        into: frozenset[str] | None = None,
    ) -> frozenset[str]:
        self._require()
        targets = frozenset(self.held_by_target) if into is None else into
        for target in targets:
            self.held_by_target[target].update({chunk.id: chunk for chunk in chunks})
        return targets

    def relabel(self, document: Document, remaining: Remaining) -> None:
        self._require()
        if self.former is not None:
            self.former.relabel(document, remaining)
        for held in self.held_by_target.values():
            for key, chunk in held.items():
                own = (chunk.tenant, chunk.document_id, chunk.version)
                wanted = (document.tenant, document.id, document.version)
                if own == wanted and chunk.index < document.chunk_count:
                    held[key] = replace(chunk, labels=labels_of(document))

    def remove_others(
        self, document: Document, remaining: Remaining, *, also_current: bool = False
    ) -> None:
        self._require()
        if self.former is not None:
            self.former.remove_others(document, remaining, also_current=also_current)
        for held in self.held_by_target.values():
            for key, chunk in list(held.items()):
                own = (chunk.tenant, chunk.document_id) == (document.tenant, document.id)
                past = int(chunk.version.partition("-")[0]) <= document.sequence
                if own and past and (also_current or chunk.version != document.version):
                    del held[key]

    def search(
        self, wanted: IndexQuery, window: int, remaining: Remaining
    ) -> Mapping[Leg, Sequence[LegCandidate]]:
        self._require()
        every = self.held if wanted.vector is not None else self._everywhere()
        own = [chunk for chunk in every.values() if _in_scope(chunk, wanted)]
        legs: dict[Leg, Sequence[LegCandidate]] = {}
        if Leg.KEYWORD in wanted.legs:
            words = set(_words(wanted.words.text))
            common = [
                _candidate(chunk, float(len(m)) + _neighbours(chunk.text, wanted.words.loose))
                for chunk in own
                if (m := _matches(chunk.text, words))
                and all(each.lower() in chunk.text.lower() for each in wanted.words.phrases)
            ]
            legs[Leg.KEYWORD] = _best(common, window)
        vector = wanted.vector
        if Leg.VECTOR in wanted.legs and vector is not None:
            near = [_candidate(chunk, (1 + _dot(chunk.vector, vector)) / 2) for chunk in own]
            legs[Leg.VECTOR] = _best(near, window)
        return legs

    def chunks(
        self, tenant: str, chunk_ids: Sequence[str], words: ParsedQuery | None, remaining: Remaining
    ) -> Mapping[str, FoundChunk]:
        self._require()
        if not chunk_ids:
            return {}
        every = self._everywhere()
        found = [every[each] for each in chunk_ids if each in every]
        marked = set(_words(words.text)) if words else set()
        return {each.id: _found(each, marked) for each in found if each.tenant == tenant}

    def totals(self, tenant: str, remaining: Remaining) -> tuple[int, int]:
        self._require()
        every = self._everywhere().values() if self.held_by_target else ()
        own = [each for each in every if each.tenant == tenant and not each.labels.deleted]
        return len({each.document_id for each in own}), len(own)

    def _everywhere(self) -> dict[str, IndexedChunk]:
        """Return all chunks by id; a chunk that two models have counts once."""
        if self.former is None:
            return self.held
        own = self.held if self.read_from in self.held_by_target else {}
        return self.former._everywhere() | own


class FakeReranker:
    """Implements Reranker: the score is the share of the query's words that a text contains."""

    def __init__(self) -> None:
        self.available = True

    def rerank(self, query: str, texts: Sequence[str], remaining: Remaining) -> list[float]:
        if not self.available or remaining() <= 0:
            raise DependencyUnavailable("reranker")
        wanted = set(_words(query))
        return [len(wanted & set(_words(text))) / max(1, len(wanted)) for text in texts]


def vector_of(text: str) -> tuple[float, ...]:
    """Return the unit vector of a text, rounded as by an embedder.

    Texts with the same words, in any order, have equal vectors.
    """
    values = [0.0] * DIMENSION
    for word in _words(text) or [text]:
        digest = hashlib.blake2s(word.encode("utf-8", "surrogatepass")).digest()
        values[digest[0] % DIMENSION] += 1.0
    norm = math.hypot(*values)
    return rounded([value / norm for value in values])


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _matches(text: str, words: set[str]) -> tuple[tuple[int, int], ...]:
    return tuple(m.span() for m in _WORD.finditer(text) if m.group().lower() in words)


def _neighbours(text: str, query: str) -> int:
    """Return how many neighbouring words of the query are also neighbours in the text."""
    return len(set(pairwise(_words(text))) & set(pairwise(_words(query))))


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def _best(candidates: list[LegCandidate], window: int) -> list[LegCandidate]:
    return sorted(candidates, key=lambda each: (-each.score, each.chunk_id))[:window]


def _candidate(chunk: IndexedChunk, score: float) -> LegCandidate:
    return LegCandidate(chunk_id=chunk.id, score=score, signature=chunk.signature)


def _found(chunk: IndexedChunk, words: set[str]) -> FoundChunk:
    return FoundChunk(
        id=chunk.id,
        url=chunk.url,
        title=chunk.labels.title,
        text=chunk.text,
        section=chunk.section,
        type=chunk.type,
        index=chunk.index,
        start=chunk.start,
        end=chunk.end,
        token_count=chunk.token_count,
        highlights=_matches(chunk.text, words),
    )


def _in_scope(chunk: IndexedChunk, wanted: IndexQuery) -> bool:
    filters, tags = wanted.filters, wanted.filters.tag_ids
    among: tuple[tuple[Sequence[str], str | None], ...] = (
        (filters.domains, chunk.domain),
        (filters.sources, chunk.source),
        (filters.languages, chunk.language),
        (filters.content_types, chunk.type),
        (filters.collection_ids, chunk.labels.collection_id),
    )
    return (
        chunk.tenant == wanted.tenant
        and not chunk.labels.deleted
        and f"{chunk.document_id}:{chunk.version}" not in wanted.left_out
        and all(value in values for values, value in among if values)
        and (not tags or not set(tags).isdisjoint(chunk.labels.tag_ids))
        and (filters.date_from is None or to_iso(filters.date_from) <= chunk.changed_at)
        and (filters.date_to is None or chunk.changed_at <= to_iso(filters.date_to))
    )
