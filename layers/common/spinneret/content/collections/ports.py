"""What collections need from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from spinneret.content.collections.models import Collection
from spinneret.kernel.paging import Page


class CollectionStore(Protocol):
    """Collections by tenant and id; names are unique per tenant. Raises DependencyUnavailable."""

    def add(self, collection: Collection) -> None:
        """Store a new one; raises Conflict when its name is taken."""
        ...

    def get(self, tenant: str, collection_id: str) -> Collection | None:
        """The collection as it stands."""
        ...

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Collection]:
        """Up to `limit` collections with ids before `after`, newest first."""
        ...

    def replace(self, former: Collection, collection: Collection) -> bool:
        """Write `collection` over `former`; False when that isn't what stands any more.

        Raises Conflict when another collection has the name.
        """
        ...

    def remove(self, collection: Collection) -> bool:
        """Remove it; False when it isn't what stands any more.

        Raises Conflict while it holds documents; none can enter it afterwards.
        """
        ...

    def counts(self, tenant: str, collection_ids: Sequence[str]) -> dict[str, int]:
        """How many documents that aren't deleted each of the collections holds; at most 100."""
        ...
