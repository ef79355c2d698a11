"""Factories of values with defaults, so that a test gives only the values that it tests."""

from datetime import datetime, timedelta
from typing import Any

from spinneret.access.keys.models import ApiKey, Scope, StoredTicket
from spinneret.content.chunking.models import ChunkType
from spinneret.content.documents.models import (
    Document,
    DocumentSource,
    IndexedChunk,
    IndexedMetadata,
)
from spinneret.content.extraction.models import Content, Metadata
from spinneret.content.search.models import LegCandidate
from spinneret.jobs.models import (
    Draft,
    Job,
    JobEvent,
    JobEventKind,
    JobStatus,
    Lease,
    Priority,
    Reply,
    RequestKey,
)
from spinneret.kernel.clock import to_iso
from tests.fakes.search import vector_of
from tests.fakes.time import START

TENANT = "acme"
URL = "https://site.example/page"


def job(**given: Any) -> Job:
    """Return a pending crawl that is due."""
    values: dict[str, Any] = {
        "tenant": TENANT,
        "id": "job_1",
        "kind": "crawl",
        "status": JobStatus.PENDING,
        "priority": Priority.NORMAL,
        "payload": {"url": URL},
        "created_at": START,
        "updated_at": START,
        "due_at": START,
    }
    return Job(**values | given)


def running_job(until: datetime, **given: Any) -> Job:
    """Return a job under its first claim, which was made at START."""
    values: dict[str, Any] = {
        "status": JobStatus.RUNNING,
        "fence": 1,
        "locked_by": "owner",
        "locked_until": until,
        "claimed_at": START,
        "started_at": START,
    }
    return job(**values | given)


def lease(of: Job) -> Lease:
    """Return the lease of a running job."""
    assert of.locked_by is not None
    return Lease(tenant=of.tenant, job_id=of.id, fence=of.fence, owner=of.locked_by)


def event(fence: int = 0, number: int = 0, **given: Any) -> JobEvent:
    """Return an event of a job's timeline."""
    values: dict[str, Any] = {
        "kind": JobEventKind.STATUS_CHANGED,
        "message": "pending",
        "created_at": START,
        "progress": 0,
    }
    return JobEvent(fence=fence, number=number, **values | given)


def draft(**given: Any) -> Draft:
    """Return a crawl for a submission."""
    values: dict[str, Any] = {
        "kind": "crawl",
        "payload": {"url": URL},
        "priority": Priority.NORMAL,
        "duplicate_key": "same-page",
    }
    return Draft(**values | given)


def reply(**body: Any) -> Reply:
    """Return the reply to an accepted submission."""
    return Reply(status=202, body=body or {"job_id": "job_1"})


def request_key(**given: Any) -> RequestKey:
    """Return an Idempotency-Key."""
    values: dict[str, Any] = {"tenant": TENANT, "scope": "scope-1", "payload": "payload-1"}
    return RequestKey(**values | given)


def content(markdown: str = "# Silk\n\nSpiders weave silk.", **given: Any) -> Content:
    """Return the content of an extracted page."""
    values: dict[str, Any] = {"title": "Silk", "language": "en"}
    return Content(markdown=markdown, **values | given)


def document(**given: Any) -> Document:
    """Return a document's first version."""
    values: dict[str, Any] = {
        "tenant": TENANT,
        "id": "doc_1",
        "url": URL,
        "domain": "site.example",
        "title": "Silk",
        "language": "en",
        "metadata": Metadata(),
        "content_hash": "0" * 64,
        "content_key": "T/acme/content/0.md",
        "sequence": 1,
        "version": "000001-000000000000",
        "chunk_count": 1,
        "token_count": 3,
        "embedding_model": "fake",
        "job_id": "job_1",
        "created_at": START,
        "crawled_at": START,
        "changed_at": START,
        "updated_at": START,
    }
    return Document(**values | given)


def indexed_chunk(text: str = "Spiders weave silk.", **given: Any) -> IndexedChunk:
    """Return a chunk of a document's first version, with the fake embedder's vector.

    Labels may be given by their own names.
    """
    labels: dict[str, Any] = {
        "title": "A page",
        "collection_id": None,
        "tag_ids": (),
        "deleted": False,
    }
    labels |= {name: given.pop(name) for name in list(given) if name in labels}
    values: dict[str, Any] = {
        "tenant": TENANT,
        "document_id": "doc_1",
        "version": "000001-000000000000",
        "index": 0,
        "section": None,
        "type": ChunkType.PROSE,
        "start": 0,
        "end": len(text),
        "token_count": len(text.split()),
        "url": URL,
        "domain": "site.example",
        "source": DocumentSource.CRAWL,
        "language": "en",
        "model": "fake",
        "signature": None,
        "changed_at": to_iso(START),
        "labels": IndexedMetadata(**labels),
        "vector": vector_of(text),
    }
    return IndexedChunk(text=text, **values | given)


def candidate(chunk_id: str, score: float = 1.0, signature: str | None = None) -> LegCandidate:
    """Return a chunk with the score that a leg gave it."""
    return LegCandidate(chunk_id=chunk_id, score=score, signature=signature)


def api_key(**given: Any) -> ApiKey:
    """Return a key that may write."""
    values: dict[str, Any] = {
        "id": "key_1",
        "tenant": TENANT,
        "name": "test",
        "secret_hash": "0" * 64,
        "prefix": "spn_abcd",
        "scopes": frozenset({Scope.WRITE}),
        "created_at": START,
    }
    return ApiKey(**values | given)


def stored_ticket(**given: Any) -> StoredTicket:
    """Return a ticket for a job of `api_key`, valid for a minute."""
    values: dict[str, Any] = {
        "secret_hash": "1" * 64,
        "tenant": TENANT,
        "key_id": "key_1",
        "job_id": "job_1",
        "expires_at": START + timedelta(minutes=1),
    }
    return StoredTicket(**values | given)
