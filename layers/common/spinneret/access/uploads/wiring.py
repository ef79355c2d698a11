"""Select the adapters of uploads."""

from __future__ import annotations

from dataclasses import dataclass

from spinneret.access.uploads.s3 import S3UploadStore
from spinneret.access.uploads.service import UploadService
from spinneret.aws.clients import s3_client
from spinneret.kernel.clock import utc_now
from spinneret.kernel.ids import id_maker
from spinneret.kernel.settings import Settings


@dataclass(frozen=True, kw_only=True)
class UploadSettings(Settings):
    """Bucket of uploads."""

    uploads_bucket: str


def upload_service(settings: UploadSettings) -> UploadService:
    """Build the upload service of this stage."""
    return UploadService(
        store=S3UploadStore(s3_client(), settings.uploads_bucket),
        clock=utc_now,
        new_id=id_maker(utc_now),
    )
