"""A tenant's collections: the use cases behind the routes."""

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

_RACES: Final = 5  # changes of one collection at the same time are rare


class CollectionService:
    """Collections. An unknown id and a foreign one are the same NotFound.

    All methods raise DependencyUnavailable.
    """

    def __init__(self, *, store: CollectionStore, clock: Clock, new_id: NewId) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id

    def create(self, tenant: str, name: str, description: str | None) -> Collection:
        """Raises Conflict when the name is taken."""
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
        """Raises NotFound."""
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
        """Replace name and description. Raises NotFound, and Conflict when the name is taken."""
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
        """How many documents each holds, by id."""
        return self._store.counts(tenant, [each.id for each in collections])

    def remove(self, tenant: str, collection_id: str) -> None:
        """Raises NotFound, and Conflict while it holds documents."""
        for _ in range(_RACES):
            if self._store.remove(self.get(tenant, collection_id)):
                return
        raise _changing()


def _changing() -> Conflict:
    return Conflict("the collection is being changed by others")
