"""Ends of jobs that were not published: the sweeper tries again, and nothing else waits for it."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any

import pytest

from spinneret.jobs import rules
from spinneret.jobs.models import Job, JobStatus
from spinneret.jobs.sweeper import Sweeper, Swept
from spinneret.kernel import bounds
from spinneret.kernel.errors import LeaseLost
from tests import factories
from tests.fakes.jobs import FakeJobQueue, FakeJobStore
from tests.fakes.time import START, HandClock
from tests.kinds import KINDS
from tests.unit.jobs.sweeps import add, claim, finish, of_one_shard, stored

MINUTE = 60.0
DAY = 24 * 3600.0
REF = factories.job().ref


class Notifier:
    """Publishes ends, or fails to, as silently as a listener does."""

    def __init__(self, store: FakeJobStore, clock: HandClock) -> None:
        self.works = False
        self.tries: list[float] = []
        """Seconds after START."""
        self._store = store
        self._clock = clock

    def __call__(self, job: Job, _: Any) -> None:
        if not rules.awaits_notification(job):
            return
        self.tries.append((self._clock() - START).total_seconds())
        if self.works:
            self._store.transition(job, rules.mark_notified(job))


@pytest.fixture
def notifier(store: FakeJobStore, clock: HandClock) -> Notifier:
    return Notifier(store, clock)


@pytest.fixture
def sweeper(
    store: FakeJobStore, queue: FakeJobQueue, clock: HandClock, notifier: Notifier
) -> Sweeper:
    """As wired: what publishes ends listens to the store, too."""
    store.listeners.append(notifier)
    return Sweeper(store=store, queue=queue, kinds=KINDS, clock=clock, notify=notifier)


def finished(store: FakeJobStore, clock: HandClock, *jobs: Job) -> None:
    add(store, *jobs)
    clock.advance(1)
    for job in jobs:
        finish(store, job.ref, clock)


def test_an_end_that_was_not_published_is_published_by_the_sweeper_once(
    store: FakeJobStore, clock: HandClock, sweeper: Sweeper, notifier: Notifier
) -> None:
    finished(store, clock, factories.job(notify=("end_1",)))
    assert sweeper.sweep() == Swept()
    clock.advance(bounds.RESEND_GRACE_SECONDS)
    assert sweeper.sweep() == Swept(failed=1)
    notifier.works = True
    clock.advance(2 * bounds.RESEND_GRACE_SECONDS)
    assert sweeper.sweep() == Swept(notified=1)
    clock.advance(DAY)
    assert sweeper.sweep() == Swept()
    assert len(notifier.tries) == 2


@pytest.mark.heavy
def test_an_end_that_can_not_be_published_is_tried_ever_more_rarely_and_given_up_after_a_day(
    store: FakeJobStore,
    clock: HandClock,
    sweeper: Sweeper,
    notifier: Notifier,
    caplog: pytest.LogCaptureFixture,
) -> None:
    finished(store, clock, factories.job(notify=("end_1",)))
    for _ in range(2 * 2 * 24 * 60):
        clock.advance(MINUTE / 2)
        sweeper.sweep()
    assert len(notifier.tries) == bounds.NOTIFICATION_TRIES
    gaps = [later - former for former, later in itertools.pairwise([1.0, *notifier.tries])]
    assert gaps[:8] == [30, 60, 120, 240, 480, 960, 1920, 3600]
    assert set(gaps[8:]) == {3600}
    assert DAY <= notifier.tries[-1] <= DAY + 3600
    recorded = [record.message for record in caplog.records]
    assert recorded.count("notification_abandoned") == 1
    assert stored(store, REF).notified_run == 0
    assert rules.sweep_at(stored(store, REF)) is None


def test_notifications_that_fail_hide_no_ended_lease(
    store: FakeJobStore, clock: HandClock, sweeper: Sweeper
) -> None:
    """More of them than a page holds, all older than the lease."""
    *unpublished, running = of_one_shard(2 * bounds.SWEEP_PAGE + 1, notify=("end_1",))
    finished(store, clock, *unpublished)
    add(store, running)
    claim(store, running.ref, clock, seconds=600)
    clock.advance(600)
    swept = sweeper.sweep()
    assert (swept.leases_expired, swept.failed) == (1, len(unpublished))
    assert stored(store, running.ref).status is JobStatus.PENDING
    assert sweeper.sweep() == Swept()


def test_a_notification_that_ends_the_process_is_not_tried_again_at_once(
    store: FakeJobStore, clock: HandClock, queue: FakeJobQueue
) -> None:
    finished(store, clock, factories.job(notify=("end_1",)))
    clock.advance(bounds.RESEND_GRACE_SECONDS)

    def die(*_: Any) -> None:
        raise SystemExit

    with pytest.raises(SystemExit):
        Sweeper(store=store, queue=queue, kinds=KINDS, clock=clock, notify=die).sweep()
    moment = rules.sweep_at(stored(store, REF))
    assert moment is not None
    assert moment > clock() + timedelta(seconds=bounds.RESEND_GRACE_SECONDS)


def test_of_two_sweepers_that_overlap_one_tries(store: FakeJobStore, clock: HandClock) -> None:
    finished(store, clock, factories.job(notify=("end_1",)))
    job = stored(store, REF)
    store.transition(job, rules.notification_tried(job, clock()))
    with pytest.raises(LeaseLost):
        store.transition(job, rules.notification_tried(job, clock()))


def test_the_end_of_a_new_run_is_tried_from_the_beginning(clock: HandClock) -> None:
    ended = factories.job(
        status=JobStatus.FAILED, notify=("end_1",), notification_tries=bounds.NOTIFICATION_TRIES
    )
    again = rules.retry(rules.notification_tried(ended, clock()), clock())
    assert (again.notification_tries, again.notification_at) == (0, None)
