"""Statistics in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

from spinneret.jobs import keys
from spinneret.jobs.models import Job, JobRef
from spinneret.kernel.paging import Page
from spinneret.operations.statistics.models import CountCursor, DayOfJobs, HostUse, Numbers
from tests.fakes.dependency import FakeDependency


class FakeStatisticsStore(FakeDependency):
    """Implements StatisticsStore."""

    def __init__(self) -> None:
        self.writes = 0
        self._cursors: dict[str, CountCursor] = {}
        self._days: dict[tuple[str, date], DayOfJobs] = {}
        self._hosts: dict[tuple[str, str], HostUse] = {}

    def cursor(self, tenant: str) -> CountCursor:
        self._require()
        return self._cursors.get(tenant, CountCursor(tenant=tenant))

    def days(self, tenant: str, days: Sequence[date]) -> Mapping[date, DayOfJobs]:
        self._require()
        return {day: self._days[tenant, day] for day in days if (tenant, day) in self._days}

    def hosts(self, tenant: str, hosts: Sequence[str]) -> Mapping[str, HostUse]:
        self._require()
        return {each: self._hosts[tenant, each] for each in hosts if (tenant, each) in self._hosts}

    def write(self, numbers: Numbers) -> bool:
        self._require()
        cursor = numbers.cursor
        if self.cursor(cursor.tenant).version != cursor.version:
            return False
        if 1 + len(numbers.days) + len(numbers.hosts) > 100:
            raise ValueError("at most 100 rows")
        self.writes += 1
        self._cursors[cursor.tenant] = replace(cursor, version=cursor.version + 1)
        self._days |= {(each.tenant, each.day): each for each in numbers.days}
        self._hosts |= {(each.tenant, each.host): each for each in numbers.hosts}
        return True

    def host_page(self, tenant: str, after: str | None, limit: int) -> Page[HostUse]:
        self._require()
        found = [
            use
            for (owner, host), use in sorted(self._hosts.items())
            if owner == tenant and host > (after or "")
        ]
        return Page.cut(found, limit, lambda use: use.host)


class FakeJobLog:
    """Implements JobLog; the index may lag behind its rows."""

    def __init__(self) -> None:
        self.stored: dict[JobRef, Job] = {}
        self.unlisted: set[str] = set()
        """Ids that the index doesn't show yet."""

    def put(self, *jobs: Job) -> None:
        """Store jobs over any existing ones."""
        self.stored |= {job.ref: job for job in jobs}

    def following(self, tenant: str, after: str, limit: int) -> Sequence[str]:
        listed = [job for ref, job in self.stored.items() if ref.tenant == tenant]
        places = {keys.list_id(job) for job in listed if job.id not in self.unlisted}
        return sorted(place for place in places if place > after)[:limit]

    def jobs(self, tenant: str, ids: Sequence[str]) -> Mapping[str, Job]:
        refs = [JobRef(tenant=tenant, job_id=each) for each in ids]
        return {ref.job_id: self.stored[ref] for ref in refs if ref in self.stored}
