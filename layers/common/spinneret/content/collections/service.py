"""Use cases of a tenant's collections."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from spinneret.content.collections.models import Collection
from spinneret.content.collections.ports import CollectionStore
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Conflict, NotFound
from spinneret.kernel.ids import NewId
from spinneret.kernel.paging import Page
from spinneret.kernel.service import service

_RACES: Final = 5  # concurrent changes of one collection are rare


@service
class CollectionService:
    """Manages collections. Unknown ids and other tenants' ids raise the same NotFound.

    All methods raise DependencyUnavailable.
    """

    store: CollectionStore
    clock: Clock
    new_id: NewId

    def create(self, tenant: str, name: str, description: str | None) -> Collection:
        """Create a collection; raise Conflict if the name is taken."""
        now = self.clock()
        collection = Collection(
            tenant=tenant,
            id=self.new_id("col"),
            name=name,
            description=description,
            created_at=now,
            updated_at=now,
        )
        self.store.add(collection)
        return collection

    def get(self, tenant: str, collection_id: str) -> Collection:
        """Return the collection; raise NotFound."""
        collection = self.store.get(tenant, collection_id)
        if collection is None:
            raise NotFound("no such collection")
        return collection

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Collection]:
        """See CollectionStore.page."""
        return self.store.page(tenant, after, limit)

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
                updated_at=self.clock(),
                version=former.version + 1,
            )
            if self.store.replace(former, collection):
                return collection
        raise _changing()

    def counts(self, tenant: str, collections: Sequence[Collection]) -> dict[str, int]:
        """Return the number of documents in each collection, by id."""
        return self.store.counts(tenant, [each.id for each in collections])

    def remove(self, tenant: str, collection_id: str) -> None:
        """Remove a collection. Raise NotFound, or Conflict while it contains documents."""
        for _ in range(_RACES):
            if self.store.remove(self.get(tenant, collection_id)):
                return
        raise _changing()


def _changing() -> Conflict:
    return Conflict("the collection is being changed by others")
