"""Conditions as values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Subject(StrEnum):
    """What of an answer is looked at."""

    STATUS = "status"
    TIME = "time"
    """Milliseconds of the last try with its redirects."""
    SIZE = "size"
    """Bytes of the body after decoding."""
    CERTIFICATE = "certificate"
    """Seconds until its end, or that of the first one to end behind redirects; null without TLS."""
    BODY = "body"
    HEADER = "header"
    """By name; null where the answer has none."""
    JSON = "json"
    """By path, as `a.b[0]`; null where there is none, or no JSON."""


class Operator(StrEnum):
    """How it is compared. What can't be compared is not so, but for `!=`."""

    EQUAL = "=="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="
    CONTAINS = "contains"
    MATCHES = "matches"
    """The whole text, where `*` stands for any characters."""
    IN = "in"


Literal = str | int | float | bool | None
Step = str | int


@dataclass(frozen=True)
class Field:
    """A subject, and which header or part of the JSON."""

    subject: Subject
    name: str | None = None
    path: tuple[Step, ...] = ()

    def __str__(self) -> str:
        return self.subject if self.name is None else f'{self.subject}("{self.name}")'


@dataclass(frozen=True)
class Predicate:
    """A field and what it is to be."""

    field: Field
    operator: Operator
    value: Literal | tuple[Literal, ...]


@dataclass(frozen=True)
class Not:
    """Holds where the other doesn't."""

    of: Expression


@dataclass(frozen=True)
class All:
    """Holds where all of these do."""

    of: tuple[Expression, ...]


@dataclass(frozen=True)
class AnyOf:
    """Holds where one of these does."""

    of: tuple[Expression, ...]


Expression = Predicate | Not | All | AnyOf


@dataclass(frozen=True)
class Condition:
    """One condition with its text."""

    text: str
    expression: Expression


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What an answer is judged by."""

    status: int
    time_ms: int
    size: int
    size_is_known: bool = True
    """Without, the body is at least as long as `size`."""
    certificate_seconds: float | None
    headers: Mapping[str, str]
    body: Callable[[], str] = field(repr=False)
    """Decodes the body's text, where a condition looks at it."""
    body_is_whole: bool = True
    """Without, `body` is its first CHECK_BODY_BYTES."""
