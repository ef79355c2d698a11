"""Ports of the frontier."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from spinneret.web.exploring.frontier.changes import FrontierTransaction
from spinneret.web.exploring.frontier.models import (
    Crawl,
    CrawlRef,
    FrontierPage,
    LinkCandidate,
    MergeInput,
    PagePage,
    PageState,
)


class WriteConflict(Exception):
    """Raised when a row changed since it was read, or already exists; the store is unchanged."""


class FrontierStore(Protocol):
    """Rows of crawls. Methods raise DependencyUnavailable; reads are consistent."""

    def begin(self, crawl: Crawl) -> None:
        """Add a crawl. Raises WriteConflict if it already exists."""

    def crawl(self, ref: CrawlRef) -> Crawl | None:
        """Return the crawl's own row, or None for an unknown crawl."""

    def find(self, ref: CrawlRef, keys: Iterable[str]) -> dict[str, FrontierPage]:
        """Return the known pages by key; accepts any number of keys."""

    def first(self, ref: CrawlRef, state: PageState, limit: int) -> tuple[FrontierPage, ...]:
        """Return the first pages in a state: by rank if waiting, else by batch and position."""

    def commit(self, crawl: Crawl, change: FrontierTransaction) -> None:
        """Apply a change. Raises WriteConflict."""

    def keep_links(self, crawl: Crawl, page: FrontierPage, links: Sequence[LinkCandidate]) -> int:
        """Write the links of a page in chunks under its fence, and return the number of chunks.

        The call may be repeated. The links are unused until the page's own row names the fence.
        """

    def merge_input(
        self, ref: CrawlRef, pages: Iterable[FrontierPage], hashes: Iterable[str]
    ) -> MergeInput:
        """Return the links of the pages, and the first page with each content, in one read."""

    def used(self, ref: CrawlRef, quotas: Iterable[str]) -> Mapping[str, int]:
        """Return the usage of each quota; unused quotas are left out."""

    def pages(
        self, ref: CrawlRef, state: PageState | None, after: str | None, limit: int
    ) -> PagePage:
        """Return pages of a state in the order of `first`, or all pages in any order for None.

        `after` comes from the previous page of the list. A page that changes its state meanwhile
        may be skipped or appear twice.
        """
