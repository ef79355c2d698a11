"""Pages of crawls: fetched from their hosts, or cached by this run or another one."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import Final

from spinneret.content.documents.models import Document
from spinneret.content.extraction.models import Content
from spinneret.crawl import limits
from spinneret.crawl.checks import RECIPE
from spinneret.crawl.configs.models import ConfigOptions, read_snapshot
from spinneret.crawl.configs.rendering import Rendering
from spinneret.crawl.known import FindKnown, PreviousFetch
from spinneret.crawl.ports import CachedPage, FetchCache
from spinneret.crawl.rendering import PageRenderer, PageToRender, needs_scripts, rendering_of
from spinneret.jobs.leases import Remaining
from spinneret.jobs.models import Job
from spinneret.jobs.worker import Defer, ReleaseJob
from spinneret.kernel import bounds
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.service import service
from spinneret.web.fetching.models import FetchedPage, FetchRequest, Validators
from spinneret.web.fetching.rules import require_success
from spinneret.web.fetching.urls import Url, parse_url
from spinneret.web.headers import rules as header_rules
from spinneret.web.headers.sealing import HeaderSeal
from spinneret.web.models import Caller, FetchOptions, WaitUntil
from spinneret.web.polite_fetcher import PoliteFetcher

logger = logging.getLogger(__name__)

MEDIA_TYPES: Final = frozenset(
    {"text/html", "application/xhtml+xml", "text/plain", "application/xml", "text/xml"}
)  # C-03
_MB: Final = 1024 * 1024


class Source(StrEnum):
    """Source of a page."""

    SITE = "site"
    NOT_MODIFIED = "not_modified"
    """The host confirmed the cached page."""
    KEPT = "kept"
    """The page was fetched since this run of the job began."""


@dataclass(frozen=True, kw_only=True)
class CrawlPage:
    """A successful response with its body or content."""

    page: FetchedPage
    source: Source
    asked: str
    """Identifies the request and how its response is read."""
    content: Content | None = None
    """Content of an earlier fetch, if the body is no longer stored."""


@service
class CrawlPages:
    """Fetches or reuses the pages of jobs.

    A successful response is cached for a day (`kept_seconds`). A run that waits after its fetch
    resumes with it, and a later crawl sends a conditional request. After that day, the validators
    in the page's document serve for this. Without the cache, pages are always fetched.
    """

    fetcher: PoliteFetcher
    cache: FetchCache
    seal: HeaderSeal
    known: FindKnown
    clock: Clock
    kept_seconds: float = limits.FETCH_KEPT_SECONDS
    renderer: PageRenderer | None = None
    """Opens the pages of rendered crawls; other workers have none."""

    def __post_init__(self) -> None:
        self._kept_for = timedelta(seconds=self.kept_seconds)

    def get(
        self,
        job: Job,
        document: Document | None,
        remaining: Remaining,
        before_redirect: Callable[[Url], None],
    ) -> CrawlPage:
        """Return the page that the job's payload names; `document` is the current one of its URL.

        `remaining` returns the invocation's remaining seconds: a fetch ends before the worker must
        release the job. `before_redirect` is called for each redirect to the page, also for a
        cached one.

        Raises Defer if the page must wait for a host, and ReleaseJob if too little time remains for
        a fetch. Also raises the exceptions of `before_redirect` and of the fetcher.
        """
        key = _key(job)
        asked = f"{RECIPE} {key}"
        kept = self._find(job.tenant, key)
        if kept is not None and _is_of_this_run(kept, job):
            for url in _redirects_of(kept.page):
                before_redirect(url)
            return CrawlPage(page=kept.page, source=Source.KEPT, asked=asked)
        known = self._find_known(document, asked) if kept is None else None
        validators = kept.page.validators if kept else known.validators if known else None
        answer = self._answer(job, key, validators, remaining, before_redirect)
        now = self.clock()
        confirmed = _confirms(answer, validators)
        if confirmed and known is not None:
            return CrawlPage(
                page=known.confirmed(answer),
                source=Source.NOT_MODIFIED,
                asked=asked,
                content=known.content,
            )
        if confirmed and kept is not None:
            page = _still(kept.page, answer)
            found = CrawlPage(page=page, source=Source.NOT_MODIFIED, asked=asked)
        else:
            require_success(answer, now)
            found = CrawlPage(page=answer, source=Source.SITE, asked=asked)
        self._keep(job.tenant, key, CachedPage(page=found.page, fetched_at=now, run=_run(job)))
        return found

    def _answer(
        self,
        job: Job,
        key: str,
        validators: Validators | None,
        remaining: Remaining,
        before_redirect: Callable[[Url], None],
    ) -> FetchedPage:
        """Fetch the page, open it in the browser, or both."""
        rendering = rendering_of(job)
        if rendering is None:
            return self._fetch(job, validators, remaining, before_redirect)
        if rendering.only_shells and self._kept_for:
            # A run that waits with a shell in hand must not fetch it again, or it waits for ever.
            name = fingerprint({"shell": key})
            shell = self._find(job.tenant, name)
            if shell is None or not _is_of_this_run(shell, job):
                page = self._fetch(job, validators, remaining, before_redirect)
                if not needs_scripts(page):
                    return page
                kept = CachedPage(page=page, fetched_at=self.clock(), run=_run(job))
                self._keep(job.tenant, name, kept)
        return self._render(job, rendering, remaining, before_redirect)

    def _render(
        self,
        job: Job,
        rendering: Rendering,
        remaining: Remaining,
        before_redirect: Callable[[Url], None],
    ) -> FetchedPage:
        assert self.renderer is not None  # the worker of rendered crawls has one
        wanted = PageToRender(
            url=parse_url(job.payload["url"]),
            rendering=rendering,
            left_seconds=lambda: _left(remaining, limits.RENDER_LEAST_SECONDS),
            before_redirect=before_redirect,
        )
        return _page_of(self.renderer.render(_caller(job), wanted, _fetch_options(job)))

    def _fetch(
        self,
        job: Job,
        validators: Validators | None,
        remaining: Remaining,
        before_redirect: Callable[[Url], None],
    ) -> FetchedPage:
        options, sealed = options_of(job), None
        if (stored := job.payload.get("config")) is not None:
            sealed = read_snapshot(stored).sealed_headers
        user_agent, headers = header_rules.parted(self.seal.open(job.tenant, sealed))
        seconds = options.page_timeout_ms / 1000
        answer = self.fetcher.fetch(
            _caller(job),
            FetchRequest(
                url=parse_url(job.payload["url"]),
                validators=validators,
                headers=headers,
                user_agent=user_agent,
                max_bytes=options.max_page_size_mb * _MB,
                max_redirects=options.max_redirects,
                total_seconds=seconds,
                read_seconds=seconds,
                left_seconds=lambda: _left(remaining, min(seconds, limits.FETCH_LEAST_SECONDS)),
                media_types=MEDIA_TYPES,
                before_redirect=before_redirect,
            ),
            _fetch_options(job),
        )
        return _page_of(answer)

    def _find(self, tenant: str, key: str) -> CachedPage | None:
        if not self._kept_for:
            return None
        try:
            kept = self.cache.find(tenant, key)
        except DependencyUnavailable as error:
            logger.warning("fetch_cache_not_read", extra={"reason": error.message})
            return None
        return kept if kept and self.clock() < kept.fetched_at + self._kept_for else None

    def _find_known(self, document: Document | None, asked: str) -> PreviousFetch | None:
        if not self._kept_for or document is None:
            return None
        try:
            return self.known(document, asked)
        except DependencyUnavailable as error:
            logger.warning("known_page_not_read", extra={"reason": error.message})
            return None

    def _keep(self, tenant: str, key: str, kept: CachedPage) -> None:
        if not self._kept_for:
            return
        try:
            self.cache.keep(tenant, key, kept)
        except DependencyUnavailable as error:
            logger.warning("fetch_cache_not_written", extra={"reason": error.message})


def _caller(job: Job) -> Caller:
    return Caller(tenant=job.tenant, id=_run(job), reservation=job.waiting_for)


def _fetch_options(job: Job) -> FetchOptions:
    options = options_of(job)
    return FetchOptions(
        proxy_config_id=job.payload.get("proxy_config_id") or options.proxy_config_id,
        obey_robots=options.respect_robots_txt,
        requests_per_second=options.rate_limit_rps if "config" in job.payload else None,
    )


def _page_of(answer: FetchedPage | WaitUntil) -> FetchedPage:
    """Return the page. Raises Defer if it must wait for its host."""
    if isinstance(answer, WaitUntil):
        raise Defer(answer.until, answer.waiting_for)
    return answer


def _left(remaining: Remaining, least: float) -> float:
    """Return the seconds available for a page. Raises ReleaseJob if they are less than `least`."""
    left = remaining() - bounds.DEADLINE_MARGIN_SECONDS
    if left < least:
        raise ReleaseJob
    return left


def _key(job: Job) -> str:
    """Return a fingerprint of all values that may change a host's response."""
    names = ("url", "proxy_config_id", "config")
    asked = {name: job.payload.get(name) for name in names}
    if "rendering" in job.payload:
        asked["rendering"] = job.payload["rendering"]
    return fingerprint(asked)


