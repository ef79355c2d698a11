"""Checks that rows stored by earlier releases stay readable and are written as before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer

from spinneret.aws.codec import Codec
from spinneret.aws.dynamo import Item

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def typed(item: Item) -> Item:
    """The item as DynamoDB has it: numbers, texts and booleans never compare equal."""
    return {name: TypeSerializer().serialize(value) for name, value in item.items()}


def through_dynamodb(item: Item) -> Item:
    """The item as boto3 reads it back."""
    return {name: TypeDeserializer().deserialize(value) for name, value in typed(item).items()}


def check_row[T: DataclassInstance](
    codec: Codec[T], value: T, row: Item, key: Item | None = None
) -> None:
    """`row` is written for `value`, and read as it, with values of the right types.

    `key` is what the store adds to the row if the codec has no key.
    """
    assert typed(codec.encode(value)) == typed(row)
    read = codec.decode(through_dynamodb({**row, **(key or {})}))
    assert read == value
    assert _types(read) == _types(value)


def _types(value: Any) -> dict[str, type]:
    return {name: type(each) for name, each in vars(value).items()}
