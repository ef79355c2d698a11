"""The document and the content store in memory."""

import hashlib
import re
from collections.abc import Sequence
from datetime import datetime
from threading import Lock

from spinneret.content.documents import keys
from spinneret.content.documents.models import (
    Document,
    DocumentFilter,
    StoredBody,
    StoredPart,
    UrlBusy,
    UrlLease,
    UrlTaken,
    VersionVisibility,
)
from spinneret.content.documents.ports import CollectionGone, UrlLeaseLost, VersionRaced
from spinneret.content.documents.rules import PARTS, parts_prefix
from spinneret.jobs.models import Lease
from spinneret.kernel.errors import LeaseLost
from spinneret.kernel.paging import Page
from tests.fakes.dependency import FakeDependency
from tests.fakes.jobs import FakeJobStore
from tests.fakes.time import START


class FakeDocumentStore:
    """Implements DocumentStore; asks the job store whether a lease is still held."""

    def __init__(self, jobs: FakeJobStore) -> None:
        self._jobs = jobs
        self._lock = Lock()
        self._documents: dict[tuple[str, str], Document] = {}
        self.leases: dict[tuple[str, str], UrlLease] = {}
        """Leases by tenant and document id, including URLs without a document."""
        self._generations: dict[str, int] = {}
        self.bodies: set[str] = set()
        """Keys of all bodies that a document has or had: the table counts both."""
        self.indexes = 0
        """Number of indexes that searches have used; see FakeIndexRecord."""
        self.closed: set[str] = set()
        """Ids of deleted collections."""

    def get(self, tenant: str, document_id: str) -> Document | None:
        with self._lock:
            return self._documents.get((tenant, document_id))

    def shown(self, tenant: str, document_ids: Sequence[str]) -> dict[str, VersionVisibility]:
        if len(document_ids) > 100:
            raise ValueError("at most 100 ids")
        with self._lock:
            found = [self._documents.get((tenant, each)) for each in document_ids]
            return {
                each.id: VersionVisibility(
                    version=each.version, collection_id=each.collection_id, tag_ids=each.tag_ids
                )
                for each in found
                if each is not None and each.deleted_at is None
            }

    def generation(self, tenant: str) -> str:
        with self._lock:
            return f"{self._generations.get(tenant, 0)}-{self.indexes}"

    def many(self, keys_of: Sequence[tuple[str, str]]) -> list[Document]:
        with self._lock:
            return [self._documents[each] for each in keys_of if each in self._documents]

    def page(self, listing: DocumentFilter, after: str | None, limit: int) -> Page[Document]:
        with self._lock:
            own = [doc for (owner, _), doc in self._documents.items() if owner == listing.tenant]
        found = sorted(
            (
                doc
                for doc in own
                if _looked_up(doc, listing) and (after is None or keys.position(doc) < after)
            ),
            key=keys.position,
            reverse=True,
        )
        shown = found[:limit]
        last = keys.position(shown[-1]) if len(found) > limit else None
        return Page(items=tuple(shown), after=last)

    def take_url(self, lease: UrlLease, now: datetime) -> UrlTaken | UrlBusy:
        key = (lease.tenant, lease.document_id)
        with self._lock:
            held = self.leases.get(key, lease)
            if held.holder != lease.holder and held.until > now:
                return UrlBusy(until=held.until)
            self.leases[key] = lease
            return UrlTaken(lease=lease, document=self._documents.get(key))

    def release_url(self, taken: UrlTaken) -> None:
        with self._lock:
            if self._holds(taken.lease):
                del self.leases[taken.lease.tenant, taken.lease.document_id]

    def _holds(self, lease: UrlLease) -> bool:
        held = self.leases.get((lease.tenant, lease.document_id))
        return held is not None and held.holder == lease.holder

    def commit(
        self,
        document: Document,
        replaces: Document | None,
        lease: Lease | None = None,
        url: UrlLease | None = None,
    ) -> None:
        with self._lock:
            if lease is not None and not self._jobs.holds(lease):
                raise LeaseLost(f"job {lease.job_id} is no longer held by this claim")
            if url is not None and not self._holds(url):
                raise UrlLeaseLost
            current = self._documents.get((document.tenant, document.id))
            if (current and current.sequence) != (replaces and replaces.sequence):
                raise VersionRaced
            entered = _counted_in(document)
            if entered in self.closed and entered != _counted_in(current):
                raise CollectionGone
            self._documents[document.tenant, document.id] = document
            if url is not None:
                del self.leases[document.tenant, document.id]
            self.bodies.add(document.content_key)
            self._written(document.tenant)

    def remove(self, document: Document, now: datetime) -> bool:
        with self._lock:
            current = self._documents.get((document.tenant, document.id))
            if current is None or current.sequence != document.sequence:
                return False
            lease = self.leases.get((document.tenant, document.id))
            if lease is not None and lease.until > now:
                return False
            self.leases.pop((document.tenant, document.id), None)
            del self._documents[document.tenant, document.id]
            self._written(document.tenant)
            return True

    def all(self, tenant: str) -> list[Document]:
        """Return all documents of a tenant."""
        with self._lock:
            return [doc for (owner, _), doc in self._documents.items() if owner == tenant]

    def everything(self) -> list[Document]:
        """Return all documents of all tenants."""
        with self._lock:
            return list(self._documents.values())

    def lose(self, tenant: str, document_id: str) -> None:
        """Remove a document's row, as if the table had lost it."""
        del self._documents[tenant, document_id]

    def _written(self, tenant: str) -> None:
        self._generations[tenant] = self._generations.get(tenant, 0) + 1


