"""Contract tests of stores of side effects."""

from dataclasses import replace
from datetime import timedelta

import pytest

from spinneret.jobs import rules
from spinneret.jobs.effects.dynamo import DynamoEffectStore
from spinneret.jobs.models import Job, JobStatus
from spinneret.jobs.ports import (
    Claimed,
    EffectDone,
    EffectStarted,
    EffectStore,
    EffectUncertain,
    JobStore,
)
from spinneret.kernel.errors import Contended, IdempotencyMismatch, LeaseLost
from tests import factories
from tests.contract.backends import OF_AWS, Tables
from tests.contract.stored_jobs import SECOND, UNTIL, claimed, submitted
from tests.fakes.effects import FakeEffectStore
from tests.fakes.jobs import FakeJobStore
from tests.fakes.time import START

pytestmark = OF_AWS

KEY = "listing of product 1"
REQUEST = "as it is"


@pytest.fixture
def effects(store: JobStore, tables: Tables | None) -> EffectStore:
    if tables is None:
        assert isinstance(store, FakeJobStore)
        return FakeEffectStore(store)
    names = tables.names
    return DynamoEffectStore(tables.client, names["Jobs"], names["Idempotency"])


def again(store: JobStore, job: Job) -> Job:
    """Release the job, claim it again, and return it."""
    store.transition(job, rules.hand_back(job, START))
    outcome = store.claim(job.ref, "two", START, UNTIL)
    assert isinstance(outcome, Claimed)
    return outcome.job


def test_an_effect_begins_once_and_is_remembered(
    store: JobStore, effects: EffectStore, tenant: str
) -> None:
    lease = factories.lease(claimed(store, tenant))
    assert effects.begin(lease, KEY, REQUEST, START, START) == EffectStarted()
    effects.finish(lease, KEY, {"id": "l_1", "none": None, "title": "🕸"}, START)
    done = EffectDone(result={"id": "l_1", "none": None, "title": "🕸"})
    assert effects.begin(lease, KEY, REQUEST, START, START) == done
    other = factories.lease(claimed(store, tenant))
    assert effects.begin(other, KEY, REQUEST, START, START) == done


def test_what_an_earlier_claim_began_is_in_doubt(
    store: JobStore, effects: EffectStore, tenant: str
) -> None:
    first = claimed(store, tenant)
    effects.begin(factories.lease(first), KEY, REQUEST, START, START)
    second = factories.lease(again(store, first))
    assert effects.begin(second, KEY, REQUEST, START, START) == EffectUncertain()
    with pytest.raises(LeaseLost):
        effects.finish(factories.lease(first), KEY, {"id": "late"}, START)
    effects.finish(second, KEY, {"id": "l_2"}, START)
    assert effects.begin(second, KEY, REQUEST, START, START) == EffectDone(result={"id": "l_2"})


def test_what_the_same_claim_began_is_in_doubt_too(
    store: JobStore, effects: EffectStore, tenant: str
) -> None:
    lease = factories.lease(claimed(store, tenant))
    effects.begin(lease, KEY, REQUEST, START, START)
    assert effects.begin(lease, KEY, REQUEST, START, START) == EffectUncertain()


def test_a_late_result_is_kept_while_nobody_has_taken_the_effect_over(
    store: JobStore, effects: EffectStore, tenant: str
) -> None:
    """The claim has ended, but the effect that it reports did happen."""
    first = claimed(store, tenant)
    effects.begin(factories.lease(first), KEY, REQUEST, START, START)
    second = factories.lease(again(store, first))
    effects.finish(factories.lease(first), KEY, {"id": "l_1"}, START)
    assert effects.begin(second, KEY, REQUEST, START, START) == EffectDone(result={"id": "l_1"})


def test_a_result_is_never_written_over(store: JobStore, effects: EffectStore, tenant: str) -> None:
    lease = factories.lease(claimed(store, tenant))
    effects.begin(lease, KEY, REQUEST, START, START)
    effects.finish(lease, KEY, {"id": "l_1"}, START)
    with pytest.raises(LeaseLost):
        effects.finish(lease, KEY, {"id": "l_2"}, START)
    assert effects.begin(lease, KEY, REQUEST, START, START) == EffectDone(result={"id": "l_1"})


def test_an_effect_that_was_not_begun_has_no_result(
    store: JobStore, effects: EffectStore, tenant: str
) -> None:
    lease = factories.lease(claimed(store, tenant))
    with pytest.raises(LeaseLost):
        effects.finish(lease, KEY, {}, START)
    assert effects.begin(lease, KEY, REQUEST, START, START) == EffectStarted()


