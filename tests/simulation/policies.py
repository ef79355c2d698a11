"""The kinds of work of the simulated world, and the sinks that its events go to."""

from typing import Final

from spinneret.jobs.kinds import KindPolicy
from tests.kinds import KINDS

ONE_SERIES: Final = "one series"
"""A kind without redrives, so that failures are final soon."""
IMPATIENT: Final = "impatient"
"""A kind that expires when nobody begins it in time."""
FAMILY: Final = "family"
"""A parent, whose end is reported."""
DRIVEN: Final = "driven"
"""A kind whose jobs executions of a state machine do."""
_LANES: Final = KINDS["crawl"].lanes
POLICIES: Final = {
    "crawl": KINDS["crawl"],
    ONE_SERIES: KindPolicy(lanes=_LANES, events="crawl", holds_steps=True),
    IMPATIENT: KindPolicy(lanes=_LANES, events="crawl", pending_seconds=90.0),
    DRIVEN: KindPolicy(lanes=_LANES, events="driven"),
    FAMILY: KindPolicy(lanes=_LANES, events="family", pending_seconds=90.0),
}
"""Those that jobs of the world have: a pass of the sweeper reads every shard of each kind."""
SINKS: Final = ("bus", "webhooks")
