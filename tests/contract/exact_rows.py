"""Checks that rows stored by earlier releases stay readable and are written as before."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer

from spinneret.aws.dynamo import Item


class Conversion[T](Protocol):
    """Interface of a codec."""

    def encode(self, value: T, /) -> Item: ...
    def decode(self, item: Item, /) -> T: ...


@dataclass(frozen=True)
class Functions[T]:
    """A conversion for a store that adds attributes to the rows of its codec."""

    encode: Callable[[T], Item]
    decode: Callable[[Item], T]


def typed(item: Item) -> Item:
    """Return the item in DynamoDB's form, where numbers never equal texts or booleans."""
    return {name: TypeSerializer().serialize(value) for name, value in item.items()}


def through_dynamodb(item: Item) -> Item:
    """Return the item as boto3 reads it back."""
    return {name: TypeDeserializer().deserialize(value) for name, value in typed(item).items()}


def check_row[T](conversion: Conversion[T], value: T, row: Item, key: Item | None = None) -> None:
    """Check that `value` is written as `row`, and that `row` is read as `value` with equal types.

    `key` holds the attributes that the store adds to the row if the codec has no key.
    """
    assert typed(conversion.encode(value)) == typed(row)
    check_read(conversion, value, {**row, **(key or {})})


def check_read[T](conversion: Conversion[T], value: T, row: Item) -> None:
    """Check that `row` is read as `value`, with equal types."""
    read = conversion.decode(through_dynamodb(row))
    assert read == value
    assert _types(read) == _types(value)


def _types(value: Any) -> dict[str, type]:
    return {name: type(each) for name, each in vars(value).items()}
