"""Context of a value: what the names around it and the values beside it reveal.

A name that leaves its value open (`tokens`, `auth`) is applied to every leaf below it. The types of
DynamoDB's values (AttributeValue, `{"S": "…"}`) aren't names: the outer name applies.
"""

import enum
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from spinneret.redaction import commands, encodings, formats, names, values, vocabulary
from spinneret.redaction.names import Kind

_HARMLESS: Final = Kind.HARMLESS  # Python 3.11 calls a function on each access to a member
_DESCENDING: Final = frozenset({Kind.AUTH, Kind.COUNTABLE})
_HEADERS: Final = frozenset({Kind.AUTHORIZATION, Kind.COOKIE})
_TYPES: Final = frozenset({"S", "SS", "B", "BS", "L", "M", "N", "NS", "BOOL", "NULL"})
_NO_TEXT: Final = frozenset({"N", "NS", "BOOL", "NULL"})
_KEY_PARTS: Final = frozenset({"d", "p", "q", "dp", "dq", "qi", "k", "oth"})  # RFC 7518, section 6
_LOCATIONS: Final = ("loc", "path", "field_path", "location")  # position of a validator's error
_USER_OPTIONS: Final = frozenset({"-u", "-U", "--user", "--proxy-user"})
_DESCRIBING: Final = vocabulary.AFTER | vocabulary.BESIDE  # words that qualify a secret
_COMMON_WORDS: Final = vocabulary.ORDINARY | _DESCRIBING


def name_of(key: Any) -> str | None:
    """Return the name in a key of a mapping or the first item of a pair; None if there is none."""
    if isinstance(key, enum.Enum):
        spoken = isinstance(key.value, str) and names.kind_of(key.value) is not _HARMLESS
        key = key.value if spoken else key.name
    if isinstance(key, bytes):
        key = key[:256].decode("utf-8", "replace")
    return encodings.uncoloured(key) if isinstance(key, str) else None


def key_name(key: Any) -> str:
    """Return the name of a key; for a path (`("db", "password")`) that of its end."""
    if not isinstance(key, tuple):
        return name_of(key) or ""
    parts = [part for part in map(name_of, key) if part]
    if len(parts) > 1 and names.needs_context(parts[-1]):
        return " ".join(parts[-2:])
    return parts[-1] if parts else ""


def is_typed(source: Mapping[Any, Any]) -> bool:
    """Return whether a mapping is one value of DynamoDB's API."""
    return len(source) == 1 and next(iter(source)) in _TYPES


def untyped(value: Any) -> Any:
    """Return the content of a value of DynamoDB's API; return other values unchanged."""
    if type(value) is not dict or not is_typed(value):
        return value
    ((kind, inner),) = value.items()
    if kind == "L" and isinstance(inner, list):
        return [untyped(item) for item in inner]
    return inner


def below(name: str, owner: str, *, typed: bool) -> tuple[Kind, str]:
    """Return the kind of a value under this name, and the name to apply further down."""
    if typed:
        return (_HARMLESS if name in _NO_TEXT else names.kind_of(owner)), owner
    kind = names.kind_of(name)
    if kind is not _HARMLESS or not owner:
        return kind, name
    if names.needs_context(name):
        kind = names.kind_of(f"{owner} {name}")
    if kind is _HARMLESS and (inherited := names.kind_of(owner)) in _DESCENDING:
        described = not _DESCRIBING.isdisjoint(names.words(name))  # user, expires_in
        return (Kind.RANDOM, name) if described else (inherited, owner)
    return kind, name


def hides(kind: Kind, value: Any) -> bool:
    """Return whether a whole value is hidden; parts of lists and mappings may still be."""
    if kind is _HARMLESS:
        return False
    value = untyped(value)
    if kind.certain:
        return value is not None and value is not True and value is not False
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    elif isinstance(value, BaseException):
        value = f"{type(value).__name__}: "  # the beginning of its text
    if isinstance(value, str):
        return values.is_secret(kind, value)
    if isinstance(value, set | frozenset):
        return any(hides(kind, item) for item in value)
    return kind is Kind.AUTH and isinstance(value, list | tuple)


