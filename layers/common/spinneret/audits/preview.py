"""Estimate a site's size with about three requests: its start page, robots.txt, its sitemap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, Literal

from spinneret.audits import limits
from spinneret.audits.api_models import PreviewView
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import (
    BodyTooLarge,
    ContentRefused,
    DomainBlocked,
    FetchFailed,
    FetchTimeout,
    RateLimited,
    RobotsDisallowed,
    TooManyRedirects,
    UrlBlocked,
    UrlInvalid,
)
from spinneret.kernel.ids import NewId
from spinneret.kernel.service import service
from spinneret.web.exploring.scope import CrawlScope, ScopeKind
from spinneret.web.exploring.sitemaps.models import SitemapKind
from spinneret.web.exploring.sitemaps.reader import SitemapReader
from spinneret.web.exploring.sitemaps.walk import first_sitemaps
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.rules import check_url_at_submission, require_success
from spinneret.web.fetching.urls import Url, parse_url
from spinneret.web.models import Caller, WaitUntil
from spinneret.web.polite_fetcher import PoliteFetcher
from spinneret.web.politeness import robots

LinksOf = Callable[[FetchedPage], list[str]]
"""Returns the absolute links of a page."""

_START_BYTES: Final = 512 * 1024
NO_ANSWER: Final = (
    *(FetchFailed, FetchTimeout, TooManyRedirects, ContentRefused, BodyTooLarge),
    *(UrlBlocked, UrlInvalid, DomainBlocked, RobotsDisallowed),
)
"""Errors of secondary requests: an audit or a preview continues without the fact."""
Basis = Literal["sitemap", "sitemap index", "links of the start page"]


@service
class Previews:
    """Previews of sites in one stage."""

    fetcher: PoliteFetcher
    policy: AddressPolicy
    links_of: LinksOf
    product_token: str
    clock: Clock
    new_id: NewId

    def preview(self, tenant: str, text: str) -> PreviewView:
        """Preview a site; raise the start page's errors, and RateLimited while its host is busy."""
        url = check_url_at_submission(text, self.policy)
        asker = _Asker(self.fetcher, tenant, self.new_id("preview"), self.clock)
        allowed, start = True, url
        page: FetchedPage | None = None
        try:
            page = asker.ask(url, excerpt_bytes=_START_BYTES)
            require_success(page, self.clock())
            start = page.url
        except RobotsDisallowed:
            allowed = False
        status, rules = self._robots(asker, start)
        found, sitemap, basis, more = self._listed(asker, start, rules)
        if found is None:
            found, basis, more = self._linked(page, start), "links of the start page", True
        return PreviewView(
            url=url.text,
            start_url=start.text,
            status_code=page.status_code if page else 0,
            robots_status=status,
            is_allowed=allowed,
            crawl_delay=rules.crawl_delay(self.product_token) or 0.0,
            sitemap_url=sitemap,
            estimated_pages=max(1, found),
            estimated_by=basis,
            is_lower_bound=more,
            requests=asker.requests,
        )

    def _robots(self, asker: _Asker, start: Url) -> tuple[int | None, robots.Robots]:
        try:
            page = asker.ask(
                replace(start, path="/robots.txt", query=""), excerpt_bytes=limits.ROBOTS_BYTES
            )
        except NO_ANSWER:
            return None, robots.parse("")
        is_there = 200 <= page.status_code < 300
        return page.status_code, robots.parse(page.body if is_there else b"")

    def _listed(
        self, asker: _Asker, start: Url, rules: robots.Robots
    ) -> tuple[int | None, str | None, Basis, bool]:
        """Return the number of listed URLs, the sitemap, the basis, and whether there may be more.

        Counts the first sitemap's URLs. For an index, multiplies the URLs of its first file by the
        number of its files.
        """
        url = first_sitemaps(start, rules)[0]
        entries, kind, whole = self._read(asker, url)
        if not entries:
            return None, None, "sitemap", True
        if kind is not SitemapKind.INDEX:
            others = len(rules.sitemaps) > 1
            return len(entries), url, "sitemap", others or not whole
        first, _, _ = self._read(asker, entries[0])
        return max(1, len(first)) * len(entries), url, "sitemap index", True

    def _read(self, asker: _Asker, url: str) -> tuple[list[str], SitemapKind, bool]:
        try:
            page = asker.ask(parse_url(url), excerpt_bytes=limits.PREVIEW_SITEMAP_BYTES)
        except NO_ANSWER:
            return [], SitemapKind.UNKNOWN, False
        if not 200 <= page.status_code < 300:
            return [], SitemapKind.UNKNOWN, False
        reader = SitemapReader(url)
        entries = [entry.url for entry in reader.read([page.body])]
        return entries, reader.kind, len(page.body) < limits.PREVIEW_SITEMAP_BYTES

    def _linked(self, page: FetchedPage | None, start: Url) -> int:
        if page is None:
            return 1
        scope = CrawlScope.of(ScopeKind.HOST, [start])
        urls = {url for url in self.links_of(page) if scope.refusal(parse_url(url)) is None}
        return len(urls | {start.text})


class _Asker:
    """Sends and counts the requests of one preview."""

    def __init__(self, fetcher: PoliteFetcher, tenant: str, name: str, clock: Clock) -> None:
        self.requests = 0
        self._fetcher = fetcher
        self._tenant = tenant
        self._name = name
        self._clock = clock
        self._until = clock().timestamp() + limits.PREVIEW_SECONDS

    def ask(self, url: Url, *, excerpt_bytes: int) -> FetchedPage:
        now = self._clock()
        left = max(1.0, self._until - now.timestamp())
        caller = Caller(tenant=self._tenant, id=f"{self._name}/{self.requests}")
        self.requests += 1
        answer = self._fetcher.fetch(
            caller,
            FetchRequest(
                url=url,
                excerpt_bytes=excerpt_bytes,
                total_seconds=min(left, limits.LINK_SECONDS),
                max_redirects=10,
            ),
        )
        if isinstance(answer, WaitUntil):
            wait = (answer.until - now).total_seconds()
            raise RateLimited(
                "the host is rate-limited or unavailable; retry later", retry_after=max(1.0, wait)
            )
        return answer
