"""Contract tests of the semaphore of a tenant's jobs: the fake, moto, and DynamoDB Local.

On DynamoDB Local, one test uses threads.
"""

from datetime import timedelta

import pytest

from spinneret.jobs.driven.dynamo import DynamoSemaphore
from spinneret.jobs.driven.ports import Semaphore
from spinneret.kernel.errors import DependencyUnavailable
from tests.contract.backends import OF_AWS, OF_REAL_AWS, Tables
from tests.contract.interleaved import interrupted
from tests.contract.races import racing
from tests.fakes.deep_crawling import FakeSemaphore
from tests.fakes.time import START

LEASE = timedelta(seconds=30)
END = START + LEASE


@pytest.fixture
def slots(tables: Tables | None) -> Semaphore:
    if tables is None:
        return FakeSemaphore()
    return of_tables(tables)


def of_tables(tables: Tables) -> DynamoSemaphore:
    return DynamoSemaphore(tables.client, tables.names["Frontier"])


@OF_AWS
def test_no_more_hold_a_place_than_there_are(slots: Semaphore, tenant: str) -> None:
    assert [slots.take(tenant, "EBAY", f"job_{n}", START, END, 2) for n in range(3)] == [
        True,
        True,
        False,
    ]


@OF_AWS
def test_groups_and_tenants_have_places_of_their_own(slots: Semaphore, tenant: str) -> None:
    assert slots.take(tenant, "EBAY", "job_1", START, END, 1)
    assert slots.take(tenant, "ETSY", "job_2", START, END, 1)
    assert slots.take(f"{tenant}-2", "EBAY", "job_3", START, END, 1)


@OF_AWS
def test_a_holder_keeps_its_place_and_takes_no_second_one(slots: Semaphore, tenant: str) -> None:
    assert slots.take(tenant, "EBAY", "job_1", START, END, 2)
    assert slots.take(tenant, "EBAY", "job_1", START, END + LEASE, 2)
    assert slots.take(tenant, "EBAY", "job_2", START, END, 2)
    assert slots.take(tenant, "EBAY", "job_2", START, END, 2)
    assert not slots.take(tenant, "EBAY", "job_3", END - LEASE / 2, END + LEASE, 2)
    assert slots.take(tenant, "EBAY", "job_3", END, END + LEASE, 2)
    assert not slots.take(tenant, "EBAY", "job_4", END, END + LEASE, 2)


@OF_AWS
def test_a_place_is_free_when_it_is_given_back_or_its_time_is_over(
    slots: Semaphore, tenant: str
) -> None:
    assert slots.take(tenant, "EBAY", "job_1", START, END, 1)
    slots.leave(tenant, "EBAY", "job_2")
    assert not slots.take(tenant, "EBAY", "job_2", START, END, 1)
    slots.leave(tenant, "EBAY", "job_1")
    slots.leave(tenant, "EBAY", "job_1")
    assert slots.take(tenant, "EBAY", "job_2", START, END, 1)
    assert slots.take(tenant, "EBAY", "job_3", END, END + LEASE, 1)


@OF_AWS
def test_places_of_those_that_are_over_are_free(slots: Semaphore, tenant: str) -> None:
    for holder in ("job_1", "job_2"):
        assert slots.take(tenant, "EBAY", holder, START, END, 2)
    assert not slots.take(tenant, "EBAY", "job_3", START, END, 2, lambda _: False)
    assert slots.take(tenant, "EBAY", "job_3", START, END, 2, lambda each: each == "job_1")
    assert not slots.take(tenant, "EBAY", "job_1", START, END, 2)


@OF_REAL_AWS
def test_a_place_that_another_takes_meanwhile_is_not_given_twice(
    tables: Tables, tenant: str
) -> None:
    def overtake() -> None:
        assert of_tables(tables).take(tenant, "EBAY", "job_2", START, END, 1)

    slots = of_tables(interrupted(tables, "put_item", overtake))
    assert not slots.take(tenant, "EBAY", "job_1", START, END, 1)


@pytest.mark.stack
def test_under_many_takers_at_once_places_are_never_given_twice(
    stack_tables: Tables, tenant: str
) -> None:
    slots = of_tables(stack_tables)

    def take(number: int) -> bool:
        try:
            return slots.take(tenant, "EBAY", f"job_{number}", START, END, 3)
        except DependencyUnavailable:
            return False  # the others were faster in each try

    with racing(8) as race:
        taken = race(take)
    assert 1 <= sum(taken) <= 3
    holders = [number for number, held in enumerate(taken) if held]
    assert all(slots.take(tenant, "EBAY", f"job_{n}", START, END, 3) for n in holders)
    others = [slots.take(tenant, "EBAY", f"late_{n}", START, END, 3) for n in range(3)]
    assert sum(others) == 3 - sum(taken)
