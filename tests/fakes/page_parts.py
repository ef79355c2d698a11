"""Parts of crawled pages in memory."""

from __future__ import annotations

from tests.fakes.documents import FakeContentStore


class FakePartStore:
    """Implements PartStore over the bucket of contents."""

    def __init__(self, contents: FakeContentStore) -> None:
        self._contents = contents

    def keep(self, tenant: str, parts: str) -> str:
        return self._contents.put(f"{tenant}/parts", parts)

    def read(self, key: str) -> str | None:
        try:
            return self._contents.get(key)
        except KeyError:
            return None

    def link(self, key: str, seconds: int) -> str:
        return f"https://bucket.example/{key}?X-Amz-Expires={seconds}"
