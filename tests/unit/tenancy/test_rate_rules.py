"""The sliding window counter against its formula and against an exact log."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from fractions import Fraction
from typing import Final

from hypothesis import example, given
from hypothesis import strategies as st

from spinneret.tenancy import rules
from spinneret.tenancy.models import Allowance, RateWindow
from tests.fakes.time import START

MINUTE: Final = 60_000_000  # microseconds, as all times here; counted from START, which begins one
LIMITS = st.integers(1, 12)
# Many requests at one moment, gaps of all sizes, and gaps that end just at a minute.
GAPS = st.lists(
    st.one_of(
        st.just(0),
        st.integers(0, MINUTE // 10),
        st.integers(0, 3 * MINUTE),
        st.sampled_from([MINUTE // 12, MINUTE // 2, MINUTE - 1, MINUTE, MINUTE + 1]),
    ),
    max_size=60,
)


class Caller:
    """One key's requests, in order, and which of them were admitted."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.window: RateWindow | None = None
        self.admitted: list[int] = []

    def ask(self, time: int) -> Allowance:
        """One request."""
        now = START + timedelta(microseconds=time)
        took = True
        if self.window is None or self.window.minute < rules.minute_of(now):
            self.window = rules.begun(self.window, self.limit, now)
        elif rules.admits(self.window, self.limit, now):
            self.window = rules.spent(self.window)
        else:
            took = False
        if took:
            self.admitted.append(time)
        return rules.allowance(self.window, self.limit, now, admitted=took)

    def ask_all(self, gaps: list[int]) -> list[tuple[int, bool]]:
        """Every request's time and whether it was admitted."""
        time, asked = 0, []
        for gap in gaps:
            time += gap
            asked.append((time, self.ask(time).admitted))
        return asked


def estimate(admitted: list[int], time: int) -> Fraction:
    """The weighted requests of the minute of `time` and the one before, by the formula."""
    counts = Counter(each // MINUTE for each in admitted if each <= time)
    share = 1 - Fraction(time % MINUTE, MINUTE)
    return counts[time // MINUTE - 1] * share + counts[time // MINUTE]


@given(LIMITS, GAPS)
def test_no_minute_admits_more_than_the_limit(limit: int, gaps: list[int]) -> None:
    caller = Caller(limit)
    caller.ask_all(gaps)
    assert all(count <= limit for count in Counter(t // MINUTE for t in caller.admitted).values())


@given(LIMITS, GAPS)
@example(limit=7, gaps=[0] * 7 + [MINUTE] + [-(-MINUTE // 7)] * 7)
def test_a_request_is_admitted_by_the_formula(limit: int, gaps: list[int]) -> None:
    caller, before = Caller(limit), list[int]()
    for time, admitted in caller.ask_all(gaps):
        in_minute = sum(each // MINUTE == time // MINUTE for each in before)
        if in_minute < limit and estimate(before, time) <= limit:
            assert admitted
        if admitted:
            # Early by the rounding at most: a microsecond for each request of the limit.
            assert estimate(before, time) <= limit + Fraction(limit * limit, MINUTE)
            before.append(time)


@given(LIMITS, GAPS)
@example(limit=10, gaps=[MINUTE - 1] + [0] * 9 + [1] * 60)
def test_any_60_seconds_admit_the_limit_one_more_and_what_came_late(
    limit: int, gaps: list[int]
) -> None:
    caller = Caller(limit)
    caller.ask_all(gaps)
    for time in caller.admitted:
        log = [each for each in caller.admitted if time - MINUTE < each <= time]
        before = [each for each in caller.admitted if each // MINUTE == time // MINUTE - 1]
        even = len(before) * (1 - Fraction(time % MINUTE, MINUTE))
        late = sum(each > time - MINUTE for each in before) - even
        assert len(log) <= limit + 1 + max(late, Fraction(0))


@given(LIMITS, st.integers(0, MINUTE), st.integers(0, MINUTE // 100), st.integers(1, 80))
@example(limit=7, offset=0, slack=0, requests=80)
@example(limit=1, offset=MINUTE // 2, slack=0, requests=5)
def test_who_keeps_to_the_rate_evenly_is_never_refused(
    limit: int, offset: int, slack: int, requests: int
) -> None:
    caller = Caller(limit)
    gap = -(-MINUTE // limit) + slack
    assert all(admitted for _, admitted in caller.ask_all([offset] + [gap] * requests))
    for time in caller.admitted:
        assert sum(time - MINUTE < each <= time for each in caller.admitted) <= limit


@given(LIMITS, GAPS)
def test_what_an_answer_says_remains_is_admitted_at_once_and_no_more(
    limit: int, gaps: list[int]
) -> None:
    caller = Caller(limit)
    caller.ask_all(gaps)
    time = sum(gaps)
    remaining = caller.ask(time).remaining
    left = [caller.ask(time) for _ in range(remaining + 1)]
    assert [answer.admitted for answer in left] == [True] * remaining + [False]
    assert [answer.remaining for answer in left[:-1]] == list(range(remaining))[::-1]


@given(LIMITS, GAPS)
def test_who_waits_as_told_is_admitted_and_was_not_told_too_much(
    limit: int, gaps: list[int]
) -> None:
    caller = Caller(limit)
    caller.ask_all(gaps)
    time = sum(gaps)
    while (answer := caller.ask(time)).admitted:
        continue
    assert (answer.limit, answer.remaining) == (limit, 0)
    assert 1 <= answer.reset_seconds <= 60
    assert (
        answer.reset_seconds == 1
        or not caller.ask(time + (answer.reset_seconds - 1) * 1_000_000 - 1).admitted
    )
    assert caller.ask(time + answer.reset_seconds * 1_000_000).admitted


def test_a_window_of_a_limit_that_was_higher_admits_as_a_full_one() -> None:
    former = RateWindow(minute=rules.minute_of(START) - 1, count=50, opens_at=0, step=0)
    full = RateWindow(minute=rules.minute_of(START) - 1, count=4, opens_at=0, step=0)
    assert rules.begun(former, 4, START) == rules.begun(full, 4, START)
