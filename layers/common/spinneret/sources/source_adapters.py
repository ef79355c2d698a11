"""Adapters that let source runs use crawling and discovery, which don't know about sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from spinneret.crawl.service import CrawlService, SourcePages
from spinneret.discovery.service import DiscoveryService
from spinneret.jobs.models import Job, JobStatus
from spinneret.sources.models import PageOutcome, Run, RunPage, Source
from spinneret.sources.ports import DiscoveryProgress, StartedCrawls
from spinneret.sources.rules import root_and_path

_GONE: Final = frozenset({404, 410})
_FIRST: Final = "000001-"  # prefix of a document's first version (content.documents.rules)


class SourceCrawls:
    """Implements Crawls of sources."""

    def __init__(self, crawls: CrawlService) -> None:
        self._crawls = crawls

    def begin(self, source: Source, run: Run, urls: Sequence[str]) -> StartedCrawls:
        """See Crawls."""
        pages = SourcePages(
            source_id=source.id,
            run_id=run.id,
            urls=urls,
            config_id=source.crawl_config_id,
            collection_id=source.collection_id,
        )
        batch_id, refused = self._crawls.submit_for_source(source.tenant, pages)
        return StartedCrawls(batch_id=batch_id, refused=refused)

    def ended(self, tenant: str, batch_id: str) -> Sequence[RunPage] | None:
        """See Crawls."""
        crawls = self._crawls.ended_for_source(tenant, batch_id)
        return None if crawls is None else [page_of(job) for job in crawls]


class SourceDiscoveries:
    """Implements Discoveries of sources."""

    def __init__(self, discoveries: DiscoveryService) -> None:
        self._discoveries = discoveries

    def begin(self, source: Source, run: Run) -> str:
        """See Discoveries."""
        root, path = root_and_path(source.url_pattern)
        return self._discoveries.for_source(source.tenant, root.origin, path, run.id)

    def ended(self, tenant: str, job_id: str) -> DiscoveryProgress | None:
        """See Discoveries."""
        found = self._discoveries.ended(tenant, job_id)
        if found is None:
            return None
        return DiscoveryProgress(urls=tuple(each.url for each in found.urls), error=found.error)


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
    if outcome is PageOutcome.CHANGED and result["version"].startswith(_FIRST):
        outcome = PageOutcome.NEW
    return RunPage(
        url=job.payload["url"],
        outcome=outcome,
        document_id=result["document_id"],
        job_id=job.id,
    )
