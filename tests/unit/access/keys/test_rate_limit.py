"""Requests of a key are counted; they pass if the store can't count."""

import logging

import pytest

from spinneret.access.keys.models import Principal, RateLimitStatus, Scope
from spinneret.access.keys.service import KeyService
from tests.fakes.keys import FakeRateLimitStore
from tests.fakes.time import HandClock


@pytest.fixture
def holder(keys: KeyService) -> Principal:
    """Provide the principal of a key that allows two requests per minute."""
    return keys.authenticate(
        keys.issue("acme", "laptop", frozenset({Scope.READ}), rate_limit_rpm=2)[1]
    )


def test_a_key_has_its_rate_and_then_waits(
    keys: KeyService, holder: Principal, clock: HandClock
) -> None:
    answers = [keys.take(holder) for _ in range(3)]
    assert [answer.admitted for answer in answers if answer] == [True, True, False]
    assert answers[2] is not None
    clock.advance(answers[2].reset_seconds)
    again = keys.take(holder)
    assert again is not None
    assert again.admitted


def test_a_ticket_takes_from_the_rate_of_its_key(keys: KeyService, holder: Principal) -> None:
    visitor = keys.redeem(keys.issue_ticket(holder, "job_1").secret)
    answers = [keys.take(each) for each in (visitor, holder, visitor)]
    assert [answer.admitted for answer in answers if answer] == [True, True, False]


def test_while_nothing_can_be_counted_nobody_is_refused(
    keys: KeyService,
    holder: Principal,
    windows: FakeRateLimitStore,
    caplog: pytest.LogCaptureFixture,
) -> None:
    windows.available = False
    with caplog.at_level(logging.WARNING, "spinneret"):
        assert [keys.take(holder) for _ in range(5)] == [None] * 5
    assert {record.message for record in caplog.records} == {"rate_limit_skipped"}
    [key_id] = {vars(record)["key_id"] for record in caplog.records}
    assert key_id == holder.key_id


def test_a_flood_that_can_not_be_counted_is_refused(
    keys: KeyService,
    holder: Principal,
    windows: FakeRateLimitStore,
    caplog: pytest.LogCaptureFixture,
) -> None:
    windows.flooded = True
    with caplog.at_level(logging.WARNING, "spinneret"):
        answer = keys.take(holder)
    assert answer == RateLimitStatus(admitted=False, limit=2, remaining=0, reset_seconds=1)
    [record] = caplog.records
    assert (record.message, vars(record)["key_id"]) == ("rate_limit_flooded", holder.key_id)
