"""The fetch cache in memory."""

from dataclasses import replace

from spinneret.crawl.ports import CachedPage
from spinneret.kernel.errors import DependencyUnavailable


class FakeFetchCache:
    """Implements FetchCache; can be told to be down."""

    def __init__(self) -> None:
        self.available = True
        self.pages: dict[tuple[str, str], CachedPage] = {}

    def find(self, tenant: str, key: str) -> CachedPage | None:
        self._require()
        return self.pages.get((tenant, key))

    def keep(self, tenant: str, key: str, kept: CachedPage) -> None:
        self._require()
        known = {"etag", "last-modified", "x-robots-tag"}
        headers = {name: text for name, text in kept.page.headers.items() if name in known}
        page = replace(kept.page, headers=headers, phases=None, certificate=None)
        self.pages[tenant, key] = replace(kept, page=page)

    def _require(self) -> None:
        if not self.available:
            raise DependencyUnavailable("s3")
