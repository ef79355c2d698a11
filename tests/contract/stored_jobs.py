"""Jobs for the suites of the job store."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final
from uuid import uuid4

from spinneret.jobs.keys import sweep_shard
from spinneret.jobs.models import Job
from spinneret.jobs.ports import Claimed, JobStore, NewJob
from tests import factories
from tests.fakes.time import START

SECOND: Final = timedelta(seconds=1)
UNTIL: Final = START + 60 * SECOND


def new_job(tenant: str, **given: Any) -> Job:
    """A pending job with an id of its own."""
    return factories.job(tenant=tenant, id=f"job_{uuid4().hex}", **given)


def submit(store: JobStore, *jobs: Job) -> None:
    """Store jobs without an Idempotency-Key."""
    news = [NewJob(job=job) for job in jobs]
    store.submit(news, [factories.event()] * len(jobs), None, factories.reply(), START)


def submitted(store: JobStore, tenant: str, **given: Any) -> Job:
    """A pending job that is stored."""
    job = new_job(tenant, **given)
    submit(store, job)
    return job


def claimed(store: JobStore, tenant: str, owner: str = "one", **given: Any) -> Job:
    """A stored job under a claim from START to UNTIL."""
    job = submitted(store, tenant, **given)
    outcome = store.claim(job.ref, owner, START, UNTIL)
    assert isinstance(outcome, Claimed)
    return outcome.job


def is_due(store: JobStore, job: Job, now: datetime) -> bool:
    """Whether the sweeper would find the job; other tests share the index of a real store."""
    return job.ref in store.due(sweep_shard(job.id), now, 1000).refs
