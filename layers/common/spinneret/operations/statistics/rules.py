"""Adds the ends of jobs to the numbers of their days and hosts; pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from spinneret.audits.kinds import AUDIT
from spinneret.crawl.kinds import DEEP_CRAWL, PAGE_KINDS
from spinneret.events.webhooks.kinds import DELIVERY
from spinneret.jobs.models import Job, JobStatus
from spinneret.jobs.rules import TERMINAL
from spinneret.kernel import histogram
from spinneret.kernel.ids import uuid7_hex
from spinneret.marketplace.kinds import PUBLISH
from spinneret.operations.statistics import limits
from spinneret.operations.statistics.models import (
    CountCursor,
    DayOfJobs,
    HostUse,
    Step,
    Unfinished,
)

COUNTERS: Final = (
    "crawls_total",
    "crawls_succeeded",
    "crawls_failed",
    "pages_crawled",
    "pages_failed",
    "webhooks_delivered",
    "webhooks_failed",
    "audits_succeeded",
    "audits_failed",
    "listings_published",
    "listings_failed",
)
_SUCCEEDED: Final = (JobStatus.COMPLETED, JobStatus.PARTIALLY_FAILED)
_FAILED: Final = (JobStatus.FAILED, JobStatus.EXPIRED)
_NAMES: Final[Mapping[str, tuple[str, str]]] = {
    **dict.fromkeys(PAGE_KINDS, ("crawls_succeeded", "crawls_failed")),
    DELIVERY: ("webhooks_delivered", "webhooks_failed"),
    AUDIT: ("audits_succeeded", "audits_failed"),
    PUBLISH: ("listings_published", "listings_failed"),
}
"""Kind → the counters of its successes, and of its failures and expiries."""
_MILLISECOND: Final = timedelta(milliseconds=1)


def with_end(day: DayOfJobs, job: Job) -> DayOfJobs:
    """Return the day's numbers with the end of a job."""
    ends, crawl_ms = dict(day.ends), day.crawl_ms
    for name, number in _ends(job).items():
        if number:
            ends[name] = ends.get(name, 0) + number
    taken = _milliseconds(job)
    if job.kind in PAGE_KINDS and taken is not None:
        crawl_ms = histogram.added(crawl_ms, {histogram.bucket_of(taken): 1})
    return replace(day, ends=ends, crawl_ms=crawl_ms)


def concerns_host(job: Job) -> bool:
    """Return whether the job adds to the numbers of its host."""
    return job.kind in (*PAGE_KINDS, DEEP_CRAWL) and job.domain is not None and any(_pages(job))


def with_crawl(host: HostUse, job: Job) -> HostUse:
    """Return the host's numbers with the end of a crawl that concerns it."""
    crawled, failed = _pages(job)
    taken = _milliseconds(job) if job.kind in PAGE_KINDS else None
    result = job.result or {}
    return replace(
        host,
        crawls=host.crawls + crawled + failed,
        failures=host.failures + failed,
        bytes=host.bytes + (result.get("bytes") or 0 if job.kind in PAGE_KINDS else 0),
        timed=host.timed + (taken is not None),
        duration_ms=host.duration_ms + (taken or 0),
        last_crawl_at=max(host.last_crawl_at, ended_at(job)),
    )


def ended_at(job: Job) -> datetime:
    """Return the time of an ended job's end."""
    return job.finished_at or job.updated_at


def unfinished(jobs: Iterable[Job], *, complete: bool) -> Unfinished:
    """Return the numbers of the jobs that haven't ended."""
    live = [job for job in jobs if job.status not in TERMINAL]
    running = [job for job in live if job.status is JobStatus.RUNNING]
    return Unfinished(
        running=len(running),
        queued=sum(job.status is JobStatus.PENDING for job in live),
        paused=sum(job.status is JobStatus.PAUSED for job in live),
        deep_crawls=sum(job.kind == DEEP_CRAWL for job in running),
        complete=complete,
    )


