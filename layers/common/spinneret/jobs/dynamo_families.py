"""Parents and children in the jobs table: plans, counters and the index `children`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from spinneret.aws import dynamo
from spinneret.aws.clients import translate_aws_errors
from spinneret.jobs import dynamo_conditions as conditions
from spinneret.jobs import items, keys, rules
from spinneret.jobs.models import ChildCounts, Job, JobRef, JobStatus
from spinneret.jobs.ports import NewJob
from spinneret.kernel import bounds
from spinneret.kernel.clock import epoch_seconds
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.paging import Page

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

BIRTH_TRIES: Final = (
    8  # creating children updates every counter, and conflicts with each child that ends
)
_EXISTS: Final[dynamo.Condition] = ("attribute_exists(#pk)", {})


def parent_writes(table: str, new: NewJob) -> list[TransactWriteItemTypeDef]:
    """Build the writes of a new parent's counters and plan; empty for other jobs."""
    job = new.job
    if job.family is None:
        return []
    empty = ChildCounts()
    counters = [items.counter_item(job.ref, n, empty) for n in range(job.family.shards)]
    purge_at = epoch_seconds(job.created_at + timedelta(seconds=bounds.JOB_RETENTION_SECONDS))
    plan = [
        {**keys.plan_key(job.ref, n), "text": text, "purge_at": purge_at}
        for n, text in enumerate(new.plan)
    ]
    return [dynamo.put(table, item, conditions.NEW) for item in [*counters, *plan]]


def child_count_writes(table: str, children: Iterable[Job]) -> list[TransactWriteItemTypeDef]:
    """Build the writes that count new children."""
    added: dict[tuple[JobRef, int], int] = {}
    for child in children:
        counter = _parent(child), child.parent_shard
        added[counter] = added.get(counter, 0) + 1
    return [
        _add(table, parent, shard, {"created": number}) for (parent, shard), number in added.items()
    ]


def count(table: str, before: Job, after: Job) -> list[TransactWriteItemTypeDef]:
    """Build the write that counts a child's move in its parent's counter, if it changes."""
    changes = {}
    if (ended := rules.counted(before, after)) is not None:
        changes[ended] = 1
    if (left := rules.uncounted(before, after)) is not None:
        changes[left] = -1
    return [_add(table, _parent(before), before.parent_shard, changes)] if changes else []


def close_counter_writes(
    table: str, parent: Job, counted: Sequence[ChildCounts]
) -> list[TransactWriteItemTypeDef]:
    """Require that a finished parent's counters are unchanged; expire them with its row."""
    found = []
    for shard, counts in enumerate(counted):
        item = items.counter_item(parent.ref, shard, counts)
        key = {"pk": item.pop("pk"), "sk": item.pop("sk")}
        purge_at = items.JOBS.encode(parent).get("purge_at")
        found.append(dynamo.update(table, key, {"purge_at": purge_at}, dynamo.equals(**item)))
    return found


def plan(client: DynamoDBClient, table: str, parent: JobRef, number: int) -> str | None:
    """See JobStore."""
    with translate_aws_errors("dynamodb"):
        answer = client.get_item(
            TableName=table, Key=keys.plan_key(parent, number), ConsistentRead=True
        )
    item = answer.get("Item")
    return str(item["text"]) if item else None


def child_counts(
    client: DynamoDBClient, table: str, parent: JobRef, shards: Sequence[int]
) -> list[ChildCounts]:
    """See JobStore."""
    wanted = [keys.counter_key(parent, shard) for shard in shards]
    found = {item["pk"]: item for item in dynamo.batch_get(client, table, wanted)}
    if len(found) < len(wanted):
        raise DependencyUnavailable("dynamodb", "has lost a parent's counter")
    return [items.counts_from_item(found[key["pk"]]) for key in wanted]


def children(
    client: DynamoDBClient,
    table: str,
    parent: JobRef,
    statuses: Sequence[JobStatus],
    after: str | None,
    limit: int,
) -> Page[JobRef]:
    """See JobStore. One query of `limit` index rows: a page may be empty and not the last."""
    condition = "#parent_key = :parent AND #list_id > :after"
    wanted = {f":status_{n}": status.value for n, status in enumerate(statuses)}
    chosen = f"#status IN ({', '.join(wanted)})"
    with translate_aws_errors("dynamodb"):
        answer = client.query(
            TableName=table,
            IndexName="children",
            KeyConditionExpression=condition,
            FilterExpression=chosen,
            ExpressionAttributeNames=dynamo.names_in(f"{condition} {chosen}"),
            ExpressionAttributeValues={
                ":parent": keys.children_partition(parent),
                ":after": after or " ",
                **wanted,
            },
            Limit=limit,
        )
    refs = tuple(
        JobRef(tenant=parent.tenant, job_id=str(row["list_id"])) for row in answer["Items"]
    )
    last = answer.get("LastEvaluatedKey")
    return Page(items=refs, after=str(last["list_id"]) if last else None)


def _parent(child: Job) -> JobRef:
    assert child.parent is not None  # only children are counted
    return JobRef(tenant=child.tenant, job_id=child.parent)


def _add(
    table: str, parent: JobRef, shard: int, changes: dict[str, int]
) -> TransactWriteItemTypeDef:
    added = "ADD " + ", ".join(f"#{name} :{name}" for name in changes)
    values = {f":{name}": number for name, number in changes.items()}
    return dynamo.change(table, keys.counter_key(parent, shard), (added, values), _EXISTS)
