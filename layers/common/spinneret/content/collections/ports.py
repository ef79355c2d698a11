"""Ports of collections."""

from collections.abc import Sequence
from typing import Protocol

from spinneret.content.collections.models import Collection
from spinneret.kernel.rows import RowStore


class CollectionStore(RowStore[Collection], Protocol):
    """Collections; names are unique per tenant.

    One that contains documents isn't removed. A removed collection accepts no documents.
    """

    def counts(self, tenant: str, collection_ids: Sequence[str]) -> dict[str, int]:
        """Return the number of undeleted documents in each of up to 100 collections."""
