"""Races between threads for slots: each slot has exactly one owner. Only DynamoDB can show it."""

from collections.abc import Iterator
from datetime import timedelta
from uuid import uuid4

import pytest

from spinneret.monitoring.slots.dynamo import DynamoSlotStore
from spinneret.monitoring.slots.models import SlotLease
from tests.contract.backends import Tables
from tests.contract.races import Race, racing
from tests.fakes.time import START

pytestmark = pytest.mark.stack

THREADS, SLOTS = 16, 8
LEASE = timedelta(seconds=30)


@pytest.fixture
def slots(stack_tables: Tables) -> DynamoSlotStore:
    return DynamoSlotStore(stack_tables.client, stack_tables.names["Targets"])


@pytest.fixture
def race() -> Iterator[Race]:
    with racing(THREADS) as together:
        yield together


def test_of_many_at_once_one_has_a_hosts_slot_and_so_after_its_end(
    slots: DynamoSlotStore, race: Race
) -> None:
    name, now, fences = f"HOSTSLOT#{uuid4().hex}", START, []
    for _ in range(5):
        answers = race(lambda number, now=now: slots.take(name, f"{number}", now, now + LEASE))
        [owner] = [each for each in answers if each is not None]
        fences.append(owner.fence)
        now += LEASE
    assert fences == sorted(set(fences))


def test_as_many_workers_as_there_are_slots_have_one(slots: DynamoSlotStore, race: Race) -> None:
    names = [f"SLOT#{uuid4().hex}" for _ in range(SLOTS)]

    def find(number: int) -> SlotLease | None:
        for turn in range(SLOTS):
            name = names[(number + turn) % SLOTS]
            if slot := slots.take(name, f"{number}", START, START + LEASE):
                return slot
        return None

    found = [each for each in race(find) if each is not None]
    assert sorted(each.name for each in found) == sorted(names)
