"""Crawls one page of a deep crawl's block."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from spinneret.content.documents.rules import is_first
from spinneret.crawl import limits
from spinneret.crawl.deep.driving import PageBlock
from spinneret.crawl.deep.service import HANDED_BACK, HOST_BUSY
from spinneret.crawl.pages import options_of
from spinneret.crawl.pipeline import CrawlPipeline, Processed
from spinneret.jobs.models import Job, JobEventKind, Lease
from spinneret.jobs.worker import Defer, ReleaseJob
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock, Remaining
from spinneret.kernel.errors import (
    Contended,
    DependencyUnavailable,
    DomainError,
    LeaseLost,
    TransientError,
)
from spinneret.kernel.service import service
from spinneret.web.exploring.frontier.models import (
    Deferred,
    Failed,
    Fetched,
    FetchOutcome,
    FoundLink,
    FrontierPage,
    PageChange,
    PageLease,
    RedirectRefused,
)
from spinneret.web.exploring.frontier.service import Frontier
from spinneret.web.exploring.robots_tags import ANYBODY, HEADER, forbids_following, tags_of

logger = logging.getLogger(__name__)


class PageStep:
    """Crawls one page of a block."""

    def __init__(
        self,
        *,
        frontier: Frontier,
        pipeline: CrawlPipeline,
        clock: Clock,
        new_owner: Callable[[], str],
        product_token: str,
    ) -> None:
        """Store the dependencies; pages address this crawler by `product_token`."""
        self._frontier = frontier
        self._pipeline = pipeline
        self._clock = clock
        self._new_owner = new_owner
        self._agents = {ANYBODY, product_token.lower()}

    def __call__(
        self,
        block: PageBlock,
        page: FrontierPage,
        remaining: Remaining,
        processing: AbstractContextManager[object],
    ) -> FetchOutcome | None:
        """Crawl the page and return its recorded outcome.

        Return None if another claim holds the page or the crawl, or if the page is no longer open.
        Raises DependencyUnavailable if the outcome can't be written. The page's claim then expires,
        and a later block takes the page again.
        """
        job, owner = block.job, self._new_owner()
        until = _lease_end(self._clock, remaining)
        try:
            visit = self._frontier.claim_page(block.crawl, page, owner, until)
            if visit is None:
                return None
            claim = PageClaim(
                job=page_job(job, visit.page),
                lease=block.turn.lease,
                owner=owner,
                visit=visit,
                frontier=self._frontier,
                clock=self._clock,
                invocation=remaining,
            )
            outcome = self._outcome(job, claim, visit, processing)
            self._frontier.record(visit, outcome)
        except LeaseLost:
            logger.info("page_left", extra={"job_id": job.id, "fence": block.turn.fence})
            return None
        return outcome

    def _outcome(
        self,
        job: Job,
        claim: PageClaim,
        visit: PageLease,
        processing: AbstractContextManager[object],
    ) -> FetchOutcome:
        """Process the page and return its outcome. Raises LeaseLost."""
        gate = self._frontier.redirects(visit)
        try:
            processed = self._pipeline.process(claim, gate, processing)
            return _fetched(processed, self._links(job, processed))
        except RedirectRefused as refused:
            return refused.outcome
        except LeaseLost:
            raise
        except (Defer, ReleaseJob, DependencyUnavailable, Contended) as stopped:
            return self._waiting(stopped)
        except DomainError as error:
            logger.warning(
                "crawl_failed",
                extra={
                    "job_id": job.id,
                    "url": visit.page.url,
                    "error_type": type(error).__name__,
                },
            )
            return self._failed(visit.page, error)

    def _links(self, job: Job, processed: Processed) -> tuple[FoundLink, ...]:
        """Return the page's links.

        A config that doesn't respect robots.txt ignores `nofollow`, too.
        """
        respects = options_of(job).respect_robots_txt
        no_link = respects and self._may_follow_none(processed)
        return tuple(
            FoundLink(
                url=link.url,
                text=link.text,
                nofollow=no_link or (respects and not link.may_follow),
            )
            for link in processed.content.hyperlinks
        )

    def _may_follow_none(self, processed: Processed) -> bool:
        """Return whether the page forbids this crawler, or all crawlers, to follow its links."""
        tags = tags_of(processed.page.headers.get(HEADER, ""))
        asked = {agent for agent, directives in tags.items() if forbids_following(directives)}
        return not self._agents.isdisjoint(asked | set(processed.content.nofollow_agents))

    def _waiting(self, stopped: Exception) -> Deferred:
        """Return when to retry a page that waits for a host, a dependency or more time."""
        now = self._clock()
        match stopped:
            case Defer():
                return Deferred(
                    until=stopped.until, error_code=HOST_BUSY, error_message=stopped.waiting_for
                )
            case DependencyUnavailable() | Contended():
                again = now + timedelta(seconds=limits.DEEP_CRAWL_RETRY_SECONDS)
                return Deferred(until=again, error_code=stopped.code, error_message=stopped.message)
            case _:
                return Deferred(until=now, error_code=HANDED_BACK)

    def _failed(self, page: FrontierPage, error: DomainError) -> Deferred | Failed:
        """Return a final failure, or a retry.

        The retry follows after 2, 4, 8 … seconds, or when the host requests it.
        """
        status = error.details.get("status_code")
        status_code = status if isinstance(status, int) else None
        if not isinstance(error, TransientError):
            return Failed(
                error_code=error.code, error_message=error.message, status_code=status_code
            )
        wait = max(error.retry_after or 0.0, 2.0 ** min(page.attempts + 1, 6))
        return Deferred(
            until=self._clock() + timedelta(seconds=min(wait, bounds.JOB_WAIT_MAX_SECONDS)),
            error_code=error.code,
            error_message=error.message,
            status_code=status_code,
            is_charged=True,
        )


@service
class PageClaim:
    """One page under the claim of its deep crawl; see `pipeline.Claim`."""

    job: Job
    lease: Lease
    owner: str
    visit: PageLease
    frontier: Frontier
    clock: Clock
    invocation: Remaining
    """Returns the invocation's remaining seconds."""

    def __post_init__(self) -> None:
        assert self.visit.page.leased_until is not None  # it was claimed
        self._until = self.visit.page.leased_until

    def remaining(self) -> float:
        """Return the seconds until the page's lease or the invocation ends."""
        left = (self._until - self.clock()).total_seconds() - bounds.LEASE_MARGIN_SECONDS
        return min(self.invocation(), left)

    def checkpoint(self, _step: str, _progress: int) -> None:
        """Renew the lease before it ends. Raises LeaseLost.

        Raises ReleaseJob near the deadline, so that a later block takes the page again.
        """
        if self.invocation() < bounds.DEADLINE_MARGIN_SECONDS:
            raise ReleaseJob
        until = _lease_end(self.clock, self.invocation)
        if self.remaining() < limits.PAGE_LEASE_LEFT_SECONDS and until > self._until:
            self.frontier.renew(self.visit, until)
            self._until = until

    def note(self, kind: JobEventKind, message: str, data: Mapping[str, Any] | None = None) -> None:
        """Do nothing: the pages' rows record the same without filling the crawl's timeline."""


