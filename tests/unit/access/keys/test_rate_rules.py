"""The sliding window, compared with an exact log of the admitted requests."""

import random
from bisect import bisect_right
from datetime import timedelta
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spinneret.access.keys import rules
from spinneret.access.keys.models import RateLimitStatus
from tests.fakes.time import START
from tests.sampling import sampled

SECOND: Final = 1_000_000  # in µs, as all times here; times count from START, which begins a second
MINUTE: Final = 60 * SECOND
LIMITS = st.integers(1, 12)
# Gaps of zero, gaps of all sizes, and gaps of a second or a minute, give or take 1 µs.
GAPS = st.lists(
    st.one_of(
        st.just(0),
        st.integers(0, SECOND // 5),
        st.integers(0, MINUTE // 10),
        st.integers(0, 2 * MINUTE),
        st.sampled_from([SECOND - 1, SECOND, SECOND + 1, MINUTE - SECOND, MINUTE - 1, MINUTE]),
    ),
    max_size=80,
)
EARLY_OR_LATE = st.one_of(st.just(0), st.integers(-3 * SECOND, 3 * SECOND))


class Caller:
    """The requests of one key, and the times of the admitted ones."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.window = rules.UNUSED
        self.admitted: list[int] = []

    def ask(self, time: int) -> RateLimitStatus:
        """Send a request at this time, in µs, and return the status of the rate limit."""
        now = START + timedelta(microseconds=time)
        changed = rules.counted(self.window, self.limit, now)
        if changed is not None:
            self.window = changed
            self.admitted.append(time)
        return rules.allowance(self.window, self.limit, now, admitted=changed is not None)

    def ask_all(self, gaps: list[int], offset: int = 0) -> list[bool]:
        """Send a request after each of the gaps, and return which requests were admitted."""
        time, answers = offset, []
        for gap in gaps:
            time += gap
            answers.append(self.ask(time).admitted)
        return answers

    @property
    def most(self) -> int:
        """Return the largest number of requests that were admitted within any 60 seconds.

        One of the intervals with this number ends just after one of its requests.
        """
        log = self.admitted
        return max(
            (number - bisect_right(log, time - MINUTE) for number, time in enumerate(log, start=1)),
            default=0,
        )


# covers F-06, T-01
@given(LIMITS, GAPS)
@example(limit=10, gaps=[MINUTE - SECOND // 10] + [0] * 9 + [SECOND // 2] * 200)
@example(limit=3, gaps=[SECOND - 1, 0, 1] + [MINUTE - SECOND - 1, 1, 1] * 4)
def test_no_60_seconds_admit_more_than_the_limit(limit: int, gaps: list[int]) -> None:
    caller = Caller(limit)
    caller.ask_all(gaps)
    assert caller.most <= limit


@pytest.mark.parametrize("limit", sampled([1, 5, 61, 59, 60, 300], quick=3))
def test_who_takes_whatever_is_given_gets_the_limit_and_no_more(limit: int) -> None:
    """The caller sends bursts at critical times: ends of seconds, and after the advised waits."""
    choice = random.Random(limit)
    caller, time = Caller(limit), 59 * SECOND + 900_000
    while time < 20 * MINUTE:
        for _ in range(choice.choice([1, 2, limit + 1])):
            answer = caller.ask(time)
        advised = answer.reset_seconds * SECOND
        time += choice.choice(
            [1, SECOND // 10, SECOND, advised, SECOND - time % SECOND - 1 or SECOND]
        )
    assert caller.most == limit


@given(LIMITS, GAPS, st.lists(EARLY_OR_LATE, min_size=80, max_size=80))
def test_clocks_that_differ_admit_no_more_either(
    limit: int, gaps: list[int], skews: list[int]
) -> None:
    """A request counts as no earlier than the request that was admitted before it."""
    caller, time = Caller(limit), MINUTE
    for gap, skew in zip(gaps, skews, strict=False):
        time += gap
        if caller.ask(time + skew).admitted:
            caller.admitted[-1] = max(caller.admitted[-2:])
    assert caller.most <= limit


@given(LIMITS, st.integers(1, 60), GAPS, GAPS)
def test_a_limit_that_has_changed_holds_from_the_next_second_on(
    limit: int, changed: int, gaps: list[int], later: list[int]
) -> None:
    caller = Caller(limit)
    caller.ask_all(gaps)
    caller.limit = changed
    caller.ask_all(later, sum(gaps) + SECOND)
    assert caller.most <= max(limit, changed)
    caller.admitted = [each for each in caller.admitted if each > sum(gaps) + 2 * MINUTE]
    assert caller.most <= changed


@given(
    st.integers(1, 60),
    st.integers(0, MINUTE),
    st.lists(st.integers(0, SECOND), min_size=1, max_size=150),
)
@example(limit=60, offset=0, delays=[0] * 150)
@example(limit=7, offset=999_999, delays=[0] * 80)
def test_who_keeps_to_a_rate_of_up_to_60_is_never_refused(
    limit: int, offset: int, delays: list[int]
) -> None:
    caller = Caller(limit)
    assert all(caller.ask_all([-(-MINUTE // limit) + delay for delay in delays], offset))


@pytest.mark.parametrize("limit", sampled([61, 90, 121, 66, 69, 119, 120, 600, 6000], quick=3))
def test_who_keeps_to_a_higher_rate_loses_three_requests_in_100_at_most(limit: int) -> None:
    for offset in (0, 999_999):
        caller = Caller(limit)
        answers = caller.ask_all([-(-MINUTE // limit)] * (3 * limit), offset)
        assert answers.count(False) <= len(answers) * 0.03
        assert caller.most <= limit


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


@given(LIMITS, st.integers(1, 12), GAPS)
def test_who_waits_as_told_is_admitted_and_was_not_told_too_much(
    limit: int, changed: int, gaps: list[int]
) -> None:
    caller, time = Caller(limit), sum(gaps)
    caller.ask_all(gaps)
    caller.limit = changed
    while (answer := caller.ask(time)).admitted:
        continue
    assert (answer.limit, answer.remaining) == (changed, 0)
    assert 1 <= answer.reset_seconds <= 61
    wait = answer.reset_seconds * SECOND
    assert answer.reset_seconds == 1 or not caller.ask(time + wait - SECOND).admitted
    assert caller.ask(time + wait).admitted


@given(LIMITS, GAPS)
def test_an_answer_tells_when_more_is_admitted(limit: int, gaps: list[int]) -> None:
    caller, time = Caller(limit), sum(gaps)
    caller.ask_all(gaps)
    answer = caller.ask(time)
    wait = timedelta(seconds=answer.reset_seconds)
    later = rules.allowance(
        caller.window, limit, START + timedelta(microseconds=time) + wait, admitted=True
    )
    assert later.remaining > answer.remaining
