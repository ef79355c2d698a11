"""Wire the counting of ends, for every function that may end a marketplace job."""

from __future__ import annotations

from spinneret.aws.clients import dynamodb_client
from spinneret.marketplace.publishing.dynamo import DynamoStatistics
from spinneret.marketplace.publishing.statistics import Statistics


def counting(marketplace_table: str) -> Statistics:
    """Build the listener that counts ends by action type."""
    return Statistics(DynamoStatistics(dynamodb_client(), marketplace_table))
