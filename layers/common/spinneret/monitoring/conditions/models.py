"""Value classes of conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class ResponsePart(StrEnum):
    """Part of a response that a condition inspects."""

    STATUS = "status"
    TIME = "time"
    """Duration of the last try with its redirects in milliseconds."""
    SIZE = "size"
    """Size of the decoded body in bytes."""
    CERTIFICATE = "certificate"
    """Seconds until the first certificate of the redirect chain expires; null without TLS."""
    BODY = "body"
    HEADER = "header"
    """Header by name; null if the response lacks it."""
    JSON = "json"
    """JSON value by path, such as `a.b[0]`; null if it is missing or the body isn't JSON."""


class Operator(StrEnum):
    """Comparison operator. Comparing incompatible values yields false, except for `!=`."""

    EQUAL = "=="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="
    CONTAINS = "contains"
    MATCHES = "matches"
    """Matches the whole text; `*` stands for any characters."""
    IN = "in"


Literal = str | int | float | bool | None
Step = str | int


@dataclass(frozen=True)
class ResponseField:
    """A subject, with the header name or the JSON path."""

    subject: ResponsePart
    name: str | None = None
    path: tuple[Step, ...] = ()

    def __str__(self) -> str:
        return self.subject if self.name is None else f'{self.subject}("{self.name}")'


@dataclass(frozen=True)
class Predicate:
    """Compare a field with an expected value."""

    field: ResponseField
    operator: Operator
    value: Literal | tuple[Literal, ...]


@dataclass(frozen=True)
class Not:
    """Holds if the inner expression doesn't."""

    of: Expression


@dataclass(frozen=True)
class All:
    """Holds if all parts hold."""

    of: tuple[Expression, ...]


@dataclass(frozen=True)
class AnyOf:
    """Holds if at least one part holds."""

    of: tuple[Expression, ...]


Expression = Predicate | Not | All | AnyOf


@dataclass(frozen=True)
class Condition:
    """A parsed condition with its source text."""

    text: str
    expression: Expression


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Properties of a response that conditions evaluate."""

    status: int
    time_ms: int
    size: int
    size_is_known: bool = True
    """If False, `size` is a minimum of the body's length."""
    certificate_seconds: float | None
    headers: Mapping[str, str]
    body: Callable[[], str] = field(repr=False)
    """Function that decodes the body's text; called only if a condition reads it."""
    body_is_whole: bool = True
    """If False, `body` holds only the first CHECK_BODY_BYTES."""
