"""Lists whose jobs change between the read of the index and the read of their rows.

Indexes are eventually consistent, so this is the usual case on AWS.
"""

from collections.abc import Callable, Sequence

from spinneret.jobs import rules
from spinneret.jobs.models import Job, JobFilter, JobStatus
from spinneret.jobs.ports import JobStore
from spinneret.kernel.errors import NotFound
from tests import factories
from tests.contract.backends import OF_REAL_AWS, Tables, job_store
from tests.contract.interleaved import interrupted
from tests.contract.stored_jobs import SECOND, claimed, submit
from tests.fakes.time import START

pytestmark = OF_REAL_AWS

PENDING = JobFilter(status=JobStatus.PENDING)


def numbered(tables: Tables, tenant: str) -> list[Job]:
    """Store seven pending jobs, and return them."""
    jobs = [factories.job(tenant=tenant, id=f"job_{n:03d}") for n in range(7)]
    submit(job_store(tables), *jobs)
    return jobs


def overtaken(tables: Tables, jobs: Sequence[Job], act: Callable[[Job], Job]) -> JobStore:
    """Return a store that applies `act` to the jobs between the reads of index and rows."""
    another = job_store(tables)

    def move() -> None:
        for job in jobs:
            another.transition(job, act(job))

    return job_store(interrupted(tables, "batch_get_item", move))


def cancelled(job: Job) -> Job:
    return rules.cancel(job, START + SECOND)


def test_a_job_that_no_longer_matches_is_not_shown(tables: Tables, tenant: str) -> None:
    jobs = numbered(tables, tenant)
    store = overtaken(tables, [jobs[3], jobs[5]], cancelled)
    first = store.page(tenant, PENDING, None, 4)
    assert first.items == (jobs[6], jobs[4])
    second = store.page(tenant, PENDING, first.after, 4)
    assert (second.items, second.after) == ((jobs[2], jobs[1], jobs[0]), None)


def test_a_page_of_which_nothing_is_left_still_leads_on(tables: Tables, tenant: str) -> None:
    jobs = numbered(tables, tenant)
    store = overtaken(tables, jobs[4:], cancelled)
    first = store.page(tenant, PENDING, None, 3)
    assert first.items == ()
    assert first.after is not None
    assert store.page(tenant, PENDING, first.after, 9).items == tuple(jobs[3::-1])


def test_a_job_that_is_tried_again_is_no_longer_troubled(tables: Tables, tenant: str) -> None:
    before = claimed(job_store(tables), tenant)
    failed = rules.after_error(before, NotFound("gone"), START + SECOND, 0.5)
    job_store(tables).transition(before, failed)
    again = overtaken(tables, [failed], lambda job: rules.retry(job, START + 2 * SECOND))
    assert again.page(tenant, JobFilter(troubled=True), None, 10).items == ()
