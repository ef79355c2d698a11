"""Parse conditions: the grammar, type rules, and errors with their position and cause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from spinneret.kernel.errors import ValidationFailed, field_error
from spinneret.monitoring.conditions.models import (
    All,
    AnyOf,
    Condition,
    Expression,
    Literal,
    Not,
    Operator,
    Predicate,
    ResponseField,
    ResponsePart,
    Step,
)

if TYPE_CHECKING:
    from lark import Lark

_GRAMMAR: Final = r"""
?start: any
?any: all ("or" all)*
?all: negation ("and" negation)*
?negation: "not" negation -> negated
         | "(" any ")"
         | comparison
comparison: field COMPARE literal
          | field WORD_COMPARE literal
          | field "in" "(" literal ("," literal)* ")" -> membership
field: PLAIN_FIELD
     | NAMED_FIELD "(" STRING ")" -> named_field
literal: STRING -> text
       | NUMBER UNIT? -> number
       | "true" -> true
       | "false" -> false
       | "null" -> null
PLAIN_FIELD: /(?:status|time|size|certificate|body)\b/
NAMED_FIELD: /(?:header|json)\b/
COMPARE: "==" | "!=" | "<=" | ">=" | "<" | ">"
WORD_COMPARE: "contains" | "matches"
UNIT: "ms" | "s" | "d" | "h" | "kb" | "mb" | "b"
STRING: /"(?:[^"\\]|\\.)*"/ | /'(?:[^'\\]|\\.)*'/
NUMBER: /-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,9})?/
%ignore /[ \t\r\n]+/
"""

_UNITS: Final = {
    ResponsePart.TIME: {"ms": 1, "s": 1000},
    ResponsePart.SIZE: {"b": 1, "kb": 1024, "mb": 1024 * 1024},
    ResponsePart.CERTIFICATE: {"s": 1, "h": 3600, "d": 86400},
}
"""Allowed units of each subject, with the factor by which a number is multiplied."""
_NUMBERS: Final = frozenset({ResponsePart.STATUS, *_UNITS})
_TEXTS: Final = frozenset({ResponsePart.BODY, ResponsePart.HEADER})
_ORDERS: Final = frozenset({Operator.LESS, Operator.AT_MOST, Operator.GREATER, Operator.AT_LEAST})
_ON_TEXT: Final = frozenset({Operator.CONTAINS, Operator.MATCHES})
_READING_BODY: Final = frozenset({ResponsePart.BODY, ResponsePart.JSON, ResponsePart.SIZE})
_PATH: Final = re.compile(r"(?:\.?([A-Za-z0-9_-]+)|\[(\d{1,6})\])")
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")  # RFC 9110, section 5.6.2
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r"}
_NAMES: Final = {
    "PLAIN_FIELD": "status, time, size, certificate or body",
    "NAMED_FIELD": "header or json",
    "COMPARE": "a comparison",
    "WORD_COMPARE": "contains or matches",
    "STRING": "a text in quotes",
    "NUMBER": "a number",
    "UNIT": "a unit",
    "LPAR": "(",
    "RPAR": ")",
    "COMMA": "a comma",
    "$END": "the end",
}


class _Unfit(Exception):
    """Raised when the parts of a condition don't fit together."""


def parse_conditions(texts: Sequence[str]) -> tuple[Condition, ...]:
    """Parse the conditions.

    Raises ValidationFailed, whose details name the condition, the column and the allowed tokens.
    """
    return tuple(_parsed(number, text) for number, text in enumerate(texts))


def reads_body(conditions: Sequence[Condition]) -> bool:
    """Return whether a condition reads the body, which a response to HEAD lacks."""
    return bool(_subjects(conditions) & _READING_BODY)


def reads_status(conditions: Sequence[Condition]) -> bool:
    """Return whether a condition checks the status; if so, the default rule is skipped."""
    return ResponsePart.STATUS in _subjects(conditions)


def _parsed(number: int, text: str) -> Condition:
    try:
        return _parse(text)
    except _Malformed as error:
        raise ValidationFailed(
            f"the condition {text!r} {error.message}",
            details={
                "fields": [field_error(f"conditions.{number}", error.message, column=error.column)]
            },
        ) from error


class _Malformed(Exception):
    """Raised for a condition that can't be parsed; the column counts from 1, None for all of it."""

    def __init__(self, message: str, column: int | None) -> None:
        super().__init__(message)
        self.message = message
        self.column = column


@lru_cache(maxsize=1000)
def _parse(text: str) -> Condition:
    # Imported late: only targets with conditions need the grammar.
    from lark.exceptions import (  # noqa: PLC0415 (see above)
        UnexpectedCharacters,
        UnexpectedInput,
        UnexpectedToken,
    )

    try:
        expression: Any = _parser().parse(text)
    except UnexpectedCharacters as error:
        message = f"{_unread(text, error.pos_in_stream)}: expected {_expected(error.allowed)}"
        raise _Malformed(message, error.column) from error
    except UnexpectedToken as error:
        found = _unread(text, error.pos_in_stream) if error.token else "ends too early"
        message = f"{found}: expected {_expected(error.expected)}"
        raise _Malformed(message, error.column if error.column > 0 else None) from error
    except UnexpectedInput as error:
        raise _Malformed("can't be read", error.column) from error
    except _Unfit as error:
        raise _Malformed(str(error), None) from error
    return Condition(text, expression)


