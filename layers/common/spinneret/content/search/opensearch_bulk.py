"""Bulk requests of bounded size; pure."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from spinneret.content.search import limits


def batches(items: Iterable[tuple[Any, Any]]) -> Iterator[list[tuple[str, str]]]:
    """Yield the lines of bulk requests of at most BULK_MAX_BYTES each."""
    batch: list[tuple[str, str]] = []
    size = 0
    for action, body in items:
        lines = (json.dumps(action) + "\n", json.dumps(body) + "\n")  # ASCII: one byte each
        length = len(lines[0]) + len(lines[1])
        if batch and size + length > limits.BULK_MAX_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(lines)
        size += length
    if batch:
        yield batch
