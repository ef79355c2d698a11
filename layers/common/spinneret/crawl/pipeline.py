"""What a crawl job does: fetch, extract, and hand the page to the indexer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from spinneret.content.documents.service import Indexed, Indexer, Page
from spinneret.content.extraction.models import Content, ExtractionStrategy
from spinneret.crawl.configs import rules as config_rules
from spinneret.crawl.configs.models import ConfigOptions, read_snapshot
from spinneret.crawl.configs.service import HeaderSeal
from spinneret.crawl.parts import parts_of
from spinneret.crawl.ports import PageStore
from spinneret.jobs.models import Job, JobEventKind, Lease
from spinneret.jobs.worker import Context, Defer
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock, Remaining, stamp
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.rules import decode_text, require_success
from spinneret.web.fetching.urls import Url, cache_url, parse_url
from spinneret.web.models import Caller, FetchOptions, WaitUntil
from spinneret.web.polite_fetcher import PoliteFetcher

MEDIA_TYPES: Final = frozenset(
    {"text/html", "application/xhtml+xml", "text/plain", "application/xml", "text/xml"}
)  # C-03

Extract = Callable[[str, str, str, ExtractionStrategy], Content]
"""(text, media type, URL, strategy) → content; raises ContentRefused."""
_MB: Final = 1024 * 1024


class Claim(Protocol):
    """Under what a page is processed: a job's `Context`, or a page's of a deep crawl."""

    @property
    def job(self) -> Job:
        """Its payload names the page."""
        ...

    @property
    def lease(self) -> Lease:
        """In the condition of every write."""
        ...

    @property
    def remaining(self) -> Remaining:
        """Seconds that the invocation has left."""
        ...

    def checkpoint(self, step: str, progress: int) -> None:
        """May raise to stop the work."""
        ...

    def note(self, kind: JobEventKind, message: str, data: Mapping[str, Any] | None = None) -> None:
        """One line of the timeline."""
        ...


@dataclass(frozen=True, kw_only=True)
class Processed:
    """A page that is shown."""

    page: FetchedPage
    content: Content
    indexed: Indexed
    parts_key: str
    """Of what is kept of it beside its document."""
    parts_bytes: int


class CrawlPipeline:
    """The handler of `crawl` jobs."""

    def __init__(
        self,
        *,
        fetcher: PoliteFetcher,
        extract: Extract,
        indexer: Indexer,
        pages: PageStore,
        seal: HeaderSeal,
        clock: Clock,
    ) -> None:
        self._pages = pages
        self._seal = seal
        self._fetcher = fetcher
        self._extract = extract
        self._indexer = indexer
        self._clock = clock

    def __call__(self, context: Context) -> Mapping[str, Any]:
        """Answers the job's result."""
        return _result(self.process(context))

    def process(
        self, context: Claim, before_redirect: Callable[[Url], None] | None = None
    ) -> Processed:
        """Fetch and index one page; every effect on the way is idempotent or fenced.

        Raises Defer where the page has to wait for a host, what `before_redirect` raises, and
        domain errors.
        """
        context.checkpoint("fetching", 10)
        page = self._fetched(context.job, before_redirect)
        require_success(page, self._clock())
        context.note(
            JobEventKind.STEP_DONE,
            "fetched",
            {"status_code": page.status_code, "bytes": len(page.body), "ms": page.duration_ms},
        )
        context.checkpoint("extracting", 30)
        text = decode_text(page.body, page.charset)
        payload, options = context.job.payload, _options(context.job)
        strategy = options.extraction_strategy
        content = self._extract(text, page.media_type, page.url.text, strategy)
        parts = parts_of(content, strategy)
        key = self._pages.keep(context.job.tenant, parts)
        indexed = self._indexer.index(
            Page(
                tenant=context.job.tenant,
                url=page.url.text,
                url_key=cache_url(page.url),
                domain=page.url.host,
                content=content,
                chunking=options.chunking,
                collection_id=payload.get("collection_id"),
                tag_ids=tuple(payload.get("tag_ids", ())),
            ),
            context.lease,
            context.checkpoint,
            lambda: context.remaining() - bounds.DEADLINE_MARGIN_SECONDS,
        )
        return Processed(
            page=page,
            content=content,
            indexed=indexed,
            parts_key=key,
            parts_bytes=len(parts.encode()),
        )

    def _fetched(self, job: Job, before_redirect: Callable[[Url], None] | None) -> FetchedPage:
        """Raises Defer where the page has to wait for a host, and what the fetcher raises."""
        options, rate, sealed = _options(job), None, None
        if (stored := job.payload.get("config")) is not None:
            rate, sealed = options.rate_limit_rps, read_snapshot(stored).sealed_headers
        user_agent, headers = config_rules.parted(self._seal.open(job.tenant, sealed))
        seconds = options.page_timeout_ms / 1000
        answer = self._fetcher.fetch(
            Caller(tenant=job.tenant, id=f"{job.id}/{job.run}", reservation=job.waiting_for),
            FetchRequest(
                url=parse_url(job.payload["url"]),
                headers=headers,
                user_agent=user_agent,
                max_bytes=options.max_page_size_mb * _MB,
                max_redirects=options.max_redirects,
                total_seconds=seconds,
                read_seconds=seconds,
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


def _result(processed: Processed) -> dict[str, Any]:
    page, document = processed.page, processed.indexed.document
    return {
        "document_id": document.id,
        "url": document.url,
        "redirects": list(page.redirects),
        "title": document.title,
        "language": document.language,
        "status_code": page.status_code,
        "content_type": page.media_type,
        "bytes": len(page.body),
        "fetch_ms": page.duration_ms,
        "chunks": document.chunk_count,
        "tokens": document.token_count,
        "version": document.version,
        "unchanged": processed.indexed.unchanged,
        "links": len(processed.content.hyperlinks),
        "normalized_url": cache_url(page.url),
        "crawled_at": stamp(document.crawled_at),
        "content_key": document.content_key,
        "content_bytes": len(processed.content.markdown.encode()),
        "parts_key": processed.parts_key,
        "parts_bytes": processed.parts_bytes,
    }


def _options(job: Job) -> ConfigOptions:
    """Those of its config as it stood at submission; the usual ones without a config."""
    stored = job.payload.get("config")
    return ConfigOptions() if stored is None else read_snapshot(stored).options
