"""Pages of the sparse indexes `wake` and `resend` of the jobs table."""

from datetime import datetime
from typing import Final

from spinneret.aws.reads import fill
from spinneret.aws.types import DynamoDBClient
from spinneret.jobs import keys
from spinneret.jobs.ports import DuePage, DuePosition
from spinneret.kernel.clock import parse_stamp, to_iso

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
    request = {
        "TableName": table,
        "IndexName": index,
        "KeyConditionExpression": f"{shard_key} = :shard AND {time_key} <= :until",
        "ExpressionAttributeValues": {":shard": partition, ":until": to_iso(until)},
    }
    start = None
    if after is not None:
        moment, ref = after
        start = {**keys.job_key(ref), shard_key: partition, time_key: to_iso(moment)}
    found, last = fill(client.query, request, limit, start)
    refs = tuple(keys.ref_of(str(item["pk"])) for item in found)
    if last is None:
        return DuePage(refs=refs, after=None)
    position = (parse_stamp(str(last[time_key])), keys.ref_of(str(last["pk"])))
    return DuePage(refs=refs, after=position)
