"""Objects of audits in S3, under their tenant.

`T/<tenant>/audits/<id>/<run>/…`: pages and facts of the site by the hash of their content, issues
and reports by the fence of their claim.
"""

from typing import IO

from spinneret.aws.bucket import BucketAdapter


class S3AuditObjectStore(BucketAdapter):
    """Implements AuditObjectStore."""

    def put(self, key: str, body: bytes | IO[bytes], media_type: str) -> None:
        self._put(key, body, media_type)

    def get(self, key: str) -> bytes | None:
        return self._read(key)

    def url(self, key: str, *, file_name: str, media_type: str, seconds: int) -> str:
        """See AuditObjectStore; no request."""
        return self._link(
            key,
            seconds,
            ResponseContentType=media_type,
            ResponseContentDisposition=f'attachment; filename="{file_name}"',
        )
