"""The limits of one sweeper pass, and the errors that it must survive."""

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.jobs import limits
from spinneret.jobs.keys import wake_shard
from spinneret.jobs.models import Job, JobRef, JobStatus, Priority
from spinneret.jobs.ports import DuePage
from spinneret.jobs.sweeper import Sweeper, SweepResult
from spinneret.kernel import bounds
from spinneret.kernel.errors import DependencyUnavailable
from tests import factories
from tests.fakes.jobs import FakeJobQueue, FakeJobStore, no_parent
from tests.fakes.time import HandClock
from tests.kinds import KINDS
from tests.unit.jobs.sweeps import abandoned, add, claim, of_one_shard, stored

MINUTE = 60.0
SHARD = wake_shard("job_0")

SWEPT = {name: KINDS[name] for name in ("crawl", "publish")}


class TroubledStore(FakeJobStore):
    """A store whose reads of a row or a shard may fail, and whose calls may take time."""

    def __init__(self, clock: HandClock) -> None:
        super().__init__()
        self.reads: list[JobRef] = []
        self.seconds = 0.0
        self.row: Callable[[JobRef], None] = lambda _: None
        self.shard: Callable[[int], None] = lambda _: None
        self._clock = clock

    def get(self, ref: JobRef) -> Job | None:
        self.reads.append(ref)
        self._clock.advance(self.seconds)
        self.row(ref)
        return super().get(ref)

    def to_wake(self, shard: int, until: Any, limit: int, after: Any = None) -> DuePage:
        self.shard(shard)
        return super().to_wake(shard, until, limit, after)


@pytest.fixture
def store(clock: HandClock) -> TroubledStore:
    return TroubledStore(clock)


@pytest.fixture
def sweeper(store: TroubledStore, queue: FakeJobQueue, clock: HandClock) -> Sweeper:
    return Sweeper(
        store=store,
        queue=queue,
        kinds=SWEPT,
        clock=clock,
        look_at_parent=no_parent,
    )


def failing(error: Exception, *refs: JobRef) -> Callable[[JobRef], None]:
    """Return a function that makes reads of these rows fail."""

    def read(ref: JobRef) -> None:
        if ref in refs:
            raise error

    return read


# ---------------------------------------------------------------- Limits of a pass


