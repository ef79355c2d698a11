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


class Relation(StrEnum):
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
    relation: Relation
    value: Value = 0


def absent(attribute: str) -> Guard:
    """There is no such attribute."""
    return Guard(attribute, Relation.ABSENT)


def equal(attribute: str, value: Value) -> Guard:
    """The attribute is there and has this value."""
    return Guard(attribute, Relation.EQUAL, value)


def different(attribute: str, value: Value) -> Guard:
    """The attribute is absent or has another value."""
    return Guard(attribute, Relation.DIFFERENT, value)


def passed(attribute: str, bound: int) -> Guard:
    """The attribute is absent or at most `bound`: a moment that nobody waits for any more."""
    return Guard(attribute, Relation.PASSED, bound)


def over(attribute: str, bound: int) -> Guard:
    """The attribute is there and above `bound`."""
    return Guard(attribute, Relation.OVER, bound)


@dataclass(frozen=True)
class Plus:
    """The attribute's value and so much more; an absent one counts as `start`."""

    amount: int
    start: int = 0


Effects = dict[str, Value | Plus | None]
"""New values by attribute; None removes it."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """Happens whole if every guard holds, else not at all."""

    guards: tuple[Guard, ...] = ()
    to: Effects = field(default_factory=dict)


def together(changes: Iterable[Change]) -> Change:
    """All of them as one; they must not write the same attribute."""
    guards: tuple[Guard, ...] = ()
    to: Effects = {}
    for change in changes:
        guards += change.guards
        to |= change.to
    return Change(guards=guards, to=to)
