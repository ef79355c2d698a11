"""Bodies in S3, keyed by tenant and content hash: writing twice is writing once."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from spinneret.aws.clients import translated

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client


class S3ContentStore:
    """Implements ContentStore."""

    def __init__(self, client: S3Client, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def put(self, tenant: str, text: str) -> str:
        """See ContentStore."""
        body = text.encode()
        key = f"T/{tenant}/content/{hashlib.sha256(body).hexdigest()}.md"
        with translated("s3"):
            self._client.put_object(
                Bucket=self._bucket, Key=key, Body=body, ContentType="text/markdown; charset=utf-8"
            )
        return key

    def get(self, key: str) -> str:
        """See ContentStore."""
        with translated("s3"):
            return self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read().decode()
