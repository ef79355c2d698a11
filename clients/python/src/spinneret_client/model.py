"""Base of all response models."""

from __future__ import annotations

from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

Item = TypeVar("Item")


class Model(BaseModel):
    """Response that accepts unknown fields, so that newer servers don't break older clients."""

    model_config = ConfigDict(
        extra="allow",
        frozen=True,
        populate_by_name=True,
        protected_namespaces=(),
        defer_build=True,  # building 200 models would delay each start of the command
    )


class Listed(Model, Generic[Item]):
    """A page of a list."""

    items: list[Item]
    next_cursor: str | None
    has_more: bool = True
