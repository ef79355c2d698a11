"""One pass of the clean-up: delete objects first, then mark their rows."""

import logging

from spinneret.kernel.clock import Clock, to_iso
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.service import service
from spinneret.retention.models import CleanupResult, Expired
from spinneret.retention.ports import ExpiryStore, ObjectStore
from spinneret.retention.rules import next_try

logger = logging.getLogger(__name__)


@service
class RetentionCleanup:
    """Deletes expired objects, the oldest first, one batch per pass.

    The object is deleted before its row is marked. If a pass dies in between, the next pass deletes
    the object again and marks the row. No failure stops the rest of the batch. An object that the
    bucket refuses to delete doesn't block younger ones until its next try.
    """

    rows: ExpiryStore
    objects: ObjectStore
    clock: Clock
    batch_size: int
    dry_run: bool

    def run(self) -> CleanupResult:
        """Run one pass; raise DependencyUnavailable if even the list can't be read."""
        batch = self.rows.expired(self.clock(), self.batch_size)
        if self.dry_run:
            for each in batch:
                _log("retention.would_delete", each)
            return CleanupResult(dry_run=True, found=len(batch))
        deleted = self._delete(batch) if batch else 0
        done = CleanupResult(found=len(batch), deleted=deleted, failed=len(batch) - deleted)
        logger.info("retention.done", extra={"deleted": done.deleted, "failed": done.failed})
        return done

    def _delete(self, batch: list[Expired]) -> int:
        """Return the number of objects deleted and marked.

        A bucket that doesn't respond hasn't refused any object.
        """
        try:
            refused = self.objects.delete([each.storage_uri for each in batch])
        except DependencyUnavailable as error:
            logger.error("retention.failed", extra={"reason": error.message})
            return 0
        gone = [each for each in batch if each.storage_uri not in refused]
        deleted = sum(self._mark(each) for each in gone)
        for each in batch:
            if each.storage_uri in refused:
                self._defer(each, refused[each.storage_uri])
        return deleted

    def _defer(self, expired: Expired, reason: str) -> None:
        until = next_try(expired.refusals + 1, self.clock())
        logger.error(
            "retention.failed",
            extra={
                "storage_uri": expired.storage_uri,
                "reason": reason,
                "refusals": expired.refusals + 1,
                "next_try_at": to_iso(until),
            },
        )
        try:
            self.rows.defer(expired, until)
        except DependencyUnavailable as error:
            logger.error(
                "retention.not_deferred",
                extra={"storage_uri": expired.storage_uri, "reason": error.message},
            )

    def _mark(self, expired: Expired) -> bool:
        try:
            marked = self.rows.mark_deleted(expired, self.clock())
        except DependencyUnavailable as error:
            logger.error(
                "retention.not_marked",
                extra={"storage_uri": expired.storage_uri, "reason": error.message},
            )
            return False
        if marked:
            _log("retention.deleted", expired)
        return marked


def _log(event: str, expired: Expired) -> None:
    logger.info(
        event,
        extra={
            "storage_uri": expired.storage_uri,
            "retention_until": to_iso(expired.retention_until),
        },
    )
