"""What a crawl job does: fetch, extract, and hand the page to the indexer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from spinneret.content.documents.service import Indexer, Page
from spinneret.content.extraction.models import Content
from spinneret.jobs.models import Job, JobEventKind
from spinneret.jobs.worker import Context, Defer
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.rules import decode_text, require_success
from spinneret.web.fetching.urls import cache_url, parse_url
from spinneret.web.models import Caller, FetchOptions, WaitUntil
from spinneret.web.polite_fetcher import PoliteFetcher

MEDIA_TYPES: Final = frozenset(
    {"text/html", "application/xhtml+xml", "text/plain", "application/xml", "text/xml"}
)  # C-03

Extract = Callable[[str, str, str], Content]
"""(text, media type, URL) → content; raises ContentRefused."""


class CrawlPipeline:
    """The handler of `crawl` jobs."""

    def __init__(
        self, *, fetcher: PoliteFetcher, extract: Extract, indexer: Indexer, clock: Clock
    ) -> None:
        self._fetcher = fetcher
        self._extract = extract
        self._indexer = indexer
        self._clock = clock

    def __call__(self, context: Context) -> Mapping[str, Any]:
        """Answers the job's result; every effect on the way is idempotent or fenced."""
        context.checkpoint("fetching", 10)
        page = self._fetched(context.job)
        require_success(page, self._clock())
        context.note(
            JobEventKind.STEP_DONE,
            "fetched",
            {"status_code": page.status_code, "bytes": len(page.body), "ms": page.duration_ms},
        )
        context.checkpoint("extracting", 30)
        text = decode_text(page.body, page.charset)
        content = self._extract(text, page.media_type, page.url.text)
        indexed = self._indexer.index(
            Page(
                tenant=context.job.tenant,
                url=page.url.text,
                url_key=cache_url(page.url),
                domain=page.url.host,
                content=content,
            ),
            context.lease,
            context.checkpoint,
            lambda: context.remaining() - bounds.DEADLINE_MARGIN_SECONDS,
        )
        document = indexed.document
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
            "unchanged": indexed.unchanged,
            "links": len(content.links),
        }

    def _fetched(self, job: Job) -> FetchedPage:
        """Raises Defer where the page has to wait for a host, and what the fetcher raises."""
        answer = self._fetcher.fetch(
            Caller(tenant=job.tenant, id=f"{job.id}/{job.run}", reservation=job.waiting_for),
            FetchRequest(
                url=parse_url(job.payload["url"]),
                max_bytes=bounds.CRAWL_MAX_BYTES,
                max_redirects=bounds.CRAWL_MAX_REDIRECTS,
                media_types=MEDIA_TYPES,
            ),
            FetchOptions(proxy_config_id=job.payload.get("proxy_config_id")),
        )
        if isinstance(answer, WaitUntil):
            raise Defer(answer.until, answer.waiting_for)
        return answer
