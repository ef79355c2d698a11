"""The action that follows a delivery attempt."""

import itertools
from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.events.webhooks.models import Action, Delivered, Disable, GiveUp, Retry
from spinneret.events.webhooks.rules import (
    DELAYS_SECONDS,
    MAX_ATTEMPTS,
    RETRY_AFTER_CAP_SECONDS,
    delay,
    next_action,
    next_check,
    retry_after,
)
from tests.fakes.time import START
from tests.unit.events.webhooks.cases import moment, table

NAMES = {Delivered: "delivered", Disable: "disable", GiveUp: "give_up"}
units = st.floats(0, 1, exclude_max=True)
statuses = st.one_of(st.none(), st.integers(), st.integers(100, 599))
retry_afters = st.one_of(
    st.text(),
    st.integers(-10, 200_000).map(str),
    st.from_regex(r"(Mon|Sunday),? [0-9]{2}[ -](Jan|Feb)[ -][0-9]{2,4} [0-9:]{8} GMT"),
    st.from_regex(r"Sun Feb [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2} [0-9]{4}", fullmatch=True),
)


def name_of(action: Action) -> str:
    if isinstance(action, Retry):
        return "throttle" if action.throttle else "retry"
    return NAMES[type(action)]


@table("actions")
def test_an_answer_leads_to_one_action(case: dict[str, Any]) -> None:
    now = case.get("now", "2026-01-02T12:00:00Z")
    action = next_action(
        case["status"],
        case.get("headers", {}),
        attempt=case.get("attempt", 1),
        now=None if now is None else moment(now),
        unit_random=case.get("unit_random", 0.5),
    )
    assert name_of(action) == case["action"]
    if isinstance(action, Retry):
        assert action.after_seconds == pytest.approx(case["after"])


DEFAULT = Retry(after_seconds=5, throttle=True)


@pytest.mark.parametrize(
    "headers",
    [
        None,
        5,
        "Retry-After: 60",
        [("Retry-After", "60")],
        *({"Retry-After": value} for value in (None, 60, 60.0, b"60", ["60"], {"60": 60}, True)),
        *({name: "60"} for name in (None, 5, b"retry-after", ("retry-after",))),
        {"Retry-After": "Fri, 02 Jan 2026 12:02:00 GMT", "Date": 5},
    ],
)
def test_headers_that_can_not_be_read_ask_for_nothing(headers: Any) -> None:
    assert next_action(503, headers) == DEFAULT
    assert next_action(200, headers) == Delivered()
    assert next_action(410, headers) == Disable()


def test_a_header_that_can_not_be_read_hides_no_other() -> None:
    headers: Any = {None: "5", 5: "5", "retry-after": None, "Retry-After": "60"}
    assert retry_after(headers, None) == 60


@pytest.mark.parametrize("status", ["503", "200", "410", b"200", 200.0, float("nan"), [200], {}])
def test_a_status_that_can_not_be_read_is_no_answer(status: Any) -> None:
    assert next_action(status, {}) == Retry(after_seconds=5)
    assert next_action(status, {}, attempt=5) == next_action(None, {}, attempt=5)


@pytest.mark.parametrize(
    "now",
    [
        datetime(2026, 1, 2, 12),  # noqa: DTZ001 (meant)
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))),
        date(2026, 1, 2),
        1767355200,
        "now",
    ],
)
def test_a_clock_that_can_not_be_compared_is_none(now: Any) -> None:
    for value in ("Fri, 02 Jan 2026 12:02:00 GMT", "Friday, 02-Jan-26 12:02:00 GMT"):
        assert next_action(503, {"Retry-After": value}, now=now) == DEFAULT
    headers = {
        "Retry-After": "Fri, 02 Jan 2026 12:02:00 GMT",
        "Date": "Fri, 02 Jan 2026 12:00:00 GMT",
    }
    assert next_action(503, headers, now=now) == Retry(after_seconds=120, throttle=True)


def test_status_and_headers_suffice() -> None:
    assert next_action(200, {}) == Delivered()
    assert next_action(404, {}) == Retry(after_seconds=5)
    assert next_action(429, {"Retry-After": "60"}) == Retry(after_seconds=60, throttle=True)


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        ("9" * 100_000, RETRY_AFTER_CAP_SECONDS),
        ("0" * 100_000 + "7", 7),
        ("Fri, 02 Jan 2026 12:01:00 GMT", 60),
        ("Fri, 02 Jan 2026 11:00:00 GMT", 0),
        ("soon", None),
    ],
    ids=["too many digits", "many zeros", "later", "past", "unreadable"],
)
def test_a_retry_after_is_from_zero_to_its_cap(asked: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": asked}, START) == seconds


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (None, "5 attempts failed, the last one without an answer"),
        (503, "5 attempts failed, the last one answered 503"),
    ],
)
def test_giving_up_says_why(status: int | None, reason: str) -> None:
    assert next_action(status, {}, attempt=5) == GiveUp(reason=reason)


def test_a_dead_endpoint_is_tried_five_times_within_three_hours() -> None:
    waits = []
    for attempt in itertools.count(1):
        action = next_action(None, {}, attempt=attempt, now=START)
        if not isinstance(action, Retry):
            break
        waits.append(action.after_seconds)
    assert waits == [5, 300, 1800, 7200]
    assert action == GiveUp(reason="5 attempts failed, the last one without an answer")


@given(st.lists(units, min_size=len(DELAYS_SECONDS), max_size=len(DELAYS_SECONDS)))
def test_delays_grow_whatever_the_jitter(jitter: list[float]) -> None:
    delays = [delay(attempt, unit) for attempt, unit in enumerate(jitter, start=1)]
    assert all(one < other for one, other in itertools.pairwise(delays))


@given(st.integers(-10, 10**9), units)
def test_a_delay_is_within_a_tenth_of_the_schedule(attempt: int, unit: float) -> None:
    base = DELAYS_SECONDS[min(max(attempt, 1), len(DELAYS_SECONDS)) - 1]
    assert 0.9 * base - 1e-6 <= delay(attempt, unit) <= 1.1 * base + 1e-6


@given(st.floats(0, 100_000), units)
def test_a_waiting_delivery_checks_soon_after_the_cooldown(waited: float, unit: float) -> None:
    late = (next_check(START, waited, unit) - START).total_seconds()
    assert 0 <= late <= min(waited, 900) + 1e-6


@given(statuses, retry_afters, st.integers(-1, 2 * MAX_ATTEMPTS), units)
def test_any_answer_leads_to_a_bounded_action(
    status: int | None, asked: str, attempt: int, unit: float
) -> None:
    action = next_action(
        status, {"retry-after": asked}, attempt=attempt, now=START, unit_random=unit
    )
    successful = status is not None and 200 <= status <= 299
    assert isinstance(action, Delivered) == successful
    assert isinstance(action, Disable) == (status == 410)
    if isinstance(action, Retry):
        assert attempt < MAX_ATTEMPTS
        assert delay(attempt, unit) <= action.after_seconds <= RETRY_AFTER_CAP_SECONDS
    elif not successful and status != 410:
        assert attempt >= MAX_ATTEMPTS
