"""No accepted job waits forever."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.jobs import limits, rules
from spinneret.jobs.keys import wake_shard
from spinneret.jobs.models import Job, JobEvent, JobRef, JobStatus, Priority
from spinneret.jobs.ports import DuePage
from spinneret.jobs.sweeper import Sweeper, SweepResult
from spinneret.kernel import bounds
from spinneret.kernel.errors import DependencyUnavailable, LeaseLost
from tests import factories
from tests.fakes.jobs import FakeJobQueue, FakeJobStore, Sent, no_parent
from tests.fakes.time import START, HandClock
from tests.kinds import CRAWL_LOW, CRAWL_NORMAL, KINDS
from tests.metrics import recorded
from tests.unit.jobs.sweeps import add, claim, of_one_shard, stored

MINUTE = 60.0
NOTHING = SweepResult()

SWEPT = {name: KINDS[name] for name in ("crawl", "publish")}


@pytest.fixture
def sweeper(store: FakeJobStore, queue: FakeJobQueue, clock: HandClock) -> Sweeper:
    return Sweeper(
        store=store,
        queue=queue,
        kinds=SWEPT,
        clock=clock,
        look_at_parent=no_parent,
    )


def test_an_empty_store_needs_nothing(sweeper: Sweeper, queue: FakeJobQueue) -> None:
    assert sweeper.sweep() == NOTHING
    assert queue.sent == []


# covers P-12
def test_a_sweep_records_depths_and_how_late_it_wakes(
    sweeper: Sweeper, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    job = factories.job()
    queue.send(CRAWL_LOW, [job.ref])
    recorded()
    sweeper.sweep()
    depths = {"queue_depth_high": [0], "queue_depth_normal": [0], "queue_depth_low": [1]}
    assert recorded() == {**depths, "wake_late_seconds": [0]}
    add(store, job)
    claim(store, job.ref, clock, seconds=60)
    clock.advance(3600)
    assert sweeper.sweep().leases_expired == 1
    found = recorded()
    assert 0 < found["wake_late_seconds"][0] <= 3540
    assert found["leases_reclaimed"] == [1]


# covers P-04
def test_a_job_whose_message_was_lost_is_sent_again(
    sweeper: Sweeper, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    job = factories.job(priority=Priority.LOW)
    add(store, job)
    clock.advance(limits.RESEND_GRACE_SECONDS - 1)
    assert sweeper.sweep() == NOTHING
    clock.advance(1)
    assert sweeper.sweep() == SweepResult(resent=1)
    assert queue.take() == [Sent(CRAWL_LOW, job.ref, 0)]
    assert sweeper.sweep() == NOTHING
    assert stored(store, job.ref).sends == 2


def test_a_job_that_is_not_due_yet_waits(
    sweeper: Sweeper, store: FakeJobStore, clock: HandClock
) -> None:
    add(store, factories.job(due_at=START + timedelta(hours=1)))
    clock.advance(3600)
    assert sweeper.sweep() == NOTHING
    clock.advance(limits.RESEND_GRACE_SECONDS)
    assert sweeper.sweep().resent == 1


@pytest.mark.heavy
def test_a_busy_lane_is_not_flooded_with_messages(
    sweeper: Sweeper, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    """In six hours of backlog, a job gets a message per hour, although a pass runs each minute."""
    add(store, factories.job())
    for _ in range(6 * 60):
        clock.advance(MINUTE)
        sweeper.sweep()
    backlog = 6 * 60 * MINUTE
    assert len(queue.sent) <= backlog / limits.RESEND_CAP_SECONDS + 10


def test_a_backlog_does_not_hide_what_comes_after_it(
    sweeper: Sweeper, store: FakeJobStore, clock: HandClock
) -> None:
    """More jobs wait than a pass reaches, but a later job's expired lease is still found."""
    *backlog, late = of_one_shard(2 * limits.SWEEP_PAGE + 1)
    add(store, *backlog, late)
    clock.advance(1)
    claim(store, late.ref, clock, seconds=3600)
    for _ in range(24):
        clock.advance(5 * MINUTE)
        sweeper.sweep()
    assert stored(store, late.ref).status is JobStatus.PENDING


