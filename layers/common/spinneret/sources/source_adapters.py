"""Adapters that let source runs use crawling and discovery, which don't know about sources."""

from collections.abc import Sequence
from typing import Final

from spinneret.content.documents.rules import is_first
from spinneret.crawl.deep.service import DeepCrawlService
from spinneret.crawl.service import CrawlService, SourcePages
from spinneret.discovery.service import DiscoveryService
from spinneret.jobs.models import Job, JobStatus
from spinneret.kernel.errors import PagesFailed
from spinneret.sources.models import PageOutcome, Run, RunPage, Source
from spinneret.sources.ports import DiscoveryProgress, StartedCrawls
from spinneret.sources.rules import root_and_path
from spinneret.web.exploring.frontier.models import FrontierPage, PageChange, PageState

_GONE: Final = frozenset({404, 410})
_ENDED_WITH_PAGES: Final = frozenset(
    {JobStatus.COMPLETED, JobStatus.PARTIALLY_FAILED, JobStatus.FAILED}
)


class SourceCrawls:
    """Implements Crawls of sources."""

    def __init__(self, crawls: CrawlService, deep: DeepCrawlService) -> None:
        self._crawls = crawls
        self._deep = deep

    def begin_deep(self, source: Source, run: Run) -> str | None:
        return self._deep.submit_for_source(
            source.tenant, _pages(source, run, [source.url_pattern])
        )

    def ended_deep(self, tenant: str, job_id: str) -> Sequence[RunPage] | None:
        ended = self._deep.ended_for_source(tenant, job_id)
        if ended is None:
            return None
        job, pages = ended
        if job.status not in _ENDED_WITH_PAGES:
            raise PagesFailed("the deep crawl was stopped", details={"job_id": job_id})
        return [_page_of_deep(job, page) for page in pages]

    def begin(self, source: Source, run: Run, urls: Sequence[str]) -> StartedCrawls:
        pages = _pages(source, run, urls)
        batch_id, refused = self._crawls.submit_for_source(source.tenant, pages)
        return StartedCrawls(batch_id=batch_id, refused=refused)

    def ended(self, tenant: str, batch_id: str) -> Sequence[RunPage] | None:
        crawls = self._crawls.ended_for_source(tenant, batch_id)
        return None if crawls is None else [page_of(job) for job in crawls]


class SourceDiscoveries:
    """Implements Discoveries of sources."""

    def __init__(self, discoveries: DiscoveryService) -> None:
        self._discoveries = discoveries

    def begin(self, source: Source, run: Run) -> str:
        root, path = root_and_path(source.url_pattern)
        return self._discoveries.for_source(source.tenant, root.origin, path, run.id)

    def ended(self, tenant: str, job_id: str) -> DiscoveryProgress | None:
        found = self._discoveries.ended(tenant, job_id)
        if found is None:
            return None
        return DiscoveryProgress(urls=tuple(each.url for each in found.urls), error=found.error)


def _pages(source: Source, run: Run, urls: Sequence[str]) -> SourcePages:
    return SourcePages(
        source_id=source.id,
        run_id=run.id,
        urls=urls,
        config_id=source.crawl_config_id,
        collection_id=source.collection_id,
    )


def _page_of_deep(job: Job, page: FrontierPage) -> RunPage:
    if page.state is PageState.FAILED:
        gone = page.status_code in _GONE
        return RunPage(
            url=page.url,
            outcome=PageOutcome.GONE if gone else PageOutcome.FAILED,
            document_id=None,
            job_id=job.id,
            error=page.error_code,
        )
    return RunPage(
        url=page.url,
        outcome=PageOutcome(page.change or PageChange.UNCHANGED),
        document_id=page.document_id,
        job_id=job.id,
    )


def page_of(job: Job) -> RunPage:
    """Return the outcome of a page whose crawl has ended."""
    result = job.result or {}
    failure = job.last_error
    if job.status is not JobStatus.COMPLETED:
        status = failure.details.get("status_code") if failure else None
        gone = job.status is JobStatus.FAILED and status in _GONE
        return RunPage(
            url=job.payload["url"],
            outcome=PageOutcome.GONE if gone else PageOutcome.FAILED,
            document_id=None,
            job_id=job.id,
            error=failure.code if failure else job.status.value.upper(),
        )
    outcome = PageOutcome.UNCHANGED if result["unchanged"] else PageOutcome.CHANGED
    if outcome is PageOutcome.CHANGED and is_first(result["version"]):
        outcome = PageOutcome.NEW
    return RunPage(
        url=job.payload["url"],
        outcome=outcome,
        document_id=result["document_id"],
        job_id=job.id,
    )
