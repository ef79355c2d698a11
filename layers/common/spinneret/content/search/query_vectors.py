"""Vectors of queries, embedded or cached."""

import logging
from typing import Final

from spinneret.content.caches.models import CacheName
from spinneret.content.caches.service import Caches, vector_key
from spinneret.content.documents.ports import Embedder
from spinneret.content.search import limits, rules
from spinneret.content.search.models import Leg
from spinneret.content.search.run import SearchRun
from spinneret.content.vectors import bytes_of, vector_of
from spinneret.kernel.clock import Remaining, limit_remaining
from spinneret.kernel.errors import DependencyUnavailable, EmbeddingRefused
from spinneret.kernel.service import service

logger = logging.getLogger(__name__)

_SPECIAL_TOKENS: Final = 2  # the embedder adds [CLS] and [SEP] to every input


@service
class QueryVectors:
    """Computes the vector of a search's query."""

    embedder: Embedder
    caches: Caches | None

    def begin(self, run: SearchRun) -> str | None:
        """Determine the model and the vector's cache key. Return the model's id, or None without a
        vector leg or embedder."""
        if Leg.VECTOR not in run.query.legs:
            return None
        try:
            left = limit_remaining(run.remaining, limits.SEARCH_EMBED_SECONDS)
            run.model_id = self.embedder.info(left).model_id
        except DependencyUnavailable:
            return None
        text = rules.normalised(run.query.text)
        run.vector_key = vector_key(CacheName.QUERY_EMBEDDINGS, run.model_id, text)
        return run.model_id

    def prepare(self, run: SearchRun, cached: bytes | None) -> None:
        """Set the query's vector from its cached value, or by embedding the query.

        Without a vector leg, do nothing. Without a response within its share of time, the search
        is degraded.
        """
        run.is_prepared = True
        if Leg.VECTOR not in run.query.legs:
            return
        if cached is not None:
            self._count_embedding(run, hit=True)
            run.embedding_cached = True
            run.vector = vector_of(cached)
            return
        left = limit_remaining(run.remaining, limits.SEARCH_EMBED_SECONDS)
        try:
            with run.step("embed"):
                [vector] = self.embedder.embed([self._fitting(run, left)], left)
        except (DependencyUnavailable, EmbeddingRefused) as error:
            logger.warning("search_degraded", extra={"error_type": type(error).__name__})
            run.degraded = True
            return
        self._count_embedding(run, hit=False)
        run.vector = vector
        if run.vector_key is not None:
            run.kept[run.vector_key] = bytes_of(vector)

    def _count_embedding(self, run: SearchRun, *, hit: bool) -> None:
        if self.caches is not None:
            self.caches.uses.used(
                run.query.tenant, CacheName.QUERY_EMBEDDINGS, hits=int(hit), misses=int(not hit)
            )

    def _fitting(self, run: SearchRun, left: Remaining) -> str:
        """Return the query, truncated to the model's window; a token has at least one byte."""
        text = run.query.text.replace('"', " ")
        room = self.embedder.info(left).max_input_tokens - _SPECIAL_TOKENS
        if len(text.encode()) <= room:
            return text
        tokens = self.embedder.tokenize(text, left)
        if len(tokens) <= room:
            return text
        run.truncated = True
        return text[: tokens[room - 1].end]
