"""Select the adapters of the clean-up."""

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

BATCH_MAX = 1000  # S3: maximum number of keys in one bulk delete


@dataclass(frozen=True, kw_only=True)
class RetentionSettings(Settings):
    """Environment variables of the clean-up (ruling "Retention")."""

    audits_table: str
    audits_bucket: str
    retention_cleanup_enabled: bool = False
    """Enables the scheduled rule only; the command line ignores it."""
    retention_cleanup_batch_size: int = 100
    retention_cleanup_dry_run: bool = False


def cleanup(settings: RetentionSettings) -> RetentionCleanup:
    """Build the clean-up, whether its rule is enabled or not. Raise SettingsError."""
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
    """Return the pass of the rule; it does nothing unless the rule is enabled."""
    settings = RetentionSettings.from_env(env)
    if not settings.retention_cleanup_enabled:
        return lambda: CleanupResult(enabled=False)
    return cleanup(settings).run
