"""Shapes that API models share: views of domain values, and lists of them."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict

from spinneret.kernel.clock import to_iso
from spinneret.kernel.paging import Page, cursor_of


def _text(value: Any) -> Any:
    return to_iso(value) if isinstance(value, datetime) else value


Timestamp = Annotated[str, BeforeValidator(_text)]
"""A moment as RFC 3339 text in UTC with six decimals; a datetime is converted."""


class View(BaseModel):
    """A domain value as its tenant sees it: `of` copies the fields of the same name."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def of(cls, value: Any) -> Self:
        """Return the view of a value that has an attribute for each field."""
        return cls.model_validate(value)


class ListOf[T](BaseModel):
    """A page of a list. Subclasses name it for the API's document."""

    items: list[T]
    next_cursor: str | None
    has_more: bool

    @classmethod
    def page[V](cls, page: Page[V], view: Callable[[V], T]) -> Self:
        """Return the views of a page's items."""
        return cls(
            items=[view(each) for each in page.items],
            next_cursor=cursor_of(page.after),
            has_more=page.after is not None,
        )
