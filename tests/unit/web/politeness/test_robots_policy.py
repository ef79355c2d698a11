"""The robots.txt that applies, by the stored copy and the host's answer."""

from datetime import timedelta

import pytest

from spinneret.kernel import bounds
from spinneret.web import limits
from spinneret.web.politeness.robots_policy import (
    Answer,
    Answered,
    Decision,
    Fetch,
    LostInRedirects,
    RobotsReason,
    RobotsWait,
    StoredRobots,
    Unreachable,
    UseRobots,
    decide,
)
from tests.fakes.time import START

SECOND = timedelta(seconds=1)
FRESH = limits.ROBOTS_FRESH_SECONDS * SECOND
KEPT = limits.ROBOTS_KEPT_SECONDS * SECOND
PAUSE = limits.ROBOTS_DISALLOW_SECONDS * SECOND
FILE = b"User-agent: *\nDisallow: /private\n"

READ = StoredRobots(content=FILE, read_at=START, check_at=START + FRESH)
NONE_THERE = StoredRobots(read_at=START, check_at=START + FRESH)

ANSWERED_WELL = Answered(status_code=200, content=FILE)
UNAVAILABLE: list[Answer] = [
    LostInRedirects(),
    *(Answered(status_code=status, content=FILE) for status in (300, 304, 399, 400, 401, 403)),
    *(Answered(status_code=status, content=FILE) for status in (404, 408, 410, 428, 451, 499)),
]
IN_TROUBLE: list[Answer] = [
    Answered(status_code=status, content=FILE) for status in (429, 500, 502, 503, 599, 600, 999)
]


def permits(decision: Decision, path: str) -> bool:
    assert isinstance(decision, UseRobots)
    return decision.robots.allows(path, "Weaver")


def kept_of(decision: Decision) -> StoredRobots:
    assert isinstance(decision, UseRobots | RobotsWait)
    assert decision.keep is not None
    return decision.keep


# ---------------------------------------------------------------- Before a request to the host


def test_an_unknown_host_is_asked() -> None:
    assert decide(None, None, START) == Fetch()


@pytest.mark.parametrize("age", [timedelta(0), SECOND, FRESH - SECOND])
def test_a_fresh_file_holds_without_asking(age: timedelta) -> None:
    decision = decide(READ, None, START + age)
    assert isinstance(decision, UseRobots)
    assert (decision.reason, decision.keep) == (RobotsReason.FRESH, None)
    assert not permits(decision, "/private")
    assert permits(decision, "/public")


@pytest.mark.parametrize("age", [FRESH, FRESH + SECOND, KEPT])
def test_a_stale_file_is_asked_for_again(age: timedelta) -> None:
    assert decide(READ, None, START + age) == Fetch()


# ---------------------------------------------------------------- Answers of the host


@pytest.mark.parametrize("kept", [None, READ, NONE_THERE])
@pytest.mark.parametrize("status", [200, 203, 299])
def test_a_file_that_was_read_holds_for_a_day(kept: StoredRobots | None, status: int) -> None:
    now = START + 2 * FRESH
    decision = decide(kept, Answered(status_code=status, content=FILE), now)
    assert isinstance(decision, UseRobots)
    assert decision.reason is RobotsReason.READ
    assert decision.keep == StoredRobots(content=FILE, read_at=now, check_at=now + FRESH)
    assert not permits(decision, "/private")


@pytest.mark.parametrize("kept", [None, READ])
@pytest.mark.parametrize("answer", UNAVAILABLE, ids=repr)
def test_a_host_without_the_file_allows_all_for_a_day(
    kept: StoredRobots | None, answer: Answer
) -> None:
    now = START + 2 * FRESH
    decision = decide(kept, answer, now)
    assert isinstance(decision, UseRobots)
    assert decision.reason is RobotsReason.UNAVAILABLE
    assert decision.keep == StoredRobots(read_at=now, check_at=now + FRESH)
    assert permits(decision, "/private")


