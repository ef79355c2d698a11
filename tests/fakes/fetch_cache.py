"""The fetch cache in memory."""

from dataclasses import replace

from spinneret.crawl.ports import CachedPage
from tests.fakes.dependency import FakeDependency


class FakeFetchCache(FakeDependency):
    """Implements FetchCache."""

    dependency = "s3"

    def __init__(self) -> None:
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
