"""Settings of index and embedder."""

from __future__ import annotations

from dataclasses import dataclass

from spinneret.content import limits as content_limits
from spinneret.content.search import limits
from spinneret.kernel.settings import Settings


@dataclass(frozen=True, kw_only=True)
class SearchSettings(Settings):
    """Index and embedder of this stage."""

    opensearch_url: str
    opensearch_auth: str
    """`sigv4` on AWS, `none` for an index that accepts unsigned requests."""
    embedder_url: str
    """URL of an embedding server; if empty, `embedder_function` embeds."""
    embedder_function: str = ""
    embedder_secret: str = ""
    """Name or ARN of a secret with the value of the server's Authorization header."""


@dataclass(frozen=True, kw_only=True)
class EmbeddingSettings(SearchSettings):
    """Time limit of one embedder call in seconds, if its caller allows as much."""

    tei__timeout_s: float = limits.EMBED_SECONDS


@dataclass(frozen=True, kw_only=True)
class IndexingSettings(EmbeddingSettings):
    """Settings for writing chunks; the first write creates the index."""

    index_shards: int = 1
    index_replicas: str = "0-1"
    """A number, or a range whose upper end is limited by the number of further nodes. Applies to
    new indexes."""
    tei__batch_size: int = content_limits.EMBED_BATCH
    """Maximum number of texts per embedder call, unless the embedder's limit is lower."""
