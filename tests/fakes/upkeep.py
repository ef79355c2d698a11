"""Maintenance of documents and index in memory, next to their stores."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from spinneret.content import limits
from spinneret.content.documents.models import (
    Document,
    IndexedChunk,
    ScanCheckpoint,
    ScanPage,
    StoredBody,
    StoredPart,
    UnusedBody,
    labels_of,
)
from spinneret.content.search.models import IndexCoverage, IndexedVersion, VersionPage
from spinneret.content.search.ports import IndexMissing
from spinneret.kernel.clock import Remaining
from tests.fakes.documents import FakeDocumentStore
from tests.fakes.search import FakeChunkIndex
from tests.fakes.time import START


class FakeDocumentScan:
    """Implements DocumentScan."""

    def __init__(self, documents: FakeDocumentStore) -> None:
        self._documents = documents
        self.unused: list[UnusedBody] = []
        """Bodies that no document references."""
        self._places: dict[str, tuple[str, datetime, ScanCheckpoint]] = {}

    def scan(self, after: Mapping[str, Any] | None, limit: int) -> ScanPage:
        start = int(after["pk"]) if after else 0
        rows = sorted(self._documents.everything(), key=lambda each: (each.tenant, each.id))
        part = rows[start : start + limit]
        more = start + limit < len(rows)
        bodies = () if after else tuple(self.unused)
        bare = [
            lease
            for (tenant, of), lease in self._documents.leases.items()
            if self._documents.get(tenant, of) is None
        ]
        return ScanPage(
            documents=tuple(part),
            bodies=bodies,
            leases=() if after else tuple(bare),
            after={"pk": str(start + limit)} if more else None,
        )

    def unreferenced_bodies(self, bodies: Sequence[StoredBody]) -> list[StoredBody]:
        return [each for each in bodies if each.key not in self._documents.bodies]

    def unnamed(self, parts: Sequence[StoredPart]) -> list[StoredPart]:
        origins = [each.origin for each in self._documents.everything()]
        named = {each.parts_key for each in origins if each is not None}
        return [each for each in parts if each.key not in named]

    def forget_body(self, body: UnusedBody) -> bool:
        if body not in self.unused:
            return False
        self.unused.remove(body)
        self._documents.bodies.discard(body.key)
        return True

    def place(self, task: str, owner: str, now: datetime, until: datetime) -> ScanCheckpoint | None:
        holder, end, place = self._places.get(task, (owner, now, ScanCheckpoint()))
        if holder != owner and end > now:
            return None
        self._places[task] = (owner, until, place)
        return place

    def keep_place(self, task: str, owner: str, place: ScanCheckpoint, *, release: bool) -> bool:
        holder, end, _ = self._places[task]
        if holder != owner:
            return False
        self._places[task] = (owner, START.replace(year=2000) if release else end, place)
        return True


_SORTED = ("tenant", "document_id", "version_id")


class FakeIndexUpkeep:
    """Implements IndexUpkeep for the fake index."""

    def __init__(self, index: FakeChunkIndex) -> None:
        self._index = index
        self.written_at: dict[str, datetime] = {}
        """Time of writing by version; other versions were written at START."""

    def begin(self, remaining: Remaining) -> str:
        unread = set(self._index.held_by_target) - {self._index.read_from}
        if not unread:
            unread = {f"index {len(self._index.held_by_target) + 1}"}
            self._index.held_by_target[min(unread)] = {}
        return max(unread)

    def write(self, chunks: Sequence[IndexedChunk], target: str, remaining: Remaining) -> None:
        self._index.write(chunks, remaining, frozenset({target}))

    def held(
        self, target: str, documents: Sequence[Document], remaining: Remaining
    ) -> Mapping[str, IndexCoverage]:
        found: dict[str, IndexCoverage] = {}
        for document in documents:
            version = (document.id, document.version)
            chunks = [
                each
                for each in self._index.held_by_target[target].values()
                if (each.document_id, each.version) == version
            ]
            agree = {replace(each.labels, title=document.title) for each in chunks} <= {
                labels_of(document)
            }
            found[document.id] = IndexCoverage(chunks=len(chunks), labelled=agree)
        return found

    def trim(self, document: Document, target: str, remaining: Remaining) -> None:
        held = self._index.held_by_target[target]
        for key, chunk in list(held.items()):
            own = (chunk.document_id, chunk.version) == (document.id, document.version)
            if own and chunk.index >= document.chunk_count:
                del held[key]

    def finish(self, target: str, remaining: Remaining) -> None:
        self._index.read_from = target
        for name in set(self._index.held_by_target) - {target}:
            del self._index.held_by_target[name]
        self.retire(remaining)

    def retire(self, remaining: Remaining) -> None:
        self._index.former = None

    def reading(self, remaining: Remaining) -> str:
        if self._index.read_from not in self._index.held_by_target:
            raise IndexMissing
        return self._index.read_from

    def totals(self, remaining: Remaining) -> tuple[int, int]:
        held = self._index.held
        return len({each.document_id for each in held.values()}), len(held)

    def versions(self, after: Mapping[str, str] | None, remaining: Remaining) -> VersionPage:
        found = sorted({(c.tenant, c.document_id, c.version) for c in self._index.held.values()})
        if after is not None:
            found = [each for each in found if each > tuple(after[name] for name in _SORTED)]
        part = found[: limits.UPKEEP_PAGE]
        more = len(found) > len(part)
        return VersionPage(
            versions=tuple(
                IndexedVersion(
                    tenant=tenant,
                    document_id=document_id,
                    version=version,
                    written_at=self.written_at.get(version, START),
                )
                for tenant, document_id, version in part
            ),
            after=dict(zip(_SORTED, part[-1], strict=True)) if more else None,
        )

    def remove(self, versions: Sequence[IndexedVersion], remaining: Remaining) -> None:
        gone = {(each.document_id, each.version) for each in versions}
        index: FakeChunkIndex | None = self._index
        while index is not None:
            for held in index.held_by_target.values():
                for key, chunk in list(held.items()):
                    if (chunk.document_id, chunk.version) in gone:
                        del held[key]
            index = index.former
