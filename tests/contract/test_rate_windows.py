"""What every store of rate windows holds: the fake, moto, and DynamoDB Local."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from spinneret.tenancy.dynamo_windows import DynamoRateWindows
from spinneret.tenancy.models import Allowance
from spinneret.tenancy.ports import RateWindows
from tests.contract.backends import OF_AWS, Tables
from tests.fakes.tenancy import FakeRateWindows
from tests.fakes.time import START

pytestmark = OF_AWS


@pytest.fixture
def windows(tables: Tables | None) -> RateWindows:
    if tables is None:
        return FakeRateWindows()
    return DynamoRateWindows(tables.client, tables.names["Tenancy"])


def at(seconds: float) -> datetime:
    """START is the begin of a minute."""
    return START + timedelta(seconds=seconds)


def allowed(
    windows: RateWindows, tenant: str, limit: int, *seconds: float, key_id: str = "key_1"
) -> list[bool]:
    """Whether requests at these moments were admitted."""
    return [windows.take(tenant, key_id, limit, at(each)).admitted for each in seconds]


def test_a_minute_takes_its_limit(windows: RateWindows, tenant: str) -> None:
    assert allowed(windows, tenant, 3, 0, 0, 20, 40, 59.999999) == [True] * 3 + [False] * 2


def test_an_answer_tells_what_is_left(windows: RateWindows, tenant: str) -> None:
    answers = [windows.take(tenant, "key_1", 2, at(10)) for _ in range(3)]
    assert answers == [
        Allowance(admitted=True, limit=2, remaining=1, reset_seconds=50),
        Allowance(admitted=True, limit=2, remaining=0, reset_seconds=50),
        Allowance(admitted=False, limit=2, remaining=0, reset_seconds=50),
    ]


def test_what_was_refused_does_not_count(windows: RateWindows, tenant: str) -> None:
    assert allowed(windows, tenant, 2, *[30] * 9).count(True) == 2
    # Two of the minute before: one every 30 seconds. Eleven of them would let nobody in.
    assert allowed(windows, tenant, 2, 60, 89, 90, 119) == [True, False, True, False]


def test_the_minute_before_counts_by_its_share(windows: RateWindows, tenant: str) -> None:
    assert allowed(windows, tenant, 4, 50, 50, 50, 50) == [True] * 4
    after = [60, 60, 74, 75, 89, 90, 104, 105, 119]
    expected = [True, False, False, True, False, True, False, True, False]
    assert allowed(windows, tenant, 4, *after) == expected


def test_two_minutes_later_all_is_forgotten(windows: RateWindows, tenant: str) -> None:
    assert allowed(windows, tenant, 2, 59, 59, 59) == [True, True, False]
    assert allowed(windows, tenant, 2, 120, 120, 120) == [True, True, False]


def test_a_refusal_names_the_moment_that_admits(windows: RateWindows, tenant: str) -> None:
    assert allowed(windows, tenant, 4, *[59] * 4) == [True] * 4
    allowed(windows, tenant, 4, 60)
    refused = windows.take(tenant, "key_1", 4, at(65.5))
    assert (refused.admitted, refused.remaining, refused.reset_seconds) == (False, 0, 10)
    assert windows.take(tenant, "key_1", 4, at(65.5 + refused.reset_seconds)).admitted


def test_a_clock_that_lags_uses_the_running_minute(windows: RateWindows, tenant: str) -> None:
    assert allowed(windows, tenant, 2, 60.01, 59.99, 59.99) == [True, True, False]
    # The minute before hasn't been touched: nothing of it counts.
    assert allowed(windows, tenant, 2, 119) == [False]


def test_keys_and_tenants_have_windows_of_their_own(windows: RateWindows, tenant: str) -> None:
    assert allowed(windows, f"{tenant}-1", 1, 0, 0) == [True, False]
    assert allowed(windows, f"{tenant}-1", 1, 0, 0, key_id="key_2") == [True, False]
    assert allowed(windows, f"{tenant}-2", 1, 0, 0) == [True, False]


def test_the_largest_limit_is_counted_exactly(windows: RateWindows, tenant: str) -> None:
    answer = windows.take(tenant, "key_1", 6000, at(0))
    assert answer == Allowance(admitted=True, limit=6000, remaining=5999, reset_seconds=60)


def test_the_first_request_of_a_minute_adds_nothing_to_the_one_before(
    windows: RateWindows, tenant: str
) -> None:
    """One of the minute before leaves room for a second one at once; two of them wouldn't."""
    assert allowed(windows, tenant, 2, 0, 60, 61) == [True] * 3
