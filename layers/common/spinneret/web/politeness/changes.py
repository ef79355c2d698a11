"""One conditional update of a row, as a value: rules write it down, a ledger carries it out.

Guards and effects are few on purpose: each is one term of a DynamoDB expression, and one line of
the fake. A value is a whole number (most are epoch milliseconds) or a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

Value = int | str
Row = Mapping[str, Value]
"""What is stored under one key; empty where nothing is."""


class GuardOperator(StrEnum):
    """What a guard asks of an attribute."""

    ABSENT = "absent"
    EQUAL = "equal"
    DIFFERENT = "different"
    PASSED = "passed"
    OVER = "over"


@dataclass(frozen=True)
class Guard:
    """One condition; made by the functions below."""

    attribute: str
    relation: GuardOperator
    value: Value = 0


def absent(attribute: str) -> Guard:
    """There is no such attribute."""
    return Guard(attribute, GuardOperator.ABSENT)


def equal(attribute: str, value: Value) -> Guard:
    """The attribute is there and has this value."""
    return Guard(attribute, GuardOperator.EQUAL, value)


def different(attribute: str, value: Value) -> Guard:
    """The attribute is absent or has another value."""
    return Guard(attribute, GuardOperator.DIFFERENT, value)


def absent_or_at_most(attribute: str, bound: int) -> Guard:
    """The attribute is absent or at most `bound`: a moment that nobody waits for any more."""
    return Guard(attribute, GuardOperator.PASSED, bound)


def greater_than(attribute: str, bound: int) -> Guard:
    """The attribute is there and above `bound`."""
    return Guard(attribute, GuardOperator.OVER, bound)


@dataclass(frozen=True)
class Increment:
    """The attribute's value and so much more; an absent one counts as `start`."""

    amount: int
    start: int = 0


AttributeUpdates = dict[str, Value | Increment | None]
"""New values by attribute; None removes it."""


@dataclass(frozen=True, kw_only=True)
class ConditionalUpdate:
    """Happens whole if every guard holds, else not at all."""

    guards: tuple[Guard, ...] = ()
    to: AttributeUpdates = field(default_factory=dict)


def together(changes: Iterable[ConditionalUpdate]) -> ConditionalUpdate:
    """All of them as one; they must not write the same attribute."""
    guards: tuple[Guard, ...] = ()
    to: AttributeUpdates = {}
    for change in changes:
        guards += change.guards
        to |= change.to
    return ConditionalUpdate(guards=guards, to=to)
