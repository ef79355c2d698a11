"""Planted faults that crawls of the site must find."""

from datetime import datetime

from spinneret.content.documents.models import UrlBusy, UrlLease, UrlTaken
from spinneret.crawl.ports import CachedPage
from spinneret.web.exploring.frontier import rules
from spinneret.web.exploring.frontier.changes import CounterDelta, FrontierTransaction, PageUpdate
from spinneret.web.exploring.frontier.models import (
    Crawl,
    Fetched,
    FetchOutcome,
    FrontierPage,
    PageLease,
    PageState,
)
from spinneret.web.exploring.frontier.ports import WriteConflict
from spinneret.web.exploring.frontier.redirects import RedirectGate
from spinneret.web.exploring.frontier.service import Frontier
from spinneret.web.fetching.urls import Url
from tests.fakes.documents import FakeDocumentStore
from tests.fakes.fetch_cache import FakeFetchCache


class IgnoresClaims(Frontier):
    """Claims an open page even if another worker has claimed it."""

    def claim_page(
        self, crawl: Crawl, page: FrontierPage, owner: str, until: datetime
    ) -> PageLease | None:
        """See Frontier."""
        page = self.store.find(crawl.ref, [page.key])[page.key]
        if page.state is not PageState.OPEN:
            return None
        claimed = rules.claimed(page, owner, until)
        try:
            self.store.commit(
                crawl, FrontierTransaction(moves=(PageUpdate(before=page, after=claimed),))
            )
        except WriteConflict:
            return None
        return PageLease(crawl=crawl, page=claimed)


class LendsUrlsToAll(FakeDocumentStore):
    """Leases a URL even if another worker holds it, so that only the frontier separates workers."""

    def take_url(self, lease: UrlLease, now: datetime) -> UrlTaken | UrlBusy:
        """See DocumentStore."""
        self.leases.pop((lease.tenant, lease.document_id), None)
        return super().take_url(lease, now)


class CountsBeforeTheFetch(Frontier):
    """Counts a page when it is claimed, not when it is fetched."""

    def claim_page(
        self, crawl: Crawl, page: FrontierPage, owner: str, until: datetime
    ) -> PageLease | None:
        """See Frontier."""
        visit = super().claim_page(crawl, page, owner, until)
        if visit is not None:
            self.store.commit(visit.crawl, FrontierTransaction(plus=CounterDelta(crawled=1)))
        return visit

    def record(self, visit: PageLease, outcome: FetchOutcome) -> None:
        """See Frontier."""
        super().record(visit, outcome)
        if isinstance(outcome, Fetched):
            self.store.commit(visit.crawl, FrontierTransaction(plus=CounterDelta(crawled=-1)))


class ForgetsRedirects(Frontier):
    """Follows every redirect within the site."""

    def redirects(self, visit: PageLease) -> RedirectGate:
        """See Frontier."""
        return _Open(store=self.store, clock=self.clock, visit=visit)


class _Open(RedirectGate):
    def _take(self, url: Url, key: str) -> None:
        """Do nothing."""


class ForgetsPages(FakeFetchCache):
    """Stores no page."""

    def keep(self, tenant: str, key: str, kept: CachedPage) -> None:
        """See FetchCache."""
