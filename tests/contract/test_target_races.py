"""Races between threads that add targets: a tenant's limit is exact. Only DynamoDB can show it."""

from collections.abc import Iterator

import pytest

from spinneret.monitoring.targets.dynamo import DynamoTargetStore
from spinneret.monitoring.targets.ports import TooMany
from tests.contract.backends import Tables
from tests.contract.races import Race, racing
from tests.contract.watch_stores import watched

pytestmark = pytest.mark.stack

THREADS, MOST = 8, 5


@pytest.fixture
def store(stack_tables: Tables) -> DynamoTargetStore:
    return DynamoTargetStore(stack_tables.client, stack_tables.names["Targets"])


@pytest.fixture
def race() -> Iterator[Race]:
    with racing(THREADS) as together:
        yield together


def test_many_at_once_make_as_many_targets_as_there_may_be(
    store: DynamoTargetStore, race: Race, tenant: str
) -> None:
    answers = race(lambda number: store.add(watched(tenant, f"t_{number}"), None, MOST))
    assert sorted(map(str, answers)) == sorted([*["None"] * MOST, *[str(TooMany())] * 3])
    assert len(store.page(tenant, None, None, 50).items) == MOST


def test_targets_that_come_and_go_at_once_are_counted(
    store: DynamoTargetStore, race: Race, tenant: str
) -> None:
    for number in range(MOST):
        store.add(watched(tenant, f"t_{number}"), None, MOST)

    def turn(number: int) -> None:
        found = store.get(tenant, f"t_{number}")
        if found is None:
            store.add(watched(tenant, f"t_{number}"), None, MOST)
        else:
            store.remove(found)

    for _ in range(3):
        race(turn)
    kept = len(store.page(tenant, None, None, 50).items)
    assert kept <= MOST
    for number in range(100, 100 + MOST - kept):
        assert store.add(watched(tenant, f"t_{number}"), None, MOST) is None
    assert store.add(watched(tenant, "t_200"), None, MOST) == TooMany()
