"""The sweeper's function: an outage of one part doesn't stop the other part."""

from typing import NoReturn

import pytest

from spinneret.jobs.sweeper import SweepResult
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.operations.sweeper_wiring import SweeperResult, swept_all
from spinneret.outbox.relay import RelayResult
from tests.metrics import recorded


def test_both_passes_are_made_and_told() -> None:
    sweep = swept_all(lambda: SweepResult(sent=1), lambda: RelayResult(handed_on=2), lambda: 3)
    recorded()
    assert sweep() == SweeperResult(jobs=SweepResult(sent=1), events=RelayResult(handed_on=2))
    assert recorded() == {"active_deep_crawls": [3]}


def test_events_are_handed_on_even_if_the_jobs_can_not_be_swept() -> None:
    made: list[str] = []

    def down() -> NoReturn:
        raise DependencyUnavailable("dynamodb")

    def relayed() -> RelayResult:
        made.append("events")
        return RelayResult()

    with pytest.raises(DependencyUnavailable):
        swept_all(down, relayed, down)()
    assert made == ["events"]
