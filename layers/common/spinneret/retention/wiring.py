"""Select the adapters of the clean-up."""

from collections.abc import Callable
from typing import Final

from spinneret.aws.stage import Stage, reads
from spinneret.kernel.settings import SettingsError, flag, integer, text
from spinneret.retention.dynamo import DynamoExpiryStore
from spinneret.retention.models import CleanupResult
from spinneret.retention.s3 import S3ObjectStore
from spinneret.retention.service import RetentionCleanup

BATCH_MAX: Final = 1000  # S3: maximum number of keys in one bulk delete

AUDITS_TABLE: Final = text("AUDITS_TABLE")
AUDITS_BUCKET: Final = text("AUDITS_BUCKET")
ENABLED: Final = flag("RETENTION_CLEANUP_ENABLED", default=False)
"""Enables the scheduled rule only; the command line ignores it."""
BATCH_SIZE: Final = integer("RETENTION_CLEANUP_BATCH_SIZE", 100)
DRY_RUN: Final = flag("RETENTION_CLEANUP_DRY_RUN", default=False)
CLEANUP: Final = (AUDITS_TABLE, AUDITS_BUCKET, BATCH_SIZE, DRY_RUN)


@reads(*CLEANUP)
def cleanup(stage: Stage) -> RetentionCleanup:
    """Build the clean-up, whether its rule is enabled or not. Raise SettingsError."""
    size = stage[BATCH_SIZE]
    if not 1 <= size <= BATCH_MAX:
        raise SettingsError(f"RETENTION_CLEANUP_BATCH_SIZE: 1 to {BATCH_MAX}, not {size}")
    return RetentionCleanup(
        rows=DynamoExpiryStore(stage.dynamodb, stage[AUDITS_TABLE]),
        objects=S3ObjectStore(stage.s3, stage[AUDITS_BUCKET]),
        clock=stage.clock,
        batch_size=size,
        dry_run=stage[DRY_RUN],
    )


@reads(*CLEANUP, ENABLED)
def cleanup_pass(stage: Stage) -> Callable[[], CleanupResult]:
    """Return the pass of the rule; it does nothing unless the rule is enabled."""
    if not stage[ENABLED]:
        return lambda: CleanupResult(enabled=False)
    return cleanup(stage).run