@pytest.mark.heavy
def test_a_pass_goes_through_all_pages_of_all_shards(
    sweeper: Sweeper, store: TroubledStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    per_shard = 2 * limits.SWEEP_PAGE + 5
    for shard in range(limits.WAKE_SHARDS):
        add(store, *abandoned(per_shard, shard))
    clock.advance(MINUTE)
    assert sweeper.sweep() == SweepResult(leases_expired=per_shard * limits.WAKE_SHARDS)
    assert len(set(queue.take())) == per_shard * limits.WAKE_SHARDS
    assert sweeper.sweep() == SweepResult()


def test_waking_ends_in_time_and_the_next_passes_do_the_rest(
    sweeper: Sweeper, store: TroubledStore, clock: HandClock
) -> None:
    jobs = abandoned(3 * limits.SWEEP_PAGE)
    add(store, *jobs)
    clock.advance(MINUTE)
    store.seconds = limits.SWEEP_WAKE_SECONDS / limits.SWEEP_PAGE
    began = clock()
    first = sweeper.sweep()
    assert (clock() - began).total_seconds() == pytest.approx(limits.SWEEP_WAKE_SECONDS)
    assert first.leases_expired == limits.SWEEP_PAGE
    assert first.unfinished > 0
    assert [sweeper.sweep().leases_expired for _ in range(2)] == [limits.SWEEP_PAGE] * 2
    assert {stored(store, job.ref).status for job in jobs} == {JobStatus.PENDING}


@pytest.mark.heavy
def test_waking_leaves_resends_their_time_and_takes_none_of_theirs(
    sweeper: Sweeper, store: TroubledStore, clock: HandClock
) -> None:
    """Both kinds of work exceed the capacity of a pass."""
    add(store, *abandoned(5 * limits.SWEEP_PAGE))
    lost = range(5 * limits.SWEEP_PAGE)
    add(store, *(factories.job(id=f"lost_{n}", priority=Priority.LOW) for n in lost))
    clock.advance(MINUTE)
    store.seconds = 0.1
    began = clock()
    swept = sweeper.sweep()
    assert swept.leases_expired == pytest.approx(limits.SWEEP_WAKE_SECONDS / 0.1, abs=1)
    rest = limits.SWEEP_SECONDS - limits.SWEEP_WAKE_SECONDS
    assert swept.resent == pytest.approx(rest / 0.1, abs=1)
    assert (clock() - began).total_seconds() == pytest.approx(limits.SWEEP_SECONDS, abs=0.11)


def test_a_pass_is_bounded_in_jobs(
    sweeper: Sweeper, store: TroubledStore, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SWEEP_WAKES", 30)
    monkeypatch.setattr(limits, "SWEEP_RESENDS", 20)
    add(store, *abandoned(50))
    for priority in (Priority.HIGH, Priority.LOW):
        add(store, *(factories.job(id=f"{priority}_{n}", priority=priority) for n in range(50)))
    clock.advance(MINUTE)
    swept = sweeper.sweep()
    assert (swept.leases_expired, swept.resent) == (30, 2 * 20)
    assert swept.unfinished > 0


def test_no_shard_waits_for_the_end_of_another_one_s_backlog(
    sweeper: Sweeper, store: TroubledStore, clock: HandClock
) -> None:
    other = (SHARD + 1) % limits.WAKE_SHARDS
    add(store, *abandoned(5 * limits.SWEEP_PAGE))
    [late] = abandoned(1, other)
    add(store, late)
    clock.advance(MINUTE)
    store.seconds = limits.SWEEP_WAKE_SECONDS / (2 * limits.SWEEP_PAGE)
    sweeper.sweep()
    assert stored(store, late.ref).status is JobStatus.PENDING


def test_every_minute_another_shard_is_the_first(
    sweeper: Sweeper, store: TroubledStore, clock: HandClock
) -> None:
    firsts = []
    for _ in range(limits.WAKE_SHARDS):
        asked: list[int] = []
        store.shard = asked.append
        sweeper.sweep()
        assert sorted(asked) == list(range(limits.WAKE_SHARDS))
        firsts.append(asked[0])
        clock.advance(MINUTE)
    assert sorted(firsts) == list(range(limits.WAKE_SHARDS))


# ---------------------------------------------------------------- Errors that don't stop a pass


@pytest.mark.parametrize(
    "error", [KeyError("field"), ValueError("'archived' is not a valid JobStatus")]
)
def test_rows_that_can_not_be_read_hide_nothing(
    sweeper: Sweeper,
    store: TroubledStore,
    clock: HandClock,
    error: Exception,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """In every pass, more unreadable rows than a page holds come before the others."""
    *bad, late = of_one_shard(2 * limits.SWEEP_PAGE + 1)
    add(store, *bad, late)
    store.row = failing(error, *(job.ref for job in bad))
    clock.advance(1)
    claim(store, late.ref, clock)
    clock.advance(60)
    for _ in range(2):
        swept = sweeper.sweep()
        assert swept.failed == len(bad)
    store.row = failing(error)
    assert stored(store, late.ref).status is JobStatus.PENDING
    names = {record.message for record in caplog.records if record.levelno >= logging.ERROR}
    assert names == {"sweep_failed"}


def test_a_kind_that_this_release_does_not_know_concerns_no_other_job(
    sweeper: Sweeper, store: TroubledStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    odd, even = abandoned(2)
    add(store, replace(odd, kind="never-heard-of"), even)
    clock.advance(MINUTE)
    assert sweeper.sweep() == SweepResult(leases_expired=2)
    assert [sent.ref for sent in queue.take()] == [even.ref]


def test_a_kind_that_this_release_does_not_know_waits_until_its_jobs_expire(
    sweeper: Sweeper, store: TroubledStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    waits = {"kind": "never-heard-of", "sends": 0, "expires_at": clock() + timedelta(hours=1)}
    [job] = of_one_shard(1, **waits)
    add(store, job)
    clock.advance(MINUTE)
    assert sweeper.sweep() == SweepResult()
    assert (stored(store, job.ref), queue.take()) == (job, [])
    clock.advance(60 * MINUTE)
    assert sweeper.sweep() == SweepResult(expired=1)


def test_a_call_that_is_refused_concerns_no_other_job(
    sweeper: Sweeper, store: TroubledStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    jobs = of_one_shard(20)
    add(store, *jobs)
    store.row = failing(DependencyUnavailable("dynamodb"), *(job.ref for job in jobs[::3]))
    clock.advance(limits.RESEND_GRACE_SECONDS + 1)
    assert sweeper.sweep() == SweepResult(resent=13, failed=7)
    queue.take()
    store.row = failing(DependencyUnavailable("dynamodb"))
    assert sweeper.sweep() == SweepResult(resent=7)


def test_a_shard_that_does_not_answer_concerns_no_other_shard(
    sweeper: Sweeper, store: TroubledStore, clock: HandClock
) -> None:
    def busy(shard: int) -> None:
        if shard == SHARD:
            raise DependencyUnavailable("dynamodb")

    store.shard = busy
    for shard in range(limits.WAKE_SHARDS):
        add(store, *abandoned(1, shard))
    clock.advance(MINUTE)
    assert sweeper.sweep() == SweepResult(leases_expired=limits.WAKE_SHARDS - 1, failed=1)


def test_a_store_that_is_down_is_reported_and_not_asked_for_every_job(
    sweeper: Sweeper, store: TroubledStore, clock: HandClock
) -> None:
    jobs = of_one_shard(50)
    add(store, *jobs)
    store.row = failing(DependencyUnavailable("dynamodb"), *(job.ref for job in jobs))
    clock.advance(limits.RESEND_GRACE_SECONDS + 1)
    with pytest.raises(DependencyUnavailable):
        sweeper.sweep()
    assert len(store.reads) == bounds.SWEEP_REFUSALS


def test_an_index_that_is_down_is_reported(sweeper: Sweeper, store: TroubledStore) -> None:
    def down(_: int) -> None:
        raise DependencyUnavailable("dynamodb")

    store.shard = down
    with pytest.raises(DependencyUnavailable):
        sweeper.sweep()
