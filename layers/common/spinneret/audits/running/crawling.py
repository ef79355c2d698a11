"""Crawl of the sample: fetch pages through the frontier and store their facts."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Final

from spinneret.audits import limits
from spinneret.audits.facts.models import PAGES, Lab, PageFacts, PageKind, ReadFailure
from spinneret.audits.facts.pages import read_page, unread_page
from spinneret.audits.facts.site import SiteFacts
from spinneret.audits.models import AuditPhase, Progress, RunRef
from spinneret.audits.running.listed import listed_sample
from spinneret.audits.running.rendering import Opening
from spinneret.audits.running.slices import AuditContext, get
from spinneret.audits.running.storage import Storage
from spinneret.kernel import bounds
from spinneret.kernel.errors import (
    BodyTooLarge,
    Contended,
    ContentRefused,
    DependencyUnavailable,
    DomainError,
    FetchTimeout,
    LeaseLost,
    NotFound,
    PageTooLarge,
    PermanentError,
    RenderTimeout,
    RobotsDisallowed,
    TooManyRedirects,
    TransientError,
)
from spinneret.kernel.service import service
from spinneret.web.exploring.frontier.models import (
    Batch,
    CrawlRef,
    Deferred,
    Ended,
    EndReason,
    Failed,
    Fetched,
    FetchOutcome,
    FoundLink,
    FrontierWait,
    PageLease,
    Plan,
    RedirectRefused,
    Strategy,
)
from spinneret.web.exploring.frontier.redirects import REDIRECT_LOOP
from spinneret.web.exploring.frontier.service import Frontier
from spinneret.web.exploring.scope import CrawlScope, ScopeKind
from spinneret.web.fetching.models import FetchedPage
from spinneret.web.fetching.rules import parse_retry_after
from spinneret.web.fetching.urls import Url, parse_url
from spinneret.web.models import WaitUntil
from spinneret.web.polite_browser import PoliteBrowser

_TRY_AGAIN: Final = frozenset({408, 425, 429})
_BACKOFF_SECONDS: Final = 5.0  # pause before the second try of a page; doubled before the last
_FAILURES: Final[dict[type[DomainError], ReadFailure]] = {
    FetchTimeout: ReadFailure.TIMEOUT,
    RobotsDisallowed: ReadFailure.ROBOTS,
    TooManyRedirects: ReadFailure.TOO_MANY_REDIRECTS,
    BodyTooLarge: ReadFailure.TOO_LARGE,
    RenderTimeout: ReadFailure.TIMEOUT,
    PageTooLarge: ReadFailure.TOO_LARGE,
}


@service
class PageCrawler:
    """Takes pages until the sample is complete, none remain, or the audit's time runs out."""

    frontier: Frontier
    storage: Storage
    browser: Callable[[], PoliteBrowser] | None = None
    """None where pages are only fetched."""

    def run(self, work: AuditContext, progress: Progress) -> Progress:
        """Crawl the sample; raise Defer, ReleaseJob or LeaseLost."""
        ref = crawl_of(work.ref)
        site = self.storage.site(progress)
        assert site is not None  # site facts exist by now
        self._begin(work, ref, site)
        reason: EndReason | None = None
        while reason is None and work.worked_seconds < limits.CRAWL_WORK_SECONDS:
            work.require_time()
            match self.frontier.next_batch(ref, work.context.lease.fence):
                case Ended(reason=ended):
                    reason = ended
                case FrontierWait(until=until):
                    raise work.deferral(until, parse_url(site.start_url).host)
                case Batch(keys=keys):
                    self._work_through(work, ref, keys)
        crawl = self.frontier.crawl(ref)
        work.note("crawled", pages=crawl.crawled, failed=crawl.failed, discovered=crawl.discovered)
        is_narrowed = any(work.listed(name) for name in ("urls", "include", "exclude"))
        whole = reason is EndReason.EXHAUSTED and not is_narrowed
        after = replace(progress, phase=AuditPhase.CHECKING, out_of_time=reason is None)
        return self.storage.keep_site(replace(site, is_whole=whole), after, work)

    def _begin(self, work: AuditContext, ref: CrawlRef, site: SiteFacts) -> None:
        """Begin the crawl, until its first batch, with the start page and the listed pages or the
        sitemaps' URLs."""
        if self._is_begun(ref):
            return
        fence = work.context.lease.fence
        plan = Plan(
            strategy=Strategy.BFS,
            max_depth=0 if work.listed("urls") else limits.DEPTH,
            max_pages=work.sample.max_pages,
            scope=ScopeKind.HOST,
            include=work.listed("include"),
            exclude=work.listed("exclude"),
        )
        self.frontier.begin(ref, plan, [site.start_url], fence)
        scope = CrawlScope.of(
            ScopeKind.HOST, [parse_url(site.start_url)], plan.include, plan.exclude
        )
        pages = work.listed("urls") or listed_sample(site, work.sample.max_pages, scope)
        self.frontier.add(ref, pages, fence)

    def _is_begun(self, ref: CrawlRef) -> bool:
        try:
            return self.frontier.crawl(ref).batch > 0
        except NotFound:
            return False

    def _work_through(self, work: AuditContext, ref: CrawlRef, keys: tuple[str, ...]) -> None:
        crawl = self.frontier.crawl(ref)
        known = max(1, min(work.sample.max_pages, crawl.discovered))
        for done, key in enumerate(keys, start=crawl.crawled):
            if work.worked_seconds >= limits.CRAWL_WORK_SECONDS:
                return
            # 5 to 70, by the number of pages known, at most the sample
            work.checkpoint(AuditPhase.CRAWLING, 5 + round(65 * min(1.0, done / known)))
            owner = f"{ref.crawl_id}/{work.context.lease.fence}"
            until = work.clock() + timedelta(seconds=limits.PAGE_LEASE_SECONDS)
            visit = self.frontier.claim(ref, key, owner, until)
            if visit is not None:
                self._visit(work, visit)

    # ------------------------------------------------------------ One page

    def _visit(self, work: AuditContext, visit: PageLease) -> None:
        """Fetch a page and store its facts before the frontier's row: a finished page has facts."""
        hops: list[str] = []
        gate = self.frontier.redirects(visit)

        def follow(url: Url) -> None:
            hops.append(url.text)
            gate(url)

        page = visit.page
        opened = self._opening(work)
        try:
            request = get(parse_url(page.url), before_redirect=follow)
            answer = work.ask(request, page.key, send=opened.send if opened else None)
        except RedirectRefused as refused:
            self._redirected(work, visit, refused, hops)
        except (LeaseLost, DependencyUnavailable, Contended):
            raise
        except (PermanentError, TransientError) as error:
            is_file = isinstance(error, BodyTooLarge) and (
                error.details.get("content_type", "") not in {"", *PAGES}
            )
            if is_file or (opened is not None and isinstance(error, ContentRefused)):
                self._not_a_page(work, visit, hops, error)
            else:
                self._failed(work, visit, error, hops)
        else:
            if isinstance(answer, WaitUntil):
                until, waiting_for = answer.until, answer.waiting_for
                waits = Deferred(until=until, error_code="WAITING", error_message=waiting_for)
                self.frontier.record(visit, waits)
                raise work.wait(answer)
            self._answered(work, visit, answer, opened.lab if opened else None)

    def _opening(self, work: AuditContext) -> Opening | None:
        """Return what opens the next page in the browser; None for an audit that only fetches."""
        if not work.context.job.payload.get("render"):
            return None
        if self.browser is None:
            raise DependencyUnavailable("browser", "this stage has none")
        return Opening(self.browser(), work.context.remaining)

    def _answered(
        self, work: AuditContext, visit: PageLease, page: FetchedPage, lab: Lab | None
    ) -> None:
        status = page.status_code
        if status >= 500 or status in _TRY_AGAIN:
            asked = parse_retry_after(page.headers.get("retry-after", ""), work.clock())
            if self._tried_again(work, visit, f"HTTP_{status}", status, asked):
                return
        facts = read_page(page, work.clock())
        if lab is not None and facts[-1].kind is PageKind.HTML:
            facts = (*facts[:-1], replace(facts[-1], lab=lab))
        if facts[-1].kind is PageKind.HTML:
            self.storage.keep_html(work, facts[-1].url, page.body)
        self.storage.keep_page(work, _place(visit), facts)
        outcome: FetchOutcome = Failed(
            error_code="HTTP_ERROR", status_code=status, final_url=page.url.text
        )
        if status < 400:
            outcome = Fetched(
                links=_links(facts[-1]),
                content_hash=hashlib.sha256(page.body).hexdigest() if page.body else None,
                final_url=page.url.text,
                status_code=status,
            )
        self.frontier.record(visit, outcome)

    def _redirected(
        self, work: AuditContext, visit: PageLease, refused: RedirectRefused, hops: list[str]
    ) -> None:
        """Store a redirect to a known page, to another site, or in a loop."""
        outcome, url = refused.outcome, visit.page.url
        chain = (url, *hops[:-1])
        now = work.clock()
        if isinstance(outcome, Failed) and outcome.error_code == REDIRECT_LOOP:
            facts = unread_page(url, now, ReadFailure.REDIRECT_LOOP, redirects=(*chain, hops[-1]))
        else:
            facts = PageFacts(
                url=url,
                kind=PageKind.REDIRECT,
                fetched_at=now.isoformat(),
                final_url=hops[-1],
                redirects=chain,
            )
        self.storage.keep_page(work, _place(visit), [facts])
        self.frontier.record(visit, outcome)

    def _not_a_page(
        self,
        work: AuditContext,
        visit: PageLease,
        hops: list[str],
        refusal: PermanentError | TransientError,
    ) -> None:
        """Store a large file, or a response that a browser shows as no page, such as a PDF."""
        url = visit.page.url
        facts = PageFacts(
            url=url,
            kind=PageKind.OTHER,
            fetched_at=work.clock().isoformat(),
            final_url=hops[-1] if hops else url,
            redirects=(url, *hops[:-1]) if hops else (),
            media_type=refusal.details.get("content_type", ""),
            size=refusal.details.get("content_length", 0),
        )
        self.storage.keep_page(work, _place(visit), [facts])
        self.frontier.record(visit, Fetched(final_url=facts.final_url))

    def _failed(
        self,
        work: AuditContext,
        visit: PageLease,
        error: PermanentError | TransientError,
        hops: list[str],
    ) -> None:
        if isinstance(error, TransientError):
            wait = error.retry_after
            if self._tried_again(work, visit, error.code, None, wait):
                return
        why = _FAILURES.get(type(error), ReadFailure.NETWORK)
        redirects = (visit.page.url, *hops) if hops else ()
        facts = unread_page(visit.page.url, work.clock(), why, redirects=redirects)
        self.storage.keep_page(work, _place(visit), [facts])
        failed = Failed(error_code=error.code, error_message=error.message)
        self.frontier.record(visit, failed)

    def _tried_again(
        self,
        work: AuditContext,
        visit: PageLease,
        code: str,
        status: int | None,
        asked: float | None,
    ) -> bool:
        """Schedule another try; return False if this one was the last."""
        if visit.page.attempts + 1 >= bounds.PAGE_ATTEMPTS:
            return False
        pause = max(asked or 0.0, _BACKOFF_SECONDS * 2**visit.page.attempts)
        self.frontier.record(
            visit,
            Deferred(
                until=work.clock() + timedelta(seconds=pause),
                error_code=code,
                status_code=status,
                is_charged=True,
            ),
        )
        return True


def crawl_of(ref: RunRef) -> CrawlRef:
    """Return a run's crawl in the frontier."""
    return CrawlRef(tenant=ref.tenant, crawl_id=f"{ref.audit_id}.{ref.run}")


def _place(visit: PageLease) -> str:
    return f"{visit.page.batch:06}.{visit.page.position:03}.{visit.page.key}"


def _links(facts: PageFacts) -> tuple[FoundLink, ...]:
    if facts.html is None:
        return ()
    return tuple(
        FoundLink(url=link.url, text=link.text) for link in facts.html.links if link.url is not None
    )
