"""Races for a tenant's keys and rate windows on DynamoDB Local; no fake can show them."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import uuid4

import pytest

from spinneret.access.keys.dynamo import DynamoKeyStore
from spinneret.access.keys.dynamo_windows import DynamoRateLimitStore
from spinneret.access.keys.models import ApiKey
from spinneret.kernel.errors import Conflict, DependencyUnavailable, RateLimited
from tests import factories
from tests.contract.backends import Tables
from tests.contract.races import Race, racing
from tests.fakes.time import START

pytestmark = pytest.mark.stack

THREADS: Final = 8
MINUTE: Final = timedelta(minutes=1)


@pytest.fixture
def race() -> Iterator[Race]:
    with racing(THREADS) as together:
        yield together


@pytest.fixture
def windows(stack_tables: Tables) -> DynamoRateLimitStore:
    return DynamoRateLimitStore(stack_tables.client, stack_tables.names["Tenancy"])


@pytest.fixture
def keys(stack_tables: Tables) -> DynamoKeyStore:
    return DynamoKeyStore(stack_tables.client, stack_tables.names["Tenancy"])


def test_of_simultaneous_requests_the_limit_is_admitted_and_no_more(
    windows: DynamoRateLimitStore, tenant: str, race: Callable[..., list[Any]]
) -> None:
    limit, each = 30, 10
    for minute in (0, 2, 4):  # threads first race to begin the window
        now = START + minute * MINUTE
        answers = race(lambda _, now=now: [ask(windows, tenant, limit, now) for _ in range(each)])
        admitted = [answer for some in answers for answer in some if answer.admitted]
        assert sorted(answer.remaining for answer in admitted) == list(range(limit))


def test_of_simultaneous_requests_only_those_are_admitted_that_are_due(
    windows: DynamoRateLimitStore, tenant: str, race: Callable[..., list[Any]]
) -> None:
    for second in (0.2, 0.3, 10, 20.5, 30, 40, 50, 58):
        assert ask(windows, tenant, 8, at(second)).admitted
    for second, due in ((60.4, 0), (61, 2), (80.5, 2), (80.6, 0)):
        answers = race(lambda _, now=at(second): ask(windows, tenant, 8, now).admitted)
        assert sum(answers) == due


def test_simultaneous_requests_at_clocks_that_differ_keep_the_limit(
    windows: DynamoRateLimitStore, tenant: str, race: Callable[..., list[Any]]
) -> None:
    def rush(number: int) -> int:
        admitted = 0
        for second in range(20):
            with suppress(RateLimited):  # a request that loses too many races is rejected
                admitted += ask(windows, tenant, 50, at(second + number / 3)).admitted
        return admitted

    assert sum(race(rush)) == 50


def test_keys_that_are_issued_at_the_same_time_keep_the_bound(
    keys: DynamoKeyStore, tenant: str, race: Callable[..., list[Any]]
) -> None:
    def issue(number: int) -> bool:
        key = factories.api_key(tenant=tenant, id=f"key_{number}", secret_hash=uuid4().hex * 2)
        return retried(lambda: keys.add(key, START, 5))

    assert sum(race(issue)) == 5
    assert len(keys.page(tenant, None, 100).items) == 5


def test_a_key_that_is_revoked_by_all_at_once_is_revoked_at_one_moment(
    keys: DynamoKeyStore, tenant: str, race: Callable[..., list[Any]]
) -> None:
    key = factories.api_key(tenant=tenant, secret_hash=uuid4().hex * 2)
    keys.add(key, START, 1)
    revoked: list[ApiKey | None] = []
    race(
        lambda number: retried(
            lambda: revoked.append(keys.revoke(tenant, key.id, START + number * MINUTE))
        )
    )
    assert len({each.revoked_at for each in revoked if each}) == 1
    assert len(revoked) == THREADS
    keys.add(factories.api_key(tenant=tenant, id="key_2", secret_hash=uuid4().hex * 2), START, 1)


def at(seconds: float) -> datetime:
    """Return the time `seconds` after START, which is the beginning of a second."""
    return START + timedelta(seconds=seconds)


def ask(windows: DynamoRateLimitStore, tenant: str, limit: int, now: Any) -> Any:
    return windows.take(tenant, "key_1", limit, now)


def retried(act: Callable[[], Any]) -> bool:
    """Repeat the action after collisions; return whether it succeeded, False on a conflict."""
    for _ in range(50):
        try:
            act()
        except DependencyUnavailable:
            continue
        except Conflict:
            return False
        return True
    raise AssertionError("always colliding")
