"""Iterators over all items of a list; they fetch its pages by cursor."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Generic, TypeVar

from spinneret_client.errors import UnexpectedResponse

Item = TypeVar("Item")


class Pages(Generic[Item]):
    """The items of a list; each iteration begins at the first page."""

    def __init__(self, fetch: Callable[[str | None], Any], max_items: int | None) -> None:
        self._fetch = fetch
        self._max_items = max_items

    def pages(self) -> Iterator[Any]:
        """Yield the pages with their items and cursors.

        Raises UnexpectedResponse if the server repeats a cursor.
        """
        cursor: str | None = None
        seen: set[str] = set()
        while True:
            page = self._fetch(cursor)
            yield page
            cursor = _following(page, seen)
            if cursor is None:
                return

    def __iter__(self) -> Iterator[Item]:
        left = self._max_items
        if left == 0:
            return
        for page in self.pages():
            for item in page.items:
                yield item
                if left is not None:
                    left -= 1
                    if left == 0:
                        return


class AsyncPages(Generic[Item]):
    """The items of a list; each iteration begins at the first page."""

    def __init__(
        self, fetch: Callable[[str | None], Awaitable[Any]], max_items: int | None
    ) -> None:
        self._fetch = fetch
        self._max_items = max_items

    async def pages(self) -> AsyncIterator[Any]:
        """Yield the pages with their items and cursors.

        Raises UnexpectedResponse if the server repeats a cursor.
        """
        cursor: str | None = None
        seen: set[str] = set()
        while True:
            page = await self._fetch(cursor)
            yield page
            cursor = _following(page, seen)
            if cursor is None:
                return

    async def __aiter__(self) -> AsyncIterator[Item]:
        left = self._max_items
        if left == 0:
            return
        async for page in self.pages():
            for item in page.items:
                yield item
                if left is not None:
                    left -= 1
                    if left == 0:
                        return


def _following(page: Any, seen: set[str]) -> str | None:
    """Return the cursor of the next page, and add it to `seen`; None after the last page."""
    following: str | None = page.next_cursor
    if following is None or not getattr(page, "has_more", True):
        return None
    if following in seen:
        raise UnexpectedResponse("the server returned the same cursor twice")
    seen.add(following)
    return following
