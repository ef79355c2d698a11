"""Select the adapters of keys, uploads, and the services that admit requests."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from spinneret.access import limits
from spinneret.access.keys.dynamo import DynamoKeyStore
from spinneret.access.keys.dynamo_windows import DynamoRateLimitStore
from spinneret.access.keys.service import KeyService
from spinneret.access.uploads.s3 import S3UploadStore
from spinneret.access.uploads.service import UploadService
from spinneret.aws.stage import Stage, reads
from spinneret.aws.types import DynamoDBClient
from spinneret.kernel.clock import utc_now
from spinneret.kernel.ids import id_maker
from spinneret.kernel.settings import integer, text

TENANCY_TABLE: Final = text("TENANCY_TABLE")
"""Keys, tickets and rate windows."""
UPLOADS_BUCKET: Final = text("UPLOADS_BUCKET")
RATE_LIMIT__API_RPM: Final = integer("RATE_LIMIT__API_RPM", limits.KEY_REQUESTS_PER_MINUTE)
"""Limit of keys that are issued without one."""


@dataclass(frozen=True, kw_only=True)
class AdmissionServices:
    """Services by which every API function admits requests."""

    keys: KeyService
    """Check credentials."""
    uploads: UploadService
    """Return bodies that were uploaded before their request."""


@reads(TENANCY_TABLE, UPLOADS_BUCKET)
def admitting(stage: Stage) -> AdmissionServices:
    """Build the admission services of this stage."""
    return AdmissionServices(keys=key_service(stage), uploads=upload_service(stage))


def key_service(stage: Stage) -> KeyService:
    """Build the key service of this stage for functions that issue no keys."""
    return keys_in(stage.dynamodb, stage[TENANCY_TABLE])


def issuing_key_service(stage: Stage) -> KeyService:
    """Build the key service of this stage."""
    return keys_in(stage.dynamodb, stage[TENANCY_TABLE], stage[RATE_LIMIT__API_RPM])


def keys_in(
    client: DynamoDBClient, table: str, default_rpm: int = limits.KEY_REQUESTS_PER_MINUTE
) -> KeyService:
    """Build the key service of a table."""
    return KeyService(
        keys=DynamoKeyStore(client, table),
        windows=DynamoRateLimitStore(client, table),
        clock=utc_now,
        new_id=id_maker(utc_now),
        random=os.urandom,
        default_rpm=default_rpm,
    )


def upload_service(stage: Stage) -> UploadService:
    """Build the upload service of this stage."""
    return UploadService(
        store=S3UploadStore(stage.s3, stage[UPLOADS_BUCKET]),
        clock=stage.clock,
        new_id=stage.new_id,
    )
