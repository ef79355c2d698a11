"""A tenant's statistics through their routes."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

import pytest

from search.stats_routes import router
from spinneret.content.caches.models import CacheName
from spinneret.content.caches.service import Caches
from spinneret.content.search.models import Query
from spinneret.content.search.service import SearchService
from spinneret.jobs.models import JobStatus
from spinneret.kernel.clock import Remaining
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.operations.statistics.service import JobCounts, Statistics
from spinneret.web.politeness.models import BreakerView, Circuit
from tests import factories
from tests.factories import TENANT
from tests.fakes.caches import FakeCacheStore
from tests.fakes.documents import FakeDocumentStore
from tests.fakes.jobs import FakeJobStore
from tests.fakes.search import FakeChunkIndex, FakeEmbedder
from tests.fakes.statistics import FakeJobLog, FakeStatisticsStore
from tests.fakes.time import START, HandClock, plenty
from tests.unit.served import Served

PATH = "/api/v1/stats"
OPEN = BreakerView(circuit=Circuit.OPEN, failures=5, opened_at=START, retry_after=30.0)
CLOSED = BreakerView(circuit=Circuit.CLOSED, failures=0, opened_at=None, retry_after=None)


class Numbered:
    """Routes over the jobs, searches and checks of one tenant."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.log = FakeJobLog()
        self.index = FakeChunkIndex()
        self.caches = Caches(store=FakeCacheStore(), clock=self.clock)
        self.checks: dict[date, int] = {}
        store = FakeStatisticsStore()
        self.services = Statistics(
            counts=JobCounts(store=store, log=self.log, clock=self.clock),
            store=store,
            use=self.caches.uses.days,
            checks=self._checks,
            targets={TENANT: 3}.get,  # type: ignore[arg-type]  # asked for this tenant only
            totals=self.index.totals,
            breaker=lambda host: OPEN if host == "b.example" else CLOSED,
            clock=self.clock,
        )
        self.api = Served(router, self.services)

    def get(self, path: str = "", **query: str) -> Any:
        answer = self.api.send("GET", f"{PATH}{path}", **query)
        assert answer.status == 200, answer
        return answer.body

    def crawl(self, number: int, domain: str, status: JobStatus = JobStatus.COMPLETED) -> None:
        ended = self.clock()
        started = ended - timedelta(seconds=2)
        self.log.put(
            factories.job(
                id=f"job_{number:03d}",
                domain=domain,
                status=status,
                started_at=started,
                finished_at=ended,
                result={"bytes": 1000} if status is JobStatus.COMPLETED else None,
            )
        )

    def search(self, *texts: str) -> None:
        service = SearchService(
            embedder=FakeEmbedder(),
            index=self.index,
            documents=FakeDocumentStore(FakeJobStore()),
            caches=self.caches,
            clock=self.clock,
        )
        for text in texts:
            service.search(Query(tenant=TENANT, text=text), plenty)

    def _checks(self, tenant: str, since: date) -> Mapping[date, int]:
        assert tenant == TENANT
        return {day: number for day, number in self.checks.items() if day >= since}


# covers P-13
def test_there_are_thirty_days_of_which_the_last_is_today() -> None:
    numbered = Numbered()
    numbered.crawl(1, "a.example")
    numbered.clock.advance(24 * 3600)
    numbered.crawl(2, "a.example", JobStatus.FAILED)
    numbered.checks = {START.date(): 7, START.date() - timedelta(days=40): 9}
    stats = numbered.get()
    days = stats["days"]
    assert [day["day"] for day in (days[0], days[-2], days[-1])] == [
        "2025-12-05",
        "2026-01-02",
        "2026-01-03",
    ]
    assert len(days) == 30
    shown = [(day["crawls_succeeded"], day["crawls_failed"], day["checks_total"]) for day in days]
    assert shown == [(0, 0, 0)] * 28 + [(1, 0, 7), (0, 1, 0)]
    assert (stats["until"], stats["complete"]) == ("2026-01-03T12:00:00.000000Z", True)


