"""Wire the counting of ends, for every function that may end a marketplace job."""

from typing import Final

from spinneret.aws.stage import Stage
from spinneret.kernel.settings import text
from spinneret.marketplace.publishing.dynamo import DynamoStatistics
from spinneret.marketplace.publishing.statistics import Statistics

MARKETPLACE_TABLE: Final = text("MARKETPLACE_TABLE")


def counting(stage: Stage) -> Statistics:
    """Build the listener that counts ends by action type."""
    return Statistics(store=DynamoStatistics(stage.dynamodb, stage[MARKETPLACE_TABLE]))
