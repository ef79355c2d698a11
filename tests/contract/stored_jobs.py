"""Jobs for the suites of the job store."""

from datetime import datetime, timedelta
from typing import Any, Final
from uuid import uuid4

from spinneret.jobs.keys import resend_shard, wake_shard
from spinneret.jobs.models import Job
from spinneret.jobs.ports import Claimed, JobStore, NewJob, ResendShard
from tests import factories
from tests.fakes.time import START

SECOND: Final = timedelta(seconds=1)
UNTIL: Final = START + 60 * SECOND


def new_job(tenant: str, **given: Any) -> Job:
    """Return a pending job with a new id."""
    return factories.job(tenant=tenant, id=f"job_{uuid4().hex}", **given)


def submit(store: JobStore, *jobs: Job) -> None:
    """Store jobs without an Idempotency-Key."""
    news = [NewJob(job=job) for job in jobs]
    store.submit(news, [factories.event()] * len(jobs), None, factories.reply(), START)


def submitted(store: JobStore, tenant: str, **given: Any) -> Job:
    """Store a pending job, and return it."""
    job = new_job(tenant, **given)
    submit(store, job)
    return job


def claimed(store: JobStore, tenant: str, owner: str = "one", **given: Any) -> Job:
    """Store a job, claim it from START to UNTIL, and return it."""
    job = submitted(store, tenant, **given)
    outcome = store.claim(job.ref, owner, START, UNTIL)
    assert isinstance(outcome, Claimed)
    return outcome.job


def is_woken(store: JobStore, job: Job, until: datetime) -> bool:
    """Return whether the index `wake` contains the job; tests share that index on a real store."""
    return job.ref in store.to_wake(wake_shard(job.id), until, 1000).refs


def is_resent(store: JobStore, job: Job, until: datetime) -> bool:
    """Return whether the index `resend` contains the job."""
    return job.ref in store.to_resend(resends(job), until, 1000).refs


def resends(job: Job) -> ResendShard:
    """Return the job's partition of the index `resend`."""
    return ResendShard(job.kind, job.priority, resend_shard(job.id))
