"""Contract tests of URL leases, which share their rows with documents."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from spinneret.content.documents import keys
from spinneret.content.documents.dynamo import DynamoDocumentStore
from spinneret.content.documents.dynamo_scan import DynamoDocumentScan
from spinneret.content.documents.items import DOCUMENTS
from spinneret.content.documents.models import (
    Document,
    DocumentFilter,
    UrlBusy,
    UrlLease,
    UrlTaken,
)
from spinneret.content.documents.ports import DocumentStore, UrlLeaseLost, VersionRaced
from spinneret.jobs.models import Lease
from spinneret.jobs.ports import JobStore
from spinneret.kernel.errors import LeaseLost
from tests import factories
from tests.contract.backends import OF_AWS, OF_REAL_AWS, Tables
from tests.contract.interleaved import interrupted
from tests.contract.races import racing
from tests.contract.stored_jobs import claimed
from tests.fakes.documents import FakeDocumentStore
from tests.fakes.jobs import FakeJobStore
from tests.fakes.time import START

MINUTE = timedelta(minutes=1)
TICK = timedelta(milliseconds=1)
THREADS = 16


def real(tables: Tables) -> DynamoDocumentStore:
    return DynamoDocumentStore(tables.client, tables.names["Documents"], tables.names["Jobs"])


@pytest.fixture
def documents(store: JobStore, tables: Tables | None) -> DocumentStore:
    if tables is None:
        assert isinstance(store, FakeJobStore)
        return FakeDocumentStore(store)
    return real(tables)


@pytest.fixture
def document(tenant: str) -> Document:
    """Return a document that isn't stored yet."""
    return factories.document(tenant=tenant, id=f"doc_{uuid4().hex}")


def lease(of: Document, holder: str = "one", until: datetime = START + MINUTE) -> UrlLease:
    return UrlLease(tenant=of.tenant, document_id=of.id, holder=holder, until=until)


def taken(store: DocumentStore, of: Document, holder: str = "one") -> UrlTaken:
    found = store.take_url(lease(of, holder), START)
    assert isinstance(found, UrlTaken)
    return found


def next_version(of: Document, **given: Any) -> Document:
    return replace(of, sequence=of.sequence + 1, version=f"{of.sequence + 1:06d}-x", **given)


def is_free(store: DocumentStore, of: Document) -> bool:
    """Return whether another worker gets the lease of the URL; that worker keeps it."""
    return isinstance(store.take_url(lease(of, "another"), START), UrlTaken)


# ---------------------------------------------------------------- Acquiring


@OF_AWS
@pytest.mark.parametrize("stored", [True, False])
def test_a_url_has_one_holder_until_its_lease_ends(
    documents: DocumentStore, document: Document, stored: bool
) -> None:
    if stored:
        documents.commit(document, None)
    found = document if stored else None
    assert documents.take_url(lease(document), START) == UrlTaken(
        lease=lease(document), document=found
    )
    other = lease(document, "other", START + 2 * MINUTE)
    assert documents.take_url(other, START + MINUTE - TICK) == UrlBusy(until=START + MINUTE)
    assert documents.take_url(other, START + MINUTE) == UrlTaken(lease=other, document=found)
    assert documents.take_url(lease(document), START + MINUTE) == UrlBusy(until=other.until)


@OF_AWS
def test_a_holder_whose_answer_was_lost_takes_its_url_again(
    documents: DocumentStore, document: Document
) -> None:
    taken(documents, document)
    longer = lease(document, until=START + 2 * MINUTE)
    assert documents.take_url(longer, START) == UrlTaken(lease=longer, document=None)
    assert documents.take_url(lease(document, "other"), START) == UrlBusy(until=longer.until)


@OF_AWS
def test_tenants_hold_a_url_each_for_itself(documents: DocumentStore, document: Document) -> None:
    taken(documents, document)
    assert is_free(documents, replace(document, tenant=f"{document.tenant}x"))


# ---------------------------------------------------------------- Readers


