"""The chunk index on OpenSearch 2.19: one index per embedding model and dimension.

Fields: `tenant`, `document_id`, `version`, `domain` (keyword), `text`, `title`, `section` (text,
English analyzer), `vector` (HNSW on the Lucene engine, cosine), and what a hit shows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError, OpenSearchException, TransportError

from spinneret.content.documents.models import EmbedderInfo, IndexedChunk
from spinneret.content.documents.ports import Embedder
from spinneret.content.search.models import Candidate, FoundChunk, Leg
from spinneret.kernel import bounds
from spinneret.kernel.clock import Remaining
from spinneret.kernel.errors import DependencyUnavailable

# Noncharacters, which extraction removes from every text (Unicode standard, section 23.7), mark
# matches, so that ranges can be read off whatever the text holds.
_OPEN: Final = "\ufdd0"
_CLOSE: Final = "\ufdd1"
_MARK: Final = re.compile(f"[{_OPEN}{_CLOSE}]")
_ALL: Final = "chunks-*"
_SHOWN: Final = [
    "document_id", "version", "url", "title", "text", "section", "index", "start", "end"
]  # fmt: skip


class OpenSearchChunkIndex:
    """Implements ChunkIndex; the index is made by the first write."""

    def __init__(self, client: OpenSearch, embedder: Embedder) -> None:
        self._client = client
        self._embedder = embedder
        self._made: set[str] = set()

    def write(self, chunks: Sequence[IndexedChunk], remaining: Remaining) -> None:
        """See ChunkIndex. `refresh=wait_for`: what is complete can be searched."""
        if not chunks:
            return
        name = self._ensure(remaining)
        lines: list[str] = []
        for chunk in chunks:
            lines.append(json.dumps({"index": {"_index": name, "_id": chunk.id}}))
            lines.append(json.dumps(_source(chunk)))
        answer = self._ask(
            lambda limit: self._client.bulk(
                body="\n".join(lines) + "\n", params={"refresh": "wait_for", **limit}
            ),
            remaining,
        )
        if answer["errors"]:
            raise DependencyUnavailable("opensearch", "a chunk was not indexed")

    def remove_version(
        self, tenant: str, document_id: str, version: str, remaining: Remaining
    ) -> None:
        """See ChunkIndex."""
        terms = {"tenant": tenant, "document_id": document_id, "version": version}
        self._ask(
            lambda limit: self._client.delete_by_query(
                index=index_name(self._embedder.info(remaining)),
                body={"query": {"bool": {"filter": [{"term": {k: v}} for k, v in terms.items()]}}},
                params={"conflicts": "proceed", "ignore_unavailable": "true", **limit},
            ),
            remaining,
        )

    def search(
        self,
        tenant: str,
        text: str,
        vector: Sequence[float] | None,
        window: int,
        remaining: Remaining,
    ) -> Mapping[Leg, Sequence[Candidate]]:
        """See ChunkIndex: all legs in one `_msearch`. No index yet means no hits.

        The keyword leg alone doesn't depend on the model, so it looks into every index: which one
        is the model's, only the embedder could say.
        """
        name = _ALL if vector is None else index_name(self._embedder.info(remaining))
        header = {"index": name, "ignore_unavailable": True}
        owned = {"term": {"tenant": tenant}}
        legs = {Leg.KEYWORD: _keyword_leg(text, owned, window)}
        if vector is not None:
            legs[Leg.VECTOR] = _vector_leg(vector, owned, window)
        body = [line for leg in legs.values() for line in (header, leg)]
        answer = self._ask(lambda limit: self._client.msearch(body=body, params=limit), remaining)
        for response in answer["responses"]:
            if "error" in response:
                raise DependencyUnavailable("opensearch", "a search failed")
        return {
            leg: [_candidate(hit) for hit in part["hits"]["hits"]]
            for leg, part in zip(legs, answer["responses"], strict=True)
        }

    def _ensure(self, remaining: Remaining) -> str:
        info = self._embedder.info(remaining)
        name = index_name(info)
        if name in self._made:
            return name
        if not self._exists(name, remaining):
            # 400 is "already exists" when two first writers race; the check below tells.
            self._ask(
                lambda limit: self._client.indices.create(
                    index=name, body=_definition(info.dimension), params={"ignore": 400, **limit}
                ),
                remaining,
            )
            if not self._exists(name, remaining):
                raise DependencyUnavailable("opensearch", "the index was not made")
        self._made.add(name)
        return name

    def _exists(self, name: str, remaining: Remaining) -> bool:
        return bool(
            self._ask(
                lambda limit: self._client.indices.exists(index=name, params=limit), remaining
            )
        )

    def _ask(self, call: Callable[[Mapping[str, Any]], Any], remaining: Remaining) -> Any:
        """What the index answers to a call, which is given the limit of its time."""
        seconds = min(remaining(), bounds.SEARCH_SECONDS)
        if seconds <= 0:
            raise DependencyUnavailable("opensearch", "no time is left")
        try:
            return call({"request_timeout": seconds})
        except NotFoundError:
            # The index was removed behind our back: make it anew at the next write.
            self._made.clear()
            raise DependencyUnavailable("opensearch", "the index is missing") from None
        except TransportError as error:
            if isinstance(error.status_code, int) and error.status_code in (400, 401, 403):
                raise
            raise DependencyUnavailable("opensearch") from error
        except OpenSearchException as error:
            raise DependencyUnavailable("opensearch") from error


def index_name(info: EmbedderInfo) -> str:
    """Vectors of different models don't compare, so each has its index."""
    slug = re.sub(r"[^a-z0-9]+", "-", info.model_id.lower()).strip("-")
    return f"chunks-{slug}-{info.dimension}"


