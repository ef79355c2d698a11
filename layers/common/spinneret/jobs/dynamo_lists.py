"""Pages of a tenant's jobs, read from the indexes `listed` and `troubled` of the jobs table."""

from typing import Final

from spinneret.aws import dynamo
from spinneret.aws.clients import translate_aws_errors
from spinneret.aws.types import DynamoDBClient, QueryInputTypeDef
from spinneret.jobs import items, keys, rules
from spinneret.jobs.models import Job, JobFilter
from spinneret.kernel import bounds
from spinneret.kernel.paging import Page

_FILTERS: Final = ("kind", "status", "domain", "batch")
"""Attributes with the same name in JobFilter, in the rows and in both indexes."""


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
    page; places and their order never change.
    """
    found: list[dynamo.Item] = []
    last = after
    for _ in range(bounds.LIST_READS):
        matching, last = _matching(client, table, tenant, wanted, last)
        found += matching
        if len(found) > limit or last is None:
            break
    if len(found) > limit:
        last = str(found[limit - 1]["list_id"])
    rows = dynamo.batch_get(
        client, table, [{"pk": each["pk"], "sk": keys.JOB_ROW} for each in found[:limit]]
    )
    jobs = [job for job in map(items.JOBS.decode, rows) if _shows(wanted, job)]
    jobs.sort(key=keys.list_id, reverse=True)
    return Page(items=tuple(jobs), after=last)


def _shows(wanted: JobFilter, job: Job) -> bool:
    matches = all(getattr(wanted, name) in (None, getattr(job, name)) for name in _FILTERS)
    return matches and (rules.is_troubled(job) or not wanted.troubled)


def _matching(
    client: DynamoDBClient, table: str, tenant: str, wanted: JobFilter, after: str | None
) -> tuple[list[dynamo.Item], str | None]:
    """Return the matching rows of one index read, and the `list_id` to continue after."""
    index, key, partition = (
        ("troubled", "trouble_key", keys.trouble_partition(tenant))
        if wanted.troubled
        else ("listed", "list_key", keys.list_partition(tenant))
    )
    condition, values = f"#{key} = :partition", {":partition": partition}
    if after is not None:
        condition += " AND #list_id < :after"
        values[":after"] = after
    given = {name: getattr(wanted, name) for name in _FILTERS}
    terms = {name: value for name, value in given.items() if value is not None}
    query: QueryInputTypeDef = {
        "TableName": table,
        "IndexName": index,
        "KeyConditionExpression": condition,
        "ScanIndexForward": False,
        "Limit": bounds.LIST_READ,
    }
    if terms:
        query["FilterExpression"] = " AND ".join(f"#{name} = :{name}" for name in terms)
    spelled = f"{condition} {query.get('FilterExpression', '')}"
    query["ExpressionAttributeNames"] = dynamo.names_in(spelled)
    query["ExpressionAttributeValues"] = {**values, **{f":{n}": v for n, v in terms.items()}}
    with translate_aws_errors("dynamodb"):
        answer = client.query(**query)
    last = answer.get("LastEvaluatedKey")
    position = str(last["list_id"]) if last else None
    return answer["Items"], position
