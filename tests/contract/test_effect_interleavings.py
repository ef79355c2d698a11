"""Races for an uncertain effect: another writer changes it while a claim takes it over."""

from collections.abc import Callable
from typing import Any

import pytest

from spinneret.jobs import rules
from spinneret.jobs.effects.dynamo import DynamoEffectStore
from spinneret.jobs.models import Job, Lease
from spinneret.jobs.ports import Claimed, EffectUncertain, JobStore
from spinneret.kernel.errors import Contended
from tests import factories
from tests.contract.backends import OF_REAL_AWS, Tables
from tests.contract.interleaved import interrupted
from tests.contract.stored_jobs import UNTIL, claimed
from tests.fakes.time import START

pytestmark = OF_REAL_AWS

KEY = "listing of product 1"
REQUEST = "as it is"


def effects_of(tables: Tables) -> DynamoEffectStore:
    return DynamoEffectStore(tables.client, tables.names["Jobs"], tables.names["Idempotency"])


def begin(effects: DynamoEffectStore, lease: Lease) -> Any:
    return effects.begin(lease, KEY, REQUEST, START, START)


def a_late_result(effects: DynamoEffectStore, store: JobStore, first: Job) -> None:
    effects.finish(factories.lease(first), KEY, {"id": "l_1"}, START)


def another_job(effects: DynamoEffectStore, store: JobStore, first: Job) -> None:
    assert begin(effects, factories.lease(claimed(store, first.tenant))) == EffectUncertain()


def the_next_claim_of_the_job(effects: DynamoEffectStore, store: JobStore, first: Job) -> None:
    outcome = store.claim(first.ref, "two", START, UNTIL)
    assert isinstance(outcome, Claimed)
    assert begin(effects, outcome.lease) == EffectUncertain()


@pytest.mark.parametrize(
    "faster",
    [a_late_result, another_job, the_next_claim_of_the_job],
    ids=lambda faster: faster.__name__.replace("_", " "),
)
def test_an_effect_is_taken_over_only_as_it_was_found(
    tables: Tables,
    store: JobStore,
    tenant: str,
    faster: Callable[[DynamoEffectStore, JobStore, Job], None],
) -> None:
    effects = effects_of(tables)
    first = claimed(store, tenant)
    begin(effects, factories.lease(first))
    store.transition(first, rules.hand_back(first, START))
    late = effects_of(
        interrupted(tables, "transact_write_items", lambda: faster(effects, store, first), before=2)
    )
    with pytest.raises(Contended):
        begin(late, factories.lease(claimed(store, tenant)))


def test_a_call_that_its_claim_begins_meanwhile_is_waited_for_though_the_claim_then_ends(
    tables: Tables, store: JobStore, tenant: str
) -> None:
    effects = effects_of(tables)
    first = claimed(store, tenant)
    begin(effects, factories.lease(first))

    def act() -> None:
        effects.begin(factories.lease(first), KEY, REQUEST, START, UNTIL)
        store.transition(first, rules.pause(first, START))

    late = effects_of(interrupted(tables, "transact_write_items", act, before=2))
    with pytest.raises(Contended):
        begin(late, factories.lease(claimed(store, tenant)))