@OF_AWS
def test_a_row_that_a_lease_made_is_no_document(
    documents: DocumentStore, document: Document
) -> None:
    tenant, before = document.tenant, documents.generation(document.tenant)
    labels = {"collection_id": "col_1", "tag_ids": ("tag_1",)}
    listed = replace(document, id=f"doc_{uuid4().hex}", **labels)
    documents.commit(listed, None)
    written = documents.generation(tenant)
    taken(documents, document)
    taken(documents, listed)
    assert documents.get(tenant, document.id) is None
    assert documents.get(tenant, listed.id) == listed
    assert documents.shown(tenant, [document.id, listed.id]).keys() == {listed.id}
    for listing in (
        DocumentFilter(tenant=tenant),
        DocumentFilter(tenant=tenant, domain=document.domain),
        DocumentFilter(tenant=tenant, collection_id="col_1"),
        DocumentFilter(tenant=tenant, tag_id="tag_1"),
    ):
        assert documents.page(listing, None, 9).items == (listed,)
    assert documents.page(DocumentFilter(tenant=tenant, deleted=True), None, 9).items == ()
    assert documents.generation(tenant) == written != before


@OF_REAL_AWS
def test_a_scan_tells_documents_from_bare_leases(tables: Tables, document: Document) -> None:
    documents, other = real(tables), replace(document, id=f"doc_{uuid4().hex}")
    documents.commit(document, None)
    taken(documents, document)
    taken(documents, other)
    scan, after = DynamoDocumentScan(tables.client, tables.names["Documents"]), None
    found, leases = [], []
    while True:
        page = scan.scan(after, 50)
        found += [each for each in page.documents if each.tenant == document.tenant]
        leases += [each for each in page.leases if each.tenant == document.tenant]
        after = page.after
        if after is None:
            break
    assert (found, leases) == ([document], [lease(other)])


# ---------------------------------------------------------------- Writing


@OF_AWS
@pytest.mark.parametrize("stored", [True, False])
def test_a_commit_under_the_lease_ends_it(
    documents: DocumentStore, document: Document, stored: bool
) -> None:
    if stored:
        documents.commit(document, None)
    found = taken(documents, document)
    wanted = next_version(document) if stored else document
    documents.commit(wanted, found.document, None, found.lease)
    assert documents.get(document.tenant, document.id) == wanted
    assert is_free(documents, document)


@OF_REAL_AWS
def test_a_row_is_afterwards_as_if_there_had_been_no_lease(
    tables: Tables, document: Document
) -> None:
    documents = real(tables)
    first = replace(document, collection_id="col_1", parent_url="https://x.example/", title="Silk")
    documents.commit(first, None, None, taken(documents, first).lease)
    second = next_version(first, collection_id=None, parent_url=None, title=None)
    documents.commit(second, first, None, taken(documents, first).lease)
    key = keys.document_key(document.tenant, document.id)
    row = tables.client.get_item(TableName=tables.names["Documents"], Key=key)["Item"]
    assert row == DOCUMENTS.encode(second)


@OF_AWS
def test_the_commit_of_another_leaves_the_lease(
    documents: DocumentStore, document: Document
) -> None:
    """Others commit, too: an upload to the URL, or a change of the document's labels."""
    found = taken(documents, document)
    documents.commit(document, None)
    second = next_version(document, tag_ids=("tag_1",))
    documents.commit(second, document)
    assert not is_free(documents, document)
    with pytest.raises(VersionRaced):
        documents.commit(document, None, None, found.lease)
    documents.commit(next_version(second), second, None, found.lease)
    assert is_free(documents, document)


@OF_AWS
@pytest.mark.parametrize("lost", ["taken over", "released", "removed"])
def test_a_lost_lease_commits_nothing(
    documents: DocumentStore, document: Document, lost: str
) -> None:
    documents.commit(document, None)
    found = taken(documents, document)
    match lost:
        case "taken over":
            later = lease(document, "other", START + 2 * MINUTE)
            assert isinstance(documents.take_url(later, START + MINUTE), UrlTaken)
        case "released":
            documents.release_url(found)
        case _:
            assert documents.remove(document, START + MINUTE)
    before = documents.get(document.tenant, document.id)
    with pytest.raises(UrlLeaseLost):
        documents.commit(next_version(document), document, None, found.lease)
    assert documents.get(document.tenant, document.id) == before


@OF_AWS
def test_the_lease_of_another_url_commits_nothing(
    documents: DocumentStore, document: Document
) -> None:
    other = replace(document, id=f"doc_{uuid4().hex}")
    taken(documents, document)
    with pytest.raises(UrlLeaseLost):
        documents.commit(other, None, None, replace(lease(other), holder="none"))
    assert documents.get(document.tenant, other.id) is None


