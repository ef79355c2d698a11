"""Driving step of a deep crawl: takes one batch after another until the crawl ends."""

import logging
from collections.abc import Mapping
from dataclasses import replace
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
    PageState,
    Wait,
)
from spinneret.web.exploring.frontier.service import Frontier

logger = logging.getLogger(__name__)

_SLOTS: Final = "DEEP_CRAWLS"
_OUT_OF_TIME: Final = Failure(
    code="OUT_OF_TIME",
    message="the crawl ran out of time before all pages were crawled",
    type="transient",
)


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

    An execution has at most 25,000 history events (Step Functions quotas), and a batch of 25 pages
    takes about 220.
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

    def take(self, state: Mapping[str, Any], remaining: Remaining) -> dict[str, Any]:
        """Return the next state: pages to crawl, a time to wait for, or the end.

        Raises DependencyUnavailable and Contended; the state machine then retries.
        """
        turn = replace(ExecutionClaim.of(state), number=state["number"] + 1)
        try:
            job = self.driver.held(turn)
            return self._taken(turn, job, state.get("batches", 0), remaining)
        except LeaseLost:
            logger.info("execution_ended", extra={"job_id": turn.job_id, "fence": turn.fence})
            self._leave_slot(turn)
            return {**turn.state(), "action": "stop"}
        except PermanentError as error:
            self.driver.fail(turn, self.driver.held(turn), error)
            self._leave_slot(turn)
            return {**turn.state(), "action": "stop"}

    def _taken(
        self, turn: ExecutionClaim, job: Job, batches: int, remaining: Remaining
    ) -> dict[str, Any]:
        ref = crawl_ref(job.ref)
        found = self.frontier.next_batch(
            ref, turn.fence, lambda: remaining() > bounds.DEADLINE_MARGIN_SECONDS
        )
        crawl, now = self.frontier.crawl(ref), self.clock()
        state = {**turn.state(), "batches": batches, "action": "stop"}
        match found:
            case Ended():
                self._end(turn, job, crawl)
                self.slots.leave(job.tenant, _SLOTS, job.id)
            case Wait(until=until):
                until = max(until, now + timedelta(seconds=1))
                self._renew(turn, job, crawl, until, "waiting")
                state |= {"action": "wait", "until": to_iso(until)}
            case Batch() if batches >= self.segment_batches:
                self.driver.next_segment(turn, job)
            case Batch(number=number, keys=keys):
                until = now + timedelta(seconds=limits.DEEP_CRAWL_BATCH_SECONDS)
                self._renew(turn, job, crawl, until, f"batch {number}")
                state |= {"action": "pages", "keys": list(keys), "batches": batches + 1}
        return state

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
        self, turn: ExecutionClaim, job: Job, crawl: Crawl, until: datetime, step: str
    ) -> None:
        self._take_slot(job, until)
        progress = 100 * crawl.crawled // crawl.plan.max_pages
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
