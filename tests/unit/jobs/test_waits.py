"""Requests that wait for a job's end or its events."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from spinneret.jobs import rules
from spinneret.jobs.live.waiting import JobWaits
from spinneret.jobs.models import Job, JobEvent, JobRef, JobStatus
from spinneret.jobs.ports import Claimed
from spinneret.jobs.service import JobService
from spinneret.kernel.errors import NotFound
from tests.factories import TENANT
from tests.fakes.jobs import FakeJobStore
from tests.fakes.time import START, HandClock
from tests.unit.jobs.submissions import ids, submit


class CountingStore(FakeJobStore):
    """A store that counts the reads of a wait."""

    def __init__(self) -> None:
        super().__init__()
        self.gets = self.queries = 0

    def get(self, ref: JobRef) -> Job | None:
        self.gets += 1
        return super().get(ref)

    def events(self, ref: JobRef, after: str | None, limit: int) -> list[JobEvent]:
        self.queries += 1
        return super().events(ref, after, limit)


@pytest.fixture
def store() -> CountingStore:
    return CountingStore()


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def end(store: FakeJobStore, clock: HandClock) -> Callable[[JobRef], None]:
    def by_a_worker(ref: JobRef) -> None:
        claimed = store.claim(ref, "one", clock(), clock() + timedelta(minutes=1))
        assert isinstance(claimed, Claimed)
        after = rules.complete(claimed.job, {}, clock())
        store.transition(claimed.job, after, [rules.status_event(after, clock())])

    return by_a_worker


@pytest.fixture
def waits(store: FakeJobStore, clock: HandClock, pauses: list[float]) -> JobWaits:
    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        clock.advance(seconds)

    return JobWaits(store=store, clock=clock, sleep=sleep)


@pytest.fixture
def ref(service: JobService) -> JobRef:
    [job_id] = ids(submit(service))
    return JobRef(tenant=TENANT, job_id=job_id)


def test_a_wait_backs_off_reads_one_row_and_ends_in_time(
    waits: JobWaits, store: CountingStore, clock: HandClock, ref: JobRef, pauses: list[float]
) -> None:
    store.gets = 0
    assert waits.end(ref, START + timedelta(seconds=25)) is None
    assert clock() == START + timedelta(seconds=25)
    assert pauses[:6] == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]
    assert store.gets == len(pauses) + 1 <= 30
    assert store.queries == 0


def test_a_finished_job_is_returned_without_a_pause(
    waits: JobWaits, ref: JobRef, pauses: list[float], end: Callable[[JobRef], None]
) -> None:
    end(ref)
    job = waits.end(ref, START)
    assert job is not None
    assert (job.id, job.status, pauses) == (ref.job_id, JobStatus.COMPLETED, [])


def test_a_stream_without_news_reads_the_row_only(
    waits: JobWaits, store: CountingStore, ref: JobRef, pauses: list[float]
) -> None:
    [first] = store.events(ref, None, 9)
    store.gets = store.queries = 0
    assert waits.events(ref, first.id, START + timedelta(seconds=25)) == []
    assert (store.gets, store.queries) == (len(pauses) + 1, 1)


# covers P-07
def test_a_stream_ends_with_the_first_event(
    waits: JobWaits,
    store: FakeJobStore,
    clock: HandClock,
    ref: JobRef,
    end: Callable[[JobRef], None],
) -> None:
    [first] = store.events(ref, None, 9)
    ended: list[float] = []

    def sleep(seconds: float) -> None:
        clock.advance(seconds)
        if clock() >= START + timedelta(seconds=7) and not ended:
            end(ref)
            ended.append(seconds)

    waits = JobWaits(store=store, clock=clock, sleep=sleep)
    found = waits.events(ref, first.id, START + timedelta(seconds=25))
    assert found
    assert found[-1].message == "completed"
    assert clock() < START + timedelta(seconds=9)
    assert waits.events(ref, found[-1].id, START + timedelta(seconds=25)) is None


@pytest.mark.parametrize(("tenant", "kinds"), [("another", ()), (TENANT, ("audit",))])
def test_what_is_not_the_caller_s_job_of_the_kind_has_no_events(
    waits: JobWaits, ref: JobRef, tenant: str, kinds: tuple[str, ...]
) -> None:
    with pytest.raises(NotFound):
        waits.events(JobRef(tenant=tenant, job_id=ref.job_id), None, START, *kinds)
