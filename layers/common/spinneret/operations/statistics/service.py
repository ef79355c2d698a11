"""Counting of jobs after their end, and the numbers of a tenant."""

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta

from spinneret.content.caches.models import DaysOfUse
from spinneret.jobs.models import Job
from spinneret.kernel.clock import Clock, Remaining
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.paging import Page
from spinneret.kernel.service import service
from spinneret.operations.statistics import limits, rules
from spinneret.operations.statistics.models import (
    DayOfJobs,
    HostState,
    HostUse,
    Numbers,
    Overview,
    Step,
    Unfinished,
)
from spinneret.operations.statistics.ports import JobLog, StatisticsStore
from spinneret.web.politeness.models import BreakerView

logger = logging.getLogger(__name__)


@service
class JobCounts:
    """Counts each job of a tenant once, after its end.

    Any number of requests may count at once: a write requires the version that was read, and the
    one that comes second counts nothing.
    """

    store: StatisticsStore
    log: JobLog
    clock: Clock

    def count(self, tenant: str) -> Unfinished:
        """Count the jobs that ended since the last call, for at most COUNT_SECONDS.

        Return the jobs that haven't ended. Raises DependencyUnavailable.
        """
        until = self.clock() + timedelta(seconds=limits.COUNT_SECONDS)
        races = 0
        while True:
            cursor = self.store.cursor(tenant)
            listed = self.log.following(tenant, cursor.position, limits.READ)
            jobs = self.log.jobs(tenant, [*cursor.unfinished, *listed])
            settled = rules.settled_before(self.clock(), jobs.values())
            step = rules.following(cursor, listed, jobs, settled)
            moved = step.cursor != cursor
            written = not moved or self._write(step)
            races += not written
            complete = written and step.complete and len(listed) < limits.READ
            stuck = written and not moved  # only jobs follow that are too young to pass
            if complete or stuck or races == limits.RACES or self.clock() >= until:
                return rules.unfinished(jobs.values(), complete=complete)

    def _write(self, step: Step) -> bool:
        """Store the step's cursor and numbers; return False if another count came first."""
        tenant, ended = step.cursor.tenant, step.ended
        dates = sorted({rules.ended_at(job).date() for job in ended})
        days = dict(self.store.days(tenant, dates))
        crawls = [job for job in ended if rules.concerns_host(job)]
        hosts = dict(self.store.hosts(tenant, sorted({_host(job) for job in crawls})))
        for job in ended:
            day = rules.ended_at(job).date()
            days[day] = rules.with_end(days.get(day, DayOfJobs(tenant=tenant, day=day)), job)
        for job in crawls:
            none = HostUse(tenant=tenant, host=_host(job), last_crawl_at=rules.ended_at(job))
            hosts[_host(job)] = rules.with_crawl(hosts.get(_host(job), none), job)
        return self.store.write(
            Numbers(cursor=step.cursor, days=tuple(days.values()), hosts=tuple(hosts.values()))
        )


@service
class Statistics:
    """The numbers of tenants. All methods raise DependencyUnavailable."""

    counts: JobCounts
    store: StatisticsStore
    use: Callable[[str, Sequence[date]], DaysOfUse]
    """Function (tenant, days) → searches and uses of caches by day."""
    checks: Callable[[str, date], Mapping[date, int]]
    """Function (tenant, first day) → checks of targets by day."""
    targets: Callable[[str], int]
    """Function that returns the number of a tenant's targets."""
    totals: Callable[[str, Remaining], tuple[int, int]]
    """Function (tenant, remaining) → documents and chunks in the search index."""
    breaker: Callable[[str], BreakerView]
    """Function that returns the circuit breaker of a host."""
    clock: Clock

    def overview(self, tenant: str, remaining: Remaining) -> Overview:
        """Count what has ended, and return all numbers of the last SHOWN_DAYS days."""
        unfinished = self.counts.count(tenant)
        now = self.clock()
        days = [now.date() - timedelta(days=n) for n in reversed(range(limits.SHOWN_DAYS))]
        return Overview(
            since=days[0],
            until=now,
            jobs=self.store.days(tenant, days),
            use=self.use(tenant, days),
            checks=self.checks(tenant, days[0]),
            unfinished=unfinished,
            targets=self.targets(tenant),
            index=self._totals(tenant, remaining),
        )

    def hosts(self, tenant: str, after: str | None, limit: int) -> Page[HostState]:
        """Count what has ended, and return a page of hosts with their breakers."""
        self.counts.count(tenant)
        page = self.store.host_page(tenant, after, limit)
        with ThreadPoolExecutor(limits.BREAKERS_AT_ONCE) as threads:
            breakers = tuple(threads.map(self.breaker, [each.host for each in page.items]))
        states = zip(page.items, breakers, strict=True)
        items = tuple(HostState(use=use, breaker=breaker) for use, breaker in states)
        return Page(items=items, after=page.after)

    def _totals(self, tenant: str, remaining: Remaining) -> tuple[int, int] | None:
        try:
            return self.totals(tenant, remaining)
        except DependencyUnavailable as error:
            logger.warning("index_not_counted", extra={"reason": error.message})
            return None


def _host(job: Job) -> str:
    return job.domain or ""
