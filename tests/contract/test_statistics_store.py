"""Contract tests of statistics stores and job logs: the fake, moto, and DynamoDB Local."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.jobs.keys import list_id
from spinneret.jobs.models import Job
from spinneret.operations.statistics.dynamo import DynamoJobLog, DynamoStatisticsStore
from spinneret.operations.statistics.models import CountCursor, DayOfJobs, HostUse, Numbers
from spinneret.operations.statistics.ports import JobLog, StatisticsStore
from tests import factories
from tests.contract.backends import OF_AWS, Tables, job_store
from tests.contract.stored_jobs import submit
from tests.fakes.statistics import FakeJobLog, FakeStatisticsStore
from tests.fakes.time import START

pytestmark = OF_AWS

TODAY = START.date()
YESTERDAY = TODAY - timedelta(days=1)


@pytest.fixture
def statistics(tables: Tables | None) -> StatisticsStore:
    if tables is None:
        return FakeStatisticsStore()
    return DynamoStatisticsStore(tables.client, tables.names["Jobs"])


def log_of(tables: Tables | None, *jobs: Job) -> JobLog:
    if tables is None:
        log = FakeJobLog()
        log.put(*jobs)
        return log
    submit(job_store(tables), *jobs)
    return DynamoJobLog(tables.client, tables.names["Jobs"])


def host(tenant: str, name: str, **given: Any) -> HostUse:
    return HostUse(tenant=tenant, host=name, last_crawl_at=START, **given)


# covers P-13
def test_a_place_days_and_hosts_are_stored_together(
    statistics: StatisticsStore, tenant: str
) -> None:
    cursor = CountCursor(tenant=tenant, position="job_2", unfinished=("job_1",), counted=("job_3",))
    days = (
        DayOfJobs(tenant=tenant, day=TODAY, ends={"crawls_total": 3}, crawl_ms={50: 2, 7: 1}),
        DayOfJobs(tenant=tenant, day=YESTERDAY),
    )
    hosts = host(tenant, "a.example", crawls=3, failures=1), host(tenant, "b.example", bytes=7)
    assert statistics.cursor(tenant) == CountCursor(tenant=tenant)
    assert statistics.write(Numbers(cursor=cursor, days=days, hosts=hosts))
    assert statistics.cursor(tenant) == replace(cursor, version=1)
    wanted = [TODAY, YESTERDAY, TODAY - timedelta(days=2)]
    assert statistics.days(tenant, wanted) == {TODAY: days[0], YESTERDAY: days[1]}
    assert statistics.hosts(tenant, ["a.example", "x.example"]) == {"a.example": hosts[0]}
    other = f"{tenant}x"
    assert statistics.days(other, wanted) == statistics.hosts(other, ["a.example"]) == {}


# covers P-13
def test_of_two_counts_from_one_place_only_the_first_is_stored(
    statistics: StatisticsStore, tenant: str
) -> None:
    cursor = CountCursor(tenant=tenant, position="job_2")
    first = host(tenant, "a.example", crawls=1)
    assert statistics.write(Numbers(cursor=cursor, hosts=(first,)))
    assert not statistics.write(Numbers(cursor=cursor, hosts=(replace(first, crawls=2),)))
    assert statistics.hosts(tenant, ["a.example"]) == {"a.example": first}
    third = replace(first, crawls=3)
    assert statistics.write(Numbers(cursor=statistics.cursor(tenant), hosts=(third,)))
    assert statistics.hosts(tenant, ["a.example"]) == {"a.example": third}
    assert statistics.cursor(tenant).version == 2


# covers P-13
@pytest.mark.parametrize("limit", [1, 2, 5])
def test_pages_show_every_host_once(statistics: StatisticsStore, tenant: str, limit: int) -> None:
    names = [f"{letter}.example" for letter in "bcade"]
    hosts = tuple(host(tenant, name, crawls=1) for name in names)
    statistics.write(Numbers(cursor=CountCursor(tenant=tenant), hosts=hosts))
    found, after = list[str](), None
    while True:
        page = statistics.host_page(tenant, after, limit)
        found += [each.host for each in page.items]
        after = page.after
        if after is None:
            break
    assert found == sorted(names)


# covers P-13
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8])
def test_the_log_shows_jobs_in_the_order_of_their_creation(
    tables: Tables | None, tenant: str, limit: int
) -> None:
    jobs = [factories.job(tenant=tenant, id=f"job_{n:03d}") for n in range(7)]
    batch = factories.job(tenant=tenant, id="publish_20260102T120000_0")
    other = factories.job(tenant=f"{tenant}x", id="job_003")
    log = log_of(tables, *jobs, batch, other)
    found, after = list[str](), ""
    while ids := log.following(tenant, after, limit):
        assert len(ids) <= limit
        found += ids
        after = ids[-1]
    assert found == sorted([list_id(batch), *(job.id for job in jobs)])
    assert log.jobs(tenant, [list_id(batch)]) == {}
    assert log.jobs(tenant, ["job_002", "job_009"]) == {"job_002": jobs[2]}
