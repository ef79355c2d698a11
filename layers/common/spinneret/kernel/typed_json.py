"""Values of one type as JSON text."""

from __future__ import annotations

from functools import cached_property

from pydantic import TypeAdapter


class TypedJson[T]:
    """Compact JSON of one type, without fields that have their default value.

    pydantic's schema is built for the first value, not at import.
    """

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind

    def dump(self, value: T) -> str:
        """Return the JSON of a value; `load` returns an equal one."""
        return self._adapter.dump_json(value, exclude_defaults=True).decode()

    def load(self, text: str | bytes) -> T:
        """Parse the output of `dump`. Raises pydantic.ValidationError for anything else."""
        return self._adapter.validate_json(text)

    @cached_property
    def _adapter(self) -> TypeAdapter[T]:
        return TypeAdapter(self._kind)
