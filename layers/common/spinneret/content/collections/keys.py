"""Keys of the items that count a collection's documents; pure."""

from spinneret.content import limits


def count_keys(tenant: str, collection_id: str) -> list[dict[str, str]]:
    """Return the keys of the items that together count a collection's documents."""
    prefix = f"T#{tenant}#COUNT#{collection_id}"
    return [{"pk": f"{prefix}#{shard}"} for shard in range(limits.WRITE_SHARDS)]
