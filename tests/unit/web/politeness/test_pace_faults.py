"""The rate limit of a host when answers are lost or the ledger is down."""

import itertools
from datetime import timedelta

import pytest

from spinneret.kernel.errors import DependencyUnavailable
from spinneret.web.politeness.models import (
    HostOutcome,
    PaceLimits,
    Permit,
    Record,
    Wait,
    from_ms,
    to_ms,
)
from spinneret.web.politeness.service import HostRateLimiter
from tests.fakes.politeness import FakeHostStateStore, LossyLedger, pace_at
from tests.fakes.time import START, HandClock
from tests.unit.web.politeness.pace_calls import (
    HOST,
    SECOND,
    STRICT,
    USUAL,
    admitted,
    ask,
    refused,
    use_up,
)


@pytest.mark.parametrize("limits_", [USUAL, STRICT], ids=["bucket", "strict"])
def test_lost_answers_neither_spend_tokens_nor_slots(
    ledger: FakeHostStateStore, clock: HandClock, limits_: PaceLimits
) -> None:
    lossy, sound = FakeHostStateStore(), FakeHostStateStore()
    reported: list[list[object]] = []
    for pace in (pace_at(LossyLedger(lossy), clock), pace_at(sound, clock)):
        clock.now = START
        answers: list[object] = []
        for reserved in itertools.islice(itertools.cycle([False, False, True]), 24):
            outcome = ask(pace, limits_, reserved=reserved)
            answers.append(outcome if isinstance(outcome, Wait) else "admitted")
            if isinstance(outcome, Permit):
                pace.report(outcome, HostOutcome.SUCCESS, retry_after=2)
            clock.advance(0.7)
        reported.append(answers)
    assert reported[0] == reported[1]


def test_a_lost_answer_costs_no_second_token_of_a_burst(clock: HandClock) -> None:
    pace = pace_at(LossyLedger(FakeHostStateStore()), clock)
    use_up(pace)
    assert refused(pace).until == START + SECOND


def test_a_ledger_that_is_down_is_reported(
    pace: HostRateLimiter, ledger: FakeHostStateStore
) -> None:
    permit = admitted(pace, STRICT)
    ledger.available = False
    for call in (
        lambda: ask(pace),
        lambda: pace.report(permit, HostOutcome.SUCCESS),
        lambda: pace.state(HOST),
        lambda: pace.reset(HOST),
    ):
        with pytest.raises(DependencyUnavailable):
            call()


def test_a_row_is_kept_for_longer_than_anything_in_it(
    pace: HostRateLimiter, ledger: FakeHostStateStore, clock: HandClock
) -> None:
    permit = admitted(pace, PaceLimits(min_gap_seconds=48 * 3600))
    pace.report(permit, HostOutcome.SUCCESS, retry_after=3600)
    row = ledger.read(HOST, Record.PACE)
    purge_at = row["purge_at"]
    assert isinstance(purge_at, int)
    moments = [value for value in row.values() if isinstance(value, int) and value != purge_at]
    assert 1000 * purge_at > max(moments) + 3600 * 1000


def test_moments_survive_their_stored_form() -> None:
    moment = START + timedelta(milliseconds=123)
    assert from_ms(to_ms(moment)) == moment
    assert to_ms(moment + timedelta(microseconds=999)) == to_ms(moment)
