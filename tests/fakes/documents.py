"""The document and the content store in memory."""

from __future__ import annotations

import hashlib
from threading import Lock

from spinneret.content.documents.models import Document
from spinneret.content.documents.ports import VersionRaced
from spinneret.jobs.models import Lease
from spinneret.kernel.errors import DependencyUnavailable, LeaseLost
from tests.fakes.jobs import FakeJobStore


class FakeDocumentStore:
    """Implements DocumentStore; asks the job store whether a lease still stands."""

    def __init__(self, jobs: FakeJobStore) -> None:
        self._jobs = jobs
        self._lock = Lock()
        self._documents: dict[tuple[str, str], Document] = {}

    def get(self, tenant: str, document_id: str) -> Document | None:
        with self._lock:
            return self._documents.get((tenant, document_id))

    def current_versions(self, tenant: str, document_ids: list[str]) -> dict[str, str]:
        if len(document_ids) > 100:
            raise ValueError("at most 100 ids")
        with self._lock:
            found = [self._documents.get((tenant, each)) for each in document_ids]
            return {each.id: each.version for each in found if each is not None}

    def commit(self, document: Document, replaces: Document | None, lease: Lease) -> None:
        with self._lock:
            if not self._jobs.holds(lease):
                raise LeaseLost(f"job {lease.job_id} has moved on")
            current = self._documents.get((document.tenant, document.id))
            if (current and current.sequence) != (replaces and replaces.sequence):
                raise VersionRaced
            self._documents[document.tenant, document.id] = document

    def all(self, tenant: str) -> list[Document]:
        """Every document of a tenant."""
        with self._lock:
            return [doc for (owner, _), doc in self._documents.items() if owner == tenant]


class FakeContentStore:
    """Implements ContentStore; can be told to be down."""

    def __init__(self) -> None:
        self.available = True
        self._texts: dict[str, str] = {}

    def put(self, tenant: str, text: str) -> str:
        self._require()
        key = f"{tenant}/{hashlib.sha256(text.encode()).hexdigest()}"
        self._texts[key] = text
        return key

    def get(self, key: str) -> str:
        self._require()
        return self._texts[key]

    def _require(self) -> None:
        if not self.available:
            raise DependencyUnavailable("s3")
