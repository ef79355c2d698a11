"""The chunk index as code: names, settings and fields, pure.

An index is `chunks-<model>-<dimension>-<number>`. Searches go to the alias `…-read`, writes to
every index of the alias `…-write`: an index that is being made anew has the second alias from the
beginning and takes over the first one when it is complete.

After a change of the model its first index is read from the beginning, too, beside the former
model's, until all documents are in it. So long a chunk may be in both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from spinneret.content.documents.models import EmbedderInfo, IndexedChunk

PREFIX: Final = "chunks"
"""Of all indexes of a stage."""
COPIES: Final = 2
"""Indexes that are read and may have a chunk: the model's, and the former one's."""
HNSW_M: Final = 16  # ruling "Search"
HNSW_EF_CONSTRUCTION: Final = 100  # ruling "Search"


@dataclass(frozen=True, kw_only=True)
class IndexShape:
    """How an index is spread over nodes."""

    shards: int
    replicas: str
    """A number, or a range such as `0-1`: as many of it as there are further nodes."""


@dataclass(frozen=True)
class Names:
    """The names around the indexes of one model."""

    base: str

    @property
    def read(self) -> str:
        """The alias that is searched: always one index."""
        return f"{self.base}-read"

    @property
    def write(self) -> str:
        """The alias of all indexes that are written: two while one is made anew."""
        return f"{self.base}-write"

    def index(self, number: int) -> str:
        """One index."""
        return f"{self.base}-{number:06d}"

    def number_of(self, name: str) -> int:
        """The inverse of `index`."""
        return int(name.removeprefix(f"{self.base}-"))


def names_of(info: EmbedderInfo, prefix: str = PREFIX) -> Names:
    """Vectors of different models don't compare, so each model has indexes of its own."""
    slug = re.sub(r"[^a-z0-9]+", "-", info.model_id.lower()).strip("-")
    return Names(f"{prefix}-{slug}-{info.dimension}")


def all_models(prefix: str = PREFIX) -> Names:
    """Aliases of the indexes of all models, as patterns."""
    return Names(f"{prefix}-*")


def definition(dimension: int, shape: IndexShape, aliases: tuple[str, ...]) -> dict[str, Any]:
    """Settings, fields and aliases of a new index."""
    replicas: dict[str, Any] = (
        {"auto_expand_replicas": shape.replicas}
        if "-" in shape.replicas
        else {"number_of_replicas": int(shape.replicas)}
    )
    keyword, english = {"type": "keyword"}, {"type": "text", "analyzer": "english"}
    shown = {"type": "integer", "index": False}
    return {
        "settings": {"index": {"knn": True, "number_of_shards": shape.shards, **replicas}},
        "aliases": {alias: {} for alias in aliases},
        "mappings": {
            "dynamic": "strict",
            "properties": {
                "tenant": keyword,
                "document_id": keyword,
                "version_id": keyword,
                "sequence": {"type": "long"},
                "domain": keyword,
                "url": keyword,
                "source": keyword,
                "language": keyword,
                "type": keyword,
                "model": keyword,
                "signature": keyword,
                "collection_id": keyword,
                "tag_ids": keyword,
                "deleted": {"type": "boolean"},
                "title": english,
                "section": english,
                "text": english,
                "changed_at": {"type": "date"},
                "written_at": {"type": "date"},
                "index": shown,
                "start": shown,
                "end": shown,
                "token_count": shown,
                "vector": {
                    "type": "knn_vector",
                    "dimension": dimension,
                    # Ruling "Search": the Lucene engine, whose k-NN filters while it searches.
                    "method": {
                        "name": "hnsw",
                        "engine": "lucene",
                        "space_type": "cosinesimil",
                        "parameters": {"m": HNSW_M, "ef_construction": HNSW_EF_CONSTRUCTION},
                    },
                },
            },
        },
    }


def source_of(chunk: IndexedChunk, written_at: str) -> dict[str, Any]:
    """A chunk as its index holds it."""
    labels = chunk.labels
    return {
        "tenant": chunk.tenant,
        "document_id": chunk.document_id,
        "version_id": version_id(chunk.document_id, chunk.version),
        "sequence": sequence_of(chunk.version),
        "domain": chunk.domain,
        "url": chunk.url,
        "source": chunk.source,
        "language": chunk.language,
        "type": chunk.type,
        "model": chunk.model,
        "signature": chunk.signature,
        "collection_id": labels.collection_id,
        "tag_ids": list(labels.tag_ids),
        "deleted": labels.deleted,
        "title": labels.title,
        "section": chunk.section,
        "text": chunk.text,
        "changed_at": chunk.changed_at,
        "written_at": written_at,
        "index": chunk.index,
        "start": chunk.start,
        "end": chunk.end,
        "token_count": chunk.token_count,
        "vector": chunk.vector,
    }


def version_id(document_id: str, version: str) -> str:
    """Names all chunks of one version."""
    return f"{document_id}:{version}"


def sequence_of(version: str) -> int:
    """The row's sequence number that the version was made for (`rules.version_name`)."""
    return int(version.partition("-")[0])
