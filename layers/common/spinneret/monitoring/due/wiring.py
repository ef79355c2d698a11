"""Wire ticks."""

from collections.abc import Callable

from spinneret.aws.stage import Stage, reads
from spinneret.jobs.wiring import LANES_URL
from spinneret.monitoring.due.dynamo import DynamoDueIndex
from spinneret.monitoring.due.models import CheckTickResult
from spinneret.monitoring.due.service import Tick
from spinneret.monitoring.due.sqs import SqsCheckLane
from spinneret.monitoring.slots.dynamo import DynamoSlotStore
from spinneret.monitoring.variables import MAX_CONCURRENCY, TARGETS_TABLE
from spinneret.web.hosts.wiring import RATE_LIMIT__DEFAULT_RPS


@reads(LANES_URL, TARGETS_TABLE, MAX_CONCURRENCY, RATE_LIMIT__DEFAULT_RPS)
def tick(stage: Stage) -> Callable[[], CheckTickResult]:
    """Build the function that the minute rule calls."""
    return Tick(
        index=DynamoDueIndex(stage.dynamodb, stage[TARGETS_TABLE]),
        lane=SqsCheckLane(stage.sqs, stage[LANES_URL], stage.clock),
        slots=DynamoSlotStore(stage.dynamodb, stage[TARGETS_TABLE]),
        clock=stage.clock,
        new_owner=stage.new_token,
        workers=stage[MAX_CONCURRENCY],
        rate=stage[RATE_LIMIT__DEFAULT_RPS],
    ).run
