"""Crawl job: fetch a page, extract its content, and index it."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from spinneret.content.documents.models import DocumentSource
from spinneret.content.documents.rules import document_id
from spinneret.content.documents.service import DocumentDraft, Indexed, Indexer
from spinneret.content.extraction.api_models import extraction_fields
from spinneret.content.extraction.models import Content, ExtractionStrategy
from spinneret.crawl.configs.models import ConfigOptions
from spinneret.crawl.known import origin_of
from spinneret.crawl.pages import CrawlPage, CrawlPages, options_of
from spinneret.crawl.parts import parts_of
from spinneret.crawl.ports import PartStore
from spinneret.crawl.rules import require_suited
from spinneret.crawl.url_leases import HeldUrl, UrlLeases
from spinneret.jobs.models import Job, JobEventKind, Lease
from spinneret.jobs.worker import Context
from spinneret.kernel import bounds
from spinneret.kernel.clock import Remaining, to_iso
from spinneret.kernel.service import service
from spinneret.web.fetching.models import FetchedPage
from spinneret.web.fetching.rules import decode_text
from spinneret.web.fetching.urls import Url, cache_url, parse_url


class Extract(Protocol):
    """Function that extracts a page's content."""

    def __call__(
        self, text: str, media_type: str, url: str, strategy: ExtractionStrategy, *, targets: bool
    ) -> Content:
        """Extract the content. Raises ContentRefused.

        `targets` keeps the URLs of links and images.
        """


class Claim(Protocol):
    """Claim under which a page is processed: a job's `Context`, or a deep crawl's `PageClaim`."""

    @property
    def job(self) -> Job:
        """Job whose payload names the page."""

    @property
    def lease(self) -> Lease:
        """Lease that every write checks."""

    @property
    def owner(self) -> str:
        """Name that no other claim of a job or page has."""

    @property
    def remaining(self) -> Remaining:
        """Function that returns the invocation's remaining seconds."""

    def checkpoint(self, step: str, progress: int) -> None:
        """Record the progress; may raise to stop the work."""

    def note(self, kind: JobEventKind, message: str, data: Mapping[str, Any] | None = None) -> None:
        """Add an entry to the timeline."""


@dataclass(frozen=True, kw_only=True)
class Processed:
    """A page that was fetched, extracted and indexed."""

    page: FetchedPage
    content: Content
    indexed: Indexed
    parts_key: str
    """Key of the stored parts that aren't in the document."""
    parts_bytes: int


@service
class CrawlPipeline:
    """Handle `crawl` jobs."""

    urls: UrlLeases
    pages: CrawlPages
    extract: Extract
    parts: PartStore
    indexer: Indexer

    def __call__(self, context: Context) -> Mapping[str, Any]:
        """Process the job; return its result."""
        return _result(self.process(context))

    def process(
        self,
        context: Claim,
        before_redirect: Callable[[Url], None] | None = None,
        processing: AbstractContextManager[object] = nullcontext(),  # has no state
    ) -> Processed:
        """Fetch and index one page; every side effect is idempotent or fenced.

        `processing` is entered to extract, cut and embed.

        Raises Defer if the page must wait for a host or for another worker that has its URL, the
        exceptions of `before_redirect`, and domain errors.
        """
        with self.urls.hold(context, parse_url(context.job.payload["url"])) as held:
            found = self._fetched(context, held, before_redirect)
            return self._indexed(context, held, found, processing)

    def _fetched(
        self, context: Claim, held: HeldUrl, before_redirect: Callable[[Url], None] | None
    ) -> CrawlPage:
        def follow(url: Url) -> None:
            if before_redirect is not None:
                before_redirect(url)
            held.follow(url)

        context.checkpoint("fetching", 10)
        found = self.pages.get(context.job, held.document, context.remaining, follow)
        page = found.page
        context.note(
            JobEventKind.STEP_DONE,
            "fetched",
            {
                "status_code": page.status_code,
                "bytes": len(page.body),
                "ms": page.duration_ms,
                "source": found.source,
            },
        )
        return found

    def _indexed(
        self,
        context: Claim,
        held: HeldUrl,
        found: CrawlPage,
        processing: AbstractContextManager[object],
    ) -> Processed:
        page = found.page
        context.checkpoint("extracting", 30)
        payload, options = context.job.payload, options_of(context.job)
        with processing:
            content = found.content or self._extracted(page, options)
            require_suited(content)
            parts = parts_of(content, options.extraction_strategy)
        identity = document_id(context.job.tenant, cache_url(page.url))
        parts_key = self.parts.keep(context.job.tenant, identity, parts)
        indexed = self.indexer.index(
            DocumentDraft(
                tenant=context.job.tenant,
                url=page.url.text,
                url_key=cache_url(page.url),
                domain=page.url.host,
                content=content,
                chunking=options.chunking,
                source=DocumentSource(payload.get("source", DocumentSource.CRAWL)),
                parent_url=payload.get("parent_url"),
                collection_id=payload.get("collection_id"),
                tag_ids=tuple(payload.get("tag_ids", ())),
                origin=origin_of(page, found.asked, parts_key),
            ),
            context.lease,
            context.checkpoint,
            lambda: context.remaining() - bounds.DEADLINE_MARGIN_SECONDS,
            held.taken,
            processing,
        )
        return Processed(
            page=page,
            content=content,
            indexed=indexed,
            parts_key=parts_key,
            parts_bytes=len(parts.encode()),
        )

    def _extracted(self, page: FetchedPage, options: ConfigOptions) -> Content:
        return self.extract(
            decode_text(page.body, page.charset),
            page.media_type,
            page.url.text,
            options.extraction_strategy,
            targets=options.keep_link_targets,
        )


def _result(processed: Processed) -> dict[str, Any]:
    page, document = processed.page, processed.indexed.document
    return {
        "document_id": document.id,
        "url": document.url,
        "redirects": list(page.redirects),
        "title": document.title,
        "language": document.language,
        "extraction": extraction_fields(document.extraction),
        "status_code": page.status_code,
        "content_type": page.media_type,
        # A 304 for a known document has no body, and the former size isn't stored.
        "bytes": len(page.body) or None,
        "fetch_ms": page.duration_ms,
        "chunks": document.chunk_count,
        "tokens": document.token_count,
        "version": document.version,
        "unchanged": processed.indexed.unchanged,
        "links": len(processed.content.hyperlinks),
        "normalized_url": cache_url(page.url),
        "crawled_at": to_iso(document.crawled_at),
        "content_key": document.content_key,
        "content_bytes": len(processed.content.markdown.encode()),
        "parts_key": processed.parts_key,
        "parts_bytes": processed.parts_bytes,
    }
