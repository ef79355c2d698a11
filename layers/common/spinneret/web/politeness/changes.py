"""One conditional update of a row as a value: rules build it, a ledger applies it.

Guards and effects are few on purpose: each is one term of a DynamoDB expression, and one line of
the fake. A value is a whole number (most are epoch milliseconds) or a text.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

Value = int | str
Row = Mapping[str, Value]
"""Attributes stored under one key; empty for a missing row."""


class GuardOperator(StrEnum):
    """Relation that a guard requires of an attribute."""

    ABSENT = "absent"
    EQUAL = "equal"
    DIFFERENT = "different"
    PASSED = "passed"
    OVER = "over"


@dataclass(frozen=True)
class Guard:
    """One condition; built by the functions below."""

    attribute: str
    relation: GuardOperator
    value: Value = 0


def absent(attribute: str) -> Guard:
    """Require that the attribute doesn't exist."""
    return Guard(attribute, GuardOperator.ABSENT)


def equal(attribute: str, value: Value) -> Guard:
    """Require that the attribute exists and has this value."""
    return Guard(attribute, GuardOperator.EQUAL, value)


def different(attribute: str, value: Value) -> Guard:
    """Require that the attribute is absent or has another value."""
    return Guard(attribute, GuardOperator.DIFFERENT, value)


def absent_or_at_most(attribute: str, bound: int) -> Guard:
    """Require that the attribute is absent or at most `bound`, such as a moment in the past."""
    return Guard(attribute, GuardOperator.PASSED, bound)


def greater_than(attribute: str, bound: int) -> Guard:
    """Require that the attribute exists and is greater than `bound`."""
    return Guard(attribute, GuardOperator.OVER, bound)


@dataclass(frozen=True)
class Increment:
    """Addition of `amount` to the attribute's value; an absent attribute counts as `start`."""

    amount: int
    start: int = 0


AttributeUpdates = dict[str, Value | Increment | None]
"""New values by attribute; None removes an attribute."""


@dataclass(frozen=True, kw_only=True)
class ConditionalUpdate:
    """Guards and effects of one atomic update: all effects apply if every guard holds."""

    guards: tuple[Guard, ...] = ()
    to: AttributeUpdates = field(default_factory=dict)


def together(changes: Iterable[ConditionalUpdate]) -> ConditionalUpdate:
    """Merge changes into one; they must not write the same attribute."""
    guards: tuple[Guard, ...] = ()
    to: AttributeUpdates = {}
    for change in changes:
        guards += change.guards
        to |= change.to
    return ConditionalUpdate(guards=guards, to=to)
