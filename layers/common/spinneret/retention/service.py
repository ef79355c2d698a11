"""One pass of the clean-up: objects first, then their marks."""

from __future__ import annotations

import logging

from spinneret.kernel.clock import Clock, stamp
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.retention.models import Cleaned, Expired
from spinneret.retention.ports import ExpiryStore, ObjectStore

logger = logging.getLogger(__name__)


class RetentionCleanup:
    """Deletes what is over, the oldest first, a batch in each pass.

    The object goes before its mark: a pass that dies between the two leaves a row without an
    object, which the next pass deletes again and marks. No failure stops the rest of the batch.
    """

    def __init__(
        self,
        *,
        rows: ExpiryStore,
        objects: ObjectStore,
        clock: Clock,
        batch_size: int,
        dry_run: bool,
    ) -> None:
        self._rows = rows
        self._objects = objects
        self._clock = clock
        self._batch_size = batch_size
        self._dry_run = dry_run

    def run(self) -> Cleaned:
        """Raises DependencyUnavailable where not even the list can be read."""
        batch = self._rows.expired(self._clock(), self._batch_size)
        if self._dry_run:
            for each in batch:
                _log("retention.would_delete", each)
            return Cleaned(dry_run=True, found=len(batch))
        refused = self._delete(batch)
        deleted = sum(each.storage_uri not in refused and self._mark(each) for each in batch)
        done = Cleaned(found=len(batch), deleted=deleted, failed=len(batch) - deleted)
        logger.info("retention.done", extra={"deleted": done.deleted, "failed": done.failed})
        return done

    def _delete(self, batch: list[Expired]) -> set[str]:
        """The keys whose objects may still be there."""
        if not batch:
            return set()
        try:
            refused = self._objects.delete([each.storage_uri for each in batch])
        except DependencyUnavailable as error:
            logger.error("retention.failed", extra={"reason": error.message})
            return {each.storage_uri for each in batch}
        for key, reason in refused.items():
            logger.error("retention.failed", extra={"storage_uri": key, "reason": reason})
        return set(refused)

    def _mark(self, expired: Expired) -> bool:
        try:
            marked = self._rows.mark_deleted(expired, self._clock())
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
            "retention_until": stamp(expired.retention_until),
        },
    )
