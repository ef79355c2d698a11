"""The frontier's store in memory."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from threading import Lock

from spinneret.web.exploring.frontier.changes import FrontierTransaction
from spinneret.web.exploring.frontier.keys import parts_of, place_of, position_of
from spinneret.web.exploring.frontier.models import (
    Crawl,
    CrawlRef,
    FrontierPage,
    LinkCandidate,
    MergeInput,
    PagePage,
    PageState,
)
from spinneret.web.exploring.frontier.ports import WriteConflict
from tests.fakes.dependency import FakeDependency


class _Rows:
    """Rows of one crawl."""

    def __init__(self, crawl: Crawl) -> None:
        self.crawl = crawl
        self.pages: dict[str, FrontierPage] = {}
        self.links: dict[tuple[str, int], tuple[LinkCandidate, ...]] = {}
        self.used: dict[str, int] = {}
        self.contents: dict[str, str] = {}


class FakeFrontierStore(FakeDependency):
    """Implements FrontierStore under one lock."""

    def __init__(self) -> None:
        self.before_commit: Callable[[FrontierTransaction], None] | None = None
        """Called before each change is written; `after_commit` is called after it. Both may raise.
        """
        self.after_commit: Callable[[FrontierTransaction], None] | None = None
        self._lock = Lock()
        self._crawls: dict[CrawlRef, _Rows] = {}

    def begin(self, crawl: Crawl) -> None:
        with self._lock:
            self._require()
            if crawl.ref in self._crawls:
                raise WriteConflict
            self._crawls[crawl.ref] = _Rows(crawl)

    def crawl(self, ref: CrawlRef) -> Crawl | None:
        with self._lock:
            self._require()
            rows = self._crawls.get(ref)
            return rows.crawl if rows else None

    def find(self, ref: CrawlRef, keys: Iterable[str]) -> dict[str, FrontierPage]:
        with self._lock:
            pages = self._pages(ref)
            return {key: pages[key] for key in keys if key in pages}

    def first(self, ref: CrawlRef, state: PageState, limit: int) -> tuple[FrontierPage, ...]:
        with self._lock:
            found = [page for page in self._pages(ref).values() if page.state is state]
        return tuple(sorted(found, key=_order)[:limit])

    def commit(self, crawl: Crawl, change: FrontierTransaction) -> None:
        if self.before_commit:
            self.before_commit(change)
        with self._lock:
            self._require()
            rows = self._crawls.get(crawl.ref)
            if rows is None or not _holds(rows, change):
                raise WriteConflict
            _carry_out(rows, change)
        if self.after_commit:
            self.after_commit(change)

    def keep_links(self, crawl: Crawl, page: FrontierPage, links: Sequence[LinkCandidate]) -> int:
        with self._lock:
            self._require()
            self._crawls[crawl.ref].links[page.key, page.fence] = tuple(links)
        return 1

    def merge_input(
        self, ref: CrawlRef, pages: Iterable[FrontierPage], hashes: Iterable[str]
    ) -> MergeInput:
        with self._lock:
            self._require()
            kept, contents = self._crawls[ref].links, self._crawls[ref].contents
            return MergeInput(
                links={
                    page.key: kept[page.key, page.links_fence] if page.link_chunks else ()
                    for page in pages
                },
                originals={each: contents[each] for each in hashes if each in contents},
            )

    def used(self, ref: CrawlRef, quotas: Iterable[str]) -> Mapping[str, int]:
        with self._lock:
            self._require()
            used = self._crawls[ref].used
            return {quota: used[quota] for quota in quotas if quota in used}

    def pages(
        self, ref: CrawlRef, state: PageState | None, after: str | None, limit: int
    ) -> PagePage:
        with self._lock:
            pages = list(self._pages(ref).values())
        if state is None:
            left = sorted(
                (page for page in pages if after is None or page.key > after),
                key=lambda page: page.key,
            )
        else:
            behind = parts_of(after)[::-1] if after else ("", "")
            left = sorted(
                (page for page in pages if page.state is state and _order(page) > behind),
                key=_order,
            )
        shown = tuple(left[:limit])
        place = None if state is None or not shown else place_of(shown[-1])
        more = len(left) > limit
        return PagePage(pages=shown, after=position_of(shown[-1].key, place) if more else None)

    def _pages(self, ref: CrawlRef) -> dict[str, FrontierPage]:
        self._require()
        rows = self._crawls.get(ref)
        return rows.pages if rows else {}


def _order(page: FrontierPage) -> tuple[str, str]:
    return place_of(page), page.key


def _required(crawl: Crawl, change: FrontierTransaction) -> tuple[int, ...]:
    counters = (crawl.discovered, crawl.crawled, crawl.failed) if change.counted else ()
    return crawl.fence, crawl.batch, *counters


def _holds(rows: _Rows, change: FrontierTransaction) -> bool:
    before, pages = change.before, rows.pages
    return (
        (before is None or _required(rows.crawl, change) == _required(before, change))
        and not any(page.key in pages for page in change.new)
        and all(_stands(pages.get(move.before.key), move.before) for move in change.moves)
        and all(_stands(pages.get(page.key), page) for page in change.standing)
        and all(rows.used.get(quota, 0) == was for quota, (was, _) in change.used.items())
        and not any(content in rows.contents for content in change.contents)
    )


def _stands(page: FrontierPage | None, before: FrontierPage) -> bool:
    return page is not None and (page.state, page.fence, page.depth) == (
        before.state,
        before.fence,
        before.depth,
    )


def _carry_out(rows: _Rows, change: FrontierTransaction) -> None:
    after = change.after or rows.crawl
    rows.crawl = replace(
        rows.crawl,
        fence=after.fence,
        batch=after.batch,
        current_depth=after.current_depth,
        ended_at=after.ended_at,
        end_reason=after.end_reason,
        discovered=rows.crawl.discovered + change.plus.discovered,
        crawled=rows.crawl.crawled + change.plus.crawled,
        failed=rows.crawl.failed + change.plus.failed,
    )
    for page in (*change.new, *(move.after for move in change.moves)):
        rows.pages[page.key] = page
    rows.used.update({quota: after_use for quota, (_, after_use) in change.used.items()})
    rows.contents.update(change.contents)
