"""The dead letters' second, third and fourth chance.

A lane gives a message up when no worker could read it or every worker died of it. Most such
messages are a fault of ours that a deployment mends, so a pass sends them back a few times; then
they rest where somebody can look at them. The jobs they name are the sweeper's business anyhow.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from spinneret.jobs.models import Lane
from spinneret.jobs.ports import DeadLetterQueues
from spinneret.kernel import limits

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Redriven:
    """What one pass did."""

    sent_back: int
    at_rest: int


class Redrive:
    """One bounded pass over the dead letters of all lanes, in their order."""

    def __init__(self, queues: DeadLetterQueues, lanes: Iterable[Lane]) -> None:
        self._queues = queues
        self._lanes = tuple(lanes)

    def run(self) -> Redriven:
        """At most DEAD_LETTERS_PER_PASS letters, shared evenly by the lanes."""
        share = limits.DEAD_LETTERS_PER_PASS // len(self._lanes)
        sent_back = at_rest = 0
        for lane in self._lanes:
            left = share
            while left > 0 and (letters := self._queues.receive(lane, left)):
                left -= len(letters)
                for letter in letters:
                    if letter.moves < limits.DEAD_LETTER_MOVES:
                        self._queues.send_back(lane, letter)
                        sent_back += 1
                    else:
                        logger.error("dead_letter", extra={"lane": lane, "moves": letter.moves})
                        self._queues.let_rest(lane, letter)
                        at_rest += 1
        return Redriven(sent_back=sent_back, at_rest=at_rest)
