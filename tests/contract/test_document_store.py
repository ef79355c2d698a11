"""Contract tests of document stores: the fake, moto, and DynamoDB Local."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from spinneret.content.chunking.models import Chunking, ChunkingStrategy
from spinneret.content.documents.dynamo import DynamoDocumentStore, DynamoIndexRecord
from spinneret.content.documents.models import (
    Document,
    DocumentFilter,
    DocumentSource,
    Origin,
    VersionVisibility,
)
from spinneret.content.documents.ports import DocumentStore, IndexRecord, VersionRaced
from spinneret.content.extraction.models import Extraction, Metadata, PageType
from spinneret.jobs import rules
from spinneret.jobs.models import Job, JobStatus, Lease
from spinneret.jobs.ports import Claimed, JobStore
from spinneret.kernel.errors import LeaseLost
from tests import factories
from tests.contract.backends import OF_AWS, Tables
from tests.contract.stored_jobs import SECOND, UNTIL, claimed, submitted
from tests.fakes.documents import FakeDocumentStore, FakeIndexRecord
from tests.fakes.jobs import FakeJobStore
from tests.fakes.time import START

pytestmark = OF_AWS


@pytest.fixture
def documents(store: JobStore, tables: Tables | None) -> DocumentStore:
    if tables is None:
        assert isinstance(store, FakeJobStore)
        return FakeDocumentStore(store)
    return DynamoDocumentStore(tables.client, tables.names["Documents"], tables.names["Jobs"])


@pytest.fixture
def record(documents: DocumentStore, tables: Tables | None) -> IndexRecord:
    if tables is None:
        assert isinstance(documents, FakeDocumentStore)
        return FakeIndexRecord(documents)
    return DynamoIndexRecord(tables.client, tables.names["Documents"])


@pytest.fixture
def job(store: JobStore, tenant: str) -> Job:
    """Provide a running job."""
    return claimed(store, tenant)


@pytest.fixture
def lease(job: Job) -> Lease:
    return factories.lease(job)


def new_document(tenant: str, **given: Any) -> Document:
    return factories.document(tenant=tenant, id=f"doc_{uuid4().hex}", **given)


def next_version(of: Document, **given: Any) -> Document:
    sequence = of.sequence + 1
    return replace(of, sequence=sequence, version=f"{sequence:06d}-x", **given)


# ---------------------------------------------------------------- Reading


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"title": None, "chunk_count": 0, "token_count": 0},
        {"title": "", "language": "und", "url": "https://x.example/?a=ü#🕷"},
        {
            "metadata": Metadata(
                author="Größe 🕸",
                publish_date="2026-01-01",
                description='"quoted"\n',
                keywords=("a", "", "ü"),
                og_image="https://x.example/i.png",
                canonical_url="https://x.example/",
            )
        },
        {"extraction": Extraction(engine="regions", agreement=0.123, page_type=PageType.FORUM)},
        {"extraction": Extraction(engine="regions", agreement=0.0, page_type=None)},
        {"chunking": Chunking(strategy=ChunkingStrategy.BY_HEADING, size=99, overlap=9, minimum=3)},
        {
            "origin": Origin(
                asked="2 1f",
                headers={"etag": '"ü"', "x-robots-tag": "none"},
                media_type="text/html",
                parts_key="T/acme/parts/1f.json",
            )
        },
        {
            "source": DocumentSource.UPLOAD,
            "parent_url": "https://x.example/",
            "collection_id": "col_1",
            "tag_ids": ("tag_1", "tag_2"),
            "annotations": {"a": 1.5, "b": [None, "ü"]},
            "deleted_at": START,
        },
    ],
    ids=[
        "plain",
        "empty",
        "unicode",
        "metadata",
        "extraction",
        "no page type",
        "chunking",
        "origin",
        "labels",
    ],
)
def test_a_document_is_read_back_as_it_was_committed(
    documents: DocumentStore, tenant: str, lease: Lease, given: dict[str, Any]
) -> None:
    document = new_document(tenant, **given)
    documents.commit(document, None, lease)
    assert documents.get(tenant, document.id) == document


def test_an_unknown_and_a_foreign_document_are_equally_unknown(
    documents: DocumentStore, tenant: str, lease: Lease
) -> None:
    document = new_document(tenant)
    documents.commit(document, None, lease)
    assert documents.get(tenant, "doc_unknown") is None
    assert documents.get(f"{tenant}x", document.id) is None


def test_what_may_be_shown_of_many_documents_is_read_at_once(
    documents: DocumentStore, tenant: str, lease: Lease
) -> None:
    committed = [
        new_document(tenant, version=f"000001-{n}", collection_id=f"col_{n}", tag_ids=("tag_1",))
        for n in range(30)
    ]
    for document in committed:
        documents.commit(document, None, lease)
    unknown = [f"doc_unknown_{n}" for n in range(70)]
    ids = [document.id for document in committed]
    assert documents.shown(tenant, [*unknown, *ids]) == {
        each.id: VersionVisibility(
            version=each.version, collection_id=each.collection_id, tag_ids=("tag_1",)
        )
        for each in committed
    }
    assert documents.shown(f"{tenant}x", ids) == {}
    assert documents.shown(tenant, []) == {}


def test_the_version_of_the_last_commit_is_shown(
    documents: DocumentStore, tenant: str, lease: Lease
) -> None:
    first = new_document(tenant)
    second = next_version(first, title=None)
    documents.commit(first, None, lease)
    documents.commit(second, first, lease)
    assert documents.get(tenant, first.id) == second
    assert documents.shown(tenant, [first.id])[first.id].version == second.version


def test_a_deleted_document_is_not_shown(documents: DocumentStore, tenant: str) -> None:
    document = new_document(tenant)
    documents.commit(document, None)
    gone = next_version(document, deleted_at=START)
    documents.commit(gone, document)
    assert documents.shown(tenant, [document.id]) == {}
    assert documents.get(tenant, document.id) == gone


# ---------------------------------------------------------------- Lists


def listed(documents: DocumentStore, tenant: str, **given: Any) -> list[str]:
    """Return the ids of all documents of a list, three per page."""
    found: list[str] = []
    after = None
    while True:
        page = documents.page(DocumentFilter(tenant=tenant, **given), after, 3)
        assert len(page.items) <= 3
        found += [each.id for each in page.items]
        after = page.after
        if after is None:
            return found


def test_lists_are_newest_first_and_by_what_is_looked_up(
    documents: DocumentStore, tenant: str
) -> None:
    made = [
        new_document(
            tenant,
            created_at=START + timedelta(seconds=n),
            domain=f"{n % 2}.example",
            collection_id="col_1" if n % 3 else None,
            tag_ids=("tag_1", "tag_2") if n % 4 == 0 else ("tag_2",),
        )
        for n in range(8)
    ]
    for each in made:
        documents.commit(each, None)
    documents.commit(new_document(f"{tenant}x"), None)
    newest = [each.id for each in reversed(made)]
    assert listed(documents, tenant) == newest
    assert listed(documents, tenant, domain="1.example") == newest[::2]
    assert listed(documents, tenant, tag_id="tag_1") == [made[4].id, made[0].id]
    assert listed(documents, tenant, tag_id="tag_2") == newest
    collected = [each.id for each in reversed(made) if each.collection_id]
    assert listed(documents, tenant, collection_id="col_1") == collected
    assert listed(documents, tenant, collection_id="col_2") == []


def test_a_change_moves_a_document_between_lists(documents: DocumentStore, tenant: str) -> None:
    before = new_document(tenant, collection_id="col_1", tag_ids=("tag_1", "tag_2"))
    documents.commit(before, None)
    after = next_version(before, collection_id="col_2", tag_ids=("tag_2", "tag_3"))
    documents.commit(after, before)
    where = {
        name: listed(documents, tenant, **{field: name}) == [before.id]
        for field, name in [
            *(("collection_id", f"col_{n}") for n in (1, 2)),
            *(("tag_id", f"tag_{n}") for n in (1, 2, 3)),
        ]
    }
    assert [name for name, there in where.items() if there] == ["col_2", "tag_2", "tag_3"]
    gone = next_version(after, deleted_at=START)
    documents.commit(gone, after)
    assert listed(documents, tenant, collection_id="col_2") == []
    assert listed(documents, tenant, tag_id="tag_2") == []
    assert listed(documents, tenant) == []
    assert listed(documents, tenant, deleted=True) == [before.id]
    documents.commit(next_version(gone, deleted_at=None), gone)
    assert listed(documents, tenant, tag_id="tag_2") == [before.id]


# ---------------------------------------------------------------- Generations and removal


def test_every_write_makes_another_generation(documents: DocumentStore, tenant: str) -> None:
    seen = [documents.generation(tenant)]
    first = new_document(tenant)
    second = next_version(first)
    for replaces, document in ((None, first), (first, second), (None, new_document(tenant))):
        documents.commit(document, replaces)
        seen.append(documents.generation(tenant))
    with pytest.raises(VersionRaced):
        documents.commit(first, None)
    assert documents.generation(tenant) == seen[-1]
    documents.remove(second, START)
    seen.append(documents.generation(tenant))
    assert len(set(seen)) == len(seen)
    assert documents.generation(f"{tenant}x") == seen[0]


def test_another_index_makes_another_generation_of_every_tenant(
    documents: DocumentStore, record: IndexRecord, tenant: str
) -> None:
    seen = [documents.generation(each) for each in (tenant, f"{tenant}x")]
    record.changed()
    assert record.exists()
    for each, before in zip((tenant, f"{tenant}x"), seen, strict=True):
        assert documents.generation(each) != before


def test_many_documents_are_read_of_any_tenant(documents: DocumentStore, tenant: str) -> None:
    made = [new_document(tenant), new_document(f"{tenant}x")]
    for each in made:
        documents.commit(each, None)
    asked = [(each.tenant, each.id) for each in made] + [(tenant, "doc_unknown")]
    assert sorted(documents.many(asked), key=lambda each: each.tenant) == made
    assert documents.many([]) == []


def test_a_document_is_removed_as_it_was_read(documents: DocumentStore, tenant: str) -> None:
    first = new_document(tenant, tag_ids=("tag_1",))
    second = next_version(first)
    documents.commit(first, None)
    documents.commit(second, first)
    assert not documents.remove(first, START)
    assert documents.remove(second, START)
    assert not documents.remove(second, START)
    assert documents.get(tenant, first.id) is None
    assert listed(documents, tenant, tag_id="tag_1") == listed(documents, tenant) == []
    documents.commit(first, None)
    assert documents.get(tenant, first.id) == first


# ---------------------------------------------------------------- Versions


def test_a_second_first_version_is_refused(
    documents: DocumentStore, tenant: str, lease: Lease
) -> None:
    first = new_document(tenant)
    documents.commit(first, None, lease)
    with pytest.raises(VersionRaced):
        documents.commit(replace(first, version="000001-other"), None, lease)
    assert documents.get(tenant, first.id) == first


def test_a_version_replaces_only_the_one_it_was_made_from(
    documents: DocumentStore, tenant: str, lease: Lease
) -> None:
    first = new_document(tenant)
    second = next_version(first)
    third = next_version(second)
    documents.commit(first, None, lease)
    documents.commit(second, first, lease)
    for late in (next_version(first, title="late"), third):
        with pytest.raises(VersionRaced):
            documents.commit(late, first, lease)
    assert documents.get(tenant, first.id) == second
    documents.commit(third, second, lease)
    assert documents.get(tenant, first.id) == third


def test_a_version_of_a_document_that_is_gone_is_refused(
    documents: DocumentStore, tenant: str, lease: Lease
) -> None:
    gone = new_document(tenant)
    with pytest.raises(VersionRaced):
        documents.commit(next_version(gone), gone, lease)
    assert documents.get(tenant, gone.id) is None


# ---------------------------------------------------------------- Leases


@pytest.mark.parametrize(
    "stale",
    [{"fence": 0}, {"fence": 2}, {"owner": "other"}, {"job_id": "job_unknown"}],
    ids=lambda stale: next(iter(stale)),
)
def test_a_lease_that_is_not_held_commits_nothing(
    documents: DocumentStore, tenant: str, lease: Lease, stale: dict[str, Any]
) -> None:
    first = new_document(tenant)
    documents.commit(first, None, lease)
    wrong = replace(lease, **stale)
    with pytest.raises(LeaseLost):
        documents.commit(next_version(first), first, wrong)
    with pytest.raises(LeaseLost):
        documents.commit(new_document(tenant), None, wrong)
    assert documents.get(tenant, first.id) == first


def test_a_lease_of_another_tenant_s_job_commits_nothing(
    documents: DocumentStore, tenant: str, lease: Lease
) -> None:
    document = new_document(tenant)
    with pytest.raises(LeaseLost):
        documents.commit(document, None, replace(lease, tenant=f"{tenant}x"))
    assert documents.get(tenant, document.id) is None


@pytest.mark.parametrize("end", ["complete", "fail", "hand back", "lease expired"])
def test_a_claim_that_is_over_commits_nothing(
    documents: DocumentStore, store: JobStore, job: Job, lease: Lease, end: str
) -> None:
    now = UNTIL + SECOND
    after = {
        "complete": rules.complete(job, {}, now),
        "fail": rules.after_error(job, ValueError(), now, 0.5),
        "hand back": rules.hand_back(job, now),
        "lease expired": rules.after_lease_expired(job, now),
    }[end]
    store.transition(job, after)
    document = new_document(job.tenant)
    with pytest.raises(LeaseLost):
        documents.commit(document, None, lease)
    assert documents.get(job.tenant, document.id) is None


@pytest.mark.parametrize("status", [each for each in JobStatus if each is not JobStatus.RUNNING])
def test_a_lease_of_a_job_that_is_not_running_commits_nothing(
    documents: DocumentStore, store: JobStore, tenant: str, status: JobStatus
) -> None:
    """This holds even if the row still has the owner and the fence of the lease."""
    job = submitted(store, tenant, status=status, fence=1, locked_by="one", locked_until=UNTIL)
    document = new_document(tenant)
    with pytest.raises(LeaseLost):
        documents.commit(document, None, factories.lease(job))
    assert documents.get(tenant, document.id) is None


def test_the_next_claim_commits_where_the_last_one_cannot(
    documents: DocumentStore, store: JobStore, job: Job, lease: Lease
) -> None:
    store.transition(job, rules.after_lease_expired(job, UNTIL))
    again = store.claim(job.ref, "two", UNTIL, UNTIL + 60 * SECOND)
    assert isinstance(again, Claimed)
    document = new_document(job.tenant)
    documents.commit(document, None, again.lease)
    with pytest.raises(LeaseLost):
        documents.commit(next_version(document), document, lease)
    assert documents.get(job.tenant, document.id) == document


def test_a_renewed_lease_commits(
    documents: DocumentStore, store: JobStore, job: Job, lease: Lease
) -> None:
    store.transition(job, replace(job, locked_until=UNTIL + SECOND, step="embedding"))
    document = new_document(job.tenant)
    documents.commit(document, None, lease)
    assert documents.get(job.tenant, document.id) == document


def test_a_lost_lease_is_told_before_a_lost_race(
    documents: DocumentStore, tenant: str, lease: Lease
) -> None:
    first = new_document(tenant)
    documents.commit(first, None, lease)
    with pytest.raises(LeaseLost):
        documents.commit(replace(first, version="late"), None, replace(lease, fence=0))
