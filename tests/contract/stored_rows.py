"""Rows in the form in which earlier releases stored them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer

from spinneret.aws.dynamo import Item


class Conversion(Protocol):
    """A codec, or a pair of functions in its place."""

    def encode(self, value: Any, /) -> Item: ...
    def decode(self, item: Item, /) -> Any: ...


@dataclass(frozen=True)
class Functions:
    """A conversion that needs more than the value."""

    encode: Callable[[Any], Item]
    decode: Callable[[Item], Any]


@dataclass(frozen=True)
class StoredRow:
    """A value and its row."""

    name: str
    conversion: Conversion
    value: Any
    item: Item

    def __str__(self) -> str:
        return self.name

    def written(self) -> Item:
        """The row as it is written now; see `readable`."""
        return readable(self.conversion.encode(self.value))

    def read(self) -> Any:
        """The value of the row as boto3 returns it."""
        return self.conversion.decode(
            {
                name: TypeDeserializer().deserialize(TypeSerializer().serialize(value))
                for name, value in self.item.items()
            }
        )


def readable(item: Item) -> Item:
    """The row with its JSON texts parsed: blanks and escapes in them don't matter."""
    return {name: _parsed(value) for name, value in item.items()}


def _parsed(value: Any) -> Any:
    if isinstance(value, list):
        return [_parsed(each) for each in value]
    is_json = isinstance(value, str) and value.startswith(("{", "["))
    return json.loads(value) if is_json else value
