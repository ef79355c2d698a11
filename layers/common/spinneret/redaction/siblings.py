"""Secrets that are known by what stands beside them in a value."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

from spinneret.redaction import (
    commands,
    formats,
    manifests,
    names,
    records,
    values,
    verdicts,
)
from spinneret.redaction.leaves import name_of
from spinneret.redaction.names import Kind

_KEY_PARTS: Final = frozenset({"d", "p", "q", "dp", "dq", "qi", "k", "oth"})  # RFC 7518, section 6
_ARGUMENTS: Final = 200  # words of a command …
_LONGEST: Final = 8_000  # … and its characters
_LOCATIONS: Final = ("loc", "path", "field_path", "location")  # where a validator found a fault


def hidden_fields(source: Mapping[Any, Any]) -> frozenset[Any]:
    """Keys whose values are secrets because of other keys."""
    hidden: set[Any] = set()
    source = {key: verdicts.untyped(value) for key, value in source.items()}
    lower = {key.lower(): key for key in source if isinstance(key, str)}
    if not records.VALUE_FIELDS.isdisjoint(lower):
        kind = _record_kind(source, lower)
        for field in records.VALUE_FIELDS & lower.keys() if kind is not Kind.HARMLESS else ():
            value = source[lower[field]]
            doubtful = field in records.LOOSE_FIELDS or kind is Kind.OPAQUE
            if not doubtful or (isinstance(value, str) and values.is_secret(Kind.OPAQUE, value)):
                hidden.add(lower[field])
    if source.get("kind") == "Secret":
        hidden.update(manifests.SECRET_FIELDS)
    if "kty" in lower:
        hidden |= _KEY_PARTS & source.keys()
    hidden.update(_beside_key_id(source.items()))
    return frozenset(hidden)


def hidden_places(source: Sequence[Any]) -> frozenset[int]:
    """Indexes of values behind their name: a pair, `--password` in a command, raw headers."""
    hidden = set(_beside_key_id(enumerate(source)))
    for place in range(len(source) - 1):
        name, value = name_of(source[place]), source[place + 1]
        if name is None or not names.kind_of(name).certain:
            continue
        option = name.startswith("-") and "=" not in name and not str(value).startswith("-")
        header = "-" in name.strip("-") or names.kind_of(name) in {Kind.AUTHORIZATION, Kind.COOKIE}
        pair = len(source) == 2
        if option or ((header or pair) and not _could_be_name(value)):
            hidden.add(place + 1)
    return frozenset(hidden | _in_command(source))


def _in_command(source: Sequence[Any]) -> set[int]:
    """Arguments that are secret where they stand: `["curl", "-u", "bob:hunter2"]`."""
    if not 1 < len(source) <= _ARGUMENTS or not all(isinstance(item, str) for item in source):
        return set()
    if not any(item.startswith("-") for item in source):
        return set()
    starts = list(accumulate((len(item) + 1 for item in source), initial=0))
    spans = commands.commanded(" ".join(source)) if starts[-1] <= _LONGEST else ()
    return {bisect_right(starts, span.start) - 1 for span in spans}


def are_pairs(source: Sequence[Any]) -> bool:
    """Whether this is a list of names with values: raw headers, form fields."""
    return bool(source) and all(
        isinstance(item, list | tuple) and len(item) == 2 and name_of(item[0]) is not None
        for item in source
    )


def is_secret_pair(item: Sequence[Any]) -> bool:
    """Whether the second of two is the secret that the first one names."""
    kind = names.kind_of(name_of(item[0]) or "")
    if kind.certain:
        return True
    return isinstance(item[1], str) and values.is_secret(kind, item[1])


def _record_kind(source: Mapping[Any, Any], lower: Mapping[str, Any]) -> Kind:
    """What the field of a record that holds a name says."""
    for field in lower.keys() & records.NAME_FIELDS:
        name = source[lower[field]]
        if isinstance(name, str) and len(name) < 100:
            kind = names.kind_of(name)
            if kind.certain or kind in {Kind.AUTH, Kind.OPAQUE}:
                return kind
    for field in _LOCATIONS:
        place = source.get(field)
        if isinstance(place, list | tuple) and any(
            names.kind_of(part).certain for part in place if isinstance(part, str)
        ):
            return Kind.SECRET
    return Kind.HARMLESS


def _beside_key_id(items: Any) -> set[Any]:
    """40 characters of base64 in the company of an AWS key id."""
    texts = {place: value for place, value in items if isinstance(value, str)}
    if not any(map(formats.AWS_KEY_ID.match, texts.values())):
        return set()
    return {place for place, value in texts.items() if formats.AWS_SECRET.fullmatch(value)}


def _could_be_name(value: Any) -> bool:
    return isinstance(value, str) and names.is_plain(value)
