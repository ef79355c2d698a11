"""Transitions of jobs that a tenant requests."""

from collections.abc import Callable
from typing import Any

import pytest

from spinneret.jobs import rules
from spinneret.jobs.control import JobControl
from spinneret.jobs.models import Job, JobStatus, Transition
from spinneret.jobs.ports import Claimed, Holder, NewJob, SubmissionRaced
from spinneret.kernel.errors import Conflict, Contended, LeaseLost, NotFound
from tests import factories
from tests.fakes.jobs import FakeJobQueue, FakeJobStore
from tests.fakes.time import START, HandClock
from tests.kinds import KINDS


@pytest.fixture
def failed(store: FakeJobStore) -> Job:
    """Provide a failed job that holds the duplicate key of its page."""
    job = factories.job(duplicate_key="same")
    store.submit([NewJob(job=job)], [factories.event()], None, factories.reply(), START)
    claimed = store.claim(job.ref, "one", START, START)
    assert isinstance(claimed, Claimed)
    after = rules.after_error(claimed.job, NotFound("gone"), START, 0.5)
    store.transition(claimed.job, after)
    return after


@pytest.fixture
def newer(store: FakeJobStore, failed: Job) -> Callable[[], Job]:
    """Provide a function that submits the same page once more."""

    def submit() -> Job:
        job = factories.job(id="job_2", duplicate_key="same")
        news = [NewJob(job=job, replaces=Holder(job_id=failed.id, job=failed))]
        store.submit(news, [factories.event()], None, factories.reply(), START)
        return job

    return submit


def test_a_failed_job_begins_again(control: JobControl, failed: Job, queue: FakeJobQueue) -> None:
    job = control.move(failed.ref, Transition.RETRY)
    assert (job.status, job.run) == (JobStatus.PENDING, 2)
    assert [sent.ref for sent in queue.sent] == [failed.ref]


def test_a_failed_job_does_not_begin_again_beside_a_newer_one_for_the_same_work(
    control: JobControl, failed: Job, newer: Callable[[], Job], store: FakeJobStore
) -> None:
    job = newer()
    with pytest.raises(Conflict) as refused:
        control.move(failed.ref, Transition.RETRY)
    assert refused.value.details == {"job_id": job.id}
    assert store.get(failed.ref) == failed


def test_a_failed_job_begins_again_when_the_newer_one_is_finished(
    control: JobControl, failed: Job, newer: Callable[[], Job]
) -> None:
    control.move(newer().ref, Transition.CANCEL)
    assert control.move(failed.ref, Transition.RETRY).status is JobStatus.PENDING


class InterruptedStore(FakeJobStore):
    """A store that calls `first` once, just before a job starts its next run."""

    def __init__(self) -> None:
        super().__init__()
        self.first: Callable[[], object] = lambda: None

    def begin_run(self, before: Job, after: Job, *given: Any) -> None:
        first, self.first = self.first, lambda: None
        first()
        super().begin_run(before, after, *given)


@pytest.mark.parametrize("store", [InterruptedStore()], ids=[""])
def test_of_two_failed_jobs_of_one_page_that_are_retried_at_once_one_begins(
    store: InterruptedStore, control: JobControl, failed: Job, newer: Callable[[], Job]
) -> None:
    holder = newer()
    claimed = store.claim(holder.ref, "one", START, START)
    assert isinstance(claimed, Claimed)
    store.transition(claimed.job, rules.after_error(claimed.job, NotFound("gone"), START, 0.5))
    store.first = lambda: control.move(holder.ref, Transition.RETRY)
    with pytest.raises(Conflict) as refused:
        control.move(failed.ref, Transition.RETRY)
    assert refused.value.details == {"job_id": holder.id}
    statuses = [job and job.status for job in map(store.get, (failed.ref, holder.ref))]
    assert statuses == [JobStatus.FAILED, JobStatus.PENDING]


class RestlessStore(FakeJobStore):
    """A store in which another process always changes the job first."""

    def transition(self, *_: Any, **__: Any) -> int:
        raise LeaseLost("moved on")

    def begin_run(self, *_: Any) -> None:
        raise SubmissionRaced


@pytest.mark.parametrize("move", [Transition.CANCEL, Transition.RETRY])
def test_a_job_that_never_rests_is_a_conflict_that_passes(
    queue: FakeJobQueue, clock: HandClock, move: Transition
) -> None:
    store = RestlessStore()
    status = JobStatus.FAILED if move is Transition.RETRY else JobStatus.PENDING
    job = factories.job(status=status)
    store.submit([NewJob(job=job)], [factories.event()], None, factories.reply(), START)
    control = JobControl(store=store, queue=queue, kinds=KINDS, clock=clock)
    with pytest.raises(Contended) as refused:
        control.move(job.ref, move)
    assert (refused.value.status, refused.value.code) == (409, "CONFLICT")
    assert refused.value.retry_after == 1
    assert queue.sent == []
