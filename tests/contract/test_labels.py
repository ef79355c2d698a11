"""Contract tests of stores of collections and tags: counts, and look-ups by name."""

from dataclasses import replace
from typing import Any

import pytest

from spinneret.content.collections.dynamo import DynamoCollectionStore
from spinneret.content.documents.dynamo import DynamoDocumentStore
from spinneret.content.documents.ports import CollectionGone
from spinneret.content.tags.dynamo import DynamoTagStore
from spinneret.kernel.errors import Conflict
from spinneret.kernel.paging import Page
from tests import factories
from tests.contract.backends import OF_AWS, OF_REAL_AWS, Tables
from tests.contract.named.collections import row as collection_row
from tests.contract.named.tags import row as tag_row
from tests.fakes.named import FakeNamedStore
from tests.fakes.time import START


@OF_REAL_AWS
def test_a_collection_counts_its_documents_and_stays_while_it_has_some(
    tables: Tables, tenant: str
) -> None:
    names = tables.names
    collections = DynamoCollectionStore(
        tables.client, names["TagsAndCollections"], names["Documents"]
    )
    documents = DynamoDocumentStore(tables.client, names["Documents"], names["Jobs"])
    collection = collection_row(tenant, "col_1", "silk")
    collections.add(collection)
    made = [
        factories.document(tenant=tenant, id=f"doc_{n}", collection_id="col_1") for n in range(12)
    ]
    for each in made:
        documents.commit(each, None)
    documents.commit(factories.document(tenant=f"{tenant}x", collection_id="col_1"), None)
    assert collections.counts(tenant, ["col_1", "col_2"]) == {"col_1": 12, "col_2": 0}
    with pytest.raises(Conflict):
        collections.remove(collection)
    for number, each in enumerate(made):
        change: dict[str, Any] = {"deleted_at": START} if number % 2 else {"collection_id": None}
        documents.commit(replace(each, sequence=2, **change), each)
    assert collections.counts(tenant, ["col_1"]) == {"col_1": 0}
    assert collections.remove(collection)
    with pytest.raises(CollectionGone):
        documents.commit(factories.document(tenant=tenant, id="late", collection_id="col_1"), None)
    assert documents.get(tenant, "late") is None


@OF_AWS
def test_tags_are_found_by_name_and_by_many_ids(tables: Tables | None, tenant: str) -> None:
    tags: Any = (
        FakeNamedStore(lambda rows, after: Page(items=rows, after=after))
        if tables is None
        else DynamoTagStore(tables.client, tables.names["TagsAndCollections"])
    )
    silk, webs = tag_row(tenant, "tag_1", "silk"), tag_row(tenant, "tag_2", "webs")
    for each in (silk, webs):
        tags.add(each)
    assert tags.find(tenant, "webs") == webs
    assert tags.find(tenant, "venom") is None
    assert tags.find(f"{tenant}x", "webs") is None
    found = tags.many(tenant, ["tag_2", "tag_1", "tag_2", "tag_9", ""])
    assert sorted(found, key=lambda tag: tag.id) == [silk, webs]
    assert tags.many(tenant, []) == ()
