"""Removes unused bodies and page parts from the bucket."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from spinneret.content import limits
from spinneret.content.documents.models import UnusedBody
from spinneret.content.documents.ports import ContentStore, DocumentScan
from spinneret.kernel.clock import Clock
from spinneret.kernel.service import service

Place = Mapping[str, str] | None
"""Key to continue after; None at the start and at the end."""


@service
class OrphanCleanup:
    """Removes a page of orphans per call. Recent objects may belong to a running job and are
    kept."""

    scan: DocumentScan
    contents: ContentStore
    clock: Clock

    def unused(self, bodies: Sequence[UnusedBody]) -> int:
        """Remove bodies that their last document has released; return their number."""
        before = self._before(limits.BODY_KEPT_SECONDS)
        removed = 0
        for body in bodies:
            if body.since < before and self.scan.forget_body(body):
                self.contents.remove(body.key, before)
                removed += 1
        return removed

    def bodies(self, after: Place) -> tuple[int, Place]:
        """Remove bodies that never belonged to a document, since their jobs didn't commit."""
        before = self._before(limits.BODY_KEPT_SECONDS)
        page = self.contents.stored(_key(after), limits.UPKEEP_PAGE)
        orphans = self.scan.unreferenced_bodies(
            [each for each in page.items if each.stored_at < before]
        )
        for body in orphans:
            self.contents.remove(body.key, before)
        return len(orphans), _place(page.after)

    def parts(self, after: Place) -> tuple[int, Place]:
        """Remove unreferenced parts, once they are too old for a running job to reference them."""
        before = self._before(limits.PARTS_KEPT_SECONDS)
        page = self.contents.stored_parts(_key(after), limits.UPKEEP_PAGE)
        orphans = self.scan.unnamed([each for each in page.items if each.stored_at < before])
        for part in orphans:
            self.contents.remove(part.key, before)
        return len(orphans), _place(page.after)

    def _before(self, seconds: float) -> datetime:
        return self.clock() - timedelta(seconds=seconds)


def _key(place: Place) -> str | None:
    return None if place is None else place["key"]


def _place(key: str | None) -> Place:
    return None if key is None else {"key": key}
