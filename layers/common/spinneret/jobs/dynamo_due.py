"""Pages of the sparse index `due` of the jobs table."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from spinneret.aws.clients import translated
from spinneret.jobs import keys
from spinneret.jobs.ports import DuePage, DuePosition
from spinneret.kernel.clock import parse_stamp, stamp

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import QueryInputTypeDef


def page(
    client: DynamoDBClient,
    table: str,
    shard: int,
    now: datetime,
    limit: int,
    after: DuePosition | None,
) -> DuePage:
    """See JobStore.due."""
    partition = keys.sweep_partition(shard)
    request: QueryInputTypeDef = {
        "TableName": table,
        "IndexName": "due",
        "KeyConditionExpression": "sweep_shard = :shard AND sweep_at <= :now",
        "ExpressionAttributeValues": {":shard": partition, ":now": stamp(now)},
        "Limit": limit,
    }
    if after is not None:
        moment, ref = after
        request["ExclusiveStartKey"] = {
            **keys.job_key(ref),
            "sweep_shard": partition,
            "sweep_at": stamp(moment),
        }
    with translated("dynamodb"):
        answer = client.query(**request)
    refs = tuple(keys.ref_of(str(item["pk"])) for item in answer["Items"])
    last = answer.get("LastEvaluatedKey")
    if last is None:
        return DuePage(refs=refs, after=None)
    position = (parse_stamp(str(last["sweep_at"])), keys.ref_of(str(last["pk"])))
    return DuePage(refs=refs, after=position)
