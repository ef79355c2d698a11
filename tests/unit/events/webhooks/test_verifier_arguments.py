"""`verify` accepts arguments of many types, and rejects all others with a reason."""

import traceback
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from itertools import repeat
from typing import Any

import pytest

from spinneret.events.webhooks.signing import Refusal, VerificationFailed, verify
from tests.fakes.time import START
from tests.unit.events.webhooks.cases import FIRST, NAMES, SECOND, reason_of, signed


@pytest.mark.parametrize("body", ["{}", None, {}, 1])
def test_a_body_that_is_not_what_came_over_the_wire_is_refused(body: Any) -> None:
    assert reason_of(signed(), body) == Refusal.BODY_NOT_BYTES


@pytest.mark.parametrize("secrets", [[FIRST.encode()], [None], [FIRST, 1], {5: FIRST}])
def test_secrets_of_another_type_are_refused(secrets: Any) -> None:
    assert reason_of(signed(), secrets=secrets) == Refusal.MALFORMED_SECRET


@pytest.mark.parametrize("secrets", [FIRST, FIRST.encode(), 5, True, object(), repeat(FIRST)])
def test_what_is_no_list_of_secrets_is_refused(secrets: Any) -> None:
    assert reason_of(signed(), secrets=secrets) == Refusal.SECRETS_NOT_A_LIST


@pytest.mark.parametrize(
    "secrets", [iter([SECOND, FIRST]), (each for each in (FIRST,)), {FIRST: "current"}.keys()]
)
def test_secrets_that_can_be_read_once_are_read_once(secrets: Any) -> None:
    assert verify(signed(), b"{}", secrets, START) == "msg_1"


@pytest.mark.parametrize("secrets", [(), [], "", None, iter(())])
def test_without_a_secret_nothing_is_believed(secrets: Any) -> None:
    assert reason_of(signed(), secrets=secrets) == Refusal.NO_SECRET


def test_a_clock_without_a_zone_is_refused() -> None:
    assert reason_of(signed(), now=START.replace(tzinfo=None)) == Refusal.CLOCK_WITHOUT_ZONE


@pytest.mark.parametrize("now", [None, 1767355200, float("nan"), "now", date(2026, 1, 2), time(12)])
def test_a_clock_that_is_none_is_refused(now: Any) -> None:
    assert reason_of(signed(), now=now) == Refusal.CLOCK_NOT_A_DATETIME
    assert reason_of({}, now=now) == Refusal.CLOCK_NOT_A_DATETIME


@pytest.mark.parametrize("now", [datetime.min, datetime.max])  # noqa: DTZ901 (meant)
def test_the_ends_of_time_are_too_far_away(now: datetime) -> None:
    for hours in (-14, 0, 14):
        zone = timezone(timedelta(hours=hours))
        reason = reason_of(signed(), now=now.replace(tzinfo=zone))
        assert reason in {Refusal.TOO_OLD, Refusal.TOO_NEW}


def test_a_clock_that_shows_no_time_makes_nothing_timely() -> None:
    reason_of(signed(), now=NoTime(2026, 1, 2, tzinfo=UTC))


# ---------------------------------------------------------------- Header types of web frameworks


class Fields:
    """Headers that have `items` but are no mapping, like those of `http.client` and werkzeug."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._pairs = pairs

    def items(self) -> list[tuple[str, str]]:
        return self._pairs


@pytest.mark.parametrize(
    "shape",
    [
        lambda headers: list(headers.items()),
        lambda headers: tuple(headers.items()),
        lambda headers: headers.items(),
        lambda headers: iter(headers.items()),
        lambda headers: [[name, value] for name, value in headers.items()],
        lambda headers: [(name.encode(), value.encode()) for name, value in headers.items()],
        lambda headers: [("Host", "a"), ("Host", "b"), *headers.items(), (b"x-\xe9", b"\xe9")],
        lambda headers: {name.encode(): value.encode() for name, value in headers.items()},
        lambda headers: headers | {None: 5, 5: None},
        lambda headers: Fields([*headers.items()]),
    ],
    ids=["list", "tuple", "view", "iterator", "lists", "ASGI", "others repeat", "bytes",
         "others are odd", "items"],
)  # fmt: skip
def test_headers_are_taken_as_frameworks_give_them(shape: Callable[[dict[str, str]], Any]) -> None:
    assert verify(shape(signed()), b"{}", [FIRST], START) == "msg_1"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("encode", [str, str.encode], ids=["text", "bytes"])
def test_a_pair_that_repeats_a_header_is_refused(name: str, encode: Any) -> None:
    headers = signed()
    again = [*headers.items(), (encode(name.upper()), encode(headers[name]))]
    assert reason_of(again) == Refusal.REPEATED_HEADER


@pytest.mark.parametrize(
    "headers",
    [None, 5, 1.5, True, object(), "webhook-id: msg_1", b"webhook-id: msg_1", [1], ["ab"],
     [("webhook-id",)], [("webhook-id", "msg_1", "x")], [None], [b"ab"], repeat(("a", "b"))],
)  # fmt: skip
def test_what_holds_no_headers_is_refused(headers: Any) -> None:
    assert reason_of(headers) == Refusal.HEADERS_NOT_PAIRS


class Failing(dict[Any, Any]):
    """A mapping whose methods raise."""

    def items(self) -> Any:
        raise RuntimeError("token=hush")


class FailingName(str):
    """A string whose methods raise."""

    __slots__ = ()

    def lower(self) -> str:
        raise RuntimeError("token=hush")

    def removeprefix(self, _: str, /) -> str:
        raise RuntimeError("token=hush")


class FailingZone(tzinfo):
    """A time zone whose methods raise."""

    def utcoffset(self, _: datetime | None, /) -> timedelta:
        raise RuntimeError("token=hush")


class NoTime(datetime):
    """A datetime like pandas' `NaT`, neither before nor after any other."""

    def __sub__(self, _: Any) -> Any:
        return self

    def __lt__(self, _: Any) -> bool:
        return False

    __gt__ = __le__ = __ge__ = __lt__


class FailingList(list[Any]):
    """A list whose iteration raises."""

    def __iter__(self) -> Any:
        raise RecursionError("token=hush")


@pytest.mark.parametrize(
    "given",
    [
        {"headers": Failing()},
        {"headers": dict},
        {"headers": {FailingName("webhook-id"): "x"}},
        {"headers": FailingList()},
        {"secrets": FailingList([1])},
        {"secrets": [FailingName(FIRST)]},
        {"now": START.replace(tzinfo=FailingZone())},
    ],
)
def test_what_odd_objects_raise_is_a_refusal_that_shows_nothing_of_it(
    given: dict[str, Any],
) -> None:
    with pytest.raises(VerificationFailed) as refusal:
        verify(**{"headers": signed(), "body": b"{}", "secrets": [FIRST], "now": START} | given)
    assert refusal.value.reason == Refusal.FAULTY_ARGUMENT
    assert refusal.value.__suppress_context__
    assert "hush" not in "".join(traceback.format_exception(refusal.value))
