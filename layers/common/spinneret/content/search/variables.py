"""Environment variables of index and embedder; apart from the wiring, which loads their clients."""

from typing import Final

from spinneret.content import limits as content_limits
from spinneret.content.search import limits
from spinneret.kernel.settings import integer, number, text

OPENSEARCH_URL: Final = text("OPENSEARCH_URL")
OPENSEARCH_AUTH: Final = text("OPENSEARCH_AUTH")
"""`sigv4` on AWS, `none` for an index that accepts unsigned requests."""
EMBEDDER_URL: Final = text("EMBEDDER_URL")
"""URL of an embedding server; if empty, EMBEDDER_FUNCTION embeds."""
EMBEDDER_FUNCTION: Final = text("EMBEDDER_FUNCTION", "")
EMBEDDER_SECRET: Final = text("EMBEDDER_SECRET", "")
"""Name or ARN of a secret with the value of the server's Authorization header."""
TEI__TIMEOUT_S: Final = number("TEI__TIMEOUT_S", limits.EMBED_SECONDS)
"""Time limit of one embedder call in seconds, if its caller allows as much."""
TEI__BATCH_SIZE: Final = integer("TEI__BATCH_SIZE", content_limits.EMBED_BATCH)
"""Maximum number of texts per embedder call, unless the embedder's limit is lower."""
INDEX_SHARDS: Final = integer("INDEX_SHARDS", 1)
INDEX_REPLICAS: Final = text("INDEX_REPLICAS", "0-1")
"""A number, or a range whose upper end is limited by the number of further nodes. Applies to new
indexes."""
INDEX_AND_EMBEDDER: Final = (
    *(OPENSEARCH_URL, OPENSEARCH_AUTH),
    *(EMBEDDER_URL, EMBEDDER_FUNCTION, EMBEDDER_SECRET),
)
SEARCHING: Final = (*INDEX_AND_EMBEDDER, TEI__TIMEOUT_S)
WRITING: Final = (*SEARCHING, TEI__BATCH_SIZE, INDEX_SHARDS, INDEX_REPLICAS)
"""Variables of functions that write chunks; the first write creates the index."""
