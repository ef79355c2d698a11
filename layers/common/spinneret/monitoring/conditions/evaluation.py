"""Evaluate conditions on a response. Pure, never raises, linear in the body's length."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import ge, gt, le, lt
from typing import Any, Final

from spinneret.kernel.unicode import storable
from spinneret.monitoring import limits
from spinneret.monitoring.conditions.models import (
    All,
    AnyOf,
    Condition,
    Expression,
    Facts,
    Not,
    Operator,
    Predicate,
    ResponseField,
    ResponsePart,
)

_SHOWN_CHARS: Final = 80
_READ: Final = f"{limits.CHECK_BODY_BYTES // 1024**2} MB"
_NOTHING: Final = object()
"""Marks a body that isn't valid JSON."""


@dataclass(frozen=True)
class Unmet:
    """A condition that fails or can't be evaluated."""

    cause: str
    found: str = ""
    """Value that was found, in parentheses."""

    @property
    def message(self) -> str:
        """Cause and value."""
        return f"{self.cause}{self.found}"


def failed(conditions: Sequence[Condition], facts: Facts) -> Unmet | None:
    """Return the first condition that fails or can't be evaluated; None if all hold."""
    answer = _Answer(facts)
    for condition in conditions:
        try:
            holds = answer.meets(condition.expression)
        except _Unknown as error:
            return Unmet(f"can't be evaluated: {condition.text} ({error})")
        if not holds:
            return Unmet(f"not met: {condition.text}", answer.found(condition.expression))
    return None


class _Unknown(Exception):
    """Raised when a condition depends on an unread part of the body.

    Neither the condition nor its negation holds, so that `not` can't turn it into a success.
    """