class FakeIndexRecord:
    """Implements IndexRecord for a fake document store."""

    def __init__(self, documents: FakeDocumentStore) -> None:
        self._documents = documents

    def exists(self) -> bool:
        return self._documents.indexes > 0

    def changed(self) -> None:
        self._documents.indexes += 1


_BODY = re.compile(r"[^/]+/[0-9a-f]{64}")


def _counted_in(document: Document | None) -> str | None:
    return None if document is None or document.deleted_at else document.collection_id


def _looked_up(document: Document, listing: DocumentFilter) -> bool:
    """Return whether an index lists the document: by collection, else by tag, else by host."""
    if listing.deleted != (document.deleted_at is not None):
        return False
    if listing.deleted:
        return True
    if listing.collection_id is not None:
        return document.collection_id == listing.collection_id
    if listing.tag_id is not None:
        return listing.tag_id in document.tag_ids
    return listing.domain is None or document.domain == listing.domain


class FakeContentStore(FakeDependency):
    """Implements ContentStore."""

    dependency = "s3"

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._uploads: dict[str, bytes] = {}
        self.stored_at: dict[str, datetime] = {}
        """Time of storage by key; other objects were stored at START."""

    def put(self, tenant: str, text: str) -> str:
        self._require()
        key = f"{tenant}/{hashlib.sha256(text.encode()).hexdigest()}"
        self._texts[key] = text
        return key

    def get(self, key: str) -> str:
        self._require()
        return self._texts[key]

    def get_small(self, key: str, most: int) -> str | None:
        text = self.get(key)
        return text if len(text.encode()) <= most else None

    def forget(self, key: str) -> None:
        """Remove an object, as if the bucket had lost it."""
        del self._texts[key]

    def put_upload(self, tenant: str, body: bytes) -> str:
        self._require()
        key = f"uploads/{tenant}/{hashlib.sha256(body).hexdigest()}"
        self._uploads[key] = body
        return key

    def get_upload(self, key: str) -> bytes:
        self._require()
        return self._uploads[key]

    def exists(self, key: str) -> bool:
        self._require()
        return key in self._texts

    def remove(self, key: str, before: datetime) -> None:
        self._require()
        if self.stored_at.get(key, START) < before:
            self._texts.pop(key, None)

    def stored(self, after: str | None, limit: int) -> Page[StoredBody]:
        self._require()
        found = [
            each
            for each in sorted(self._texts)
            if _BODY.fullmatch(each) and (after is None or each > after)
        ]
        bodies = [
            StoredBody(
                tenant=each.split("/")[0], key=each, stored_at=self.stored_at.get(each, START)
            )
            for each in found[:limit]
        ]
        return Page(items=tuple(bodies), after=bodies[-1].key if len(found) > limit else None)

    def stored_parts(self, after: str | None, limit: int) -> Page[StoredPart]:
        self._require()
        found = [
            each
            for each in sorted(self._texts)
            if each.startswith(PARTS) and (after is None or each > after)
        ]
        parts = [
            StoredPart(
                tenant=each.split("/")[2],
                document_id=each.split("/")[3],
                key=each,
                stored_at=self.stored_at.get(each, START),
            )
            for each in found[:limit]
        ]
        return Page(items=tuple(parts), after=parts[-1].key if len(found) > limit else None)

    def remove_parts(self, tenant: str, document_id: str, before: datetime) -> None:
        self._require()
        for key in list(self._texts):
            if key.startswith(parts_prefix(tenant, document_id)):
                self.remove(key, before)

    def hold(self, key: str, text: str) -> None:
        """Store a text, as another store of the same bucket does."""
        self._require()
        self._texts[key] = text

    def url(self, key: str, *, seconds: int) -> str:
        return f"https://content.example/{key}?seconds={seconds}"
