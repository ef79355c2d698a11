"""Attributes of a day's numbers: each is separate, so that they can be added without a read.

Bucket 57 of the searches' durations is the attribute `search_ms_57`. Numbers of 0 are omitted.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from spinneret.content.caches import limits
from spinneret.content.caches.models import CacheName, DayOfUse, Uses
from spinneret.kernel.clock import epoch_seconds
from spinneret.kernel.histogram import Buckets

_SEARCH: Final = "search_ms_"
_EMBEDDING: Final = "embedding_ms_"


def numbers_of(use: DayOfUse) -> dict[str, int]:
    """Return the attributes of a day's numbers, or of an addition to them."""
    numbers = {"searches": use.searches}
    for cache, uses in use.caches.items():
        numbers |= {f"hits_{cache}": uses.hits, f"misses_{cache}": uses.misses}
    for prefix, buckets in ((_SEARCH, use.search_ms), (_EMBEDDING, use.embedding_ms)):
        numbers |= {f"{prefix}{bucket}": number for bucket, number in buckets.items()}
    return {name: number for name, number in numbers.items() if number}


def use_of(item: Mapping[str, Any]) -> DayOfUse:
    """Return the numbers of an item."""
    caches = {
        cache: Uses(
            hits=int(item.get(f"hits_{cache}", 0)), misses=int(item.get(f"misses_{cache}", 0))
        )
        for cache in CacheName
        if f"hits_{cache}" in item or f"misses_{cache}" in item
    }
    return DayOfUse(
        searches=int(item.get("searches", 0)),
        caches=caches,
        search_ms=_buckets(item, _SEARCH),
        embedding_ms=_buckets(item, _EMBEDDING),
    )


def purge_at(day: date) -> int:
    """Return the TTL of a day's item."""
    begin = datetime.combine(day, time(), UTC)
    return epoch_seconds(begin + timedelta(days=limits.USE_KEPT_DAYS))


def _buckets(item: Mapping[str, Any], prefix: str) -> Buckets:
    found = {
        int(name.removeprefix(prefix)): int(number)
        for name, number in item.items()
        if name.startswith(prefix)
    }
    return dict(sorted(found.items()))
