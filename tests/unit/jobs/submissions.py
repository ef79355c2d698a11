"""Helpers that submit drafts to a job service on fakes."""

import itertools
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from spinneret.jobs.models import Draft, Job, JobRef, Reply
from spinneret.jobs.placement import Placed
from spinneret.jobs.ports import Claimed
from spinneret.jobs.service import JobService, Submitted
from tests import factories
from tests.factories import TENANT
from tests.fakes.jobs import FakeJobQueue, FakeJobStore
from tests.fakes.time import HandClock
from tests.kinds import KINDS

HOUR = 3600.0


def service_on(store: Any, queue: FakeJobQueue, clock: HandClock) -> JobService:
    numbers = itertools.count(1)
    return JobService(
        store=store,
        queue=queue,
        kinds=KINDS,
        clock=clock,
        new_id=lambda prefix: f"{prefix}_{next(numbers)}",
    )


def answer(placed: Sequence[Placed]) -> Reply:
    return Reply(
        status=202,
        body={
            "ids": [each.job.id for each in placed],
            "duplicates": [each.duplicate for each in placed],
        },
    )


def submit(service: JobService, *drafts: Draft, tenant: str = TENANT, key: Any = None) -> Submitted:
    return service.submit(tenant, drafts or [factories.draft()], key, answer)


def ids(submitted: Submitted) -> list[str]:
    found: list[str] = submitted.reply.body["ids"]
    return found


def stored(store: FakeJobStore, job_id: str, tenant: str = TENANT) -> Job:
    job = store.get(JobRef(tenant=tenant, job_id=job_id))
    assert job is not None
    return job


def finish(store: FakeJobStore, job_id: str, clock: HandClock, outcome: Any) -> None:
    claimed = store.claim(stored(store, job_id).ref, "one", clock(), clock() + timedelta(minutes=1))
    assert isinstance(claimed, Claimed)
    store.transition(claimed.job, outcome(claimed.job))
