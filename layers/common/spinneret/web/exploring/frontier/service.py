"""Frontier service: operations of the driver and of the workers."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Contended, LeaseLost, NotFound, ValidationFailed
from spinneret.web.exploring import limits
from spinneret.web.exploring.frontier import rules
from spinneret.web.exploring.frontier.changes import CounterDelta, FrontierTransaction, PageUpdate
from spinneret.web.exploring.frontier.guide import LinkPolicy, check_plan
from spinneret.web.exploring.frontier.keys import is_position_in
from spinneret.web.exploring.frontier.merge_pass import MergePass
from spinneret.web.exploring.frontier.models import (
    Batch,
    Crawl,
    CrawlRef,
    Ended,
    EndReason,
    Fetched,
    FetchOutcome,
    FrontierPage,
    FrontierWait,
    LinkCandidate,
    Next,
    PageLease,
    PagePage,
    PageState,
    Plan,
)
from spinneret.web.exploring.frontier.ports import FrontierStore, WriteConflict
from spinneret.web.exploring.frontier.redirects import RedirectGate
from spinneret.web.fetching.urls import parse_url

_TRIES: Final = 5  # each try means that somebody else made progress; then Contended is raised


def _always() -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class Frontier:
    """See the package's docstring. Methods raise DependencyUnavailable and may be repeated."""

    store: FrontierStore
    clock: Clock

    # ------------------------------------------------------------ Driver

    def begin(self, ref: CrawlRef, plan: Plan, urls: Sequence[str], fence: int) -> Crawl:
        """Add the crawl with its start URLs; return the existing crawl if it is known.

        Raises ValidationFailed and UrlInvalid.
        """
        check_plan(plan)
        if not 0 < len(urls) <= bounds.CRAWL_SEEDS_MAX:
            raise ValidationFailed.of_field("url", f"1 to {bounds.CRAWL_SEEDS_MAX} URLs")
        roots = tuple(parse_url(url).text for url in urls)
        crawl = Crawl(ref=ref, plan=plan, roots=roots, begun_at=self.clock(), fence=fence)
        try:
            self.store.begin(crawl)
        except WriteConflict:
            return self._existing(ref)
        return crawl

    def add(self, ref: CrawlRef, urls: Sequence[str], fence: int) -> None:
        """Add further start URLs, more than `begin` takes, before the first batch.

        Known URLs are ignored; so are all of them once the crawl has a batch. Raises NotFound,
        UrlInvalid, LeaseLost for an outdated fence, and Contended.
        """
        self._persistently(lambda: self._add(ref, urls, fence))

    def _add(self, ref: CrawlRef, urls: Sequence[str], fence: int) -> None:
        crawl = self._adopted(ref, fence)
        if not crawl.batch:
            self._seed(crawl, (*crawl.roots, *urls), self.clock())

    def reopen(self, ref: CrawlRef, fence: int) -> None:
        """Restart a crawl that ended without a page; leave any other unchanged.

        Raises NotFound, LeaseLost for an outdated fence, and Contended.
        """
        self._persistently(lambda: self._reopen(ref, fence))

    def _reopen(self, ref: CrawlRef, fence: int) -> None:
        crawl = self._adopted(ref, fence)
        if crawl.end_reason is not None and not crawl.crawled:
            failed = self.store.first(ref, PageState.FAILED, bounds.CRAWL_SEEDS_MAX)
            self.store.commit(crawl, rules.reopened(crawl, fence, failed))

    def next_batch(
        self, ref: CrawlRef, fence: int, may_go_on: Callable[[], bool] = _always
    ) -> Next:
        """Return what to do next; see `advance`."""
        return self.advance(ref, fence, may_go_on)[1]

    def advance(
        self, ref: CrawlRef, fence: int, may_go_on: Callable[[], bool] = _always
    ) -> tuple[Crawl, Next]:
        """Return the crawl and what to do next; call again after each batch.

        `may_go_on` is called before merging the links of each page. When it returns False, the
        result is a `FrontierWait` that has already passed. Raises NotFound, LeaseLost for an
        outdated fence, and Contended.
        """
        return self._persistently(lambda: self._advance(ref, fence, may_go_on))

    def _advance(
        self, ref: CrawlRef, fence: int, may_go_on: Callable[[], bool]
    ) -> tuple[Crawl, Next]:
        crawl = self._adopted(ref, fence)
        if crawl.end_reason is not None:
            return crawl, Ended(crawl.end_reason)
        now = self.clock()
        if not crawl.batch:
            return self._take(self._seed(crawl, crawl.roots, now), now)
        crawl, open_pages = self._still_open(crawl, now)
        if open_pages:
            free = [page for page in open_pages if rules.free_at(page) <= now]
            if not free:
                return crawl, FrontierWait(min(rules.free_at(page) for page in open_pages))
            return crawl, Batch(number=crawl.batch, pages=tuple(free))
        # No page is open now. One that ended since the crawl was read makes the next write fail.
        merging = MergePass(self.store, self.clock, crawl)
        is_merged = merging.run(may_go_on)
        return self._take(merging.crawl, now) if is_merged else (merging.crawl, FrontierWait(now))

    def _seed(self, crawl: Crawl, urls: Sequence[str], now: datetime) -> Crawl:
        """Add the start URLs that aren't known yet; return the crawl with them."""
        pages = rules.seeds(crawl, urls, now)
        found = self.store.find(crawl.ref, [page.key for page in pages])
        missing = (page for page in pages if page.key not in found)
        for some in _pieces(missing, limits.FRONTIER_ROWS_PER_WRITE):
            plus = CounterDelta(discovered=len(some))
            added = FrontierTransaction(plus=plus, before=crawl, after=crawl, new=tuple(some))
            self.store.commit(crawl, added)
            crawl = replace(crawl, discovered=crawl.discovered + len(some))
        return crawl

    def _still_open(self, crawl: Crawl, now: datetime) -> tuple[Crawl, list[FrontierPage]]:
        """Return open pages of the current batch; fail pages whose last attempt is lost."""
        left: list[FrontierPage] = []
        for page in self.store.first(crawl.ref, PageState.OPEN, limits.CRAWL_BATCH_PAGES):
            if rules.is_lost(page, now):
                self.store.commit(crawl, rules.given_up(page, now))
                crawl = replace(crawl, failed=crawl.failed + 1)
            else:
                left.append(page)
        return crawl, left

    def _take(self, crawl: Crawl, now: datetime) -> tuple[Crawl, Next]:
        places = rules.places_left(crawl)
        if places <= 0:
            return self._end(crawl, EndReason.BUDGET, now)
        if rules.is_expired(crawl, now):
            return self._end(crawl, EndReason.EXPIRED, now)
        waiting = self.store.first(crawl.ref, PageState.WAITING, places)
        if not waiting:
            return self._end(crawl, EndReason.EXHAUSTED, now)
        after, change = rules.taken(crawl, waiting, now)
        self.store.commit(crawl, change)
        return after, Batch(number=after.batch, pages=tuple(move.after for move in change.moves))

    def _end(self, crawl: Crawl, reason: EndReason, now: datetime) -> tuple[Crawl, Ended]:
        after = replace(crawl, ended_at=now, end_reason=reason)
        self.store.commit(crawl, FrontierTransaction(before=crawl, after=after, counted=True))
        return after, Ended(reason)

    # ------------------------------------------------------------ Worker

    def claim(self, ref: CrawlRef, key: str, owner: str, until: datetime) -> PageLease | None:
        """Claim a page of the batch until then; return None if it can't be claimed now.

        `owner` is new for every attempt to visit a page; the same owner gets its existing claim
        again.
        """
        crawl = self._existing(ref)
        page = self.store.find(ref, [key]).get(key)
        if page is None or page.state is not PageState.OPEN:
            return None
        if page.owner == owner and page.leased_until is not None:
            return PageLease(crawl=crawl, page=page)
        return self.claim_page(crawl, page, owner, until)

    def claim_page(
        self, crawl: Crawl, page: FrontierPage, owner: str, until: datetime
    ) -> PageLease | None:
        """Claim a page as `claim`, without reading its row."""
        now = self.clock()
        if rules.free_at(page) > now or rules.is_lost(page, now):
            return None
        claimed = rules.claimed(page, owner, until)
        try:
            self.store.commit(
                crawl, FrontierTransaction(moves=(PageUpdate(before=page, after=claimed),))
            )
        except WriteConflict:
            return None
        return PageLease(crawl=crawl, page=claimed)

    def renew(self, visit: PageLease, until: datetime) -> None:
        """Extend a claim, after the fetch: its redirects are checked with the former end.

        Raises LeaseLost when another claim has replaced this one.
        """
        crawl, page = visit.crawl, visit.page
        standing = self.store.find(crawl.ref, [page.key]).get(page.key)
        if standing is None or not rules.is_claim_of(standing, page):
            raise LeaseLost(f"page {page.key} belongs to another claim")
        renewed = PageUpdate(before=standing, after=replace(standing, leased_until=until))
        try:
            self.store.commit(crawl, FrontierTransaction(moves=(renewed,)))
        except WriteConflict as conflict:
            raise LeaseLost(f"page {page.key} belongs to another claim") from conflict

    def redirects(self, visit: PageLease) -> RedirectGate:
        """Return the redirect check for the fetcher of this visit."""
        return RedirectGate(store=self.store, clock=self.clock, visit=visit)

    def record(self, visit: PageLease, outcome: FetchOutcome) -> None:
        """Record the outcome of a page.

        Raises LeaseLost when another claim has replaced this one.
        """
        crawl, page = visit.crawl, visit.page
        candidates: tuple[LinkCandidate, ...] = ()
        skipped: Mapping[str, int] = {}
        if isinstance(outcome, Fetched):
            candidates, skipped = LinkPolicy(crawl).candidates(outcome.links)
        chunks = self.store.keep_links(crawl, page, candidates) if candidates else 0
        for _ in range(2):  # a redirect may have brought the page nearer since it was claimed
            change = rules.recorded(page, outcome, chunks, skipped, self.clock())
            try:
                self.store.commit(crawl, change)
            except WriteConflict:
                standing = self.store.find(crawl.ref, [page.key]).get(page.key)
                if standing is not None and rules.is_recorded(standing, page):
                    return
                if standing is None or not rules.is_nearer(standing, page):
                    break
                page = standing
            else:
                return
        raise LeaseLost(f"page {page.key} belongs to another claim")

    # ------------------------------------------------------------ Lists

    def crawl(self, ref: CrawlRef) -> Crawl:
        """Return the crawl with its counters, until 30 days after its end. Raises NotFound."""
        return self._existing(ref)

    def pages(
        self, ref: CrawlRef, state: PageState | None, after: str | None, limit: int
    ) -> PagePage:
        """See FrontierStore. Raises NotFound like `crawl`, and ValidationFailed for `after`."""
        self._existing(ref)
        if after is not None and not is_position_in(state, after):
            raise ValidationFailed.of_field("cursor", "not a cursor")
        return self.store.pages(ref, state, after, limit)

    # ------------------------------------------------------------ Both

    def _existing(self, ref: CrawlRef) -> Crawl:
        crawl = self.store.crawl(ref)
        if crawl is None or _is_gone(crawl, self.clock()):
            raise NotFound("no such crawl")
        return crawl

    def _adopted(self, ref: CrawlRef, fence: int) -> Crawl:
        """Return the crawl under this driver's fence."""
        crawl = self._existing(ref)
        if crawl.fence > fence:
            raise LeaseLost(f"crawl {ref.crawl_id} has a newer driver")
        if crawl.fence < fence:
            self.store.commit(crawl, rules.take_over(crawl, fence))
            crawl = replace(crawl, fence=fence)
        return crawl

    def _persistently[Answer](self, act: Callable[[], Answer]) -> Answer:
        """Retry when rows changed since they were read."""
        for _ in range(_TRIES):
            try:
                return act()
            except WriteConflict:
                continue
        raise Contended("the crawl is being changed by others")


def _is_gone(crawl: Crawl, now: datetime) -> bool:
    kept = timedelta(seconds=bounds.JOB_RETENTION_SECONDS)
    return crawl.ended_at is not None and now >= crawl.ended_at + kept


def _pieces(pages: Iterable[FrontierPage], size: int) -> Iterator[list[FrontierPage]]:
    iterator = iter(pages)
    while some := list(islice(iterator, size)):
        yield some
