"""Environment variables: declared where they are used, read and checked together.

    JOBS_TABLE: Final = text("JOBS_TABLE")
    CHECK_INTERVAL: Final = integer("CHECK_INTERVAL", 60)

`aws/stage.py` gives a function the variables that it declares.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any


class SettingsError(Exception):
    """Raised for missing or malformed variables; the message names each of them."""


@dataclass(frozen=True)
class Variable[T]:
    """An environment variable; required unless it has a default."""

    name: str
    parse: Callable[[str], T]
    """Return the value of a text. Raises ValueError."""
    default: T | None = None


def text(name: str, default: str | None = None) -> Variable[str]:
    """Declare a variable whose text is its value."""
    return Variable(name, str, default)


def integer(name: str, default: int | None = None) -> Variable[int]:
    """Declare a whole number."""
    return Variable(name, int, default)


def number(name: str, default: float | None = None) -> Variable[float]:
    """Declare a number."""
    return Variable(name, float, default)


def flag(name: str, default: bool | None = None) -> Variable[bool]:
    """Declare a truth value: `true`, `1`, `false`, `0` or empty."""
    return Variable(name, _boolean, default)


def names(name: str, default: frozenset[str] | None = None) -> Variable[frozenset[str]]:
    """Declare names that commas separate."""
    return Variable(name, _names, default)


def numbers(name: str, default: tuple[float, ...] | None = None) -> Variable[tuple[float, ...]]:
    """Declare a JSON list of numbers above 0."""
    return Variable(name, _numbers, default)


def read(env: Mapping[str, str], variables: Iterable[Variable[Any]]) -> dict[str, Any]:
    """Return the values by name. Raises SettingsError that names all missing or malformed ones."""
    values: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for each in variables:
        given = env.get(each.name)
        try:
            values[each.name] = each.default if given is None else each.parse(given)
        except ValueError as error:
            problems[each.name] = str(error)
        if given is None and each.default is None:
            problems[each.name] = "not set"
    if problems:
        named = "; ".join(f"{name}: {problem}" for name, problem in problems.items())
        raise SettingsError(f"environment variables: {named}")
    return values


def _boolean(given: str) -> bool:
    match given.strip().lower():
        case "true" | "1":
            return True
        case "false" | "0" | "":
            return False
    raise ValueError("expected true or false")


def _numbers(given: str) -> tuple[float, ...]:
    try:
        found = tuple(map(float, json.loads(given)))
    except TypeError as error:
        raise ValueError("expected a list of numbers in JSON") from error
    if not found or not all(0 < each < math.inf for each in found):
        raise ValueError("expected numbers above 0")
    return found


def _names(given: str) -> frozenset[str]:
    return frozenset(part.strip() for part in given.split(",") if part.strip())
