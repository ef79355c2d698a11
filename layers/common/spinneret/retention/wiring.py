"""Chooses the adapters of the clean-up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client, s3_client
from spinneret.kernel.clock import utc_now
from spinneret.kernel.settings import Settings, SettingsError
from spinneret.retention.dynamo import DynamoExpiryStore
from spinneret.retention.models import CleanupResult
from spinneret.retention.s3 import S3ObjectStore
from spinneret.retention.service import RetentionCleanup

BATCH_MAX = 1000  # S3: keys of one bulk delete


@dataclass(frozen=True, kw_only=True)
class RetentionSettings(Settings):
    """The clean-up's environment (ruling "Retention")."""

    audits_table: str
    audits_bucket: str
    retention_cleanup_enabled: bool = False
    """Of the rule alone; the command line ignores it."""
    retention_cleanup_batch_size: int = 100
    retention_cleanup_dry_run: bool = False


def cleanup(settings: RetentionSettings) -> RetentionCleanup:
    """One pass, whether the rule is enabled or not. Raises SettingsError."""
    size = settings.retention_cleanup_batch_size
    if not 1 <= size <= BATCH_MAX:
        raise SettingsError(f"RETENTION_CLEANUP_BATCH_SIZE: 1 to {BATCH_MAX}, not {size}")
    return RetentionCleanup(
        rows=DynamoExpiryStore(dynamodb_client(), settings.audits_table),
        objects=S3ObjectStore(s3_client(), settings.audits_bucket),
        clock=utc_now,
        batch_size=size,
        dry_run=settings.retention_cleanup_dry_run,
    )


def cleanup_pass(env: Mapping[str, str]) -> Callable[[], CleanupResult]:
    """The pass of the rule, which does nothing unless it is enabled."""
    settings = RetentionSettings.from_env(env)
    if not settings.retention_cleanup_enabled:
        return lambda: CleanupResult(enabled=False)
    return cleanup(settings).run