def _unread(text: str, start: int | None) -> str:
    return f"can't be read from {text[start or 0 :][:20]!r} on"


def _expected(names: Any) -> str:
    words = sorted({_NAMES.get(str(name), repr(str(name).lower())) for name in names or ()})
    return " or ".join(words) or "something else"


@cache
def _parser() -> Lark:
    from lark import Lark  # noqa: PLC0415 (see `_parse`)

    # Lark calls the attribute with a rule's name to convert what the rule matched.
    build = SimpleNamespace(
        any=lambda parts: AnyOf(tuple(parts)),
        all=lambda parts: All(tuple(parts)),
        negated=lambda parts: Not(parts[0]),
        field=lambda parts: ResponseField(ResponsePart(str(parts[0]))),
        named_field=lambda parts: _named(str(parts[0]), _text(str(parts[1]))),
        comparison=lambda parts: _comparison(parts[0], Operator(str(parts[1])), parts[2]),
        membership=lambda parts: _membership(parts[0], parts[1:]),
        text=lambda parts: (_text(str(parts[0])), None),
        number=lambda parts: (_number(str(parts[0])), str(parts[1]) if parts[1:] else None),
        true=lambda _: (True, None),
        false=lambda _: (False, None),
        null=lambda _: (None, None),
    )
    return Lark(_GRAMMAR, parser="lalr", transformer=build)  # type: ignore[arg-type,unused-ignore]  # any object with these names works


_Read = tuple[Literal, str | None]
"""A literal and its unit."""


def _comparison(field: ResponseField, operator: Operator, read: _Read) -> Predicate:
    value = _fitting(field, *read)
    subject = field.subject
    if operator in _ON_TEXT:
        if subject in _NUMBERS:
            raise _Unfit(f"compares {subject}, a number, by {operator}")
        if operator is Operator.MATCHES and not isinstance(value, str):
            raise _Unfit("matches a value that isn't a text")
    if operator in _ORDERS and (isinstance(value, str | bool) or value is None):
        raise _Unfit(f"compares by {operator} with a value that isn't a number")
    if operator in _ORDERS and subject in _TEXTS:
        raise _Unfit(f"compares {subject}, a text, by {operator}")
    return Predicate(field, operator, value)


def _membership(field: ResponseField, reads: Sequence[_Read]) -> Predicate:
    return Predicate(field, Operator.IN, tuple(_fitting(field, *read) for read in reads))


def _fitting(field: ResponseField, value: Literal, unit: str | None) -> Literal:
    """Return the literal in the subject's own unit. Raises _Unfit."""
    subject = field.subject
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if (
        subject in _NUMBERS
        and not is_number
        and not (value is None and subject is ResponsePart.CERTIFICATE)
    ):
        raise _Unfit(f"compares {subject} with a value that isn't a number")
    if subject in _TEXTS and not (value is None or isinstance(value, str)):
        raise _Unfit(f"compares {subject} with a value that isn't a text")
    if subject in _NUMBERS and isinstance(value, int | float) and value < 0:
        raise _Unfit(f"compares {subject}, which is never negative, with {value:g}{unit or ''}")
    if unit is None:
        return value * 86400 if subject is ResponsePart.CERTIFICATE and is_number else value  # type: ignore[operator]  # a number
    factors = _UNITS.get(subject, {})
    if unit not in factors:
        known = ", ".join(factors) or "no unit"
        raise _Unfit(f"gives {subject} in {unit}: it takes {known}")
    assert isinstance(value, int | float)  # the grammar gives units to numbers only
    return value * factors[unit]


def _named(subject: str, name: str) -> ResponseField:
    if subject == ResponsePart.HEADER:
        if not _HEADER.fullmatch(name):
            raise _Unfit(f"names an impossible header: {name!r}")
        return ResponseField(ResponsePart.HEADER, name.lower())
    steps: list[Step] = []
    position = 0
    while position < len(name) and (found := _PATH.match(name, position)):
        steps.append(found[1] if found[1] is not None else int(found[2]))
        position = found.end()
    if position < len(name) or name.startswith(".") or not steps:
        raise _Unfit(f"has an invalid path: {name!r}; write it as a.b[0]")
    return ResponseField(ResponsePart.JSON, name, tuple(steps))


def _text(quoted: str) -> str:
    return _ESCAPED.sub(lambda found: _ESCAPES.get(found[1], found[1]), quoted[1:-1])


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _subjects(conditions: Sequence[Condition]) -> frozenset[ResponsePart]:
    return frozenset(
        field.subject for condition in conditions for field in _fields(condition.expression)
    )


def _fields(expression: Expression) -> Iterator[ResponseField]:
    match expression:
        case Predicate(field=field):
            yield field
        case Not(of=of):
            yield from _fields(of)
        case All(of=parts) | AnyOf(of=parts):
            for each in parts:
                yield from _fields(each)
