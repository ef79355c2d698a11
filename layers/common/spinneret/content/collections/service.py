"""Use cases of a tenant's collections."""

from collections.abc import Sequence
from dataclasses import replace

from spinneret.content.collections.models import Collection
from spinneret.content.collections.ports import CollectionStore
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import existing
from spinneret.kernel.ids import NewId
from spinneret.kernel.paging import Page
from spinneret.kernel.races import changing, until_written
from spinneret.kernel.service import service


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
        return existing(self.store.get(tenant, collection_id), "collection")

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Collection]:
        """See CollectionStore.page."""
        return self.store.page(tenant, after, limit)

    def update(
        self, tenant: str, collection_id: str, name: str, description: str | None
    ) -> Collection:
        """Replace name and description. Raise NotFound, or Conflict if the name is taken."""

        def updated() -> Collection | None:
            former = self.get(tenant, collection_id)
            collection = replace(
                former,
                name=name,
                description=description,
                updated_at=self.clock(),
                version=former.version + 1,
            )
            return collection if self.store.replace(former, collection) else None

        return until_written(updated, changing("the collection"))

    def counts(self, tenant: str, collections: Sequence[Collection]) -> dict[str, int]:
        """Return the number of documents in each collection, by id."""
        return self.store.counts(tenant, [each.id for each in collections])

    def remove(self, tenant: str, collection_id: str) -> None:
        """Remove a collection. Raise NotFound, or Conflict while it contains documents."""
        until_written(
            lambda: self.store.remove(self.get(tenant, collection_id)), changing("the collection")
        )
