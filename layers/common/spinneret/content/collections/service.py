"""Use cases of a tenant's collections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from spinneret.content.collections.models import Collection
from spinneret.content.collections.ports import CollectionStore
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Conflict, NotFound
from spinneret.kernel.ids import NewId
from spinneret.kernel.paging import Page

_RACES: Final = 5  # concurrent changes of one collection are rare


class CollectionService:
    """Manages collections. Unknown ids and other tenants' ids raise the same NotFound.

    All methods raise DependencyUnavailable.
    """

    def __init__(self, *, store: CollectionStore, clock: Clock, new_id: NewId) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id

    def create(self, tenant: str, name: str, description: str | None) -> Collection:
        """Create a collection; raise Conflict if the name is taken."""
        now = self._clock()
        collection = Collection(
            tenant=tenant,
            id=self._new_id("col"),
            name=name,
            description=description,
            created_at=now,
            updated_at=now,
        )
        self._store.add(collection)
        return collection

    def get(self, tenant: str, collection_id: str) -> Collection:
        """Return the collection; raise NotFound."""
        collection = self._store.get(tenant, collection_id)
        if collection is None:
            raise NotFound("no such collection")
        return collection

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Collection]:
        """See CollectionStore.page."""
        return self._store.page(tenant, after, limit)

    def update(
        self, tenant: str, collection_id: str, name: str, description: str | None
    ) -> Collection:
        """Replace name and description. Raise NotFound, or Conflict if the name is taken."""
        for _ in range(_RACES):
            former = self.get(tenant, collection_id)
            collection = replace(
                former,
                name=name,
                description=description,
                updated_at=self._clock(),
                version=former.version + 1,
            )
            if self._store.replace(former, collection):
                return collection
        raise _changing()

    def counts(self, tenant: str, collections: Sequence[Collection]) -> dict[str, int]:
        """Return the number of documents in each collection, by id."""
        return self._store.counts(tenant, [each.id for each in collections])

    def remove(self, tenant: str, collection_id: str) -> None:
        """Remove a collection. Raise NotFound, or Conflict while it contains documents."""
        for _ in range(_RACES):
            if self._store.remove(self.get(tenant, collection_id)):
                return
        raise _changing()


def _changing() -> Conflict:
    return Conflict("the collection is being changed by others")
