"""What tags need from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from spinneret.content.tags.models import Tag
from spinneret.kernel.paging import Page


class TagStore(Protocol):
    """Tags by tenant and id; names are unique per tenant. Raises DependencyUnavailable."""

    def add(self, tag: Tag) -> None:
        """Store a new one; raises Conflict when its name is taken."""
        ...

    def get(self, tenant: str, tag_id: str) -> Tag | None:
        """The tag as it stands."""
        ...

    def find(self, tenant: str, name: str) -> Tag | None:
        """The tag that has a name."""
        ...

    def many(self, tenant: str, tag_ids: Sequence[str]) -> tuple[Tag, ...]:
        """Those of at most 100 tags that there are, in no order."""
        ...

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Tag]:
        """Up to `limit` tags with ids before `after`, newest first."""
        ...

    def replace(self, former: Tag, tag: Tag) -> bool:
        """Write `tag` over `former`; False when that isn't what stands any more.

        Raises Conflict when another tag has the name.
        """
        ...

    def remove(self, tag: Tag) -> bool:
        """Remove it; False when it isn't what stands any more."""
        ...
