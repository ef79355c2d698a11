"""Pages of lists, and their opaque cursors."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from spinneret.kernel.errors import ValidationFailed
from spinneret.kernel.ids import is_id


@dataclass(frozen=True, kw_only=True)
class Page[T]:
    """Part of a list."""

    items: tuple[T, ...]
    after: str | None
    """Position of the last item; None if no item follows."""

    @classmethod
    def cut(cls, items: Sequence[T], limit: int, position: Callable[[T], str]) -> Self:
        """Return the first `limit` items as a page; one item beyond means that more follow."""
        shown = tuple(items[:limit])
        return cls(items=shown, after=position(shown[-1]) if len(items) > limit else None)

    def map[U](self, function: Callable[[T], U]) -> Page[U]:
        """Return the page with `function` applied to each item."""
        return Page(items=tuple(function(each) for each in self.items), after=self.after)


def items_of[T](read: Callable[[str | None], Page[T]], after: str | None = None) -> Iterator[T]:
    """Yield the items of all pages; each page is read when its first item is needed.

    `read` returns the page that follows a position, None for the first page.
    """
    while True:
        page = read(after)
        yield from page.items
        after = page.after
        if after is None:
            return


def cursor_of(position: str | None) -> str | None:
    """Return the cursor of an id; None for None."""
    return None if position is None else base64.urlsafe_b64encode(position.encode()).decode()


def position_of(cursor: str | None, is_position: Callable[[str], bool] = is_id) -> str | None:
    """Convert a cursor of `cursor_of` to its position. Raises ValidationFailed if invalid."""
    if cursor is None:
        return None
    try:
        position = base64.b64decode(cursor, altchars=b"-_", validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        position = ""
    if not is_position(position):
        raise ValidationFailed.of_field(
            "cursor", "not a cursor", "send `next_cursor` of the previous page, or leave it out"
        )
    return position