def _lease_end(clock: Clock, remaining: Remaining) -> datetime:
    """Return the end of a page's lease that begins now: short, so that a kill costs little."""
    seconds = min(limits.PAGE_LEASE_SECONDS, remaining() + bounds.LEASE_MARGIN_SECONDS)
    return clock() + timedelta(seconds=seconds)


def page_job(job: Job, page: FrontierPage) -> Job:
    """Derive a page's job from the crawl's job; the page's row holds its reservation."""
    reservation = page.error_message if page.error_code == HOST_BUSY else None
    payload = {**job.payload, "url": page.url, "parent_url": page.parent}
    return replace(job, id=f"{job.id}.{page.key}", payload=payload, waiting_for=reservation)


def _fetched(processed: Processed, links: tuple[FoundLink, ...]) -> Fetched:
    page, document = processed.page, processed.indexed.document
    return Fetched(
        links=links,
        content_hash=document.content_hash,
        final_url=page.url.text,
        status_code=page.status_code,
        fetch_ms=page.duration_ms,
        document_id=document.id,
        change=_change(processed),
        parts_key=processed.parts_key,
    )


def _change(processed: Processed) -> PageChange:
    if processed.indexed.unchanged:
        return PageChange.UNCHANGED
    return PageChange.NEW if is_first(processed.indexed.document.version) else PageChange.CHANGED
