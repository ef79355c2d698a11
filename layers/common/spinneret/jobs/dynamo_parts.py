"""Texts of a job that may exceed one item: compressed, in numbered rows of a product's own table.

Each row has its part as `data`, and the number of all rows as `parts`.
"""

import zlib
from collections.abc import Callable
from typing import Final

from spinneret.aws import dynamo
from spinneret.aws.dynamo import Item
from spinneret.aws.types import DynamoDBClient

_PART_BYTES: Final = 300_000  # an item has at most 400 KB


def parts_of(text: str) -> list[Item]:
    """Return the attributes of each row, in the order of their numbers."""
    packed = zlib.compress(text.encode("utf-8", "replace"))
    starts = range(0, len(packed), _PART_BYTES)
    return [{"data": packed[start : start + _PART_BYTES], "parts": len(starts)} for start in starts]


def read_parts(client: DynamoDBClient, table: str, key: Callable[[int], Item]) -> str | None:
    """Return the text whose rows have these keys by number; None unless all rows exist.

    TTL removes rows one by one. Raises DependencyUnavailable.
    """
    first = dynamo.get(client, table, key(0))
    if not first:
        return None
    keys = [key(number) for number in range(int(first["parts"]))]
    found = dynamo.batch_get(client, table, keys)
    parts = {item["sk"]: bytes(item["data"]) for item in found}
    if len(parts) < len(keys):
        return None
    return zlib.decompress(b"".join(parts[each["sk"]] for each in keys)).decode()