def test_a_lost_lease_is_charged_and_sent(
    sweeper: Sweeper, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    add(store, factories.job())
    running = claim(store, factories.job().ref, clock)
    clock.advance(59)
    assert sweeper.sweep() == NOTHING
    clock.advance(1)
    assert sweeper.sweep() == SweepResult(leases_expired=1)
    job = stored(store, running.ref)
    assert (job.status, job.attempts, job.fence) == (JobStatus.PENDING, 1, 2)
    assert queue.take() == [Sent(CRAWL_NORMAL, job.ref, 0)]
    last = store.events(job.ref, None, 99)[-1]
    assert (last.fence, last.data) == (2, {"status": "pending", "reason": "LEASE_EXPIRED"})


def test_the_last_lost_lease_fails_the_job_without_a_message(
    sweeper: Sweeper, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    add(store, factories.job(attempts=bounds.JOB_MAX_ATTEMPTS - 1))
    running = claim(store, factories.job().ref, clock)
    clock.advance(60)
    sweeper.sweep()
    job = stored(store, running.ref)
    assert (job.status, job.finished_at) == (JobStatus.FAILED, clock())
    assert queue.sent == []
    clock.advance(1e6)
    assert sweeper.sweep() == NOTHING


def test_the_event_of_a_lost_lease_stands_between_the_two_claims(
    sweeper: Sweeper, store: FakeJobStore, clock: HandClock
) -> None:
    add(store, factories.job())
    running = claim(store, factories.job().ref, clock)
    store.transition(running, running, [factories.event(fence=1, number=n) for n in range(1, 9)])
    clock.advance(60)
    sweeper.sweep()
    again = claim(store, running.ref, clock)
    store.transition(again, again, [factories.event(fence=again.fence, number=1)])
    events = store.events(running.ref, None, 99)
    reasons = [event.data.get("reason") for event in events]
    assert reasons[-2:] == ["LEASE_EXPIRED", None]


@pytest.mark.parametrize("status", [JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.PAUSED])
def test_a_finished_or_paused_job_is_left_alone(
    sweeper: Sweeper, store: FakeJobStore, clock: HandClock, status: JobStatus
) -> None:
    add(store, factories.job(status=status))
    clock.advance(1e6)
    assert sweeper.sweep() == NOTHING


def test_every_shard_is_swept(sweeper: Sweeper, store: FakeJobStore, clock: HandClock) -> None:
    jobs = [factories.job(id=f"job_{n}") for n in range(100)]
    assert {wake_shard(job.id) for job in jobs} == set(range(limits.WAKE_SHARDS))
    add(store, *jobs)
    clock.advance(limits.RESEND_GRACE_SECONDS)
    assert sweeper.sweep().resent == 100


def test_a_queue_that_is_down_costs_the_job_nothing(
    sweeper: Sweeper, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    add(store, factories.job())
    queue.available = False
    clock.advance(limits.RESEND_GRACE_SECONDS)
    sweeper.sweep()
    queue.available = True
    clock.advance(limits.RESEND_CAP_SECONDS)
    sweeper.sweep()
    assert len(queue.take()) == 1
    assert stored(store, factories.job().ref).attempts == 0


class LaggingIndex(FakeJobStore):
    """A store whose indexes name a job regardless of its row, as global indexes may for a while."""

    named: JobRef = factories.job().ref

    def to_wake(self, shard: int, until: Any, limit: int, after: Any = None) -> DuePage:
        return DuePage(refs=(self.named,) if shard == 0 else (), after=None)

    def to_resend(self, resend: Any, until: Any, limit: int, after: Any = None) -> DuePage:
        return DuePage(refs=(self.named,) if resend.shard == 0 else (), after=None)


@pytest.mark.parametrize("state", ["not yet", "finished", "gone"])
def test_an_index_that_lags_does_no_harm(state: str, queue: FakeJobQueue, clock: HandClock) -> None:
    store = LaggingIndex()
    if state != "gone":
        add(store, factories.job())
    if state == "finished":
        running = claim(store, store.named, clock)
        store.transition(running, rules.complete(running, {}, clock()))
    before = store.get(store.named)
    assert (
        Sweeper(
            store=store,
            queue=queue,
            kinds=SWEPT,
            clock=clock,
            look_at_parent=no_parent,
        ).sweep()
        == NOTHING
    )
    assert store.get(store.named) == before
    assert queue.sent == []


class RacedStore(FakeJobStore):
    """A store in which the worker renews its lease just before the sweeper writes."""

    def transition(
        self, before: Job, after: Job, events: Sequence[JobEvent] = (), **how: Any
    ) -> int:
        if events and events[0].data.get("reason") == "LEASE_EXPIRED":
            raise LeaseLost("renewed")
        return super().transition(before, after, events, **how)


def test_a_lease_renewed_meanwhile_is_not_taken_away(queue: FakeJobQueue, clock: HandClock) -> None:
    store = RacedStore()
    add(store, factories.job())
    running = claim(store, factories.job().ref, clock)
    clock.advance(60)
    swept = Sweeper(
        store=store,
        queue=queue,
        kinds=SWEPT,
        clock=clock,
        look_at_parent=no_parent,
    ).sweep()
    assert swept == SweepResult(raced=1)
    assert store.get(running.ref) == running
    assert queue.sent == []


# ---------------------------------------------------------------- Expiry


def test_a_job_that_nobody_began_in_time_expires(
    sweeper: Sweeper, store: FakeJobStore, clock: HandClock, queue: FakeJobQueue
) -> None:
    job = factories.job(expires_at=START + timedelta(seconds=20))
    add(store, job)
    clock.advance(19)
    assert sweeper.sweep() == NOTHING
    clock.advance(1)
    assert sweeper.sweep() == SweepResult(expired=1)
    after = stored(store, job.ref)
    assert (after.status, after.finished_at) == (JobStatus.EXPIRED, clock())
    assert store.events(job.ref, None, 9)[-1].message == "expired"
    assert queue.sent == []
    assert sweeper.sweep() == NOTHING


def test_a_job_that_has_been_claimed_expires_no_more(
    sweeper: Sweeper, store: FakeJobStore, clock: HandClock
) -> None:
    job = factories.job(expires_at=START + timedelta(seconds=20))
    add(store, job)
    before = claim(store, job.ref, clock)
    store.transition(before, rules.hand_back(before, clock()))
    clock.advance(20)
    assert sweeper.sweep() == NOTHING
    assert stored(store, job.ref).status is JobStatus.PENDING


def test_resends_that_were_missed_are_not_made_up_for(
    sweeper: Sweeper, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    """After hours without a sweeper, one message is sent; the next ones come ever later."""
    add(store, factories.job())
    clock.advance(4.5 * 3600)
    passes = [sweeper.sweep().resent]
    for _ in range(9):
        clock.advance(MINUTE)
        passes.append(sweeper.sweep().resent)
    assert passes == [1, 1, 0, 1, 0, 0, 0, 1, 0, 0]
    assert len(queue.take()) == 4


# ---------------------------------------------------------------- Lanes with a backlog


@pytest.mark.parametrize("messages", [limits.LANE_BACKLOG_MESSAGES, 20_000])
def test_a_lane_with_a_backlog_gets_no_resends_and_the_others_do(
    sweeper: Sweeper, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock, messages: int
) -> None:
    queued, lost = factories.job(), factories.job(id="job_2", priority=Priority.LOW)
    add(store, queued, lost)
    queue.backlogs[CRAWL_NORMAL] = messages
    clock.advance(MINUTE)
    sweeper.sweep()
    refs = {sent.ref for sent in queue.take()}
    assert refs == (
        {lost.ref} if messages > limits.LANE_BACKLOG_MESSAGES else {queued.ref, lost.ref}
    )


def test_a_lost_message_is_replaced_when_its_lane_has_run_empty(
    sweeper: Sweeper, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    add(store, factories.job())
    queue.backlogs[CRAWL_NORMAL] = 500
    for _ in range(300):
        clock.advance(MINUTE)
        assert sweeper.sweep() == NOTHING
    queue.backlogs.clear()
    clock.advance(MINUTE)
    assert sweeper.sweep() == SweepResult(resent=1)


def test_a_message_that_is_lost_again_and_again_is_replaced_in_an_empty_lane_by_every_pass(
    sweeper: Sweeper, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    add(store, factories.job())
    for _ in range(10):
        clock.advance(MINUTE)
        assert sweeper.sweep() == SweepResult(resent=1)
        queue.take()  # the messages are lost


def test_messages_that_workers_may_hold_are_not_taken_for_lost_every_minute(
    sweeper: Sweeper, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    """Messages return to the queue if their workers fail before a claim."""
    add(store, factories.job())
    queue.in_flight[CRAWL_NORMAL] = limits.LANE_BACKLOG_MESSAGES + 1
    passes = []
    for _ in range(10):
        clock.advance(MINUTE)
        passes.append(sweeper.sweep().resent)
        queue.take()
    assert passes == [1, 1, 0, 1, 0, 0, 0, 1, 0, 0]


def test_a_lane_that_never_runs_empty_keeps_no_message_lost_for_ever(
    sweeper: Sweeper, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    add(store, factories.job())
    queue.backlogs[CRAWL_NORMAL] = 500
    clock.advance(limits.BACKLOG_RESEND_SECONDS)
    assert sweeper.sweep() == NOTHING
    clock.advance(limits.RESEND_GRACE_SECONDS)
    assert sweeper.sweep() == SweepResult(resent=1)
    clock.advance(limits.BACKLOG_RESEND_SECONDS)
    assert sweeper.sweep() == NOTHING


def test_a_backlog_concerns_no_wait_and_no_lease(
    sweeper: Sweeper, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    due = START + timedelta(hours=1)
    add(store, factories.job(), factories.job(id="job_2", due_at=due, sends=0))
    claim(store, factories.job().ref, clock, seconds=60)
    queue.backlogs[CRAWL_NORMAL] = 20_000
    clock.advance(3600 - limits.LONG_WAIT_LEAD_SECONDS)
    assert sweeper.sweep() == SweepResult(leases_expired=1, sent=1)
    delays = sorted(sent.delay for sent in queue.take())
    assert delays == [0, int(limits.LONG_WAIT_LEAD_SECONDS)]


def test_a_resend_counts_only_when_it_was_sent(
    sweeper: Sweeper, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    long = factories.job(id="job_2", due_at=START + timedelta(hours=1), sends=0)
    add(store, factories.job(), long)
    queue.available = False
    clock.advance(3600)
    for _ in range(20):
        assert sweeper.sweep().failed == 1
        clock.advance(MINUTE)
    assert [stored(store, ref).sends for ref in (factories.job().ref, long.ref)] == [1, 0]
    queue.available = True
    assert sweeper.sweep() == SweepResult(resent=1, sent=1)


def test_a_queue_that_is_down_is_asked_once_a_pass_and_stops_no_wake(
    store: FakeJobStore, clock: HandClock
) -> None:
    """Every call to the queue may take seconds."""
    calls: list[int] = []

    class Down(FakeJobQueue):
        def send(self, *_: Any) -> None:
            calls.append(1)
            raise DependencyUnavailable("sqs")

        backlog = send  # type: ignore[assignment]  # `backlog` fails as well

    jobs = of_one_shard(30, sends=0)
    add(store, *(replace(job, due_at=START + timedelta(hours=1)) for job in jobs))
    running = factories.job(id="job_running")
    add(store, running)
    claim(store, running.ref, clock, seconds=3600)
    clock.advance(3700)
    sweeper = Sweeper(
        store=store,
        queue=Down(),
        kinds=SWEPT,
        clock=clock,
        look_at_parent=no_parent,
    )
    assert sweeper.sweep() == SweepResult(leases_expired=1, failed=1)
    assert len(calls) == 1


def test_a_job_that_may_have_acted_is_claimed_once_more_before_it_expires(
    sweeper: Sweeper, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    limit = START + timedelta(hours=1)
    waits = factories.job(
        kind="publish", started_at=START, deferred_since=START, expires_at=limit, waiting_for="etsy"
    )
    begun = replace(waits, id=f"{waits.id}b")
    never = replace(waits, id=f"{waits.id}c", started_at=None)
    crawl = replace(waits, id=f"{waits.id}d", kind="crawl")
    add(store, begun, never, crawl)
    clock.now = limit
    assert sweeper.sweep() == SweepResult(last_looks=1, expired=2)
    looks = stored(store, begun.ref)
    assert (looks.status, looks.ending, looks.due_at, looks.fence) == (
        JobStatus.PENDING,
        True,
        limit,
        begun.fence + 1,
    )
    assert looks.expires_at == limit + timedelta(hours=1)
    assert begun.ref in [sent.ref for sent in queue.take()]
    clock.now = limit + timedelta(hours=1)
    sweeper.sweep()
    ended = stored(store, begun.ref)
    assert ended.status is JobStatus.EXPIRED
    assert ended.last_error is not None
    assert ended.last_error.message == "no slot in time: etsy"
