"""Paged reads of DynamoDB.

A response ends at 1 MB (Query and Scan API reference), even below its limit. So each read here
follows `LastEvaluatedKey` until its limit is reached or no item follows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any

from spinneret.aws.clients import translate_aws_errors
from spinneret.aws.dynamo import Item
from spinneret.aws.types import DynamoDBClient
from spinneret.kernel.clock import to_iso
from spinneret.kernel.paging import Page

Read = Callable[..., Any]
"""`query` or `scan` of a client."""


def answers(read: Read, request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield each response to a Query or Scan, to the last. Raises DependencyUnavailable.

    For reads that are bounded by their number of responses; `items` serves all others.
    """
    asked = dict(request)
    while True:
        with translate_aws_errors("dynamodb"):
            answer = read(**asked)
        yield answer
        if "LastEvaluatedKey" not in answer:
            return
        asked["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def items(read: Read, request: Mapping[str, Any], limit: int | None = None) -> Iterator[Item]:
    """Yield up to `limit` items of a Query or Scan, by default all. Raises DependencyUnavailable.

    A request without a filter reads only the items that it yields: its `Limit` is set here.
    """
    if limit is not None and "FilterExpression" not in request:
        request = {"Limit": limit, **request}
    found = (item for answer in answers(read, request) for item in answer["Items"])
    return islice(found, limit)


def query(
    client: DynamoDBClient,
    table: str,
    condition: str,
    values: Mapping[str, Any],
    limit: int | None = None,
    **more: Any,
) -> Iterator[Item]:
    """Yield up to `limit` items that a key condition selects. See `items`.

    `more` are further arguments of Query, such as `IndexName` or `ConsistentRead`.
    """
    request = {
        "TableName": table,
        "KeyConditionExpression": condition,
        "ExpressionAttributeValues": values,
        **more,
    }
    return items(client.query, request, limit)


def fill(
    read: Read, request: Mapping[str, Any], limit: int, after: Mapping[str, Any] | None = None
) -> tuple[list[Item], Any]:
    """Return up to `limit` items after the key `after`, and the key of the last one.

    The key is None if no item follows. For lists over indexes, whose position is a whole key; the
    request has no filter. Raises DependencyUnavailable.
    """
    found: list[Item] = []
    while True:
        start = {} if after is None else {"ExclusiveStartKey": dict(after)}
        with translate_aws_errors("dynamodb"):
            answer = read(**request, **start, Limit=limit - len(found))
        found += answer["Items"]
        after = answer.get("LastEvaluatedKey")
        if after is None or len(found) >= limit:
            return found, after


def due_items(
    client: DynamoDBClient, table: str, shards: Iterable[str], until: datetime, limit: int
) -> Iterator[Item]:
    """Yield up to `limit` items of each shard of the index `due` that are due by `until`.

    The index is eventually consistent and holds keys only. Raises DependencyUnavailable.
    """
    for shard in shards:
        condition = "due_shard = :shard AND due_at <= :until"
        values = {":shard": shard, ":until": to_iso(until)}
        yield from query(client, table, condition, values, limit, IndexName="due")


def page_of(
    client: DynamoDBClient,
    table: str,
    partition: str,
    after: str | None,
    limit: int,
    *,
    newest_first: bool = False,
) -> Page[Item]:
    """Return up to `limit` items of a partition after the sort key `after` (consistent read).

    `newest_first` reads in descending order, for sort keys ordered by time. Raises
    DependencyUnavailable.
    """
    condition, values = "pk = :pk", {":pk": partition}
    if after is not None:
        condition += " AND sk < :after" if newest_first else " AND sk > :after"
        values[":after"] = after
    order = {"ScanIndexForward": not newest_first, "ConsistentRead": True}
    found = query(client, table, condition, values, limit + 1, **order)
    return Page.cut(tuple(found), limit, lambda row: row["sk"])
