"""Settings from the environment: one frozen class per function, read once on first use.

A class declares its settings as annotated fields; `from_env` reads `JOBS_TABLE` for `jobs_table`.
Classes combine by inheritance, so a function's settings are the sum of its domains' settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Self, get_type_hints


class SettingsError(Exception):
    """Raised if a variable is missing or malformed; the message names it."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Base of all settings classes; fields without a default are required."""

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Self:
        """Read every field. Raises SettingsError for a missing or malformed variable."""
        hints = get_type_hints(cls)
        values: dict[str, Any] = {}
        for field in fields(cls):
            name = field.name.upper()
            text = env.get(name)
            if text is None:
                if field.default is MISSING:
                    raise SettingsError(f"environment variable {name} is not set")
                continue
            try:
                values[field.name] = _PARSERS[hints[field.name]](text)
            except ValueError as error:
                raise SettingsError(f"environment variable {name}: {error}") from error
        return cls(**values)


def _boolean(text: str) -> bool:
    match text.strip().lower():
        case "true" | "1":
            return True
        case "false" | "0" | "":
            return False
    raise ValueError("expected true or false")


def _names(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(",") if part.strip())


_PARSERS: dict[Any, Callable[[str], Any]] = {
    str: str,
    int: int,
    float: float,
    bool: _boolean,
    frozenset[str]: _names,
}
