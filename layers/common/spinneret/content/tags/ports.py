"""Ports of tags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from spinneret.content.tags.models import Tag
from spinneret.kernel.paging import Page


class TagStore(Protocol):
    """Tags by tenant and id; names are unique per tenant. Raises DependencyUnavailable."""

    def add(self, tag: Tag) -> None:
        """Store a new tag; raise Conflict if its name is taken."""
        ...

    def get(self, tenant: str, tag_id: str) -> Tag | None:
        """Return the tag (consistent read), or None."""
        ...

    def find(self, tenant: str, name: str) -> Tag | None:
        """Return the tag with this name, or None."""
        ...

    def many(self, tenant: str, tag_ids: Sequence[str]) -> tuple[Tag, ...]:
        """Return up to 100 tags, unordered; unknown ids are skipped."""
        ...

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Tag]:
        """Return up to `limit` tags with ids before `after`, newest first."""
        ...

    def replace(self, former: Tag, tag: Tag) -> bool:
        """Replace `former` by `tag`; return False if it changed meanwhile.

        Raises Conflict if another tag has the name.
        """
        ...

    def remove(self, tag: Tag) -> bool:
        """Remove a tag; return False if it changed meanwhile."""
        ...