def hidden_fields(source: Mapping[Any, Any]) -> set[Any]:
    """Return the keys whose values are secrets because of other keys."""
    source = {key: untyped(value) for key, value in source.items()}
    lower = {key.lower(): key for key in source if isinstance(key, str)}
    hidden = _beside_key_id(source.items())
    if "kty" in lower:
        hidden |= _KEY_PARTS & source.keys()
    fields = (vocabulary.VALUE_FIELDS | vocabulary.LOOSE_FIELDS) & lower.keys()
    kind = _record_kind(source, lower) if fields else _HARMLESS
    for field in fields if kind is not _HARMLESS else ():
        value = source[lower[field]]
        loose = field in vocabulary.LOOSE_FIELDS
        if hides(kind, value) and (not loose or hides(Kind.OPAQUE, value)):
            hidden.add(lower[field])
    return hidden


def _record_kind(source: Mapping[Any, Any], lower: Mapping[str, Any]) -> Kind:
    """Return the kind of the name in a record's fields, or in the path of a validator's error."""
    said = [source[lower[field]] for field in lower.keys() & vocabulary.NAME_FIELDS]
    ways = [source.get(field) for field in _LOCATIONS]
    said += [part for way in ways if isinstance(way, list | tuple) for part in way]
    kinds = (names.kind_of(name) for each in said if (name := name_of(each)) and len(name) < 100)
    return next((kind for kind in kinds if kind is not _HARMLESS), _HARMLESS)


def are_pairs(items: Sequence[Any]) -> bool:
    """Return whether this is a list of names with values: raw headers, form fields."""
    return bool(items) and all(
        isinstance(item, list | tuple) and len(item) == 2 and _is_shown_as_name(item[0])
        for item in items
    )


def _is_shown_as_name(value: Any) -> bool:
    return name_of(value) is not None or isinstance(value, BaseException)


def hidden_places(items: Sequence[Any], *, paired: bool = False) -> set[Any]:
    """Return indexes of values after their names: pairs, raw headers, command arguments.

    `paired` means that the items are one of a list of pairs, so that the second is never a name.
    """
    hidden = _beside_key_id(enumerate(items))
    if any(isinstance(item, str) and item.startswith("-") for item in items):
        hidden |= commands.hidden_arguments(items)
    for place, (former, value) in enumerate(itertools.pairwise(items), 1):
        name = name_of(former) or ""
        kind = names.kind_of(name)
        text = value if isinstance(value, str) else ""
        if paired:
            found = hides(kind, value)
        elif name.startswith("-"):  # ["--password", "hunter2"], ["-u", "bob:hunter2"]
            secret = kind.certain or (kind is Kind.AUTH and name.startswith("--"))
            announced = "=" not in name and not text.startswith("-")
            found = announced and (secret or _is_login(name, text))
        else:
            usual = "-" in name or kind in _HEADERS or len(items) == 2
            found = usual and kind.certain and not _could_be_name(value, items)
        if found:
            hidden.add(place)
    arguments = ((place, item) for place, item in enumerate(items) if isinstance(item, str))
    return hidden.union(
        place
        for place, item in arguments
        if item.startswith("--") and _is_login(*item.partition("=")[::2])
    )


def _is_login(option: str, value: str) -> bool:
    """Return whether an option holds user and password, as in curl; `-u 1000:1000` is Docker's."""
    password = value.partition(":")[2]
    login = password and not password[0].isspace() and not password.isdigit()
    return option in _USER_OPTIONS and bool(login)


def _could_be_name(value: Any, items: Sequence[Any]) -> bool:
    """Return whether the second of two may be a name, too. In a tuple only a common name may be."""
    if not isinstance(value, str) or not names.is_plain(value):
        return False
    usual = not _COMMON_WORDS.isdisjoint(names.words(value))
    return usual or not isinstance(items, tuple) or names.kind_of(value) is not _HARMLESS


def _beside_key_id(items: Iterable[tuple[Any, Any]]) -> set[Any]:
    """Return the places of 40 characters of base64 that occur together with an AWS key id."""
    texts = {place: value for place, value in items if isinstance(value, str)}
    if not any(map(formats.AWS_KEY_ID.match, texts.values())):
        return set()
    return {place for place, value in texts.items() if formats.AWS_SECRET.fullmatch(value)}


@names.bounded_cache
def may_contain_secret(name: str) -> bool:
    """Return whether a name below this one, or an argument of this function, may be a secret."""
    below = (f"{name} {tail}" for tail in vocabulary.OPEN_ENDED)
    return any(names.kind_of(each) is not _HARMLESS for each in (name, *below, taken_by(name)))


@names.bounded_cache
def taken_by(function: str) -> str:
    """Return the secret that a function with a name like `set_password` takes; empty if none."""
    verb, *noun = names.words(function) or ("",)
    return (
        " ".join(noun)
        if verb in vocabulary.TAKING and names.kind_of(" ".join(noun)).certain
        else ""
    )
