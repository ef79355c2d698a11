"""Histograms of durations: counts in buckets that grow by a tenth, and percentiles of them.

A bucket's number is stored, so the scale never changes. Counts of several histograms are added.
"""

import math
from collections.abc import Mapping
from typing import Final

Buckets = Mapping[int, int]
"""Number of values by bucket."""
_GROWTH: Final = math.log(1.1)
ERROR: Final = 0.05
"""Maximum relative error of a percentile: half a bucket, whose ends differ by a tenth."""


def bucket_of(milliseconds: float) -> int:
    """Return the bucket of a duration.

    Each bucket ends a tenth above the previous one, the first at 1 ms.
    """
    return max(0, math.ceil(math.log(max(milliseconds, 1)) / _GROWTH - 1e-9))


def value_of(bucket: int) -> float:
    """Return the value that represents a bucket: the middle of its ends in milliseconds."""
    if bucket == 0:
        return 1.0
    end = math.exp(bucket * _GROWTH)
    return (end + end / 1.1) / 2


def percentile(buckets: Buckets, share: float) -> float | None:
    """Return the percentile in milliseconds (nearest rank); None without values."""
    total = sum(buckets.values())
    rank = max(1, math.ceil(share * total))
    for bucket in sorted(buckets):
        rank -= buckets[bucket]
        if rank <= 0:
            return value_of(bucket)
    return None


def added(one: Buckets, other: Buckets) -> Buckets:
    """Return the sum of both histograms; either is often empty."""
    if not one or not other:
        return one or other
    return {bucket: one.get(bucket, 0) + other.get(bucket, 0) for bucket in sorted({*one, *other})}
