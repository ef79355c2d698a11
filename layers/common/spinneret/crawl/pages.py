"""Pages of crawls: asked of their hosts, or kept since this run or another one asked."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import Final

from spinneret.content.extraction.models import Content
from spinneret.crawl.checks import RECIPE
from spinneret.crawl.configs import rules as config_rules
from spinneret.crawl.configs.models import ConfigOptions, read_snapshot
from spinneret.crawl.configs.service import HeaderSeal
from spinneret.crawl.known import FindKnown, PreviousFetch
from spinneret.crawl.ports import CachedPage, FetchCache
from spinneret.jobs.leases import Remaining
from spinneret.jobs.models import Job
from spinneret.jobs.worker import Defer, ReleaseJob
from spinneret.kernel import bounds
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.web.fetching.models import FetchedPage, FetchRequest, Validators
from spinneret.web.fetching.rules import require_success
from spinneret.web.fetching.urls import Url, parse_url
from spinneret.web.models import Caller, FetchOptions, WaitUntil
from spinneret.web.polite_fetcher import PoliteFetcher

logger = logging.getLogger(__name__)

MEDIA_TYPES: Final = frozenset(
    {"text/html", "application/xhtml+xml", "text/plain", "application/xml", "text/xml"}
)  # C-03
_MB: Final = 1024 * 1024


class Source(StrEnum):
    """Where a page comes from."""

    SITE = "site"
    NOT_MODIFIED = "not_modified"
    """The host said that the kept page is still the page."""
    KEPT = "kept"
    """It was fetched since this run of the job began."""


@dataclass(frozen=True, kw_only=True)
class CrawlPage:
    """A successful answer with a body."""

    page: FetchedPage
    source: Source
    asked: str
    """Names the request, and how its answer is read."""
    content: Content | None = None
    """What was read from it on a former visit, where its body is kept no more."""


class CrawlPages:
    """The pages that jobs ask for.

    A successful answer is kept for a day: a run of a job that has to wait after its fetch goes on
    from it, and a later crawl asks the host whether it has changed. After that day it asks by what
    the page's document knows of its answer. Without the cache, pages are fetched.
    """

    def __init__(
        self,
        *,
        fetcher: PoliteFetcher,
        cache: FetchCache,
        seal: HeaderSeal,
        known: FindKnown,
        clock: Clock,
        kept_seconds: float = bounds.FETCH_KEPT_SECONDS,
    ) -> None:
        self._fetcher = fetcher
        self._cache = cache
        self._seal = seal
        self._known = known
        self._clock = clock
        self._kept_for = timedelta(seconds=kept_seconds)

    def get(
        self,
        job: Job,
        remaining: Remaining,
        before_redirect: Callable[[Url], None] | None = None,
    ) -> CrawlPage:
        """The page that the job's payload names.

        `remaining` is what the invocation has left: a fetch ends before the worker has to hand
        back. `before_redirect` is called for each redirect on the way to the page, also to a kept
        one. Raises Defer where the page has to wait for a host, ReleaseJob where too little time is
        left for a fetch, what `before_redirect` and the fetcher raise.
        """
        key = _key(job)
        asked = f"{RECIPE} {key}"
        kept = self._find(job.tenant, key)
        if kept is not None and _is_of_this_run(kept, job):
            if before_redirect is not None:
                for url in _redirects_of(kept.page):
                    before_redirect(url)
            return CrawlPage(page=kept.page, source=Source.KEPT, asked=asked)
        known = self._find_known(job, asked) if kept is None else None
        validators = kept.page.validators if kept else known.validators if known else None
        answer = self._fetch(job, validators, remaining, before_redirect)
        now = self._clock()
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

    def _fetch(
        self,
        job: Job,
        validators: Validators | None,
        remaining: Remaining,
        before_redirect: Callable[[Url], None] | None,
    ) -> FetchedPage:
        options, rate, sealed = options_of(job), None, None
        if (stored := job.payload.get("config")) is not None:
            rate, sealed = options.rate_limit_rps, read_snapshot(stored).sealed_headers
        user_agent, headers = config_rules.parted(self._seal.open(job.tenant, sealed))
        seconds = options.page_timeout_ms / 1000
        answer = self._fetcher.fetch(
            Caller(tenant=job.tenant, id=_run(job), reservation=job.waiting_for),
            FetchRequest(
                url=parse_url(job.payload["url"]),
                validators=validators,
                headers=headers,
                user_agent=user_agent,
                max_bytes=options.max_page_size_mb * _MB,
                max_redirects=options.max_redirects,
                total_seconds=seconds,
                read_seconds=seconds,
                left_seconds=lambda: _left(remaining, seconds),
                media_types=MEDIA_TYPES,
                before_redirect=before_redirect,
            ),
            FetchOptions(
                proxy_config_id=job.payload.get("proxy_config_id") or options.proxy_config_id,
                obey_robots=options.respect_robots_txt,
                requests_per_second=rate,
            ),
        )
        if isinstance(answer, WaitUntil):
            raise Defer(answer.until, answer.waiting_for)
        return answer

    def _find(self, tenant: str, key: str) -> CachedPage | None:
        if not self._kept_for:
            return None
        try:
            kept = self._cache.find(tenant, key)
        except DependencyUnavailable as error:
            logger.warning("fetch_cache_not_read", extra={"reason": error.message})
            return None
        return kept if kept and self._clock() < kept.fetched_at + self._kept_for else None

    def _find_known(self, job: Job, asked: str) -> PreviousFetch | None:
        if not self._kept_for:
            return None
        try:
            return self._known(job.tenant, parse_url(job.payload["url"]), asked)
        except DependencyUnavailable as error:
            logger.warning("known_page_not_read", extra={"reason": error.message})
            return None

    def _keep(self, tenant: str, key: str, kept: CachedPage) -> None:
        if not self._kept_for:
            return
        try:
            self._cache.keep(tenant, key, kept)
        except DependencyUnavailable as error:
            logger.warning("fetch_cache_not_written", extra={"reason": error.message})


def _left(remaining: Remaining, wanted: float) -> float:
    """What a fetch may take. Raises ReleaseJob where that is no fair try."""
    left = remaining() - bounds.DEADLINE_MARGIN_SECONDS
    if left < min(wanted, bounds.FETCH_LEAST_SECONDS):
        raise ReleaseJob
    return left


def _key(job: Job) -> str:
    """All that changes what a host answers."""
    names = ("url", "proxy_config_id", "config")
    return fingerprint({name: job.payload.get(name) for name in names})


def options_of(job: Job) -> ConfigOptions:
    """Those of its config as it stood at submission; the usual ones without a config."""
    stored = job.payload.get("config")
    return ConfigOptions() if stored is None else read_snapshot(stored).options


def _redirects_of(page: FetchedPage) -> list[Url]:
    """Where each of its redirects led."""
    if not page.redirects:
        return []
    return [*map(parse_url, page.redirects[1:]), page.url]


def _run(job: Job) -> str:
    return f"{job.id}/{job.run}"


def _is_of_this_run(kept: CachedPage, job: Job) -> bool:
    """Fetched by the run, or by another one since this one was first claimed.

    Two crawls of a page that wait for one of our parts at once would else fetch it in turns.
    """
    since = job.started_at
    return kept.run == _run(job) or (since is not None and kept.fetched_at > since)


def _confirms(answer: FetchedPage, validators: Validators | None) -> bool:
    """Whether it is a 304 to them."""
    return answer.not_modified and validators is not None and answer.url == validators.url


def _still(kept: FetchedPage, answer: FetchedPage) -> FetchedPage:
    """The kept page with what a 304 says anew (RFC 9111, section 4.3.4)."""
    return replace(
        kept,
        requested=answer.requested,
        url=answer.url,
        headers={**kept.headers, **answer.headers},
        redirects=answer.redirects,
        duration_ms=answer.duration_ms,
    )
