"""Parts of crawled pages in the content bucket, keyed by document and hash."""

import hashlib

from spinneret.aws.bucket import BucketAdapter
from spinneret.content.documents.rules import parts_prefix


class S3PartStore(BucketAdapter):
    """Implements PartStore."""

    def keep(self, tenant: str, document_id: str, parts: str) -> str:
        body = parts.encode()
        key = f"{parts_prefix(tenant, document_id)}{hashlib.sha256(body).hexdigest()}.json"
        self._put(key, body, "application/json")
        return key

    def read(self, key: str) -> str | None:
        body = self._read(key)
        return None if body is None else body.decode()

    def link(self, key: str, seconds: int) -> str:
        """See PartStore; sends no request."""
        return self._link(key, seconds)
