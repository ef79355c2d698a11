"""Vectors of texts, with half precision (IEEE 754 binary16).

The embedder's vectors are rounded when they arrive, so that a cached one is the same as a new one,
and equal chunks get equal scores. Cosines change by less than 0.001; an entry of the cache has half
the bytes.
"""

import struct
from collections.abc import Sequence

Vector = tuple[float, ...]


def bytes_of(vector: Sequence[float]) -> bytes:
    """Encode a vector, whose numbers are at most 65504."""
    return struct.pack(f"<{len(vector)}e", *vector)


def vector_of(value: bytes) -> Vector:
    """Decode a vector."""
    return struct.unpack(f"<{len(value) // 2}e", value)


def rounded(vector: Sequence[float]) -> Vector:
    """Return the vector with half precision."""
    return vector_of(bytes_of(vector))
