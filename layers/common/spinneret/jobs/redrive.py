"""Redrive of dead letters to their lanes, a few times each.

A message becomes a dead letter when no worker could read it or every worker died of it. Most such
messages are a fault of ours that a deployment fixes, so a pass sends them back a few times. After
that they stay in the queue for an operator. The sweeper takes care of their jobs in any case.
"""

import logging
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from spinneret.jobs import limits
from spinneret.jobs.models import DeadLetter, Lane
from spinneret.jobs.ports import DeadLetterQueues
from spinneret.kernel import metrics
from spinneret.kernel.errors import DependencyUnavailable

logger = logging.getLogger(__name__)

RULES: Final = Lane("rules")
"""The queue of scheduled passes that failed, which has no lane: the next pass replaces them."""


@dataclass(frozen=True, kw_only=True)
class RedriveResult:
    """Result of one pass."""

    sent_back: int
    set_aside: int
    lanes_unavailable: int
    """Lanes whose queues didn't answer; the next pass retries them."""


class Redrive:
    """One bounded pass over the dead letters of all lanes; it only counts failed schedules."""

    def __init__(self, queues: DeadLetterQueues, lanes: Iterable[Lane]) -> None:
        self._queues = queues
        self._lanes = tuple(lanes)

    def run(self) -> RedriveResult:
        """Process up to DEAD_LETTERS_PER_PASS letters, lane by lane in turn, until all queues are
        empty.
        """
        counts = {"sent_back": 0, "set_aside": 0, "lanes_unavailable": 0}
        left = limits.DEAD_LETTERS_PER_PASS
        turns = deque(self._lanes)
        self._measure()
        while turns and left > 0:
            lane = turns.popleft()
            try:
                share = max(1, left // (len(turns) + 1))  # leaves room for the last lane as well
                letters = self._queues.receive(lane, share)
                left -= len(letters)
                for letter in letters:
                    counts[self._deal_with(lane, letter)] += 1
            except DependencyUnavailable as error:
                extra = {"lane": lane, "reason": error.message}
                logger.warning("dead_letters_unavailable", extra=extra)
                counts["lanes_unavailable"] += 1
            else:
                if letters:
                    turns.append(lane)
        return RedriveResult(**counts)

    def _measure(self) -> None:
        """Record the number of all letters, unless a queue doesn't answer."""
        try:
            metrics.DEAD_LETTERS.add(sum(map(self._queues.count, (*self._lanes, RULES))))
        except DependencyUnavailable as error:
            logger.warning("dead_letters_not_counted", extra={"reason": error.message})

    def _deal_with(self, lane: Lane, letter: DeadLetter) -> str:
        """Send the letter back, or hide it if its count is used up or can't be read."""
        if letter.moves is not None and letter.moves < limits.DEAD_LETTER_MOVES:
            self._queues.send_back(lane, letter)
            return "sent_back"
        logger.error("dead_letter", extra={"lane": lane, "moves": letter.moves})
        self._queues.set_aside(lane, letter)
        return "set_aside"
