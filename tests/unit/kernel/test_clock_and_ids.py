"""Timestamps and ids: their alphabetical order is their order in time."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.kernel.clock import parse_stamp, to_iso, utc_now
from spinneret.kernel.ids import id_maker, uuid7_hex
from tests.fakes.time import HandClock

MOMENTS = st.datetimes(
    min_value=datetime(1970, 1, 1),  # noqa: DTZ001 (hypothesis adds the zone)
    max_value=datetime(9999, 12, 31),  # noqa: DTZ001 (as above)
    timezones=st.just(UTC),
)


@given(MOMENTS)
def test_a_stamp_reads_back_as_its_moment(moment: datetime) -> None:
    assert parse_stamp(to_iso(moment)) == moment


@given(MOMENTS, MOMENTS)
def test_stamps_sort_as_their_moments(one: datetime, other: datetime) -> None:
    assert (to_iso(one) < to_iso(other)) == (one < other)


def test_a_stamp_is_in_utc_with_six_decimals() -> None:
    moment = datetime(2026, 1, 2, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert to_iso(moment) == "2026-01-01T23:30:00.000000Z"


@pytest.mark.parametrize(
    "text", ["", "2026-01-01", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000000+00:00"]
)
def test_another_form_is_no_stamp(text: str) -> None:
    with pytest.raises(ValueError, match="does not match"):
        parse_stamp(text)


def test_the_system_s_clock_knows_its_zone() -> None:
    assert utc_now().utcoffset() == timedelta(0)


@given(MOMENTS, st.binary(min_size=10, max_size=10))
def test_an_id_is_a_uuid_of_version_7(moment: datetime, randomness: bytes) -> None:
    value = uuid.UUID(uuid7_hex(moment, randomness))
    assert (value.version, value.variant) == (7, uuid.RFC_4122)
    milliseconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    assert abs(int.from_bytes(value.bytes[:6], "big") - milliseconds) <= 1


@given(MOMENTS, st.integers(2, 10**9), st.binary(min_size=20, max_size=20))
def test_a_later_id_sorts_after_an_earlier_one(
    moment: datetime, milliseconds: int, randomness: bytes
) -> None:
    later = moment + timedelta(milliseconds=milliseconds)
    assert uuid7_hex(moment, randomness[:10]) < uuid7_hex(later, randomness[10:])


def test_randomness_is_kept_but_for_the_bits_of_version_and_variant() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    low, high = (int(uuid7_hex(moment, byte * 10), 16) for byte in (b"\x00", b"\xff"))
    assert (low ^ high).bit_count() == 74


# covers P-01
@given(
    st.lists(
        st.tuples(st.floats(-5, 5), st.binary(min_size=10, max_size=10)), min_size=2, max_size=50
    )
)
def test_ids_sort_as_they_were_made_whatever_the_clock_does(
    steps: list[tuple[float, bytes]],
) -> None:
    clock, drawn = HandClock(), iter([randomness for _, randomness in steps])
    new_id = id_maker(clock, lambda _: next(drawn))
    ids = []
    for seconds, _ in steps:
        clock.advance(seconds)
        ids.append(new_id("job"))
    assert ids == sorted(set(ids))
    assert all(each.startswith("job_") and len(each) == 36 for each in ids)


def test_ids_of_one_moment_can_not_be_told_from_each_other() -> None:
    new_id = id_maker(HandClock())
    numbers = [int(new_id("job")[4:], 16) for _ in range(1000)]
    steps = {after - before for before, after in pairwise(numbers)}
    assert len(steps) > 990


def test_threads_never_get_the_same_id() -> None:
    new_id = id_maker(HandClock(), bytes)
    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(lambda _: new_id("job"), range(2000)))
    assert len(set(ids)) == 2000
