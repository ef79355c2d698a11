"""Dead letters are redriven up to three times; then they are set aside."""

import logging
from collections import Counter

import pytest

from spinneret.jobs import limits
from spinneret.jobs.models import DeadLetter, Lane
from spinneret.jobs.redrive import RULES, Redrive, RedriveResult
from spinneret.kernel.errors import DependencyUnavailable
from tests.fakes.jobs import FakeDeadLetterQueues
from tests.kinds import CRAWL_HIGH, CRAWL_LOW, CRAWL_NORMAL, DELIVERY, LANES
from tests.metrics import recorded


def letter(moves: int | None = 0) -> DeadLetter:
    return DeadLetter(body="{}", receipt="receipt", moves=moves, group="acme")


def many(count: int) -> list[DeadLetter]:
    return [letter() for _ in range(count)]


def done(sent_back: int = 0, set_aside: int = 0, unavailable: int = 0) -> RedriveResult:
    return RedriveResult(sent_back=sent_back, set_aside=set_aside, lanes_unavailable=unavailable)


class OneLaneDown(FakeDeadLetterQueues):
    """Queues of which one lane, with its dead letters, stops responding after `after` calls."""

    def __init__(self, down: Lane, after: int, letters: int) -> None:
        super().__init__({lane: many(letters) for lane in LANES})
        self._down = down
        self._answers = after

    def receive(self, lane: Lane, limit: int) -> list[DeadLetter]:
        self._ask(lane)
        return super().receive(lane, limit)

    def send_back(self, lane: Lane, letter: DeadLetter) -> None:
        self._ask(lane)
        super().send_back(lane, letter)

    def _ask(self, lane: Lane) -> None:
        if lane == self._down:
            if not self._answers:
                raise DependencyUnavailable("sqs")
            self._answers -= 1


# covers P-08
@pytest.mark.parametrize(
    ("moves", "goes_back"), [(0, True), (2, True), (3, False), (9, False), (None, False)]
)
def test_a_letter_goes_back_three_times_and_one_that_nobody_counted_never(
    moves: int | None, goes_back: bool, caplog: pytest.LogCaptureFixture
) -> None:
    queues = FakeDeadLetterQueues({CRAWL_NORMAL: [letter(moves)]})
    assert Redrive(queues, LANES).run() == done(int(goes_back), int(not goes_back))
    assert (bool(queues.sent_back), bool(queues.aside)) == (goes_back, not goes_back)
    said = [record.message for record in caplog.records if record.levelno == logging.ERROR]
    assert said == ([] if goes_back else ["dead_letter"])


def test_a_pass_counts_all_letters_before_it_moves_any() -> None:
    recorded()
    dead = {DELIVERY: many(3), CRAWL_LOW: many(2), RULES: many(1)}
    queues = FakeDeadLetterQueues(dead)
    Redrive(queues, LANES).run()
    assert recorded() == {"queue_depth_dlq": [6]}
    assert queues.count(RULES) == 1


def test_a_lane_has_a_whole_pass_when_the_others_need_nothing() -> None:
    queues = FakeDeadLetterQueues({DELIVERY: many(500)})
    assert Redrive(queues, LANES).run() == done(limits.DEAD_LETTERS_PER_PASS)
    assert len(queues.dead[DELIVERY]) == 500 - limits.DEAD_LETTERS_PER_PASS


def test_what_one_lane_leaves_goes_to_the_others() -> None:
    letters = {CRAWL_HIGH: many(95), CRAWL_LOW: many(3), DELIVERY: many(1)}
    queues = FakeDeadLetterQueues(letters)
    assert Redrive(queues, LANES).run() == done(99)
    assert not any(queues.dead.values())


def test_full_lanes_share_a_pass() -> None:
    queues = FakeDeadLetterQueues({lane: many(500) for lane in LANES})
    assert Redrive(queues, LANES).run() == done(limits.DEAD_LETTERS_PER_PASS)
    shares = Counter(lane for lane, _ in queues.sent_back)
    assert set(shares) == set(LANES)
    assert max(shares.values()) - min(shares.values()) <= 10


@pytest.mark.parametrize("after", [0, 1, 4, 11])
def test_a_lane_that_does_not_answer_costs_the_others_nothing(
    after: int, caplog: pytest.LogCaptureFixture
) -> None:
    queues = OneLaneDown(CRAWL_HIGH, after, letters=12)
    lanes = sorted({CRAWL_HIGH, *LANES[:6]})  # few enough that a pass has room for all letters
    others = len(lanes) - 1
    got_through = max(0, after - 1)  # the first call receives letters
    assert Redrive(queues, lanes).run() == done(12 * others + min(10, got_through), unavailable=1)
    assert [record.message for record in caplog.records] == ["dead_letters_unavailable"]