@pytest.mark.parametrize("answer", [*IN_TROUBLE, Unreachable()], ids=repr)
@pytest.mark.parametrize("age", [FRESH, KEPT - SECOND])
def test_a_host_in_trouble_is_held_to_what_it_last_said(answer: Answer, age: timedelta) -> None:
    now = START + age
    decision = decide(READ, answer, now)
    assert isinstance(decision, UseRobots)
    assert decision.reason is RobotsReason.FALLBACK
    assert decision.keep == StoredRobots(content=FILE, read_at=START, check_at=now + PAUSE)
    assert not permits(decision, "/private")
    assert permits(decision, "/public")


@pytest.mark.parametrize("answer", [*IN_TROUBLE, Unreachable()], ids=repr)
def test_that_a_host_had_no_file_is_remembered_too(answer: Answer) -> None:
    assert permits(decide(NONE_THERE, answer, START + FRESH), "/private")


@pytest.mark.parametrize("kept", [None, READ, NONE_THERE])
@pytest.mark.parametrize("answer", IN_TROUBLE, ids=repr)
def test_a_host_in_trouble_without_a_copy_is_left_alone_for_five_minutes(
    kept: StoredRobots | None, answer: Answer
) -> None:
    now = START + KEPT
    until = now + PAUSE
    assert decide(kept, answer, now) == RobotsWait(
        until=until, keep=StoredRobots(check_at=until, closed=True)
    )


@pytest.mark.parametrize("kept", [None, READ, NONE_THERE])
def test_a_host_out_of_reach_without_a_copy_allows_all(kept: StoredRobots | None) -> None:
    now = START + KEPT
    decision = decide(kept, Unreachable(), now)
    assert isinstance(decision, UseRobots)
    assert decision.reason is RobotsReason.UNREACHABLE
    assert decision.keep == StoredRobots(check_at=now + PAUSE)
    assert permits(decision, "/private")


# ---------------------------------------------------------------- Over time


def test_a_host_that_was_left_alone_is_asked_again_then() -> None:
    kept = kept_of(decide(None, IN_TROUBLE[0], START))
    assert decide(kept, None, START + PAUSE - SECOND) == RobotsWait(until=START + PAUSE, keep=None)
    assert decide(kept, None, START + PAUSE) == Fetch()
    assert not permits(decide(kept, ANSWERED_WELL, START + PAUSE), "/private")


def test_a_host_out_of_reach_is_asked_again_after_five_minutes() -> None:
    kept = kept_of(decide(None, Unreachable(), START))
    decision = decide(kept, None, START + PAUSE - SECOND)
    assert isinstance(decision, UseRobots)
    assert (decision.reason, decision.keep) == (RobotsReason.UNREACHABLE, None)
    assert decide(kept, None, START + PAUSE) == Fetch()


def test_being_out_of_reach_is_no_copy_to_fall_back_on() -> None:
    kept = kept_of(decide(None, Unreachable(), START))
    assert isinstance(decide(kept, IN_TROUBLE[0], START + PAUSE), RobotsWait)


# covers F-03
def test_a_copy_is_fallen_back_on_until_it_is_seven_days_old() -> None:
    """Each failed check postpones the next by five minutes; none makes the copy younger."""
    kept, now = READ, START + FRESH
    while now < START + KEPT:
        decision = decide(kept, Unreachable(), now)
        assert isinstance(decision, UseRobots)
        assert decision.reason is RobotsReason.FALLBACK
        kept = kept_of(decision)
        meanwhile = decide(kept, None, now + PAUSE - SECOND)
        assert isinstance(meanwhile, UseRobots)
        assert meanwhile.reason is RobotsReason.FALLBACK
        now = kept.check_at
    assert isinstance(decide(kept, IN_TROUBLE[0], now), RobotsWait)


def test_no_more_is_kept_than_is_read() -> None:
    content = FILE + b"#" * bounds.ROBOTS_MAX_BYTES + b"\nDisallow: /\n"
    decision = decide(None, Answered(status_code=200, content=content), START)
    assert kept_of(decision).content == FILE.rstrip()
    assert permits(decision, "/public")
    assert not permits(decision, "/private")


def test_contents_stay_out_of_logs() -> None:
    assert b"private" in READ.content
    assert "private" not in repr(READ)
    assert "private" not in repr(ANSWERED_WELL)
    assert "private" not in repr(decide(READ, None, START))
