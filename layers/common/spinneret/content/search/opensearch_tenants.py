"""Removal of a tenant's chunks from all indexes on OpenSearch 2.19."""

from typing import Any

from opensearchpy import OpenSearch

from spinneret.content.search.opensearch import ask
from spinneret.content.search.opensearch_mapping import PREFIX, all_models
from spinneret.kernel import bounds
from spinneret.kernel.clock import Remaining


class OpenSearchTenants:
    """The chunks of whole tenants, in the indexes of all models, read or under construction."""

    def __init__(self, client: OpenSearch, prefix: str = PREFIX) -> None:
        self._client = client
        names = all_models(prefix)
        self._indexes = f"{names.read},{names.write}"

    def remove(self, tenant: str, most: int, remaining: Remaining) -> int:
        """Delete up to `most` chunks; return their number. Raises DependencyUnavailable.

        A later call finds what a concurrent change kept from deletion.
        """
        answer: Any = ask(
            lambda limit: self._client.delete_by_query(
                index=self._indexes,
                body={"query": {"bool": {"filter": [{"term": {"tenant": tenant}}]}}},
                params={
                    "conflicts": "proceed",
                    "ignore_unavailable": "true",
                    "max_docs": most,
                    "refresh": "true",
                    **limit,
                },
            ),
            remaining,
            bounds.SEARCH_SECONDS,
        )
        return int(answer["deleted"]) + int(answer["version_conflicts"])
