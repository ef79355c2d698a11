"""What a name says about the value below it, with the names of what the value stands in.

A name that leaves its value open (`tokens`, `auth`) is asked again for every leaf below it; the
types of DynamoDB's values (AttributeValue, `{"S": "…"}`) are no names and pass the question on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from spinneret.redaction import names, values, vocabulary
from spinneret.redaction.names import Kind

TYPES: Final = frozenset({"S", "SS", "B", "BS", "L", "M", "N", "NS", "BOOL", "NULL"})
"""Keys of an AttributeValue in DynamoDB's API."""

NO_TEXT: Final = frozenset({"N", "NS", "BOOL", "NULL"})
"""Those of them whose values are numbers or less."""

_HARMLESS: Final = Kind.HARMLESS
_DESCENDING: Final = frozenset({Kind.AUTH, Kind.COUNTABLE})


def is_typed(source: Mapping[Any, Any]) -> bool:
    """Whether a mapping is one value of DynamoDB's API."""
    return len(source) == 1 and next(iter(source)) in TYPES


def untyped(value: Any) -> Any:
    """What a value of DynamoDB's API stands for; all other values as they are."""
    if type(value) is not dict or not is_typed(value):
        return value
    ((kind, inner),) = value.items()
    if kind == "L" and isinstance(inner, list):
        return [untyped(item) for item in inner]
    return inner


def below(name: str, owner: str, *, typed: bool) -> tuple[Kind, str]:
    """The kind of a value under this name, and the name that stands for it further down."""
    if typed:
        return (_HARMLESS if name in NO_TEXT else names.kind_of(owner)), owner
    kind = names.kind_of(name)
    if kind is not _HARMLESS or not owner:
        return kind, name
    if names.needs_context(name):
        kind = names.kind_of(f"{owner} {name}")
    if kind is _HARMLESS and descends(inherited := names.kind_of(owner)):
        return (Kind.RANDOM, name) if describes(name) else (inherited, owner)
    return kind, name


def descends(kind: Kind) -> bool:
    """Whether all leaves below a name of this kind are judged by it."""
    return kind is not _HARMLESS and kind in _DESCENDING


@names.remembered
def describes(name: str) -> bool:
    """Whether the name tells whose or what kind of secret it is: `user`, `expires_in`."""
    parts = frozenset(names.words(name))
    return not parts.isdisjoint(vocabulary.AFTER) or not parts.isdisjoint(vocabulary.BESIDE)


def hides(kind: Kind, value: Any) -> bool:
    """Whether a value goes as a whole; of lists and mappings the parts may still go."""
    if kind is _HARMLESS:
        return False
    value = untyped(value)
    if kind.certain:
        return value is not None and value is not True and value is not False
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    if isinstance(value, str):
        return values.is_secret(kind, value)
    if isinstance(value, set | frozenset):
        return any(hides(kind, item) for item in value)
    return kind is Kind.AUTH and isinstance(value, list | tuple)
