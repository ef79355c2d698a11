"""Capacity units of DynamoDB calls on moto, from DynamoDB's rules for the sizes of items.

moto itself reports 1 unit for every call. The sources are the Developer Guide's "DynamoDB item
sizes and formats", "read and write operations", "Global secondary indexes" and "Local secondary
indexes". A write takes one unit for each KB of the larger item, before or after the write; in a
transaction it takes two. An index takes its own units for each entry that is put, removed or
changed. A read takes one unit for each 4 KB, or half a unit if it is eventually consistent. Writes
whose condition fails, and items that a query's filter removes, aren't counted.
"""

import base64
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

Item = Mapping[str, Mapping[str, Any]]
"""Attributes in DynamoDB's own form: `{"pk": {"S": "a"}}`."""

_KB: Final = 1024
_READ_BYTES: Final = 4 * _KB


@dataclass(frozen=True)
class _Index:
    keys: tuple[str, ...]
    held: frozenset[str] | None
    """Attributes of an entry; None if it has all attributes."""


@dataclass(frozen=True)
class _Table:
    keys: tuple[str, ...]
    indexes: tuple[_Index, ...]


@dataclass(frozen=True)
class _Write:
    table: str
    key: Mapping[str, Any]
    factor: int
    changes: bool = True


class Meter:
    """Meter of capacity units. Calls of `client`, a low-level client of moto, aren't measured."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._table = cache(self._described)

    def before(self, operation: str, request: Mapping[str, Any]) -> list[tuple[_Write, Item]]:
        """Return the current items that a call is about to write."""
        return [(each, self._item(each)) for each in self._writes(operation, request)]

    def units(
        self,
        operation: str,
        request: Mapping[str, Any],
        answer: Mapping[str, Any],
        former: list[tuple[_Write, Item]],
    ) -> float:
        """Return the units of a call that succeeded."""
        if former:
            return float(sum(self._written(write, old) for write, old in former))
        match operation:
            case "GetItem":
                found = self._client.get_item(TableName=request["TableName"], Key=request["Key"])
                return _read(size_of(found.get("Item", {})), request.get("ConsistentRead", False))
            case "BatchGetItem":
                return sum(
                    _read(
                        size_of(self._client.get_item(TableName=table, Key=key).get("Item", {})),
                        each.get("ConsistentRead", False),
                    )
                    for table, each in request["RequestItems"].items()
                    for key in each["Keys"]
                )
            case "Query" | "Scan":
                size = sum(map(size_of, answer.get("Items", [])))
                return _read(size, request.get("ConsistentRead", False))
        return 0.0

    def _writes(self, operation: str, request: Mapping[str, Any]) -> Iterator[_Write]:
        match operation:
            case "PutItem" | "UpdateItem" | "DeleteItem":
                yield self._write(request, 1)
            case "TransactWriteItems":
                for action in request["TransactItems"]:
                    [(kind, each)] = action.items()
                    yield self._write(each, 2, changes=kind != "ConditionCheck")
            case "BatchWriteItem":
                for table, actions in request["RequestItems"].items():
                    for action in actions:
                        [each] = action.values()
                        yield self._write({**each, "TableName": table}, 1)

    def _write(self, action: Mapping[str, Any], factor: int, *, changes: bool = True) -> _Write:
        table = action["TableName"]
        item = action.get("Key") or action["Item"]
        key = {name: item[name] for name in self._table(table).keys}
        return _Write(table, key, factor, changes)

    def _written(self, write: _Write, old: Item) -> int:
        new = self._item(write) if write.changes else old
        units = write.factor * _written(max(size_of(old), size_of(new)))
        return units + sum(_moved(each, old, new) for each in self._table(write.table).indexes)

    def _item(self, write: _Write) -> Item:
        found = self._client.get_item(TableName=write.table, Key=write.key, ConsistentRead=True)
        item: Item = found.get("Item", {})
        return item

    def _described(self, name: str) -> _Table:
        described = self._client.describe_table(TableName=name)["Table"]
        keys = _names(described)
        indexes = []
        kinds = ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")
        for each in (index for kind in kinds for index in described.get(kind, [])):
            projection = each["Projection"]
            named = {*keys, *_names(each), *projection.get("NonKeyAttributes", [])}
            held = None if projection["ProjectionType"] == "ALL" else frozenset(named)
            indexes.append(_Index(_names(each), held))
        return _Table(keys, tuple(indexes))


def _moved(index: _Index, old: Item, new: Item) -> int:
    """Return the units of an index for a write: 0 if its entry doesn't change."""
    before, after = _entry(index, old), _entry(index, new)
    if before == after:
        return 0
    if before and after and all(before[name] == after[name] for name in index.keys):
        return _written(max(size_of(before), size_of(after)))
    return sum(_written(size_of(each)) for each in (before, after) if each)


def _entry(index: _Index, item: Item) -> Item:
    if not all(name in item for name in index.keys):
        return {}
    if index.held is None:
        return item
    return {name: value for name, value in item.items() if name in index.held}


def _names(described: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(each["AttributeName"] for each in described["KeySchema"])


def _written(size: int) -> int:
    return max(1, math.ceil(size / _KB))


def _read(size: int, consistent: bool) -> float:
    return max(1, math.ceil(size / _READ_BYTES)) * (1.0 if consistent else 0.5)


def size_of(item: Item) -> int:
    """Return the size of an item in bytes."""
    return sum(len(name.encode()) + _value(value) for name, value in item.items())


def _value(value: Mapping[str, Any]) -> int:
    [(kind, held)] = value.items()
    match kind:
        case "S":
            size = len(held.encode())
        case "N":
            size = math.ceil(len(held.strip("-").replace(".", "")) / 2) + 1
        case "B":
            size = len(held if isinstance(held, bytes) else base64.b64decode(held))
        case "SS" | "NS" | "BS":
            size = sum(_value({kind[0]: each}) for each in held)
        case "L":
            size = 3 + sum(1 + _value(each) for each in held)
        case "M":
            size = 3 + len(held) + size_of(held)
        case _:
            size = 1  # NULL, BOOL
    return size
