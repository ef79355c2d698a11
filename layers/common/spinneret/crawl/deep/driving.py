"""Drives a deep crawl: takes one batch of pages after another until the crawl ends."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.crawl import limits
from spinneret.crawl.deep.service import crawl_ref, plan_of
from spinneret.jobs.driven.driving import Driver
from spinneret.jobs.driven.models import ExecutionClaim
from spinneret.jobs.driven.ports import Semaphore
from spinneret.jobs.models import Failure, Job, JobRef, JobStatus
from spinneret.jobs.worker import Context, Defer
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock, Remaining, to_iso
from spinneret.kernel.errors import (
    LeaseLost,
    PagesFailed,
    PermanentError,
)
from spinneret.kernel.service import service
from spinneret.web.exploring.frontier.models import (
    Batch,
    Crawl,
    Ended,
    EndReason,
    FrontierPage,
    FrontierWait,
    PageState,
)
from spinneret.web.exploring.frontier.service import Frontier

logger = logging.getLogger(__name__)

_SLOTS: Final = "DEEP_CRAWLS"
_OUT_OF_TIME: Final = Failure(
    code="OUT_OF_TIME",
    message="the crawl ran out of time before all pages were crawled",
    type="transient",
)


@dataclass(frozen=True, kw_only=True)
class PageBlock:
    """Pages that one invocation crawls now, in the order of their batch, and their claim."""

    turn: ExecutionClaim
    job: Job
    crawl: Crawl
    pages: tuple[FrontierPage, ...]


@dataclass(frozen=True, kw_only=True)
class Taken:
    """The next action of an execution."""

    state: dict[str, Any]
    """The state after that: its `action` is `more`, `wait` (with `until`) or `stop`."""
    block: PageBlock | None = None


@service
class DeepCrawls:
    """Starts and drives deep crawls for the worker and the state machine."""

    driver: Driver
    frontier: Frontier
    slots: Semaphore
    clock: Clock
    at_once: int
    """Deep crawls of one tenant that run concurrently; the others wait."""
    segment_batches: int
    """Batches after which a new execution continues.

    An execution has at most 25,000 history events (Step Functions quotas).
    """

    def prepare(self, context: Context) -> None:
        """Acquire a slot and register the crawl. Raises Defer while all slots are in use."""
        job, now = context.job, self.clock()
        until = now + timedelta(seconds=bounds.EXECUTION_START_SECONDS)
        if not self._take_slot(job, until):
            later = now + timedelta(seconds=limits.DEEP_CRAWL_RETRY_SECONDS)
            raise Defer(later, "another deep crawl's end")
        plan, url = plan_of(job.payload), job.payload["url"]
        ref, fence = crawl_ref(job.ref), context.lease.fence
        self.frontier.begin(ref, plan, [url], fence)
        if job.run > 1:
            self.frontier.reopen(ref, fence)

    def take(self, state: Mapping[str, Any], remaining: Remaining) -> Taken:
        """Take the pages to crawl, or a time to wait for, or the end.

        Raises DependencyUnavailable and Contended; the state machine then retries.
        """
        turn, batches = _next_turn(ExecutionClaim.of(state)), state.get("batches", 0)
        return self._held(turn, lambda job: self._taken(turn, job, batches, remaining))

    def wait(self, taken: Taken, until: datetime) -> Taken:
        """Wait until then instead of crawling the block's other pages. Raises as `take`."""
        block, batches = taken.block, taken.state["batches"]
        assert block is not None
        turn = _next_turn(block.turn)
        return self._held(
            turn,
            lambda job: self._waiting(
                turn, job, self.frontier.crawl(block.crawl.ref), until, batches
            ),
        )

    def _held(self, turn: ExecutionClaim, act: Callable[[Job], Taken]) -> Taken:
        """Return the result of `act`, or the state that stops an execution without a claim."""
        stopped = Taken(state={**turn.state(), "action": "stop"})
        try:
            return act(self.driver.held(turn))
        except LeaseLost:
            logger.info("execution_ended", extra={"job_id": turn.job_id, "fence": turn.fence})
            self._leave_slot(turn)
            return stopped
        except PermanentError as error:
            self.driver.fail(turn, self.driver.held(turn), error)
            self._leave_slot(turn)
            return stopped

    def _taken(self, turn: ExecutionClaim, job: Job, batches: int, remaining: Remaining) -> Taken:
        ref = crawl_ref(job.ref)
        crawl, found = self.frontier.advance(
            ref, turn.fence, lambda: remaining() > bounds.DEADLINE_MARGIN_SECONDS
        )
        state = {**turn.state(), "batches": batches, "action": "stop"}
        match found:
            case Ended():
                self._end(turn, job, crawl)
                self.slots.leave(job.tenant, _SLOTS, job.id)
            case FrontierWait(until=until):
                return self._waiting(turn, job, crawl, until, batches)
            case Batch() if batches >= self.segment_batches:
                self.driver.next_segment(turn, job)
            case Batch(number=number, pages=pages):
                self._renew(turn, job, crawl, self.clock(), f"batch {number}")
                state |= {"action": "more", "batches": batches + 1}
                block = PageBlock(turn=turn, job=job, crawl=crawl, pages=pages)
                return Taken(state=state, block=block)
        return Taken(state=state)

    def _waiting(
        self, turn: ExecutionClaim, job: Job, crawl: Crawl, until: datetime, batches: int
    ) -> Taken:
        self._renew(turn, job, crawl, until, "waiting")
        state = {**turn.state(), "batches": batches, "action": "wait", "until": to_iso(until)}
        return Taken(state=state)

    def _end(self, turn: ExecutionClaim, job: Job, crawl: Crawl) -> None:
        is_expired = crawl.end_reason is EndReason.EXPIRED
        if not crawl.crawled and (crawl.failed or is_expired):
            self.driver.fail(turn, job, self._why(crawl))
        elif is_expired:
            self.driver.complete(turn, job, _result(job, crawl), _OUT_OF_TIME)
        else:
            self.driver.complete(turn, job, _result(job, crawl))

    def _why(self, crawl: Crawl) -> PagesFailed:
        failed = self.frontier.pages(crawl.ref, PageState.FAILED, None, 1).pages
        if not failed:
            return PagesFailed(_OUT_OF_TIME.message, details={"pages_failed": 0})
        [first] = failed
        details = {
            "pages_failed": crawl.failed,
            "error_type": first.error_code,
            "status_code": first.status_code,
        }
        return PagesFailed(
            f"no page could be crawled: {first.error_message}",
            details={name: value for name, value in details.items() if value is not None},
        )

    def _renew(
        self, turn: ExecutionClaim, job: Job, crawl: Crawl, needed: datetime, step: str
    ) -> None:
        """Extend the claim, at least to `needed`, unless that was done a moment ago.

        Progress that clears charged attempts is written at once.
        """
        progress = 100 * crawl.crawled // crawl.plan.max_pages
        until = max(needed, self.clock() + timedelta(seconds=limits.DEEP_CRAWL_BATCH_SECONDS))
        recent = until - timedelta(seconds=limits.DEEP_CRAWL_RENEW_SECONDS)
        end = max(needed, recent) + timedelta(seconds=bounds.LEASE_MARGIN_SECONDS)
        lasts = job.locked_until is not None and job.locked_until >= end
        if lasts and not (job.attempts and progress > job.progress):
            return
        self._take_slot(job, until)
        self.driver.renew(turn, job, until, step, progress, _counts(crawl))

    def _take_slot(self, job: Job, until: datetime) -> bool:
        until += timedelta(seconds=limits.DEEP_CRAWL_SLOT_SECONDS)
        return self.slots.take(
            job.tenant,
            _SLOTS,
            job.id,
            self.clock(),
            until,
            self.at_once,
            lambda holder: self._is_over(JobRef(tenant=job.tenant, job_id=holder)),
        )

    def _leave_slot(self, turn: ExecutionClaim) -> None:
        if self._is_over(turn.ref):
            self.slots.leave(turn.tenant, _SLOTS, turn.job_id)

    def _is_over(self, ref: JobRef) -> bool:
        """Return whether the crawl needs no slot: it has ended or is paused.

        Its execution may sleep for up to an hour before it detects that and releases the slot.
        """
        job = self.driver.find(ref)
        return job is None or job.status not in (JobStatus.RUNNING, JobStatus.PENDING)


def _next_turn(turn: ExecutionClaim) -> ExecutionClaim:
    return replace(turn, number=turn.number + 1)


def _counts(crawl: Crawl) -> dict[str, Any]:
    return {
        "pages_discovered": crawl.discovered,
        "pages_crawled": crawl.crawled,
        "pages_failed": crawl.failed,
        "current_depth": crawl.current_depth,
    }


def _result(job: Job, crawl: Crawl) -> dict[str, Any]:
    reason = crawl.end_reason
    return {
        "url": job.payload["url"],
        **_counts(crawl),
        "end_reason": reason.value if reason else None,
    }
