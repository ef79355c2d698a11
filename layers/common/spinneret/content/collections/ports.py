"""Ports of collections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from spinneret.content.collections.models import Collection
from spinneret.kernel.paging import Page


class CollectionStore(Protocol):
    """Collections by tenant and id; names are unique per tenant. Raises DependencyUnavailable."""

    def add(self, collection: Collection) -> None:
        """Store a new collection; raise Conflict if its name is taken."""
        ...

    def get(self, tenant: str, collection_id: str) -> Collection | None:
        """Return the collection (consistent read), or None."""
        ...

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Collection]:
        """Return up to `limit` collections with ids before `after`, newest first."""
        ...

    def replace(self, former: Collection, collection: Collection) -> bool:
        """Replace `former` by `collection`; return False if it changed meanwhile.

        Raises Conflict if another collection has the name.
        """
        ...

    def remove(self, collection: Collection) -> bool:
        """Remove a collection; return False if it changed meanwhile.

        Raises Conflict while it contains documents. A removed collection accepts no documents.
        """
        ...

    def counts(self, tenant: str, collection_ids: Sequence[str]) -> dict[str, int]:
        """Return the number of undeleted documents in each of up to 100 collections."""
        ...
