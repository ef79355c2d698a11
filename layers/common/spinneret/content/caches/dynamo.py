"""Caches on DynamoDB.

Caches table
    pk `T#<tenant>#CACHES`                    how often each cache was cleared
    pk `T#<tenant>#USED#<day>`                searches, hits and misses of a day, and histograms of
                                              durations: one attribute for each bucket
    pk `T#<tenant>#CACHE#<name>#<digest>`     an entry, or a lock, which has an `owner` instead of
                                              a `value`. `epoch` is the cache's epoch at creation,
                                              `generation` the one of the documents. DynamoDB's TTL
                                              removes it some time after `purge_at`
    index `entries`: `entries_key` `T#<tenant>#CACHE#<name>#<epoch>`, `purge_at`
                                              the entries of a cache, for counting
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from itertools import islice
from typing import Any, Final

from spinneret.aws import dynamo
from spinneret.aws.reads import answers
from spinneret.aws.table import DynamoAdapter
from spinneret.content.caches import use_items
from spinneret.content.caches.models import (
    CacheKey,
    CacheName,
    DayOfUse,
    DaysOfUse,
    EntryLock,
    Epochs,
    NewEntry,
    Read,
)
from spinneret.kernel.clock import epoch_seconds

_ENTRY_MAX_BYTES: Final = 350 * 1024  # DynamoDB limits items to 400 KB
_COUNT_PAGES: Final = 3  # pages of 1 MB, about 5,000 entries


class DynamoCacheStore(DynamoAdapter):
    """Implements CacheStore."""

    def read(self, tenant: str, keys: Sequence[CacheKey], now: datetime) -> Read:
        """See CacheStore; sends one BatchGetItem."""
        wanted = [{"pk": _overview_key(tenant)}, *({"pk": _entry_key(tenant, k)} for k in keys)]
        found = {item["pk"]: item for item in dynamo.batch_get(self._client, self._table, wanted)}
        epochs = _epochs(found.get(_overview_key(tenant), {}))
        current = {
            key: item
            for key in keys
            if (item := found.get(_entry_key(tenant, key))) is not None
            and item["epoch"] == epochs[key.cache]
            and item["purge_at"] > epoch_seconds(now)
        }
        return Read(
            entries={key: bytes(item["value"]) for key, item in current.items() if "value" in item},
            epochs=epochs,
            generations={key: item.get("generation", "") for key, item in current.items()},
            locked=frozenset(key for key, item in current.items() if "value" not in item),
        )

    def write(
        self, tenant: str, entries: Mapping[CacheKey, NewEntry], epochs: Epochs
    ) -> frozenset[CacheKey]:
        """See CacheStore; sends one BatchWriteItem per 25 entries."""
        small = {k: each for k, each in entries.items() if len(each.value) <= _ENTRY_MAX_BYTES}
        items = [
            {
                "pk": _entry_key(tenant, key),
                "entries_key": _entries_key(tenant, key.cache, epochs[key.cache]),
                "epoch": epochs[key.cache],
                "generation": each.generation,
                "purge_at": epoch_seconds(each.until),
                "value": each.value,
            }
            for key, each in small.items()
        ]
        dynamo.batch_put(self._client, self._table, items)
        return frozenset(small)

    def lock(self, tenant: str, lock: EntryLock, now: datetime, until: datetime) -> bool:
        answer = dynamo.write_if(
            self._client.put_item,
            TableName=self._table,
            Item={
                "pk": _entry_key(tenant, lock.key),
                "owner": lock.owner,
                "generation": lock.generation,
                "epoch": lock.epoch,
                "purge_at": epoch_seconds(until),
            },
            ConditionExpression=(
                "attribute_not_exists(pk) OR purge_at <= :now OR #owner = :owner"
                " OR generation <> :generation OR epoch <> :epoch"
            ),
            ExpressionAttributeNames={"#owner": "owner"},
            ExpressionAttributeValues={
                ":now": epoch_seconds(now),
                ":owner": lock.owner,
                ":generation": lock.generation,
                ":epoch": lock.epoch,
            },
        )
        return answer is not None

    def unlock(self, tenant: str, lock: EntryLock) -> None:
        dynamo.write_if(
            self._client.delete_item,
            TableName=self._table,
            Key={"pk": _entry_key(tenant, lock.key)},
            ConditionExpression="#owner = :owner",
            ExpressionAttributeNames={"#owner": "owner"},
            ExpressionAttributeValues={":owner": lock.owner},
        )

    def clear(self, tenant: str, caches: Sequence[CacheName]) -> None:
        self._add(_overview_key(tenant), {f"epoch_{each}": 1 for each in caches})

    def count_uses(self, tenant: str, day: date, use: DayOfUse) -> None:
        self._add(_day_key(tenant, day), use_items.numbers_of(use), use_items.purge_at(day))

    def uses(self, tenant: str, days: Sequence[date]) -> DaysOfUse:
        wanted = {_day_key(tenant, day): day for day in days}
        keys = [{"pk": key} for key in wanted]
        rows = dynamo.batch_get(self._client, self._table, keys, consistent=False)
        return {wanted[row["pk"]]: use_items.use_of(row) for row in rows}

    def entries(self, tenant: str, now: datetime) -> dict[CacheName, tuple[int, bool]]:
        [overview] = dynamo.batch_get(
            self._client, self._table, [{"pk": _overview_key(tenant)}]
        ) or [{}]
        epochs = _epochs(overview)
        return {cache: self._entries(tenant, cache, epochs[cache], now) for cache in CacheName}

    def _entries(
        self, tenant: str, cache: CacheName, epoch: int, now: datetime
    ) -> tuple[int, bool]:
        request = {
            "TableName": self._table,
            "IndexName": "entries",
            "Select": "COUNT",
            "KeyConditionExpression": "entries_key = :key AND purge_at > :now",
            "ExpressionAttributeValues": {
                ":key": _entries_key(tenant, cache, epoch),
                ":now": epoch_seconds(now),
            },
        }
        pages = list(islice(answers(self._client.query, request), _COUNT_PAGES))
        complete = "LastEvaluatedKey" not in pages[-1]
        return sum(page["Count"] for page in pages), complete

    def _add(self, key: str, numbers: Mapping[str, int], purge_at: int | None = None) -> None:
        if not numbers:
            return
        update = "ADD " + ", ".join(f"#{name} :{name}" for name in numbers)
        values = {f":{name}": number for name, number in numbers.items()}
        if purge_at is not None:
            update += " SET #purge_at = :purge_at"
            values[":purge_at"] = purge_at
        dynamo.update_item(self._client, self._table, {"pk": key}, update, values)


def _epochs(overview: Mapping[str, Any]) -> Epochs:
    return {cache: int(overview.get(f"epoch_{cache}", 0)) for cache in CacheName}


def _overview_key(tenant: str) -> str:
    return f"T#{tenant}#CACHES"


def _day_key(tenant: str, day: date) -> str:
    return f"T#{tenant}#USED#{day.isoformat()}"


def _entry_key(tenant: str, key: CacheKey) -> str:
    return f"T#{tenant}#CACHE#{key.cache}#{key.digest}"


def _entries_key(tenant: str, cache: CacheName, epoch: int) -> str:
    return f"T#{tenant}#CACHE#{cache}#{epoch}"
