"""Contract tests of rate limit stores: the fake, moto, and DynamoDB Local."""

from datetime import datetime, timedelta

import pytest

from spinneret.access.keys.dynamo_windows import DynamoRateLimitStore
from spinneret.access.keys.models import RateLimitStatus
from spinneret.access.keys.ports import RateLimitStore
from tests.contract.backends import OF_AWS, Tables
from tests.fakes.keys import FakeRateLimitStore
from tests.fakes.time import START

pytestmark = OF_AWS


@pytest.fixture
def windows(tables: Tables | None) -> RateLimitStore:
    if tables is None:
        return FakeRateLimitStore()
    return DynamoRateLimitStore(tables.client, tables.names["Tenancy"])


def at(seconds: float) -> datetime:
    """Return the time `seconds` after START, which is the beginning of a second."""
    return START + timedelta(seconds=seconds)


def allowed(
    windows: RateLimitStore, tenant: str, limit: int, *seconds: float, key_id: str = "key_1"
) -> list[bool]:
    """Return for each time whether a request then is admitted."""
    return [windows.take(tenant, key_id, limit, at(each)).admitted for each in seconds]


def test_sixty_seconds_take_the_limit(windows: RateLimitStore, tenant: str) -> None:
    assert allowed(windows, tenant, 3, 0, 0, 20, 40, 59.999999) == [True] * 3 + [False] * 2


def test_a_burst_at_the_end_of_a_minute_leaves_nothing_to_the_next(
    windows: RateLimitStore, tenant: str
) -> None:
    assert allowed(windows, tenant, 5, *[59.9] * 6) == [True] * 5 + [False]
    assert not any(allowed(windows, tenant, 5, *range(60, 120), 119.999999))
    assert allowed(windows, tenant, 5, *[120] * 6) == [True] * 5 + [False]


def test_one_request_of_a_second_counts_for_sixty_seconds_exactly(
    windows: RateLimitStore, tenant: str
) -> None:
    assert allowed(windows, tenant, 2, 0.25, 10.5, 60.249999) == [True, True, False]
    assert allowed(windows, tenant, 2, 60.25, 60.25, 70.499999, 70.5) == [True, False, False, True]


def test_several_of_a_second_count_until_sixty_seconds_after_its_end(
    windows: RateLimitStore, tenant: str
) -> None:
    assert allowed(windows, tenant, 2, 30.1, 30.2) == [True, True]
    assert allowed(windows, tenant, 2, 90.2, 90.999999, 91, 91, 91) == [
        False,
        False,
        True,
        True,
        False,
    ]


def test_what_expires_within_a_second_makes_room_in_it(
    windows: RateLimitStore, tenant: str
) -> None:
    assert allowed(windows, tenant, 3, 0.8, 30) == [True, True]
    after = [60.1, 60.5, 60.8, 60.9]
    assert allowed(windows, tenant, 3, *after) == [True, False, True, False]


def test_what_was_refused_does_not_count(windows: RateLimitStore, tenant: str) -> None:
    assert allowed(windows, tenant, 2, *[30] * 9, *[40] * 9).count(True) == 2
    assert allowed(windows, tenant, 2, 91, 92) == [True, True]


def test_who_keeps_exactly_to_the_rate_is_never_refused(
    windows: RateLimitStore, tenant: str
) -> None:
    assert all(allowed(windows, tenant, 12, *(each + 0.3 for each in range(0, 130, 5))))


def test_an_answer_tells_what_is_left(windows: RateLimitStore, tenant: str) -> None:
    answers = [windows.take(tenant, "key_1", 2, at(10.5)) for _ in range(3)]
    assert answers == [
        RateLimitStatus(admitted=True, limit=2, remaining=1, reset_seconds=60),
        RateLimitStatus(admitted=True, limit=2, remaining=0, reset_seconds=61),
        RateLimitStatus(admitted=False, limit=2, remaining=0, reset_seconds=61),
    ]


def test_a_refusal_names_the_moment_that_admits(windows: RateLimitStore, tenant: str) -> None:
    assert all(allowed(windows, tenant, 4, 1.5, 20, 20, 59))
    refused = windows.take(tenant, "key_1", 4, at(59.7))
    assert (refused.admitted, refused.remaining, refused.reset_seconds) == (False, 0, 2)
    again = windows.take(tenant, "key_1", 4, at(59.7 + refused.reset_seconds))
    # The request at 1.5 has expired. The two of second 20 expire at 81, 60 s after its end.
    assert again == RateLimitStatus(admitted=True, limit=4, remaining=0, reset_seconds=20)


def test_a_clock_that_lags_is_taken_for_as_late_as_the_running_second(
    windows: RateLimitStore, tenant: str
) -> None:
    assert allowed(windows, tenant, 2, 60.01, 59.99, 57) == [True, True, False]
    assert allowed(windows, tenant, 2, 120.999999, 121) == [False, True]


def test_a_clock_that_lags_is_told_to_wait_by_its_own_time(
    windows: RateLimitStore, tenant: str
) -> None:
    assert allowed(windows, tenant, 1, 60) == [True]
    refused = windows.take(tenant, "key_1", 1, at(55))
    assert (refused.admitted, refused.reset_seconds) == (False, 65)


def test_a_limit_that_was_changed_holds_from_the_next_second_on(
    windows: RateLimitStore, tenant: str
) -> None:
    assert allowed(windows, tenant, 2, 0, 0, 0) == [True, True, False]
    assert allowed(windows, tenant, 4, 1, 1, 1) == [True, True, False]
    assert allowed(windows, tenant, 3, 2, 61, 61) == [False, True, False]


def test_a_limit_that_was_lowered_leaves_the_running_second_its_room(
    windows: RateLimitStore, tenant: str
) -> None:
    assert allowed(windows, tenant, 4, 0) == [True]
    answer = windows.take(tenant, "key_1", 1, at(0.5))
    assert answer == RateLimitStatus(admitted=True, limit=1, remaining=2, reset_seconds=61)
    assert allowed(windows, tenant, 1, 0.5, 0.5, 0.5) == [True, True, False]


def test_a_limit_that_was_lowered_tells_when_it_admits_again(
    windows: RateLimitStore, tenant: str
) -> None:
    assert all(allowed(windows, tenant, 4, 0, 1, 2, 3))
    refused = windows.take(tenant, "key_1", 2, at(4))
    assert (refused.admitted, refused.reset_seconds) == (False, 58)
    assert allowed(windows, tenant, 2, 61.999999, 62, 62) == [False, True, False]


def test_sixty_one_seconds_later_all_is_forgotten(windows: RateLimitStore, tenant: str) -> None:
    assert allowed(windows, tenant, 2, 59, 59, 59) == [True, True, False]
    assert allowed(windows, tenant, 2, 120, 120, 120) == [True, True, False]


def test_keys_and_tenants_have_windows_of_their_own(windows: RateLimitStore, tenant: str) -> None:
    assert allowed(windows, f"{tenant}-1", 1, 0, 0) == [True, False]
    assert allowed(windows, f"{tenant}-1", 1, 0, 0, key_id="key_2") == [True, False]
    assert allowed(windows, f"{tenant}-2", 1, 0, 0) == [True, False]


def test_the_largest_limit_is_counted_exactly(windows: RateLimitStore, tenant: str) -> None:
    answer = windows.take(tenant, "key_1", 6000, at(0))
    assert answer == RateLimitStatus(admitted=True, limit=6000, remaining=5999, reset_seconds=60)
