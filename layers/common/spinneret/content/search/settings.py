"""Where the index and the embedder are."""

from __future__ import annotations

from dataclasses import dataclass

from spinneret.kernel import bounds
from spinneret.kernel.settings import Settings


@dataclass(frozen=True, kw_only=True)
class SearchSettings(Settings):
    """Index and embedder of this stage."""

    opensearch_url: str
    opensearch_auth: str
    """`sigv4` on AWS, `none` for an index that asks for no signature."""
    embedder_url: str
    """Of a server; where it is empty, the function below embeds."""
    embedder_function: str = ""
    embedder_secret: str = ""
    """The name or ARN of a secret: the value of the Authorization header for the server."""


@dataclass(frozen=True, kw_only=True)
class EmbeddingSettings(SearchSettings):
    """How long one call of the embedder may take, where its caller has as long."""

    tei__timeout_s: float = bounds.EMBED_SECONDS


@dataclass(frozen=True, kw_only=True)
class IndexingSettings(EmbeddingSettings):
    """Of whoever writes chunks: the first write makes the index."""

    index_shards: int = 1
    index_replicas: str = "0-1"
    """A number, or a range: as many of it as there are further nodes. Holds for new indexes."""
    tei__batch_size: int = bounds.EMBED_BATCH
    """Texts that the embedder gets at once, if it takes as many."""
