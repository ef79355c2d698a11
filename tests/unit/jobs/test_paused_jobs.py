"""A paused job isn't finished: it keeps its key, has no end, and its timeline continues."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from spinneret.jobs import rules
from spinneret.jobs.control import JobControl
from spinneret.jobs.live.waiting import JobWaits
from spinneret.jobs.models import Job, JobRef, JobStatus, Transition
from spinneret.jobs.service import JobService
from spinneret.kernel.errors import Conflict, NotFound
from tests.factories import TENANT
from tests.fakes.jobs import FakeJobQueue, FakeJobStore
from tests.fakes.time import HandClock
from tests.unit.jobs.submissions import finish, ids, stored, submit


@pytest.fixture
def paused(service: JobService, control: JobControl, store: FakeJobStore) -> Callable[[], Job]:
    """Provide a function that submits the page and pauses its job."""

    def make() -> Job:
        [job_id] = ids(submit(service))
        control.move(JobRef(tenant=TENANT, job_id=job_id), Transition.PAUSE)
        return stored(store, job_id)

    return make


def test_the_same_work_is_answered_with_the_paused_job(
    service: JobService, queue: FakeJobQueue, paused: Callable[[], Job]
) -> None:
    job = paused()
    queue.take()
    again = submit(service)
    assert (ids(again), again.reply.body["duplicates"]) == ([job.id], [True])
    assert queue.sent == []


def test_a_failed_job_does_not_begin_again_beside_a_paused_one(
    service: JobService,
    store: FakeJobStore,
    clock: HandClock,
    control: JobControl,
    paused: Callable[[], Job],
) -> None:
    [first] = ids(submit(service))
    finish(store, first, clock, lambda job: rules.after_error(job, NotFound("x"), clock(), 0.5))
    newer = paused()
    with pytest.raises(Conflict) as refused:
        control.move(JobRef(tenant=TENANT, job_id=first), Transition.RETRY)
    assert refused.value.details == {"job_id": newer.id}


def test_the_timeline_of_a_paused_job_is_not_over(
    store: FakeJobStore, clock: HandClock, paused: Callable[[], Job]
) -> None:
    job = paused()
    last = store.events(job.ref, None, 99)[-1].id
    waits = JobWaits(store=store, clock=clock, sleep=clock.advance)
    assert waits.events(job.ref, last, clock() + timedelta(seconds=5)) == []


def test_a_paused_job_has_no_end_to_publish(paused: Callable[[], Job]) -> None:
    job = replace(paused(), notify=("hook",))
    assert rules.sweep_at(job) is None
    assert (job.status, job.finished_at) == (JobStatus.PAUSED, None)
