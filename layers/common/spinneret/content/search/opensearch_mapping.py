"""Names, settings and fields of the chunk index; pure.

An index is named `chunks-<model>-<dimension>-<number>`. Searches use the alias `…-read`, writes go
to every index of the alias `…-write`. An index under construction has the second alias from the
start and takes over the first one when complete.

After a change of the model, both the new model's and the former model's index are read until all
documents are in the new one. Meanwhile a chunk may be in both.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

from spinneret.content.documents.models import EmbedderInfo, IndexedChunk

PREFIX: Final = "chunks"
"""Name prefix of all indexes of a stage."""
COPIES: Final = 2
"""Maximum number of read indexes with the same chunk: the model's and the former model's."""
HNSW_M: Final = 16  # ruling "Search"
HNSW_EF_CONSTRUCTION: Final = 100  # ruling "Search"

_PAIRS: Final = "english_pairs"
_ANALYSIS: Final = {
    "filter": {
        "possessive": {"type": "stemmer", "language": "possessive_english"},
        "stems": {"type": "stemmer", "language": "english"},
        "pairs": {
            "type": "shingle",
            "min_shingle_size": 2,
            "max_shingle_size": 2,
            "output_unigrams": False,
        },
    },
    "analyzer": {
        _PAIRS: {
            "type": "custom",
            "tokenizer": "standard",
            "filter": ["possessive", "lowercase", "stems", "pairs"],
        }
    },
}


@dataclass(frozen=True, kw_only=True)
class IndexShape:
    """Distribution of an index over nodes, and its refreshes."""

    shards: int
    replicas: str
    """A number, or a range such as `0-1`: OpenSearch adds replicas up to the number of further
    nodes."""
    refresh_interval: str = "200ms"
    """A write waits for the next refresh. Without writes there is none."""


@dataclass(frozen=True)
class Names:
    """Names of the indexes and aliases of one model."""

    base: str

    @property
    def read(self) -> str:
        """Alias for searches: always one index."""
        return f"{self.base}-read"

    @property
    def write(self) -> str:
        """Alias of all indexes that are written: two during a rebuild."""
        return f"{self.base}-write"

    def index(self, number: int) -> str:
        """Return the name of an index."""
        return f"{self.base}-{number:06d}"

    def number_of(self, name: str) -> int:
        """Return the number of an index."""
        return int(name.removeprefix(f"{self.base}-"))


def names_of(info: EmbedderInfo, prefix: str = PREFIX) -> Names:
    """Return a model's index names. Vectors of different models aren't comparable, so each model
    has its own indexes."""
    slug = re.sub(r"[^a-z0-9]+", "-", info.model_id.lower()).strip("-")
    return Names(f"{prefix}-{slug}-{info.dimension}")


def all_models(prefix: str = PREFIX) -> Names:
    """Return alias patterns that match the indexes of all models."""
    return Names(f"{prefix}-*")


def definition(dimension: int, shape: IndexShape, aliases: tuple[str, ...]) -> dict[str, Any]:
    """Return settings, fields and aliases of a new index."""
    replicas: dict[str, Any] = (
        {"auto_expand_replicas": shape.replicas}
        if "-" in shape.replicas
        else {"number_of_replicas": int(shape.replicas)}
    )
    keyword: dict[str, Any] = {"type": "keyword"}
    english: dict[str, Any] = {"type": "text", "analyzer": "english"}
    # Pairs of neighbouring stems; only their number in a chunk counts, so no positions are kept.
    pairs = {"type": "text", "analyzer": _PAIRS, "index_options": "freqs"}
    shown = {"type": "integer", "index": False}
    return {
        "settings": {
            "index": {
                "knn": True,
                "number_of_shards": shape.shards,
                "refresh_interval": shape.refresh_interval,
                "analysis": _ANALYSIS,
                **replicas,
            }
        },
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
                "text": {**english, "fields": {"shingles": pairs}},
                "changed_at": {"type": "date"},
                "written_at": {"type": "date"},
                "index": shown,
                "start": shown,
                "end": shown,
                "token_count": shown,
                "vector": {
                    "type": "knn_vector",
                    "dimension": dimension,
                    # Ruling "Search": the Lucene engine, whose k-NN applies filters during the
                    # search.
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
    """Return a chunk as an OpenSearch document."""
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
    """Return the id that all chunks of a version share."""
    return f"{document_id}:{version}"


def sequence_of(version: str) -> int:
    """Return the sequence number that the version was made for (`rules.version_name`)."""
    return int(version.partition("-")[0])
