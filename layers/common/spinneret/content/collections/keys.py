"""Keys of what is counted of collections: pure."""

from __future__ import annotations

from spinneret.kernel import bounds


def count_keys(tenant: str, collection_id: str) -> list[dict[str, str]]:
    """Rows of the documents table that together count the documents of a collection."""
    prefix = f"T#{tenant}#COUNT#{collection_id}"
    return [{"pk": f"{prefix}#{shard}"} for shard in range(bounds.WRITE_SHARDS)]
