"""Values that JSON can't represent: a job store rejects the whole write and stores nothing."""

import math
from dataclasses import replace
from typing import Any

import pytest

from spinneret.jobs import rules
from spinneret.jobs.models import Failure, Job, JobEventKind
from spinneret.jobs.ports import JobStore
from spinneret.kernel.errors import ValidationFailed
from tests import factories
from tests.contract.backends import OF_AWS
from tests.contract.stored_jobs import SECOND, claimed, new_job, submit
from tests.fakes.time import START

pytestmark = OF_AWS

UNFIT: dict[str, Any] = {
    "not a number": math.nan,
    "a set": {1},
    "an object": object(),
    "half a character": "\ud800",
}
unfit = pytest.mark.parametrize("value", list(UNFIT.values()), ids=list(UNFIT))


def with_details(job: Job, value: Any) -> Job:
    failure = Failure(code="X", message="x", type="permanent", details={"x": value})
    return replace(rules.cancel(job, START + SECOND), last_error=failure)


def with_result(job: Job, value: Any) -> Job:
    return rules.complete(job, {"x": value}, START + SECOND)


@unfit
@pytest.mark.parametrize("change", [with_details, with_result])
def test_a_row_with_what_json_can_not_hold_is_refused(
    store: JobStore, tenant: str, value: Any, change: Any
) -> None:
    job = claimed(store, tenant)
    with pytest.raises(ValidationFailed):
        store.transition(job, change(job, value), [factories.event(fence=1)])
    assert store.get(job.ref) == job
    assert len(store.events(job.ref, None, 9)) == 1


@unfit
def test_an_event_with_what_json_can_not_hold_is_refused_with_its_move(
    store: JobStore, tenant: str, value: Any
) -> None:
    job = claimed(store, tenant)
    good = factories.event(fence=1, number=1, kind=JobEventKind.METRIC)
    bad = replace(good, number=2, data={"x": value})
    with pytest.raises(ValidationFailed):
        store.transition(job, rules.complete(job, {}, START + SECOND), [good, bad])
    assert store.get(job.ref) == job
    assert len(store.events(job.ref, None, 9)) == 1


@unfit
def test_a_payload_that_json_can_not_hold_is_refused(
    store: JobStore, tenant: str, value: Any
) -> None:
    job = new_job(tenant, payload={"x": value})
    with pytest.raises(ValidationFailed):
        submit(store, job)
    assert store.get(job.ref) is None