# covers P-13
def test_searches_are_counted_with_their_caches_and_durations() -> None:
    numbered = Numbered()
    numbered.search("silk", "silk", "webs")
    stats = numbered.get()
    today = stats["days"][-1]
    assert (today["searches_total"], today["cache_hits"], today["cache_misses"]) == (3, 1, 4)
    durations = stats["durations"]
    assert durations["search_duration_ms"]["count"] == 3
    assert durations["embedding_duration_ms"]["count"] == 2
    assert durations["crawl_duration_ms"] == dict.fromkeys(("p50_ms", "p95_ms", "p99_ms")) | {
        "count": 0
    }


# covers P-13
def test_percentiles_are_of_all_days() -> None:
    numbered = Numbered()
    for number in range(3):
        numbered.crawl(number, "a.example")
        numbered.clock.advance(24 * 3600)
    found = numbered.get()["durations"]["crawl_duration_ms"]
    assert found["count"] == 3
    assert found["p50_ms"] == found["p99_ms"] == pytest.approx(2000, rel=0.05)


# covers P-13
def test_gauges_show_the_state_now() -> None:
    numbered = Numbered()
    numbered.log.put(
        factories.job(id="job_1", kind="deep_crawl", status=JobStatus.RUNNING),
        factories.job(id="job_2"),
    )
    chunks = [
        factories.indexed_chunk(f"silk {n}", document_id=f"doc_{n % 2}", index=n) for n in (0, 1, 2)
    ]
    numbered.index.write(chunks, plenty)
    gauges = numbered.get()["gauges"]
    assert gauges == {
        "jobs_running": 1,
        "jobs_queued": 1,
        "jobs_paused": 0,
        "active_deep_crawls": 1,
        "targets_total": 3,
        "documents_total": 2,
        "chunks_total": 3,
    }


# covers P-13
def test_without_the_index_its_gauges_are_null() -> None:
    numbered = Numbered()
    numbered.index.available = False
    gauges = numbered.get()["gauges"]
    assert (gauges["documents_total"], gauges["chunks_total"], gauges["targets_total"]) == (
        None,
        None,
        3,
    )


# covers P-13
def test_hosts_are_listed_by_name_with_their_breakers() -> None:
    numbered = Numbered()
    numbered.crawl(1, "b.example", JobStatus.FAILED)
    numbered.crawl(2, "a.example")
    first = numbered.get("/domains", limit="1")
    assert first["items"] == [
        {
            "domain": "a.example",
            "crawls_total": 1,
            "crawls_failed": 0,
            "bytes_total": 1000,
            "duration_ms_mean": 2000.0,
            "last_crawl_at": "2026-01-02T12:00:00.000000Z",
            "circuit": "closed",
        }
    ]
    second = numbered.get("/domains", limit="1", cursor=first["next_cursor"])
    [host] = second["items"]
    assert (host["domain"], host["crawls_failed"], host["duration_ms_mean"]) == (
        "b.example",
        1,
        None,
    )
    assert (host["circuit"], second["has_more"]) == ("open", False)


# covers P-13
def test_another_tenant_sees_none_of_it() -> None:
    numbered = Numbered()
    numbered.crawl(1, "a.example")
    numbered.get()
    assert numbered.api.send("GET", f"{PATH}/domains", tenant="globex").body["items"] == []


def test_a_store_that_is_down_is_unavailable() -> None:
    numbered = Numbered()

    def down(tenant: str, remaining: Remaining) -> tuple[int, int]:
        raise DependencyUnavailable("dynamodb")

    numbered.services.targets = lambda tenant: down(tenant, plenty)[0]
    assert numbered.api.send("GET", PATH).status == 503


# covers P-13
@pytest.mark.parametrize(("uses", "stored"), [(24, 0), (25, 25)])
def test_uses_are_stored_by_number(uses: int, stored: int) -> None:
    store, clock = FakeCacheStore(), HandClock()
    caches = Caches(store=store, clock=clock)
    for _ in range(uses):
        caches.uses.used(TENANT, CacheName.QUERY, hits=1, misses=0)
    found = store.uses(TENANT, [START.date()])
    assert sum(day.caches[CacheName.QUERY].hits for day in found.values()) == stored


# covers P-13
def test_uses_are_stored_when_they_are_a_minute_old() -> None:
    store, clock = FakeCacheStore(), HandClock()
    caches = Caches(store=store, clock=clock)
    caches.uses.searched(TENANT, 5.0, None)
    clock.advance(60)
    caches.uses.searched(TENANT, 5.0, None)
    assert store.uses(TENANT, [START.date()])[START.date()].searches == 2