class _Answer:
    """One response; its body is decoded and its JSON parsed once."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def meets(self, expression: Expression) -> bool:
        """Return whether the expression holds."""
        match expression:
            case Not(of=of):
                return not self.meets(of)
            case All(of=parts):
                return not self._has(parts, verdict=False)
            case AnyOf(of=parts):
                return self._has(parts, verdict=True)
            case Predicate(field=field, operator=operator, value=value):
                if field.subject is ResponsePart.SIZE:
                    self._require_size_beside(value)
                holds = _compare(self._value(field), operator, value)
                if field.subject is ResponsePart.BODY:
                    self._require_final(operator, value, holds=holds)
                return holds

    def _has(self, parts: Iterable[Expression], *, verdict: bool) -> bool:
        """Return whether a part has this verdict. Raise _Unknown if only unknown parts may."""
        unknown = None
        for each in parts:
            try:
                if self.meets(each) is verdict:
                    return True
            except _Unknown as error:
                unknown = error
        if unknown is not None:
            raise unknown
        return False

    def found(self, expression: Expression) -> str:
        """Describe the actual value of a single comparison; return "" for body text."""
        match expression:
            case Predicate(field=ResponseField(subject=ResponsePart.BODY)):
                return ""
            case Predicate(field=field):
                value = self._value(field)
                if value is not None and field.subject in _MEASURED:
                    return f" ({_MEASURED[field.subject](value)})"
                shown = storable(json.dumps(value, ensure_ascii=False, default=str))
                cut = shown if len(shown) <= _SHOWN_CHARS else f"{shown[:_SHOWN_CHARS]}…"
                return f" ({field} is {cut})"
            case _:
                return ""

    def _value(self, field: ResponseField) -> Any:
        facts = self._facts
        match field.subject:
            case ResponsePart.BODY:
                return self._body
            case ResponsePart.HEADER:
                return facts.headers.get(field.name or "")
            case ResponsePart.JSON:
                return self._at(field)
            case plain:
                return getattr(facts, _PLAIN[plain])

    def _at(self, field: ResponseField) -> Any:
        value = self._json
        for step in field.path:
            match value, step:
                case dict(), str():
                    value = value.get(step)
                case list(), int() if step < len(value):
                    value = value[step]
                case _:
                    return None
        return None if value is _NOTHING else value

    def _require_size_beside(self, value: Any) -> None:
        """Raise _Unknown unless the comparison is decidable with the known minimum size.

        A body that is larger than all named sizes stays so, however large it is.
        """
        facts, named = self._facts, value if isinstance(value, tuple) else (value,)
        if not facts.size_is_known and max(named) >= facts.size:
            raise _Unknown(f"the body is longer than {_READ}, and its size is unknown")

    def _require_final(self, operator: Operator, value: Any, *, holds: bool) -> None:
        """Raise _Unknown if the unread part of the body could change the verdict.

        No condition names a text as long as the part that was read.
        """
        if self._facts.body_is_whole or operator not in {Operator.CONTAINS, Operator.MATCHES}:
            return
        if not holds or (operator is Operator.MATCHES and not value.endswith("*")):
            raise _Unknown(f"the body is longer than {_READ}, and the rest isn't read")

    @cached_property
    def _body(self) -> str:
        return self._facts.body()

    @cached_property
    def _json(self) -> Any:
        if not self._facts.body_is_whole:
            raise _Unknown(f"the body is longer than {_READ}, so its JSON isn't parsed")
        try:
            return json.loads(self._body)
        except (ValueError, RecursionError):
            return _NOTHING


def _compare(found: Any, operator: Operator, value: Any) -> bool:
    if operator in _ORDERS:
        return _is_number(found) and bool(_ORDERS[operator](found, value))
    return _TESTS[operator](found, value)


def _contains(found: Any, value: Any) -> bool:
    if isinstance(found, str):
        return isinstance(value, str) and value in found
    return isinstance(found, list) and any(_same(each, value) for each in found)


def _same(found: Any, value: Any) -> bool:
    """Return whether both values are equal and of one type: 1 equals neither true nor a string."""
    if _is_number(found) and _is_number(value):
        return bool(found == value)
    return type(found) is type(value) and bool(found == value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _matches(text: str, pattern: str) -> bool:
    """Match text with a pattern of `*` wildcards.

    Each part between stars is searched from the end of the previous match, so that no part needs
    backtracking.
    """
    first, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    if not text.startswith(first):
        return False
    *middle, last = rest
    position = len(first)
    for part in middle:
        at = text.find(part, position)
        if at < 0:
            return False
        position = at + len(part)
    return len(text) - len(last) >= position and text.endswith(last)


def _time_left(seconds: float) -> str:
    """Format a time to come with its two largest units, such as `4 d 23 h`."""
    left, parts = max(0, int(seconds)), list[str]()
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        count, left = divmod(left, length)
        parts.append(f"{count} {unit}" if count else "")
    first = next((place for place, part in enumerate(parts) if part), 3)
    return " ".join(filter(None, parts[first : first + 2])) or "0 s"


def _bytes(size: int) -> str:
    """Format a size in the largest unit that shows it exactly in two decimals."""
    for unit, factor in (("MB", 1024**2), ("kB", 1024)):
        if size >= factor and size * 100 % factor == 0:
            return f"{size / factor:g} {unit}"
    return f"{size} B"


_MEASURED: Final[Mapping[ResponsePart, Callable[[Any], str]]] = {
    ResponsePart.TIME: lambda milliseconds: f"time is {milliseconds} ms",
    ResponsePart.SIZE: lambda size: f"size is {_bytes(size)}",
    ResponsePart.CERTIFICATE: lambda seconds: f"certificate ends in {_time_left(seconds)}",
}
"""Description of a value with a unit, by subject."""
_PLAIN: Final = {
    ResponsePart.STATUS: "status",
    ResponsePart.TIME: "time_ms",
    ResponsePart.SIZE: "size",
    ResponsePart.CERTIFICATE: "certificate_seconds",
}
_ORDERS: Final[Mapping[Operator, Callable[[Any, Any], Any]]] = {
    Operator.LESS: lt,
    Operator.AT_MOST: le,
    Operator.GREATER: gt,
    Operator.AT_LEAST: ge,
}
_TESTS: Final[Mapping[Operator, Callable[[Any, Any], bool]]] = {
    Operator.EQUAL: _same,
    Operator.UNEQUAL: lambda found, value: not _same(found, value),
    Operator.IN: lambda found, values: any(_same(found, each) for each in values),
    Operator.CONTAINS: _contains,
    Operator.MATCHES: lambda found, value: isinstance(found, str) and _matches(found, value),
}
