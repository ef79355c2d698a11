"""Parents and children in the jobs table: plans, counters and the index `children`."""

from collections.abc import Iterable, Sequence
from typing import Final

from spinneret.aws import dynamo
from spinneret.aws.clients import translate_aws_errors
from spinneret.aws.types import DynamoDBClient, TransactWriteItemTypeDef
from spinneret.jobs import items, keys, rules
from spinneret.jobs.models import ChildCounts, Job, JobRef, JobStatus
from spinneret.jobs.ports import NewJob
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.paging import Page

BIRTH_TRIES: Final = (
    8  # creating children updates every counter, and conflicts with each child that ends
)
_LIVE: Final = frozenset({JobStatus.PENDING, JobStatus.RUNNING})


def parent_writes(table: str, new: NewJob) -> list[TransactWriteItemTypeDef]:
    """Build the writes of a new parent's counters and plan; empty for other jobs."""
    job = new.job
    if job.family is None:
        return []
    empty = ChildCounts()
    counters = [items.counter_item(job.ref, n, empty) for n in range(job.family.shards)]
    purge_at = {"purge_at": items.others_purge_at(job)}
    plan = [
        {**keys.plan_key(job.ref, n), "text": text, **purge_at} for n, text in enumerate(new.plan)
    ]
    return [dynamo.put(table, item, dynamo.ABSENT) for item in [*counters, *plan]]


def child_count_writes(table: str, children: Iterable[Job]) -> list[TransactWriteItemTypeDef]:
    """Build the writes that count new children."""
    added: dict[tuple[JobRef, int], int] = {}
    for child in children:
        counter = _parent(child), child.parent_shard
        added[counter] = added.get(counter, 0) + 1
    return [
        _add(table, parent, shard, {"created": number}) for (parent, shard), number in added.items()
    ]


def count(
    table: str, before: Job, after: Job, *, revives: bool = False
) -> list[TransactWriteItemTypeDef]:
    """Build the write that counts a child's move in its parent's counter, if it changes.

    If the move `revives` the parent, the counter no longer expires.
    """
    changes = {}
    if (ended := rules.counted(before, after)) is not None:
        changes[ended] = 1
    if (left := rules.uncounted(before, after)) is not None:
        changes[left] = -1
    return [_add(table, _parent(before), before.parent_shard, changes, revives)] if changes else []


def lifetime_writes(
    table: str,
    before: Job,
    after: Job,
    counted: Sequence[ChildCounts] = (),
    counter_written: int | None = None,
) -> list[TransactWriteItemTypeDef]:
    """Build the writes after which a parent's counters and plan live as long as its row.

    They outlive it by OUTLIVES_ROW_SECONDS. `counted` are the counters, which must be unchanged;
    the transaction writes the one numbered `counter_written` itself.
    """
    if after.family is None:
        return []
    found = []
    if items.others_live_longer(before, after):
        purge_at = {"purge_at": items.others_purge_at(after)}
        plan_keys = [keys.plan_key(after.ref, number) for number in range(after.family.plan_rows)]
        found += [dynamo.update(table, key, purge_at, dynamo.PRESENT) for key in plan_keys]
    if not counted and items.purge_at(before) == items.purge_at(after):
        return found
    purge_at = {"purge_at": items.counters_purge_at(after)}
    for shard in range(after.family.shards):
        if shard == counter_written:
            continue
        item = items.counter_item(after.ref, shard, counted[shard]) if counted else {}
        item = {name: value for name, value in item.items() if name not in ("pk", "sk")}
        condition = dynamo.equals(**item) if counted else dynamo.PRESENT
        found.append(dynamo.update(table, keys.counter_key(after.ref, shard), purge_at, condition))
    return found


def plan(client: DynamoDBClient, table: str, parent: JobRef, number: int) -> str | None:
    """See JobStore."""
    item = dynamo.get(client, table, keys.plan_key(parent, number))
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
    """See JobStore. One query of `limit` index rows: a page may be empty and not the last.

    A row without `list_status` is of a live child, or was written by an earlier version.
    """
    condition = "#parent_key = :parent AND #list_id > :after"
    wanted = {f":status_{n}": status.value for n, status in enumerate(statuses)}
    chosen = f"#list_status IN ({', '.join(wanted)}) OR attribute_not_exists(#list_status)"
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
    unsure = [row["pk"] for row in answer["Items"] if "list_status" not in row]
    if unsure and not set(statuses) >= _LIVE:
        found = [{"pk": pk, "sk": keys.JOB_ROW} for pk in unsure]
        rows = dynamo.batch_get(client, table, found, ("pk", "status"), consistent=False)
        unsure = [row["pk"] for row in rows if row["status"] in statuses]
    refs = tuple(
        keys.ref_of(str(row["pk"]))
        for row in answer["Items"]
        if "list_status" in row or row["pk"] in unsure
    )
    last = answer.get("LastEvaluatedKey")
    return Page(items=refs, after=str(last["list_id"]) if last else None)


def _parent(child: Job) -> JobRef:
    assert child.parent is not None  # only children are counted
    return JobRef(tenant=child.tenant, job_id=child.parent)


def _add(
    table: str, parent: JobRef, shard: int, changes: dict[str, int], revives: bool = False
) -> TransactWriteItemTypeDef:
    added = "ADD " + ", ".join(f"#{name} :{name}" for name in changes)
    added += " REMOVE #purge_at" if revives else ""
    values = {f":{name}": number for name, number in changes.items()}
    return dynamo.change(table, keys.counter_key(parent, shard), (added, values), dynamo.PRESENT)
