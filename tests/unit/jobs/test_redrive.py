"""Dead letters get a few more chances and then rest."""

from __future__ import annotations

import pytest

from spinneret.jobs.models import DeadLetter, Lane
from spinneret.jobs.redrive import Redrive, Redriven
from spinneret.kernel import limits
from tests.fakes.jobs import FakeDeadLetterQueues


@pytest.mark.parametrize(("moves", "goes_back"), [(0, True), (2, True), (3, False), (9, False)])
def test_a_letter_goes_back_three_times(moves: int, goes_back: bool) -> None:
    queues = FakeDeadLetterQueues({Lane.CRAWL_NORMAL: [letter(moves)]})
    done = Redrive(queues, Lane).run()
    assert (bool(queues.sent_back), bool(queues.resting)) == (goes_back, not goes_back)
    assert done == Redriven(sent_back=int(goes_back), at_rest=int(not goes_back))


def test_a_pass_is_bounded() -> None:
    queues = FakeDeadLetterQueues({Lane.CRAWL_NORMAL: [letter(0) for _ in range(500)]})
    done = Redrive(queues, Lane).run()
    assert done.sent_back <= limits.DEAD_LETTERS_PER_PASS
    assert len(queues.dead[Lane.CRAWL_NORMAL]) == 500 - done.sent_back


def letter(moves: int) -> DeadLetter:
    return DeadLetter(body="{}", receipt="receipt", moves=moves)
