"""Parts of crawled pages in memory."""

import hashlib

from spinneret.content.documents.rules import parts_prefix
from tests.fakes.documents import FakeContentStore


class FakePartStore:
    """Implements PartStore; the parts are in a FakeContentStore, as in the same bucket."""

    def __init__(self, contents: FakeContentStore) -> None:
        self._contents = contents

    def keep(self, tenant: str, document_id: str, parts: str) -> str:
        digest = hashlib.sha256(parts.encode()).hexdigest()
        key = f"{parts_prefix(tenant, document_id)}{digest}.json"
        self._contents.hold(key, parts)
        return key

    def read(self, key: str) -> str | None:
        try:
            return self._contents.get(key)
        except KeyError:
            return None

    def link(self, key: str, seconds: int) -> str:
        return f"https://bucket.example/{key}?X-Amz-Expires={seconds}"
