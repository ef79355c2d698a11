"""What the frontier needs from outside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from spinneret.web.exploring.frontier.changes import FrontierTransaction
from spinneret.web.exploring.frontier.models import (
    Crawl,
    CrawlRef,
    LinkCandidate,
    Page,
    PagePage,
    PageState,
)


class WriteConflict(Exception):
    """A row isn't as it was read, or exists: nothing was written."""


class FrontierStore(Protocol):
    """The rows of crawls. Raises DependencyUnavailable; reads see all writes before them."""

    def begin(self, crawl: Crawl) -> None:
        """Add a crawl; raises WriteConflict if there is one."""
        ...

    def crawl(self, ref: CrawlRef) -> Crawl | None:
        """The crawl as a whole; None for an unknown one."""
        ...

    def find(self, ref: CrawlRef, keys: Iterable[str]) -> dict[str, Page]:
        """The pages that are known, by key; any number may be asked for."""
        ...

    def first(self, ref: CrawlRef, state: PageState, limit: int) -> tuple[Page, ...]:
        """Pages in a state: those that wait by rank, others by batch and position."""
        ...

    def commit(self, crawl: Crawl, change: FrontierTransaction) -> None:
        """Carry out a change. Raises WriteConflict."""
        ...

    def keep_links(self, crawl: Crawl, page: Page, links: Sequence[LinkCandidate]) -> int:
        """Write the links of a page under its fence, in chunks; answers how many. May be repeated.

        They are nobody's until the page's own row names the fence.
        """
        ...

    def links(self, ref: CrawlRef, page: Page) -> tuple[LinkCandidate, ...]:
        """The links that the page's row names, in their order."""
        ...

    def used(self, ref: CrawlRef, quotas: Iterable[str]) -> Mapping[str, int]:
        """How much of each quota is used; those of which nothing is are left out."""
        ...

    def originals(self, ref: CrawlRef, hashes: Iterable[str]) -> Mapping[str, str]:
        """Content hash → key of the first page with it, for those that are known."""
        ...

    def pages(
        self, ref: CrawlRef, state: PageState | None, after: str | None, limit: int
    ) -> PagePage:
        """Pages in a state in the order of `first`; all pages, in any order, for None.

        `after` is what the page before answered. A page that changes its state meanwhile may be
        left out or come twice.
        """
        ...
