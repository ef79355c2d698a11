"""Changes of keys or rate windows that another change overtakes between read and write."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from spinneret.access.keys import items
from spinneret.access.keys.dynamo import DynamoKeyStore
from spinneret.access.keys.dynamo_windows import DynamoRateLimitStore
from spinneret.access.keys.models import ApiKey
from spinneret.kernel.errors import Conflict, DependencyUnavailable
from tests import factories
from tests.contract.backends import OF_REAL_AWS, Tables
from tests.contract.interleaved import interrupted
from tests.fakes.time import START

pytestmark = OF_REAL_AWS

SECOND = timedelta(seconds=1)


def keys_of(tables: Tables) -> DynamoKeyStore:
    return DynamoKeyStore(tables.client, tables.names["Tenancy"])


def windows_of(tables: Tables) -> DynamoRateLimitStore:
    return DynamoRateLimitStore(tables.client, tables.names["Tenancy"])


def new_key(tenant: str, **given: Any) -> ApiKey:
    return factories.api_key(tenant=tenant, **{"secret_hash": uuid4().hex * 2, **given})


# ---------------------------------------------------------------- Keys


@pytest.mark.parametrize("given", ["id", "secret_hash"])
def test_a_key_is_never_written_over(tables: Tables, tenant: str, given: str) -> None:
    keys = keys_of(tables)
    first = new_key(tenant, id="key_1")
    keys.add(first, START, None)
    second = new_key(tenant, **{"id": "key_2", given: getattr(first, given)})
    with pytest.raises(DependencyUnavailable):
        keys.add(second, START, None)
    assert keys.find(first.secret_hash) == first
    assert keys.get(tenant, first.id) == first
    assert keys.page(tenant, None, 9).items == (first,)


@pytest.mark.parametrize("former", [0, 1], ids=["first keys", "further keys"])
def test_keys_that_overtake_each_other_keep_the_bound(
    tables: Tables, tenant: str, former: int
) -> None:
    keys = keys_of(tables)
    for number in range(former):
        keys.add(new_key(tenant, id=f"key_{number}"), START, None)
    other = new_key(tenant, id="key_8")
    late = keys_of(
        interrupted(tables, "transact_write_items", lambda: keys.add(other, START, former + 1))
    )
    refused = new_key(tenant, id="key_9")
    with pytest.raises(Conflict):
        late.add(refused, START, former + 1)
    assert keys.find(other.secret_hash) == other
    assert keys.find(refused.secret_hash) is None


def test_a_revocation_that_is_overtaken_by_another_keeps_the_first_moment(
    tables: Tables, tenant: str
) -> None:
    keys = keys_of(tables)
    key = new_key(tenant)
    keys.add(key, START, None)
    late = keys_of(
        interrupted(
            tables, "get_item", lambda: keys.revoke(tenant, key.id, START + SECOND), before=2
        )
    )
    revoked = replace(key, revoked_at=START + SECOND)
    assert late.revoke(tenant, key.id, START + 2 * SECOND) == revoked
    assert keys.find(key.secret_hash) == revoked
    assert keys.get(tenant, key.id) == revoked


def test_a_revocation_of_a_key_that_is_gone_leaves_no_trace(tables: Tables, tenant: str) -> None:
    keys = keys_of(tables)
    key = new_key(tenant)
    keys.add(key, START, None)

    def purge() -> None:
        for place in (items.credential_key(key.secret_hash), items.listed_key(tenant, key.id)):
            tables.client.delete_item(TableName=tables.names["Tenancy"], Key=place)

    late = keys_of(interrupted(tables, "get_item", purge, before=2))
    assert late.revoke(tenant, key.id, START) is None
    assert keys.find(key.secret_hash) is None
    assert keys.page(tenant, None, 9).items == ()


# ---------------------------------------------------------------- Rate windows


def at(seconds: float) -> datetime:
    """Return the time `seconds` after START, which is the beginning of a minute."""
    return START + timedelta(seconds=seconds)


def taker(tables: Tables, tenant: str, limit: int) -> Callable[[float], bool]:
    """Return a function of a time in seconds that returns whether a request then is admitted."""
    windows = windows_of(tables)
    return lambda seconds: windows.take(tenant, "key_1", limit, at(seconds)).admitted


def test_a_first_request_that_is_overtaken_by_another_comes_second(
    tables: Tables, tenant: str
) -> None:
    take = taker(tables, tenant, 1)
    late = taker(interrupted(tables, "update_item", lambda: take(0), before=2), tenant, 1)
    assert not late(0)


def test_a_second_that_another_request_has_begun_is_not_begun_again(
    tables: Tables, tenant: str
) -> None:
    take = taker(tables, tenant, 2)
    assert take(0)
    late = taker(interrupted(tables, "update_item", lambda: take(90), before=2), tenant, 2)
    assert late(90)
    assert not take(90.5)


def test_processes_that_begin_seconds_in_turn_count_together(tables: Tables, tenant: str) -> None:
    """Each process caches the window as it wrote it; the other has changed the window since."""
    one, other = taker(tables, tenant, 5), taker(tables, tenant, 5)
    assert [one(0), other(1), one(2), other(2), one(3)] == [True] * 5
    assert not other(4)
    assert not one(5)
    assert one(61)
    assert other(62.5)


def test_a_second_begins_with_all_that_the_one_before_admitted(tables: Tables, tenant: str) -> None:
    """A process with a slow clock adds to the previous second at the last moment."""
    take = taker(tables, tenant, 3)
    assert take(0)
    late = taker(interrupted(tables, "update_item", lambda: take(0.9), before=2), tenant, 3)
    assert late(1)
    assert not take(1.5)


def test_room_that_has_come_within_a_second_is_given_once(tables: Tables, tenant: str) -> None:
    take = taker(tables, tenant, 2)
    assert [take(0.8), take(30), take(60.8)] == [True] * 3
    take = taker(tables, tenant, 3)
    late = taker(interrupted(tables, "update_item", lambda: take(60.9), before=2), tenant, 3)
    assert not late(60.9)


@pytest.mark.parametrize(("meanwhile", "admitted"), [(10.1, False), (80, True)])
def test_a_clock_that_lags_spends_what_the_running_second_has_left(
    tables: Tables, tenant: str, meanwhile: float, admitted: bool
) -> None:
    take = taker(tables, tenant, 2)
    assert take(10)
    late = taker(interrupted(tables, "update_item", lambda: take(meanwhile), before=2), tenant, 2)
    assert late(9) == admitted
    assert not take(meanwhile + 0.5)