def settled_before(now: datetime, jobs: Iterable[Job]) -> str:
    """Return an id: every job with a smaller one is stored, and in the index of jobs.

    The ids of planned children are made just before their parent, but stored when it is claimed. So
    the parents among `jobs` hold the id back, for CHILDREN_MADE_SECONDS at most.
    """
    made_by = now - timedelta(seconds=limits.CHILDREN_MADE_SECONDS)
    unmade = (job.created_at for job in jobs if _has_children_to_make(job))
    moment = min([now, *(each for each in unmade if each > made_by)])
    return f"job_{uuid7_hex(moment - timedelta(seconds=limits.SETTLED_SECONDS), bytes(10))}"


def _has_children_to_make(job: Job) -> bool:
    family = job.family
    return family is not None and family.plan_rows > 0 and family.cursor is not None


def following(
    cursor: CountCursor, listed: Sequence[str], jobs: Mapping[str, Job], settled: str
) -> Step:
    """Return the jobs to count now, and the cursor after them.

    `listed` are the ids beyond the cursor in order, `jobs` the stored jobs among them and among the
    unfinished ones. Every job before `settled` is listed.
    """
    hosts = _Hosts()
    ended = [job for name in cursor.unfinished if (job := jobs.get(name)) and hosts.take(job)]
    done = {job.id for job in ended}
    left = [name for name in cursor.unfinished if name in jobs and name not in done]
    position, known, complete = cursor.position, set(cursor.counted), True
    for name in listed:
        job = jobs.get(name)
        if job is not None and name not in known:
            if hosts.take(job):
                ended.append(job)
                known.add(name)
            elif job.status in TERMINAL or (name < settled and len(left) >= limits.UNFINISHED_MAX):
                complete = False
                break
            elif name < settled:
                left.append(name)
        if name < settled:
            position = name
    return Step(
        cursor=replace(
            cursor,
            position=position,
            unfinished=tuple(left),
            counted=tuple(sorted(name for name in known if name > position)),
        ),
        ended=tuple(ended),
        complete=complete and not any(jobs[name].status in TERMINAL for name in left),
    )


class _Hosts:
    """The hosts of one step, at most HOSTS_PER_STEP."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def take(self, job: Job) -> bool:
        """Return whether the step can count the job: it has ended, and its host has a place."""
        if job.status not in TERMINAL:
            return False
        if not concerns_host(job):
            return True
        host = str(job.domain)
        if host not in self._names and len(self._names) == limits.HOSTS_PER_STEP:
            return False
        self._names.add(host)
        return True


def _ends(job: Job) -> Mapping[str, int]:
    """Return what an ended job adds to the counters of its day."""
    crawled, failed = _pages(job)
    found = {"pages_crawled": crawled, "pages_failed": failed}
    if job.kind in PAGE_KINDS:
        found["crawls_total"] = 1
    publishes = job.payload.get("action_code") == "publish"  # the one action that makes a listing
    if job.kind in _NAMES and (job.kind != PUBLISH or publishes):
        succeeded_name, failed_name = _NAMES[job.kind]
        found[succeeded_name] = int(job.status in _SUCCEEDED)
        found[failed_name] = int(job.status in _FAILED)
    return found


def _pages(job: Job) -> tuple[int, int]:
    """Return how many pages an ended crawl crawled, and how many it failed to crawl."""
    if job.kind in PAGE_KINDS:
        return int(job.status in _SUCCEEDED), int(job.status in _FAILED)
    if job.kind != DEEP_CRAWL:
        return 0, 0
    numbers = job.result or (job.last_error.details if job.last_error else {})
    return int(numbers.get("pages_crawled", 0)), int(numbers.get("pages_failed", 0))


def _milliseconds(job: Job) -> int | None:
    """Return the duration of a job that succeeded, from its first claim."""
    if job.status not in _SUCCEEDED or job.started_at is None or job.finished_at is None:
        return None
    return (job.finished_at - job.started_at) // _MILLISECOND