def options_of(job: Job) -> ConfigOptions:
    """Return the options of the job's config at submission; the defaults without a config."""
    stored = job.payload.get("config")
    return ConfigOptions() if stored is None else read_snapshot(stored).options


def _redirects_of(page: FetchedPage) -> list[Url]:
    """Return the destination of each redirect."""
    if not page.redirects:
        return []
    return [*map(parse_url, page.redirects[1:]), page.url]


def _run(job: Job) -> str:
    return f"{job.id}/{job.run}"


def _is_of_this_run(kept: CachedPage, job: Job) -> bool:
    """Return whether this run fetched the page, or another one since this run's first claim.

    Otherwise two crawls of a page that both wait for a dependency would fetch it in turns.
    """
    since = job.started_at
    return kept.run == _run(job) or (since is not None and kept.fetched_at > since)


def _confirms(answer: FetchedPage, validators: Validators | None) -> bool:
    """Return whether the response is a 304 for these validators."""
    return answer.not_modified and validators is not None and answer.url == validators.url


def _still(kept: FetchedPage, answer: FetchedPage) -> FetchedPage:
    """Update the cached page with the headers of a 304 (RFC 9111, section 4.3.4)."""
    return replace(
        kept,
        requested=answer.requested,
        url=answer.url,
        headers={**kept.headers, **answer.headers},
        redirects=answer.redirects,
        duration_ms=answer.duration_ms,
    )
