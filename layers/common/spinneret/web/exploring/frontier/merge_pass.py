"""One pass of a driver that merges all fetched pages, with few reads and writes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from spinneret.kernel.clock import Clock
from spinneret.web.exploring import limits
from spinneret.web.exploring.frontier import merging
from spinneret.web.exploring.frontier.changes import FrontierTransaction
from spinneret.web.exploring.frontier.keys import place_of
from spinneret.web.exploring.frontier.models import Crawl, FrontierPage, LinkCandidate, PageState
from spinneret.web.exploring.frontier.ports import FrontierStore


class MergePass:
    """Merges the fetched pages of a crawl that has no open page.

    Changes of several pages are written together. So a crash leaves what a crash between two pages
    leaves, and the pass may start over.
    """

    def __init__(self, store: FrontierStore, clock: Clock, crawl: Crawl) -> None:
        self._store = store
        self._clock = clock
        self._crawl = crawl
        self._known = merging.FrontierView(discovered=crawl.discovered)
        self._unwritten: FrontierTransaction | None = None

    @property
    def crawl(self) -> Crawl:
        """The crawl with the URLs that the pass has written."""
        return self._crawl

    def run(self, may_go_on: Callable[[], bool]) -> bool:
        """Merge all fetched pages; return False if `may_go_on` stopped this before.

        Raises WriteConflict.
        """
        while found := self._fetched(limits.CRAWL_BATCH_PAGES + 1):
            is_all = len(found) <= limits.CRAWL_BATCH_PAGES
            last = None if is_all else _order(found[-1])
            self._learn(found)
            while page := self._next(last):
                if not may_go_on():
                    self._write()
                    return False
                self._merge(page)
            self._write()
            if is_all:
                break
        return True

    def _fetched(self, limit: int) -> tuple[FrontierPage, ...]:
        return self._store.first(self._crawl.ref, PageState.FETCHED, limit)

    def _next(self, last: tuple[str, str] | None) -> FrontierPage | None:
        """Return the first fetched page, if it comes before the pages that weren't read.

        A page that was found nearer comes before pages of later batches, in the same order as after
        a crash.
        """
        fetched = (page for page in self._known.pages.values() if page.state is PageState.FETCHED)
        page = min(fetched, key=_order, default=None)
        return None if page is None or (last is not None and _order(page) > last) else page

    def _merge(self, page: FrontierPage) -> None:
        known, crawl = self._known, self._crawl
        self._learn([page])  # one that was merged before and found nearer since
        links = known.links.pop(page.key, ())
        original = known.originals.get(page.content_hash or "")
        if page.same_as is not None:
            self._learn_pages([page.same_as])
        else:
            names = [link.key for link in links] if page.depth < crawl.plan.max_depth else []
            self._learn_pages(names if original in {None, page.key} else [original])
            self._learn_quotas(links)
        for change in merging.merged(crawl, page, links, original, known, self._clock()):
            self._add(change)
            known.apply(change)

    def _add(self, change: FrontierTransaction) -> None:
        """Write the change with the ones before it if they fit one write."""
        if self._unwritten is not None:
            joined = self._unwritten.then(change)
            if joined.rows <= limits.FRONTIER_ROWS_PER_WRITE:
                self._unwritten = joined
                return
            self._write()
        self._unwritten = change

    def _write(self) -> None:
        if self._unwritten is not None:
            change = replace(self._unwritten, before=self._crawl, after=self._crawl, counted=True)
            self._store.commit(self._crawl, change)
            discovered = self._crawl.discovered + change.plus.discovered
            self._crawl = replace(self._crawl, discovered=discovered)
            self._unwritten = None

    # ------------------------------------------------------------ Reads

    def _learn(self, pages: Sequence[FrontierPage]) -> None:
        """Read at once what the pages' merging needs, unless it is known."""
        known, ref = self._known, self._crawl.ref
        known.pages.update({page.key: page for page in pages})
        self._learn_pages(page.same_as for page in pages)
        own = [page for page in pages if page.same_as is None and page.key not in known.links]
        if not own:
            return
        hashes = {page.content_hash for page in own if page.content_hash} - known.originals.keys()
        found = self._store.merge_input(ref, own, sorted(hashes))
        known.links.update(found.links)
        known.originals.update(found.originals)
        if any(page.depth < self._crawl.plan.max_depth for page in own):
            self._learn_pages(link.key for page in own for link in known.links[page.key])

    def _learn_pages(self, keys: Iterable[str | None]) -> None:
        """Read pages, and the pages that they are duplicates of."""
        known = self._known
        wanted = {key for key in keys if key is not None}
        while wanted:
            missing = known.lacks(sorted(wanted))
            if missing:
                known.learn(missing, self._store.find(self._crawl.ref, missing))
            names = (known.pages[key].same_as for key in wanted if key in known.pages)
            wanted = {name for name in names if name is not None and known.lacks([name])}

    def _learn_quotas(self, links: Sequence[LinkCandidate]) -> None:
        known = self._known
        quotas = {
            quota
            for link in links
            if link.key in known.absent
            for quota in merging.quotas_of(self._crawl.plan, link)
            if quota not in known.used
        }
        if quotas:
            used = self._store.used(self._crawl.ref, sorted(quotas))
            known.used.update({quota: used.get(quota, 0) for quota in quotas})


def _order(page: FrontierPage) -> tuple[str, str]:
    return place_of(page), page.key
