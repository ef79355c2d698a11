"""Keeps rows, bodies and index consistent: reconciles, and purges deletions.

DynamoDB and S3 are authoritative. A pass scans all rows in pages, stops before its function times
out, and resumes there at its next start.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from spinneret.content import limits
from spinneret.content.documents.models import Document, ScanCheckpoint, UrlLease, UrlTaken
from spinneret.content.documents.ports import (
    ChunkWriter,
    ContentStore,
    DocumentScan,
    DocumentStore,
    IndexRecord,
)
from spinneret.content.library.filling import IndexFiller
from spinneret.content.library.sweeping import OrphanCleanup
from spinneret.content.search.ports import IndexUpkeep
from spinneret.kernel import bounds, metrics
from spinneret.kernel.clock import Clock, Remaining
from spinneret.kernel.errors import Conflict
from spinneret.kernel.ids import NewId
from spinneret.kernel.service import service

logger = logging.getLogger(__name__)

RECONCILE_TASK: Final = "reconcile"


@dataclass(kw_only=True)
class ReconcileResult:
    """Result of one pass of reconciliation."""

    complete: bool = False
    """Whether all rows, index and bucket were examined; if not, the next pass continues."""
    documents: int = 0
    reindexed: int = 0
    relabelled: int = 0
    """Number of documents whose chunks had other labels than their rows."""
    removed_documents: int = 0
    """Number of documents deleted over 30 days ago, now removed from all three stores."""
    removed_bodies: int = 0
    """Number of bodies removed because no document uses them."""
    removed_parts: int = 0
    """Number of unreferenced parts of crawled pages removed, too old for a job to reference
    them."""
    removed_versions: int = 0
    """Number of indexed versions removed because no row names them."""
    lost: list[str] = field(default_factory=list)
    """`<tenant>/<id>` of documents whose text is missing: crawl or upload them again."""
    without_row: list[str] = field(default_factory=list)
    """`<tenant>/<id>` of indexed documents without a row."""


class Part(StrEnum):
    """Part of reconciliation; each one is completed before the next."""

    ROWS = "rows"
    INDEX = "index"
    BODIES = "bodies"
    PARTS = "parts"


_FOLLOWING: Final = {Part.ROWS: Part.INDEX, Part.INDEX: Part.BODIES, Part.BODIES: Part.PARTS}


@service
class DocumentMaintenance:
    """Maintenance passes over the documents of all tenants."""

    scan: DocumentScan
    documents: DocumentStore
    contents: ContentStore
    filler: IndexFiller
    index: ChunkWriter
    upkeep: IndexUpkeep
    record: IndexRecord
    clock: Clock
    new_id: NewId

    def __post_init__(self) -> None:
        self._bucket = OrphanCleanup(scan=self.scan, contents=self.contents, clock=self.clock)

    def reconcile(self, remaining: Remaining) -> ReconcileResult:
        """Compare and repair. A complete pass removes a former model's index.

        Raises Conflict while another pass is running, and DependencyUnavailable.
        """
        owner = self.new_id("upkeep")
        place = self._taken(RECONCILE_TASK, owner, remaining)
        report = ReconcileResult()
        target = self.upkeep.reading(remaining)
        if not self.record.exists():  # the index is older than the record, or its writer crashed
            self.record.changed()
        if place.target != target:  # the index was rebuilt, or belongs to another model
            place = ScanCheckpoint(target=target)
        while remaining() >= limits.UPKEEP_MARGIN_SECONDS:
            part = Part(place.part or Part.ROWS)
            after = self._part(part, place.after, target, report, remaining)
            following = part if after is not None else _FOLLOWING.get(part)
            if following is None:
                self.upkeep.retire(remaining)
                documents, chunks = self.upkeep.totals(remaining)
                metrics.DOCUMENTS.add(documents)
                metrics.CHUNKS.add(chunks)
                report.complete, place = True, ScanCheckpoint()
                break
            place = ScanCheckpoint(target=target, after=after, part=following)
            if not self.scan.keep_place(RECONCILE_TASK, owner, place, release=False):
                return _bounded(report)
        self.scan.keep_place(RECONCILE_TASK, owner, place, release=True)
        return _bounded(report)

    # ---------------------------------------------------------------- Parts

    def _part(
        self,
        part: Part,
        after: Mapping[str, Any] | None,
        target: str,
        report: ReconcileResult,
        remaining: Remaining,
    ) -> Mapping[str, Any] | None:
        """Process a bounded step of one part; return where to continue, None at its end."""
        match part:
            case Part.ROWS:
                return self._compare(after, target, report, remaining)
            case Part.INDEX:
                return self._clear(after, report, remaining)
            case Part.BODIES:
                removed, following = self._bucket.bodies(after)
                report.removed_bodies += removed
                return following
            case Part.PARTS:
                removed, following = self._bucket.parts(after)
                report.removed_parts += removed
                return following

    def _compare(
        self,
        after: Mapping[str, Any] | None,
        target: str,
        report: ReconcileResult,
        remaining: Remaining,
    ) -> Mapping[str, Any] | None:
        """Compare a page of rows with their bodies and the index."""
        page = self.scan.scan(after, limits.UPKEEP_PAGE)
        report.documents += len(page.documents)
        report.removed_bodies += self._bucket.unused(page.bodies)
        self._end_leases(page.leases)
        kept = [each for each in page.documents if not self._expired(each)]
        for document in page.documents:
            if self._expired(document):
                self._remove(document, report, remaining)
        self._check_bodies(kept, report)
        named = set(report.lost)
        present = [each for each in kept if _name(each) not in named]
        filled = self.filler.fill(target, present, remaining)
        report.lost += map(_name, filled.lost)
        report.reindexed += filled.written
        report.relabelled += filled.relabelled
        return page.after

    def _end_leases(self, leases: Sequence[UrlLease]) -> None:
        """Remove the expired leases of URLs without a document, which lost workers left."""
        for lease in leases:
            if lease.until <= self.clock():
                self.documents.release_url(UrlTaken(lease=lease, document=None))

    def _taken(self, task: str, owner: str, remaining: Remaining) -> ScanCheckpoint:
        now = self.clock()
        until = now + timedelta(seconds=remaining() + bounds.CLOCK_SKEW_SECONDS)
        place = self.scan.place(task, owner, now, until)
        if place is None:
            raise Conflict("another pass is under way")
        return place

    def _check_bodies(self, documents: Sequence[Document], report: ReconcileResult) -> None:
        for document in documents:
            if not self.contents.exists(document.content_key):
                report.lost.append(_name(document))
                named = {"tenant": document.tenant, "document_id": document.id}
                logger.warning("document_lost", extra={**named, "error_type": "KeyError"})

    def _expired(self, document: Document) -> bool:
        since = document.deleted_at
        kept = timedelta(seconds=limits.DELETED_KEPT_SECONDS)
        return since is not None and since + kept <= self.clock()

    def _remove(self, document: Document, report: ReconcileResult, remaining: Remaining) -> None:
        """Remove a document from the index, then its row, then its parts.

        While the row exists, another pass can finish the removal. Parts follow the row, since a
        crawl may have rewritten the row. Parts left by an interruption are removed by age.
        """
        self.index.remove_others(document, remaining, also_current=True)
        if self.documents.remove(document, self.clock()):
            before = self.clock() - timedelta(seconds=limits.BODY_KEPT_SECONDS)
            self.contents.remove_parts(document.tenant, document.id, before)
            report.removed_documents += 1

    def _clear(
        self, after: Mapping[str, Any] | None, report: ReconcileResult, remaining: Remaining
    ) -> Mapping[str, Any] | None:
        """Remove a page of versions that no row names; return where to continue, None at the
        end."""
        before = self.clock() - timedelta(seconds=limits.STRAY_SECONDS)
        page = self.upkeep.versions(after, remaining)
        strays = []
        for each in page.versions:
            if each.written_at >= before:
                continue
            row = self.documents.get(each.tenant, each.document_id)
            if row is None or row.version != each.version:
                strays.append(each)
            if row is None:
                report.without_row.append(f"{each.tenant}/{each.document_id}")
                logger.warning(
                    "document_without_row",
                    extra={"tenant": each.tenant, "document_id": each.document_id},
                )
        if strays:
            self.upkeep.remove(strays, remaining)
            report.removed_versions += len(strays)
        return page.after


def _name(document: Document) -> str:
    return f"{document.tenant}/{document.id}"


def _bounded(report: ReconcileResult) -> ReconcileResult:
    """Bound the report: a Lambda response has at most 6 MB."""
    most = limits.UPKEEP_FINDINGS
    return replace(report, lost=report.lost[:most], without_row=report.without_row[:most])
