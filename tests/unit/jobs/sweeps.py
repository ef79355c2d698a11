"""Jobs for tests of the sweeper."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from spinneret.jobs import rules
from spinneret.jobs.keys import wake_shard
from spinneret.jobs.models import Job, JobRef, JobStatus
from spinneret.jobs.ports import Claimed, NewJob
from tests import factories
from tests.fakes.jobs import FakeJobStore
from tests.fakes.time import START, HandClock


def add(store: FakeJobStore, *jobs: Job) -> None:
    """Store the given jobs unchanged."""
    for job in jobs:
        store.submit([NewJob(job=job)], [factories.event()], None, factories.reply(), START)


def claim(store: FakeJobStore, ref: JobRef, clock: HandClock, seconds: float = 60) -> Job:
    """Claim a job under a lease of `seconds`."""
    claimed = store.claim(ref, "one", clock(), clock() + timedelta(seconds=seconds))
    assert isinstance(claimed, Claimed)
    return claimed.job


def finish(store: FakeJobStore, ref: JobRef, clock: HandClock) -> None:
    """Complete a job without events."""
    before = claim(store, ref, clock)
    store.transition(before, rules.complete(before, {}, clock()))


def stored(store: FakeJobStore, ref: JobRef) -> Job:
    """Return the stored job, which must exist."""
    job = store.get(ref)
    assert job is not None
    return job


def of_one_shard(count: int, shard: int = wake_shard("job_0"), **given: Any) -> list[Job]:
    """Return jobs of one shard that are due one after the other."""
    numbered = (f"job_{n}" for n in range(100 * count))
    ids = [job_id for job_id in numbered if wake_shard(job_id) == shard][:count]
    return [
        factories.job(id=job_id, due_at=START + timedelta(milliseconds=n), **given)
        for n, job_id in enumerate(ids)
    ]


def abandoned(count: int, shard: int = wake_shard("job_0"), **given: Any) -> list[Job]:
    """Return jobs of one shard whose leases end one after the other, the first at START."""
    held = {"status": JobStatus.RUNNING, "fence": 1, "locked_by": "owner", "claimed_at": START}
    return [
        replace(job, locked_until=job.due_at) for job in of_one_shard(count, shard, **held | given)
    ]