@OF_AWS
def test_an_expired_lease_that_nobody_took_commits(
    documents: DocumentStore, document: Document, store: JobStore
) -> None:
    claim = factories.lease(claimed(store, document.tenant))
    found = taken(documents, document)
    documents.commit(document, None, claim, found.lease)
    assert documents.get(document.tenant, document.id) == document


@OF_AWS
def test_a_lost_claim_is_told_before_a_lost_url(
    documents: DocumentStore, document: Document, store: JobStore
) -> None:
    claim: Lease = factories.lease(claimed(store, document.tenant))
    with pytest.raises(LeaseLost):
        documents.commit(document, None, replace(claim, fence=99), lease(document))


@OF_REAL_AWS
def test_a_url_that_is_taken_just_before_the_commit_is_noticed(
    tables: Tables, document: Document
) -> None:
    documents = real(tables)
    found = taken(documents, document)
    later = lease(document, "other", START + 2 * MINUTE)
    overtaken = interrupted(
        tables, "transact_write_items", lambda: documents.take_url(later, START + MINUTE)
    )
    with pytest.raises(UrlLeaseLost):
        real(overtaken).commit(document, None, None, found.lease)
    assert documents.get(document.tenant, document.id) is None


# ---------------------------------------------------------------- Releasing


@OF_AWS
@pytest.mark.parametrize("stored", [True, False])
def test_a_released_url_is_free_and_its_document_stays(
    documents: DocumentStore, document: Document, stored: bool
) -> None:
    if stored:
        documents.commit(document, None)
    documents.release_url(taken(documents, document))
    assert documents.get(document.tenant, document.id) == (document if stored else None)
    assert is_free(documents, document)


@OF_REAL_AWS
@pytest.mark.parametrize("stored", [True, False])
def test_a_released_lease_leaves_no_trace(tables: Tables, document: Document, stored: bool) -> None:
    documents = real(tables)
    if stored:
        documents.commit(document, None)
    documents.release_url(taken(documents, document))
    key = keys.document_key(document.tenant, document.id)
    answer = tables.client.get_item(TableName=tables.names["Documents"], Key=key)
    assert answer.get("Item") == (DOCUMENTS.encode(document) if stored else None)


@OF_AWS
def test_a_document_that_came_meanwhile_outlasts_the_release(
    documents: DocumentStore, document: Document
) -> None:
    found = taken(documents, document)
    documents.commit(document, None)
    documents.release_url(found)
    assert documents.get(document.tenant, document.id) == document
    assert is_free(documents, document)


@OF_AWS
@pytest.mark.parametrize("stored", [True, False])
def test_a_release_ends_no_lease_of_another(
    documents: DocumentStore, document: Document, stored: bool
) -> None:
    if stored:
        documents.commit(document, None)
    found = taken(documents, document)
    later = lease(document, "other", START + 2 * MINUTE)
    documents.take_url(later, START + MINUTE)
    documents.release_url(found)
    assert documents.take_url(lease(document, "third"), START) == UrlBusy(until=later.until)


@OF_AWS
def test_a_document_is_not_removed_while_its_url_is_fetched(
    documents: DocumentStore, document: Document
) -> None:
    documents.commit(document, None)
    taken(documents, document)
    assert not documents.remove(document, START + MINUTE - TICK)
    assert documents.remove(document, START + MINUTE)
    assert documents.get(document.tenant, document.id) is None


@pytest.mark.stack
def test_of_many_workers_at_once_one_has_the_url_and_so_after_each_end(
    stack_tables: Tables, document: Document
) -> None:
    documents, now = real(stack_tables), START
    with racing(THREADS) as race:
        for turn in range(5):

            def take(number: int, now: datetime = now, turn: int = turn) -> Any:
                wanted = lease(document, f"{turn}/{number}", now + MINUTE)
                return documents.take_url(wanted, now)

            answers = race(take)
            [winner] = [each for each in answers if isinstance(each, UrlTaken)]
            assert {each.until for each in answers if isinstance(each, UrlBusy)} == {now + MINUTE}
            if turn % 2:
                documents.release_url(winner)
            now += MINUTE
