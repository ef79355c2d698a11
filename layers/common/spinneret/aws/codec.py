"""Conversion between dataclasses and DynamoDB items.

A field is stored under its own name, by the type of its value: datetimes as RFC 3339 text, enums as
their value, floats as decimals, tuples as lists, nested dataclasses as maps. A `Column` declares
any other form. An absent attribute is the field's default, or None.

pydantic validates what is read, and turns DynamoDB's decimals into numbers. Its schema is built for
the first row, not at import.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from enum import Enum, StrEnum
from functools import cached_property, singledispatch
from typing import TYPE_CHECKING, Any, Final

from boto3.dynamodb.types import Binary
from pydantic import TypeAdapter

from spinneret.aws.dynamo import Item
from spinneret.kernel.canonical import json_text
from spinneret.kernel.clock import to_iso

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# The fast path of most fields: dispatch costs more than the conversion.
_AS_THEY_ARE: Final = frozenset({str, int, bool})
_BINARY: Final[Any] = Binary  # its published types lack the conversion to bytes


@singledispatch
def to_json(value: Any) -> Any:
    """Return `value` in JSON form; a dataclass keeps its None values. Raises TypeError."""
    if value is None or isinstance(value, str | int | float):
        return value
    if is_dataclass(value):
        return {each.name: to_json(getattr(value, each.name)) for each in fields(value)}
    raise TypeError(f"a {type(value).__name__} has no stored form: give its field a Column")


@singledispatch
def to_attribute(value: Any) -> Any:
    """Return `value` in DynamoDB's form: floats by their shortest text, bytes and decimals
    unchanged.

    Raises TypeError for a type without a stored form.
    """
    if is_dataclass(value):
        return {each.name: to_attribute(getattr(value, each.name)) for each in fields(value)}
    return to_json(value)


@to_json.register
@to_attribute.register
def _(value: Enum) -> Any:
    return value.value


@to_json.register
@to_attribute.register
def _(value: StrEnum) -> Any:
    return value.value


@to_json.register
@to_attribute.register
def _(value: datetime) -> str:
    return to_iso(value)


@to_json.register
def _(value: Mapping) -> dict[str, Any]:  # type: ignore[type-arg]  # registered by its class
    return {to_json(name): to_json(each) for name, each in value.items()}


@to_attribute.register
def _(value: Mapping) -> dict[str, Any]:  # type: ignore[type-arg]  # registered by its class
    return {
        name if type(name) is str else to_json(name): to_attribute(each)
        for name, each in value.items()
    }


@to_json.register(tuple)
@to_json.register(list)
def _(value: Sequence[Any]) -> list[Any]:
    return [to_json(each) for each in value]


@to_attribute.register(tuple)
@to_attribute.register(list)
def _(value: Sequence[Any]) -> list[Any]:
    return [to_attribute(each) for each in value]


@to_attribute.register
def _(value: float) -> Decimal:
    return Decimal(repr(value))


@to_attribute.register(bytes)
@to_attribute.register(Decimal)
def _(value: Any) -> Any:
    return value


def from_attribute(value: Any) -> Any:
    """Return DynamoDB's binaries as bytes; pydantic converts everything else."""
    if isinstance(value, list):
        return [from_attribute(each) for each in value]
    return bytes(value) if isinstance(value, _BINARY) else value


@dataclass(frozen=True, kw_only=True)
class Column:
    """Storage of a field that isn't stored by its type and under its own name."""

    attribute: str | None = None
    """Name of the attribute; None means the field's name."""
    encode: Callable[[Any], Any] = to_attribute
    """Function that returns the stored form of a value other than None; None omits the attribute.
    """
    decode: Callable[[Any], Any] = from_attribute
    """Inverse of `encode`; pydantic does the remaining conversion."""
    sparse: bool = False
    """Whether empty values (0, False, "", no elements) are omitted, like None."""
    null: bool = False
    """Whether None is stored as NULL instead of being omitted."""


_PLAIN: Final = Column()
JSON: Final = Column(encode=lambda value: json_text(to_json(value)), decode=json.loads)
"""Free-form value, or one that no expression reads, as JSON text; its numbers stay numbers."""
SPARSE: Final = Column(sparse=True)
NULL: Final = Column(null=True)


class Codec[T: DataclassInstance]:
    """Conversion of one frozen dataclass to and from items."""

    def __init__(
        self,
        kind: type[T],
        *,
        key: Callable[[T], Item] = lambda _: {},
        from_key: Callable[[Item], Mapping[str, Any]] = lambda _: {},
        keyed: Collection[str] = (),
        columns: Mapping[str, Column] | None = None,
        derived: Callable[[T], Item] = lambda _: {},
        upgrade: Callable[[Item], Item] = lambda item: item,
    ) -> None:
        """Define the conversion.

        `key` returns an item's primary key; parts of an item have none. `from_key` reads the
        fields `keyed`, which have no attributes of their own, from the key or from several
        attributes. `derived` adds attributes that no field holds, such as keys of indexes and TTL;
        None values are omitted. `upgrade` rewrites an item of an earlier version.
        """
        self._kind = kind
        self._key = key
        self._from_key = from_key
        self._keyed = frozenset(keyed)
        self._columns = columns or {}
        self._derived = derived
        self._upgrade = upgrade

    def key(self, value: T) -> Item:
        """Return the primary key of a value's item."""
        return self._key(value)

    def encode(self, value: T) -> Item:
        """Return the whole item of a value. Raises ValidationFailed if a JSON column isn't valid
        JSON.
        """
        item = dict(self._key(value))
        for name, attribute, column in self._stored:
            field = getattr(value, name)
            if column is _PLAIN and type(field) in _AS_THEY_ARE:
                stored = field
            elif field is None or (column.sparse and not field):
                stored = None
            else:
                stored = column.encode(field)
            if stored is not None or column.null:
                item[attribute] = stored
        derived = self._derived(value)
        item.update((name, field) for name, field in derived.items() if field is not None)
        return item

    def decode(self, item: Mapping[str, Any]) -> T:
        """Return the value of an item. Raises pydantic's ValidationError for an invalid item."""
        item = self._upgrade(dict(item))
        values: dict[str, Any] = dict.fromkeys(self._required)
        for name, attribute, column in self._stored:
            if (stored := item.get(attribute)) is not None:
                values[name] = column.decode(stored)
        return self._adapter.validate_python({**values, **self._from_key(item)})

    @cached_property
    def _adapter(self) -> TypeAdapter[T]:
        return TypeAdapter(self._kind)

    @cached_property
    def _stored(self) -> list[tuple[str, str, Column]]:
        """Fields, their attributes and their columns."""
        columns = ((name, self._columns.get(name, _PLAIN)) for name in self._names)
        return [(name, column.attribute or name, column) for name, column in columns]

    @cached_property
    def _names(self) -> list[str]:
        return [each.name for each in fields(self._kind) if each.name not in self._keyed]

    @cached_property
    def _required(self) -> list[str]:
        """Names of fields without a default. They are None if their attribute is absent, which
        pydantic rejects unless the type allows None.
        """
        return [each.name for each in fields(self._kind) if _has_no_default(each)]


def _has_no_default(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def tenant_of(item: Mapping[str, Any]) -> str:
    """Return the tenant in a partition key `T#<tenant>#…`."""
    return str(item["pk"]).split("#", 2)[1]
