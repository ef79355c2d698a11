"""Wire the counting of ends, for every function that may end a marketplace job."""

from typing import Final

from spinneret.aws.stage import Stage
from spinneret.kernel.settings import text
from spinneret.marketplace.publishing.dynamo import DynamoActionStatistics
from spinneret.marketplace.publishing.statistics import ActionStatistics

MARKETPLACE_TABLE: Final = text("MARKETPLACE_TABLE")


def counting(stage: Stage) -> ActionStatistics:
    """Build the listener that counts ends by action type."""
    return ActionStatistics(store=DynamoActionStatistics(stage.dynamodb, stage[MARKETPLACE_TABLE]))