@pytest.mark.parametrize("wrong", [{"fence": 2}, {"owner": "other"}, {"job_id": "job_unknown"}])
def test_only_a_claim_that_stands_begins_an_effect(
    store: JobStore, effects: EffectStore, tenant: str, wrong: dict[str, object]
) -> None:
    lease = factories.lease(claimed(store, tenant))
    with pytest.raises(LeaseLost):
        effects.begin(replace(lease, **wrong), KEY, REQUEST, START, START)
    assert effects.begin(lease, KEY, REQUEST, START, START) == EffectStarted()


@pytest.mark.parametrize("status", [each for each in JobStatus if each is not JobStatus.RUNNING])
def test_a_job_that_is_not_running_begins_no_effect(
    store: JobStore, effects: EffectStore, tenant: str, status: JobStatus
) -> None:
    """This holds even if the row still has the owner and the fence of the lease."""
    job = submitted(store, tenant, status=status, fence=1, locked_by="one", locked_until=UNTIL)
    with pytest.raises(LeaseLost):
        effects.begin(factories.lease(job), KEY, REQUEST, START, START)
    lease = factories.lease(claimed(store, tenant))
    assert effects.begin(lease, KEY, REQUEST, START, START) == EffectStarted()


def test_another_request_under_the_key_is_refused(
    store: JobStore, effects: EffectStore, tenant: str
) -> None:
    lease = factories.lease(claimed(store, tenant))
    effects.begin(lease, KEY, REQUEST, START, START)
    for _ in ("begun", "done"):
        with pytest.raises(IdempotencyMismatch):
            effects.begin(lease, KEY, "with another price", START, START)
        if _ == "begun":
            effects.finish(lease, KEY, {}, START)


def test_two_jobs_are_not_at_one_effect_at_the_same_time(
    store: JobStore, effects: EffectStore, tenant: str
) -> None:
    first, second = claimed(store, tenant), claimed(store, tenant)
    effects.begin(factories.lease(first), KEY, REQUEST, START, START)
    with pytest.raises(Contended):
        effects.begin(factories.lease(second), KEY, REQUEST, START, START)
    store.transition(first, rules.after_lease_expired(first, UNTIL + timedelta(seconds=1)))
    assert (
        effects.begin(factories.lease(second), KEY, REQUEST, START + SECOND, START + SECOND)
        == EffectUncertain()
    )


@pytest.mark.parametrize("taker", ["the next claim", "another job"])
def test_a_call_that_may_still_run_is_left_alone_though_its_claim_is_over(
    store: JobStore, effects: EffectStore, tenant: str, taker: str
) -> None:
    """Pausing or cancelling a job ends its claim, but not a call that is under way."""
    first = claimed(store, tenant)
    until = START + 20 * SECOND
    effects.begin(factories.lease(first), KEY, REQUEST, START, until)
    next_job = again(store, first) if taker == "the next claim" else claimed(store, tenant)
    if taker == "another job":
        store.transition(first, rules.cancel(first, START))
    lease = factories.lease(next_job)
    with pytest.raises(Contended) as busy:
        effects.begin(lease, KEY, REQUEST, START + 5 * SECOND, START + 40 * SECOND)
    assert busy.value.retry_after == 15
    assert effects.begin(lease, KEY, REQUEST, until, until + SECOND) == EffectUncertain()


def test_the_claim_that_began_an_effect_may_extend_its_call(
    store: JobStore, effects: EffectStore, tenant: str
) -> None:
    first = claimed(store, tenant)
    lease = factories.lease(first)
    effects.begin(lease, KEY, REQUEST, START, START + 20 * SECOND)
    extended = START + 40 * SECOND
    assert effects.begin(lease, KEY, REQUEST, START + 15 * SECOND, extended) == EffectUncertain()
    second = factories.lease(again(store, first))
    with pytest.raises(Contended):
        effects.begin(second, KEY, REQUEST, START + 30 * SECOND, START + 50 * SECOND)


@pytest.mark.parametrize("end", ["finished", "claimed again"])
def test_another_job_takes_over_what_a_claim_that_is_over_began(
    store: JobStore, effects: EffectStore, tenant: str, end: str
) -> None:
    first = claimed(store, tenant)
    effects.begin(factories.lease(first), KEY, REQUEST, START, START)
    if end == "finished":
        store.transition(first, rules.complete(first, {}, START + SECOND))
    else:
        again(store, first)
    second = factories.lease(claimed(store, tenant))
    assert effects.begin(second, KEY, REQUEST, START, START) == EffectUncertain()
    with pytest.raises(LeaseLost):
        effects.finish(factories.lease(first), KEY, {"id": "late"}, START)
    effects.finish(second, KEY, {"id": "l_2"}, START)


def test_keys_belong_to_their_tenant(store: JobStore, effects: EffectStore, tenant: str) -> None:
    own = factories.lease(claimed(store, tenant))
    foreign = factories.lease(claimed(store, f"{tenant}x"))
    assert effects.begin(own, KEY, REQUEST, START, START) == EffectStarted()
    assert effects.begin(foreign, KEY, "another", START, START) == EffectStarted()
