"""Blocks of a deep crawl's pages: one invocation crawls them, at most three at once.

Pages overlap in fetching, and in waiting for the index and the stores. One that must wait returns
to the frontier uncharged, and pages that weren't begun keep their rows.
"""

import logging
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import datetime, timedelta
from threading import Lock

from spinneret.crawl import limits
from spinneret.crawl.deep.driving import PageBlock
from spinneret.crawl.deep.pages import PageStep
from spinneret.crawl.deep.service import HOST_BUSY
from spinneret.jobs.driven.driving import Driver
from spinneret.kernel.clock import Clock, Remaining
from spinneret.kernel.service import service
from spinneret.web.exploring.frontier.models import Deferred, FetchOutcome, FrontierPage
from spinneret.web.politeness.rules import host_key

logger = logging.getLogger(__name__)

BusyHosts = dict[str, datetime]
"""Hosts that made a page wait, and when each takes the next request."""


class PageOrder:
    """Pages of a block that aren't begun, in their order; pure.

    A host that made a page wait gets one page at a time from then on. A page whose former worker
    was lost is crawled alone: if it kills this one too, it costs no other page an attempt.
    """

    def __init__(self, pages: Sequence[FrontierPage], busy: BusyHosts) -> None:
        self._left = list(pages)
        self._busy = busy
        self._running: list[FrontierPage] = []

    def begin(self, now: datetime) -> FrontierPage | None:
        """Return the next page to crawl now, if any."""
        if any(map(_was_lost, self._running)):
            return None
        for page in self._left:
            if self._may_begin(page, now):
                self._left.remove(page)
                self._running.append(page)
                return page
        return None

    def end(self, page: FrontierPage, outcome: FetchOutcome | None) -> None:
        """Note the outcome of a page; None if it has none."""
        self._running.remove(page)
        if isinstance(outcome, Deferred) and outcome.error_code == HOST_BUSY:
            self._busy[host_key(page.host)] = outcome.until

    def opens_at(self) -> datetime | None:
        """Return when the first of the pages left may begin; None without pages."""
        return min((self._opens(page) for page in self._left), default=None)

    def _may_begin(self, page: FrontierPage, now: datetime) -> bool:
        if _was_lost(page) and self._running:
            return False
        host = host_key(page.host)
        if host in self._busy and any(host_key(each.host) == host for each in self._running):
            return False
        return self._opens(page) <= now

    def _opens(self, page: FrontierPage) -> datetime:
        return self._busy.get(host_key(page.host), page.discovered_at)


@service
class PageBlocks:
    """Crawls blocks of pages."""

    driver: Driver
    page: PageStep
    clock: Clock
    at_once: int = limits.PAGES_AT_ONCE

    def __call__(self, block: PageBlock, busy: BusyHosts, remaining: Remaining) -> datetime | None:
        """Crawl the block's pages while more than PAGE_BEGIN_SECONDS remain.

        Return when the hosts of the other pages open; None if no page waits for its host.
        Updates `busy`. Raises LeaseLost within some seconds of the end of the execution's claim,
        and DependencyUnavailable.
        """
        order = PageOrder(block.pages, busy)
        looking = _ClaimCheck(self.driver, self.clock, block)
        processing = Lock()
        running: dict[Future[FetchOutcome | None], FrontierPage] = {}
        with ThreadPoolExecutor(self.at_once) as threads:
            while True:
                while len(running) < self.at_once and remaining() > limits.PAGE_BEGIN_SECONDS:
                    looking.require()
                    page = order.begin(self.clock())
                    if page is None:
                        break
                    begun = threads.submit(self.page, block, page, remaining, processing)
                    running[begun] = page
                if not running:
                    break
                for ended in wait(running, return_when=FIRST_COMPLETED).done:
                    outcome = _outcome_of(ended)
                    order.end(running.pop(ended), outcome)
                    looking.suspects |= outcome is None
        opens = order.opens_at()
        return opens if opens is not None and opens > self.clock() else None


class _ClaimCheck:
    """Look whether the execution still holds its job, every two seconds."""

    def __init__(self, driver: Driver, clock: Clock, block: PageBlock) -> None:
        self._driver = driver
        self._clock = clock
        self._turn = block.turn
        self._next = clock() + timedelta(seconds=limits.CLAIM_CHECK_SECONDS)
        self.suspects = False
        """Whether a page's write was refused, so that the next page waits for a look."""

    def require(self) -> None:
        """Raise LeaseLost if the claim has ended, and DependencyUnavailable."""
        if self.suspects or self._clock() >= self._next:
            self._driver.held(self._turn)
            self.suspects = False
            self._next = self._clock() + timedelta(seconds=limits.CLAIM_CHECK_SECONDS)


def _was_lost(page: FrontierPage) -> bool:
    """Whether the worker of a page's last claim didn't end it."""
    return page.leased_until is not None


def _outcome_of(ended: Future[FetchOutcome | None]) -> FetchOutcome | None:
    """Return a page's outcome; None after an error, as the page's claim then ends by itself."""
    error = ended.exception()
    if error is None:
        return ended.result()
    if not isinstance(error, Exception):
        raise error
    logger.error("page_left", extra={"error_type": type(error).__name__}, exc_info=error)
    return None
