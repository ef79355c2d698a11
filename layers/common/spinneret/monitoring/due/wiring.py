"""Wire the minute rule and ticks."""

from collections.abc import Callable
from datetime import datetime

from spinneret.aws.stage import Stage, reads
from spinneret.jobs.wiring import LANES_URL
from spinneret.kernel.clock import Remaining
from spinneret.monitoring.due.dynamo import DynamoDueIndex
from spinneret.monitoring.due.models import Announced, CheckTickResult
from spinneret.monitoring.due.service import Tick, TickScheduler
from spinneret.monitoring.due.sqs import SqsCheckLanes
from spinneret.monitoring.slots.dynamo import DynamoSlotStore
from spinneret.monitoring.variables import CHECK_INTERVAL, MAX_CONCURRENCY, TARGETS_TABLE
from spinneret.web.hosts.wiring import DOMAIN_BURST, RATE_LIMIT__DEFAULT_RPS
from spinneret.web.politeness.models import PaceLimits


@reads(LANES_URL, CHECK_INTERVAL)
def announcer(stage: Stage) -> Callable[[], Announced]:
    """Build the function that the minute rule calls."""
    lanes, interval = SqsCheckLanes(stage.sqs, stage[LANES_URL]), stage[CHECK_INTERVAL]
    return TickScheduler(lanes=lanes, clock=stage.clock, interval_seconds=interval).run


@reads(
    *(LANES_URL, CHECK_INTERVAL, TARGETS_TABLE, MAX_CONCURRENCY),
    *(RATE_LIMIT__DEFAULT_RPS, DOMAIN_BURST),
)
def tick(stage: Stage) -> Callable[[datetime, Remaining], CheckTickResult]:
    """Build the handler of ticks."""
    ticking = Tick(
        index=DynamoDueIndex(stage.dynamodb, stage[TARGETS_TABLE]),
        lanes=SqsCheckLanes(stage.sqs, stage[LANES_URL]),
        slots=DynamoSlotStore(stage.dynamodb, stage[TARGETS_TABLE]),
        clock=stage.clock,
        new_owner=stage.new_token,
        interval_seconds=stage[CHECK_INTERVAL],
        workers=stage[MAX_CONCURRENCY],
        pace=PaceLimits(rate=stage[RATE_LIMIT__DEFAULT_RPS], burst=stage[DOMAIN_BURST]),
    )
    return lambda at, _: ticking.run(at)