def ranges_of(marked: str) -> tuple[tuple[int, int], ...]:
    """Character ranges of the unmarked text that stood between marks."""
    ranges: list[tuple[int, int]] = []
    start = 0
    for marks_before, mark in enumerate(_MARK.finditer(marked)):
        position = mark.start() - marks_before
        if mark.group() == _OPEN:
            start = position
        else:
            ranges.append((start, position))
    return tuple(ranges)


def _definition(dimension: int) -> dict[str, Any]:
    keyword, english = {"type": "keyword"}, {"type": "text", "analyzer": "english"}
    stored = {"type": "integer", "index": False}
    return {
        "settings": {"index": {"knn": True, "number_of_shards": 1, "number_of_replicas": 0}},
        "mappings": {
            "dynamic": "strict",
            "properties": {
                "tenant": keyword,
                "document_id": keyword,
                "version": keyword,
                "domain": keyword,
                "url": keyword,
                "type": keyword,
                "title": english,
                "section": english,
                "text": english,
                "crawled_at": {"type": "date"},
                "index": stored,
                "start": stored,
                "end": stored,
                "token_count": stored,
                "vector": {
                    "type": "knn_vector",
                    "dimension": dimension,
                    # Ruling "Search": m 16, ef_construction 100, Lucene engine, whose k-NN
                    # filters while it searches.
                    "method": {
                        "name": "hnsw",
                        "engine": "lucene",
                        "space_type": "cosinesimil",
                        "parameters": {"m": 16, "ef_construction": 100},
                    },
                },
            },
        },
    }


def _source(chunk: IndexedChunk) -> dict[str, Any]:
    return {
        "tenant": chunk.tenant,
        "document_id": chunk.document_id,
        "version": chunk.version,
        "domain": chunk.domain,
        "url": chunk.url,
        "type": chunk.type,
        "title": chunk.title,
        "section": chunk.section,
        "text": chunk.text,
        "crawled_at": chunk.crawled_at,
        "index": chunk.index,
        "start": chunk.start,
        "end": chunk.end,
        "token_count": chunk.token_count,
        "vector": chunk.vector,
    }


def _vector_leg(vector: Sequence[float], owned: Any, window: int) -> dict[str, Any]:
    nearest = {"vector": list(vector), "k": window, "filter": {"bool": {"filter": [owned]}}}
    return {
        "size": window,
        "_source": _SHOWN,
        "timeout": f"{int(bounds.SEARCH_SECONDS)}s",
        "query": {"knn": {"vector": nearest}},
    }


def _keyword_leg(text: str, owned: Any, window: int) -> dict[str, Any]:
    # Term by term over all fields, as BM25F would: a word counts where it stands.
    fields = ["title^2", "section^1.5", "text"]
    words = {"query": text, "type": "cross_fields", "fields": fields}
    return {
        "size": window,
        "_source": _SHOWN,
        "timeout": f"{int(bounds.SEARCH_SECONDS)}s",
        "query": {
            "bool": {
                "must": [{"multi_match": words}],
                "filter": [owned],
            }
        },
        "highlight": {
            "pre_tags": [_OPEN],
            "post_tags": [_CLOSE],
            "number_of_fragments": 0,
            "fields": {"text": {}},
        },
    }


def _candidate(hit: Mapping[str, Any]) -> Candidate:
    source = hit["_source"]
    marked = hit.get("highlight", {}).get("text", [])
    return Candidate(
        chunk_id=hit["_id"],
        document_id=source["document_id"],
        version=source["version"],
        score=hit["_score"],
        chunk=FoundChunk(
            url=source["url"],
            title=source.get("title"),
            text=source["text"],
            section=source.get("section"),
            index=source["index"],
            start=source["start"],
            end=source["end"],
        ),
        highlights=ranges_of(marked[0]) if marked else (),
    )
