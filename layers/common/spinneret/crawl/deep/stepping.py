"""Step of a deep crawl's execution: takes and crawls one block of pages after another."""

from collections.abc import Callable, Mapping
from typing import Any

from spinneret.crawl import limits
from spinneret.crawl.deep.blocks import BusyHosts, PageBlocks
from spinneret.crawl.deep.driving import DeepCrawls, Taken
from spinneret.kernel.clock import Clock, Remaining, parse_stamp
from spinneret.kernel.errors import LeaseLost
from spinneret.kernel.service import service
from spinneret.web.limits import SHORT_WAIT_SECONDS


@service
class DeepCrawlStep:
    """The task of statemachines/deep_crawl.asl.yaml."""

    crawls: DeepCrawls
    blocks: PageBlocks
    clock: Clock
    sleep: Callable[[float], None]
    """Called for waits of at most SHORT_WAIT_SECONDS, which cost less than a further step."""

    def __call__(self, state: Mapping[str, Any], remaining: Remaining) -> dict[str, Any]:
        """Crawl until the crawl ends, its hosts need a longer wait, or little time remains.

        Return the next state, whose `action` is `stop`, `wait` or `more`. Raises
        DependencyUnavailable and Contended; the state machine then retries.
        """
        busy: BusyHosts = {}
        while True:
            taken = self._crawled(self.crawls.take(state, remaining), busy, remaining)
            state = taken.state
            pause = self._pause(taken)
            spare = remaining() - pause - limits.DEEP_CRAWL_STEP_SECONDS
            if state["action"] == "stop" or pause > SHORT_WAIT_SECONDS or spare < 0:
                return taken.state
            self.sleep(pause)

    def _crawled(self, taken: Taken, busy: BusyHosts, remaining: Remaining) -> Taken:
        """Crawl the block that was taken, if any, and return what to do after it."""
        if taken.block is None:
            return taken
        try:
            opens = self.blocks(taken.block, busy, remaining)
        except LeaseLost:
            return taken  # the next step finds the same, and stops
        return taken if opens is None else self.crawls.wait(taken, opens)

    def _pause(self, taken: Taken) -> float:
        if taken.state["action"] != "wait":
            return 0.0
        return max(0.0, (parse_stamp(taken.state["until"]) - self.clock()).total_seconds())
