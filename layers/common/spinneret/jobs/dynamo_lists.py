"""Pages of a tenant's jobs, read from the indexes `listed` and `troubled` of the jobs table.

Also filters by status for these and for the index `children`.
"""

from collections.abc import Collection, Sequence
from typing import Any, Final

from spinneret.aws import dynamo
from spinneret.aws.clients import translate_aws_errors
from spinneret.aws.types import DynamoDBClient, QueryInputTypeDef
from spinneret.jobs import items, keys, rules
from spinneret.jobs.models import Job, JobFilter, JobRef, JobStatus
from spinneret.kernel import bounds
from spinneret.kernel.paging import Page

_FILTERS: Final = ("kind", "status", "domain", "batch")
"""Attributes with the same name in JobFilter, in the rows and in `troubled`; `listed` has
`list_status` instead of the status."""
_LIVE: Final = frozenset({JobStatus.PENDING, JobStatus.RUNNING})


def status_filter(statuses: Collection[JobStatus]) -> dynamo.Condition:
    """Return the filter of an index that leaves the rows whose job may have one of the statuses.

    A row without `list_status` was written by an earlier version.
    """
    told = sorted({items.list_status(status) for status in statuses})
    values = {f":status_{n}": each for n, each in enumerate(told)}
    return f"(#list_status IN ({', '.join(values)}) OR attribute_not_exists(#list_status))", values


def in_statuses(
    client: DynamoDBClient,
    table: str,
    rows: Sequence[dynamo.Item],
    statuses: Collection[JobStatus],
) -> list[dynamo.Item]:
    """Return the rows of a `status_filter` whose job has one of the statuses.

    Reads the jobs that the index shows as live or without a status, unless all live ones are
    wanted.
    """
    live = items.list_status(JobStatus.RUNNING)
    unsure = {row["pk"] for row in rows if row.get("list_status", live) == live}
    if not unsure or set(statuses) >= _LIVE:
        return list(rows)
    found = dynamo.batch_get(
        client, table, [{"pk": pk, "sk": keys.JOB_ROW} for pk in sorted(unsure)], ("pk", "status")
    )
    unsure -= {row["pk"] for row in found if row["status"] in statuses}
    return [row for row in rows if row["pk"] not in unsure]


def page(
    client: DynamoDBClient,
    table: str,
    tenant: str,
    wanted: JobFilter,
    after: str | None,
    limit: int,
) -> Page[Job]:
    """See JobStore.page. Sends at most LIST_READS queries of LIST_READ index rows each.

    An index lags behind its rows. A job whose row no longer matches is left out, which shortens the
    page; ids and their order never change.
    """
    found: list[str] = []
    last = after
    for _ in range(bounds.LIST_READS):
        ids, last = _matching(client, table, tenant, wanted, last)
        found += ids
        if len(found) > limit or last is None:
            break
    if len(found) > limit:
        last = found[limit - 1]
    refs = [JobRef(tenant=tenant, job_id=each) for each in found[:limit]]
    rows = dynamo.batch_get(client, table, [keys.job_key(ref) for ref in refs])
    jobs = [job for job in map(items.JOBS.decode, rows) if _shows(wanted, job)]
    jobs.sort(key=lambda job: job.id, reverse=True)
    return Page(items=tuple(jobs), after=last)


def _shows(wanted: JobFilter, job: Job) -> bool:
    matches = all(getattr(wanted, name) in (None, getattr(job, name)) for name in _FILTERS)
    return matches and (rules.is_troubled(job) or not wanted.troubled)


def _matching(
    client: DynamoDBClient, table: str, tenant: str, wanted: JobFilter, after: str | None
) -> tuple[list[str], str | None]:
    """Return the matching ids of one index read, and the id to continue after."""
    index, key, partition = (
        ("troubled", "trouble_key", keys.trouble_partition(tenant))
        if wanted.troubled
        else ("listed", "list_key", keys.list_partition(tenant))
    )
    condition = f"#{key} = :partition"
    values: dict[str, Any] = {":partition": partition}
    if after is not None:
        condition += " AND #list_id < :after"
        values[":after"] = after
    terms = {name: value for name in _FILTERS if (value := getattr(wanted, name)) is not None}
    statuses = [terms.pop("status")] if index == "listed" and "status" in terms else []
    filters = [f"#{name} = :{name}" for name in terms]
    values |= {f":{name}": value for name, value in terms.items()}
    if statuses:
        may_match, told = status_filter(statuses)
        filters.append(may_match)
        values |= told
    query: QueryInputTypeDef = {
        "TableName": table,
        "IndexName": index,
        "KeyConditionExpression": condition,
        "ScanIndexForward": False,
        "Limit": bounds.LIST_READ,
    }
    if filters:
        query["FilterExpression"] = " AND ".join(filters)
    spelled = f"{condition} {query.get('FilterExpression', '')}"
    query["ExpressionAttributeNames"] = dynamo.names_in(spelled)
    query["ExpressionAttributeValues"] = values
    with translate_aws_errors("dynamodb"):
        answer = client.query(**query)
    last = answer.get("LastEvaluatedKey")
    position = str(last["list_id"]) if last else None
    rows = answer["Items"]
    if statuses:
        rows = in_statuses(client, table, rows, statuses)
    return [str(row["list_id"]) for row in rows], position
