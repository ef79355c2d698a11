"""Contract tests of scans of all documents on DynamoDB, and of the removal of bodies on S3."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from spinneret.content.documents.dynamo import DynamoDocumentStore
from spinneret.content.documents.dynamo_scan import DynamoDocumentScan
from spinneret.content.documents.models import (
    Document,
    Origin,
    ScanCheckpoint,
    StoredBody,
    StoredPart,
    UnusedBody,
)
from spinneret.content.documents.s3 import S3ContentStore
from tests import factories
from tests.contract.backends import OF_REAL_AWS, Tables
from tests.fakes.time import START

pytestmark = OF_REAL_AWS

HOUR = timedelta(hours=1)


@pytest.fixture
def documents(tables: Tables) -> DynamoDocumentStore:
    return DynamoDocumentStore(tables.client, tables.names["Documents"], tables.names["Jobs"])


@pytest.fixture
def scan(tables: Tables) -> DynamoDocumentScan:
    return DynamoDocumentScan(tables.client, tables.names["Documents"])


def everything(scan: DynamoDocumentScan, tenant: str) -> tuple[list[Document], list[UnusedBody]]:
    documents, bodies, after = [], [], None
    while True:
        page = scan.scan(after, 7)
        documents += [each for each in page.documents if each.tenant == tenant]
        bodies += [each for each in page.bodies if each.tenant == tenant]
        after = page.after
        if after is None:
            return sorted(documents, key=lambda each: each.id), bodies


def test_all_documents_and_nothing_else_are_scanned(
    documents: DynamoDocumentStore, scan: DynamoDocumentScan, tenant: str
) -> None:
    made = [
        factories.document(tenant=tenant, id=f"doc_{n:02}", collection_id="c", tag_ids=("t",))
        for n in range(15)
    ]
    for each in made:
        documents.commit(each, None)
    assert everything(scan, tenant) == (made, [])


def test_a_body_is_unused_when_its_last_document_has_left_it(
    documents: DynamoDocumentStore, scan: DynamoDocumentScan, tenant: str
) -> None:
    one, other = (factories.document(tenant=tenant, id=f"doc_{n}") for n in (1, 2))
    documents.commit(one, None)
    documents.commit(other, None)
    documents.remove(one, START)
    assert everything(scan, tenant)[1] == []
    documents.commit(replace(other, sequence=2, content_key="another"), other)
    [body] = everything(scan, tenant)[1]
    assert body == UnusedBody(tenant=tenant, key=one.content_key, since=START)
    documents.commit(replace(one, sequence=1), None)
    assert not scan.forget_body(body)
    documents.remove(one, START)
    assert scan.forget_body(body)
    assert everything(scan, tenant)[1] == []


def test_a_body_that_no_document_ever_had_is_uncounted(
    documents: DynamoDocumentStore, scan: DynamoDocumentScan, tenant: str
) -> None:
    document = factories.document(tenant=tenant, content_key=f"T/{tenant}/content/1.md")
    documents.commit(document, None)
    bodies = [
        StoredBody(tenant=tenant, key=f"T/{tenant}/content/{n}.md", stored_at=START)
        for n in range(130)
    ]
    assert scan.unreferenced_bodies(bodies) == [bodies[0], *bodies[2:]]
    documents.remove(document, START)
    assert scan.unreferenced_bodies(bodies[:2]) == bodies[:1]
    assert scan.unreferenced_bodies([]) == []


def test_parts_that_their_document_s_row_does_not_name(
    documents: DynamoDocumentStore, scan: DynamoDocumentScan, tenant: str
) -> None:
    parts = [
        StoredPart(tenant=tenant, document_id=f"doc_{n}", key=f"parts/{n}/{k}", stored_at=START)
        for n in range(3)
        for k in range(2)
    ]
    origin = Origin(asked="a", headers={}, media_type="text/html", parts_key="parts/0/1")
    documents.commit(factories.document(tenant=tenant, id="doc_0", origin=origin), None)
    documents.commit(factories.document(tenant=tenant, id="doc_1"), None)
    assert scan.unnamed(parts) == [parts[0], *parts[2:]]
    assert scan.unnamed([]) == []


def test_a_task_has_one_owner_and_goes_on_at_its_place(
    scan: DynamoDocumentScan, tenant: str
) -> None:
    task = f"task-{tenant}"
    assert scan.place(task, "one", START, START + HOUR) == ScanCheckpoint()
    assert scan.place(task, "two", START, START + HOUR) is None
    place = ScanCheckpoint(after={"pk": "x"}, target="index-2", done=7, part="rows")
    assert scan.keep_place(task, "one", place, release=False)
    assert not scan.keep_place(task, "two", ScanCheckpoint(), release=False)
    assert scan.place(task, "two", START, START + HOUR) is None
    assert scan.place(task, "two", START + HOUR, START + 2 * HOUR) == place
    assert not scan.keep_place(task, "one", ScanCheckpoint(), release=False)
    assert scan.keep_place(task, "two", place, release=True)
    assert scan.place(task, "three", START, START + HOUR) == place


def test_a_body_is_removed_as_far_as_it_was_stored_before(
    client_of: Callable[[str], Any], bucket: str, tenant: str
) -> None:
    contents = S3ContentStore(client_of("s3"), bucket)
    key = contents.put(tenant, "silk")
    longer = contents.put(tenant, "other")
    now = datetime.now(UTC)
    contents.remove(key, now - HOUR)
    assert contents.exists(key)
    contents.remove(key, now + HOUR)
    assert not contents.exists(key)
    assert contents.exists(longer)
    with pytest.raises(KeyError):
        contents.get(key)
