"""The kinds of jobs in the simulated world, and the sinks that receive its events."""

from typing import Final

from spinneret.jobs.kinds import KindPolicy
from tests.kinds import KINDS

ONE_SERIES: Final = "one series"
"""A kind without redrives, so that failures soon become final."""
IMPATIENT: Final = "impatient"
"""A kind that expires if no worker claims it in time."""
FAMILY: Final = "family"
"""A kind of parents, whose ends are reported."""
DRIVEN: Final = "driven"
"""A kind whose jobs are performed by executions of a state machine."""
_LANES: Final = KINDS["crawl"].lanes
POLICIES: Final = {
    "crawl": KINDS["crawl"],
    ONE_SERIES: KindPolicy(lanes=_LANES, events="crawl", holds_steps=True),
    IMPATIENT: KindPolicy(lanes=_LANES, events="crawl", pending_seconds=90.0),
    DRIVEN: KindPolicy(lanes=_LANES, events="driven"),
    FAMILY: KindPolicy(lanes=_LANES, events="family", pending_seconds=90.0),
}
"""Only the kinds that the world uses: a pass of the sweeper reads every shard of each kind."""
SINKS: Final = ("bus", "webhooks")
