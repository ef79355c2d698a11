"""Pages of the sparse indexes `wake` and `resend` of the jobs table."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from spinneret.aws.clients import translated
from spinneret.jobs import keys
from spinneret.jobs.ports import DuePage, DuePosition
from spinneret.kernel.clock import parse_stamp, stamp

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import QueryInputTypeDef


WAKE: Final = "wake"
RESEND: Final = "resend"


def page(
    client: DynamoDBClient,
    table: str,
    index: str,
    partition: str,
    until: datetime,
    limit: int,
    after: DuePosition | None,
) -> DuePage:
    """See JobStore.to_wake and to_resend; index `x` has the keys `x_shard` and `x_at`."""
    shard_key, time_key = f"{index}_shard", f"{index}_at"
    request: QueryInputTypeDef = {
        "TableName": table,
        "IndexName": index,
        "KeyConditionExpression": f"{shard_key} = :shard AND {time_key} <= :until",
        "ExpressionAttributeValues": {":shard": partition, ":until": stamp(until)},
        "Limit": limit,
    }
    if after is not None:
        moment, ref = after
        request["ExclusiveStartKey"] = {
            **keys.job_key(ref),
            shard_key: partition,
            time_key: stamp(moment),
        }
    with translated("dynamodb"):
        answer = client.query(**request)
    refs = tuple(keys.ref_of(str(item["pk"])) for item in answer["Items"])
    last = answer.get("LastEvaluatedKey")
    if last is None:
        return DuePage(refs=refs, after=None)
    position = (parse_stamp(str(last[time_key])), keys.ref_of(str(last["pk"])))
    return DuePage(refs=refs, after=position)
