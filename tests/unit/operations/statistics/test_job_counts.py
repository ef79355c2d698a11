"""Counts of jobs after their end."""

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from spinneret.jobs.models import Failure, Job, JobStatus, ParentState
from spinneret.kernel import histogram
from spinneret.kernel.ids import id_maker
from spinneret.operations.statistics import limits
from spinneret.operations.statistics.models import HostUse, Numbers, Unfinished
from spinneret.operations.statistics.service import JobCounts
from tests import factories
from tests.factories import TENANT
from tests.fakes.statistics import FakeJobLog, FakeStatisticsStore
from tests.fakes.time import START, HandClock

SETTLED = limits.SETTLED_SECONDS + 1
DONE = {"status": JobStatus.COMPLETED, "result": {"bytes": 100}, "started_at": START}


class Counted:
    """Jobs of one tenant, and their counts."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.log = FakeJobLog()
        self.store = FakeStatisticsStore()
        self.counts = JobCounts(store=self.store, log=self.log, clock=self.clock)
        self.new_id = id_maker(self.clock)

    def job(self, **given: Any) -> Job:
        """Add a new job; a job with a final status ends now."""
        values: dict[str, Any] = {"id": self.new_id("job"), "domain": "site.example"} | given
        job = factories.job(**values)
        if job.status not in (JobStatus.PENDING, JobStatus.RUNNING, JobStatus.PAUSED):
            job = factories.job(**values, finished_at=self.clock())
        self.log.put(job)
        return job

    def count(self) -> Unfinished:
        return self.counts.count(TENANT)

    def ends(self, day: datetime = START) -> dict[str, int]:
        found = self.store.days(TENANT, [day.date()])
        return dict(found[day.date()].ends) if found else {}

    def host(self, name: str = "site.example") -> HostUse | None:
        return self.store.hosts(TENANT, [name]).get(name)


# covers P-13
@pytest.mark.parametrize(
    ("given", "ends"),
    [
        (
            {"kind": "crawl", "status": JobStatus.COMPLETED},
            {"crawls_total": 1, "crawls_succeeded": 1, "pages_crawled": 1},
        ),
        (
            {"kind": "rendered_crawl", "status": JobStatus.COMPLETED},
            {"crawls_total": 1, "crawls_succeeded": 1, "pages_crawled": 1},
        ),
        (
            {"kind": "crawl", "status": JobStatus.EXPIRED},
            {"crawls_total": 1, "crawls_failed": 1, "pages_failed": 1},
        ),
        ({"kind": "crawl", "status": JobStatus.CANCELLED}, {"crawls_total": 1}),
        (
            {
                "kind": "deep_crawl",
                "status": JobStatus.PARTIALLY_FAILED,
                "result": {"pages_crawled": 9, "pages_failed": 2},
            },
            {"pages_crawled": 9, "pages_failed": 2},
        ),
        (
            {
                "kind": "deep_crawl",
                "status": JobStatus.FAILED,
                "last_error": Failure(
                    code="PAGES_FAILED", message="m", type="permanent", details={"pages_failed": 3}
                ),
            },
            {"pages_failed": 3},
        ),
        ({"kind": "delivery", "status": JobStatus.COMPLETED}, {"webhooks_delivered": 1}),
        ({"kind": "delivery", "status": JobStatus.FAILED}, {"webhooks_failed": 1}),
        ({"kind": "audit", "status": JobStatus.PARTIALLY_FAILED}, {"audits_succeeded": 1}),
        ({"kind": "audit", "status": JobStatus.FAILED}, {"audits_failed": 1}),
        (
            {
                "kind": "publish",
                "status": JobStatus.COMPLETED,
                "payload": {"action_code": "publish"},
            },
            {"listings_published": 1},
        ),
        (
            {
                "kind": "publish",
                "status": JobStatus.FAILED,
                "payload": {"action_code": "publish"},
            },
            {"listings_failed": 1},
        ),
        (
            {"kind": "publish", "status": JobStatus.COMPLETED, "payload": {"action_code": "sync"}},
            {},
        ),
        ({"kind": "crawl_batch", "status": JobStatus.COMPLETED}, {}),
    ],
)
def test_an_end_adds_to_its_day(given: dict[str, Any], ends: dict[str, int]) -> None:
    counted = Counted()
    counted.job(**given)
    counted.count()
    assert counted.ends() == ends


# covers P-13
def test_a_job_counts_once_however_often_it_is_looked_at() -> None:
    counted = Counted()
    counted.job(**DONE)
    for _ in range(3):
        counted.count()
    counted.clock.advance(SETTLED)
    counted.count()
    counted.job(**DONE)
    counted.count()
    assert counted.ends()["crawls_total"] == 2
    assert counted.store.cursor(TENANT).counted == (max(ref.job_id for ref in counted.log.stored),)


# covers P-13
def test_a_job_counts_when_it_ends_however_late() -> None:
    counted = Counted()
    slow = counted.job(status=JobStatus.RUNNING)
    counted.job(**DONE)
    counted.clock.advance(SETTLED)
    assert counted.count() == Unfinished(running=1)
    counted.clock.advance(24 * 3600)
    assert counted.count().running == 1
    ended = factories.job(id=slow.id, domain="site.example", finished_at=counted.clock(), **DONE)
    counted.log.put(ended)
    assert counted.count() == Unfinished()
    later = START + timedelta(days=1)
    assert (counted.ends()["crawls_total"], counted.ends(later)["crawls_total"]) == (1, 1)
    assert counted.store.cursor(TENANT).unfinished == ()


# covers P-13
def test_a_job_that_the_index_shows_late_is_counted() -> None:
    counted = Counted()
    hidden = counted.job(**DONE)
    counted.log.unlisted.add(hidden.id)
    counted.job(**DONE)
    counted.count()
    assert counted.ends()["crawls_total"] == 1
    counted.log.unlisted.clear()
    counted.count()
    assert counted.ends()["crawls_total"] == 2


# covers P-13
def test_a_planned_child_that_is_stored_late_is_counted() -> None:
    counted = Counted()
    promised = counted.new_id("job")
    family = ParentState(shards=1, plan_rows=1)
    parent = counted.job(kind="crawl_batch", created_at=counted.clock(), family=family)
    counted.clock.advance(limits.CHILDREN_MADE_SECONDS - 1)
    counted.job(**DONE)
    counted.count()
    counted.job(id=promised, **DONE)
    counted.log.put(replace(parent, family=replace(family, cursor=None)))
    counted.count()
    assert counted.ends()["crawls_total"] == 2


# covers P-13
def test_of_two_requests_that_count_at_once_one_counts() -> None:
    counted = Counted()
    counted.job(**DONE)
    other = JobCounts(store=counted.store, log=counted.log, clock=counted.clock)
    write, calls = counted.store.write, Counter[str]()

    def raced(numbers: Numbers) -> bool:
        if not calls["write"]:
            calls["write"] += 1
            other.count(TENANT)
        return write(numbers)

    counted.store.write = raced  # type: ignore[method-assign]  # another request in between
    assert counted.count().complete
    assert counted.ends()["crawls_total"] == 1


# covers P-13
def test_a_host_has_the_sums_of_its_crawls() -> None:
    counted = Counted()
    counted.clock.advance(2)
    counted.job(**DONE)
    counted.clock.advance(2)
    counted.job(**DONE)
    counted.job(status=JobStatus.FAILED)
    counted.job(status=JobStatus.CANCELLED, domain="never.example")
    counted.job(kind="audit", status=JobStatus.COMPLETED, domain="audited.example")
    counted.job(
        kind="deep_crawl",
        status=JobStatus.COMPLETED,
        domain="deep.example",
        result={"pages_crawled": 4, "pages_failed": 1},
    )
    counted.count()
    assert counted.host() == HostUse(
        tenant=TENANT,
        host="site.example",
        crawls=3,
        failures=1,
        bytes=200,
        timed=2,
        duration_ms=6000,
        last_crawl_at=START + timedelta(seconds=4),
    )
    deep = counted.host("deep.example")
    assert deep is not None
    assert (deep.crawls, deep.failures, deep.timed) == (5, 1, 0)
    assert counted.host("never.example") is counted.host("audited.example") is None


# covers P-13
def test_durations_of_crawls_are_in_the_histogram() -> None:
    counted = Counted()
    for seconds in (1, 3):
        counted.clock.advance(seconds)
        counted.job(**DONE)
    counted.job(status=JobStatus.FAILED, started_at=START)
    counted.count()
    [day] = counted.store.days(TENANT, [START.date()]).values()
    assert day.crawl_ms == {histogram.bucket_of(1000): 1, histogram.bucket_of(4000): 1}


# covers P-13
@pytest.mark.heavy
def test_more_jobs_and_hosts_than_a_transaction_takes_are_counted_in_steps() -> None:
    counted = Counted()
    number = 2 * limits.READ + 50
    for n in range(number):
        counted.job(**DONE | {"domain": f"host-{n % 150:03d}.example"})
    counted.clock.advance(SETTLED)
    assert counted.count().complete
    assert counted.ends()["crawls_total"] == number
    hosts = counted.store.host_page(TENANT, None, 1000).items
    assert (len(hosts), sum(each.crawls for each in hosts)) == (150, number)


# covers P-13
@pytest.mark.heavy
def test_a_request_stops_in_time_and_a_later_one_continues() -> None:
    counted = Counted()
    for _ in range(3 * limits.READ):
        counted.job(**DONE)
    counted.clock.advance(SETTLED)
    jobs = counted.log.jobs

    def slow(tenant: str, ids: Any) -> Any:
        counted.clock.advance(limits.COUNT_SECONDS)
        return jobs(tenant, ids)

    counted.log.jobs = slow  # type: ignore[method-assign]  # takes a request's time
    assert [counted.count().complete for _ in range(4)] == [False, False, False, True]
    assert counted.ends()["crawls_total"] == 3 * limits.READ


# covers P-13
def test_unfinished_jobs_are_counted_by_state() -> None:
    counted = Counted()
    counted.job(status=JobStatus.RUNNING, kind="deep_crawl")
    counted.job(status=JobStatus.RUNNING)
    counted.clock.advance(SETTLED)
    counted.count()
    counted.job(status=JobStatus.PENDING)
    counted.job(status=JobStatus.PAUSED)
    counted.job(**DONE)
    found = counted.count()
    assert found == Unfinished(running=2, queued=1, paused=1, deep_crawls=1, complete=True)


# covers P-13
def test_too_many_unfinished_jobs_hold_the_place_until_some_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "UNFINISHED_MAX", 3)
    counted = Counted()
    waiting = [counted.job() for _ in range(4)]
    counted.job(**DONE)
    counted.clock.advance(SETTLED)
    assert not counted.count().complete
    assert counted.ends() == {}
    counted.log.put(
        factories.job(id=waiting[0].id, status=JobStatus.CANCELLED, finished_at=counted.clock())
    )
    assert counted.count().complete
    assert counted.ends()["crawls_total"] == 2


def test_nothing_new_writes_nothing() -> None:
    counted = Counted()
    counted.count()
    counted.job(**DONE)
    counted.job(status=JobStatus.RUNNING)
    counted.clock.advance(SETTLED)
    for _ in range(3):
        counted.count()
    assert counted.store.writes == 1
