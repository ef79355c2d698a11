"""Ports of tags."""

from collections.abc import Sequence
from typing import Protocol

from spinneret.content.tags.models import Tag
from spinneret.kernel.rows import RowStore


class TagStore(RowStore[Tag], Protocol):
    """Tags; names are unique per tenant."""

    def find(self, tenant: str, name: str, /) -> Tag | None:
        """Return the tag with this name, or None."""

    def many(self, tenant: str, tag_ids: Sequence[str], /) -> tuple[Tag, ...]:
        """Return up to 100 tags, unordered; unknown ids are skipped."""
