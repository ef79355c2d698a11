"""Building blocks of DynamoDB expressions and transactions."""

import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from boto3.dynamodb.types import TypeDeserializer
from botocore.exceptions import ClientError

from spinneret.aws.clients import error_code, translate_aws_errors
from spinneret.aws.types import (
    ConditionCheckTypeDef,
    DeleteTypeDef,
    DynamoDBClient,
    KeysAndAttributesTypeDef,
    PutTypeDef,
    TransactWriteItemTypeDef,
    UpdateTypeDef,
)
from spinneret.kernel.errors import DependencyUnavailable

TRIES_MAX: Final = 4
_WAIT_SECONDS: Final = 0.02  # a transaction takes some milliseconds
_KEYS_PER_GET: Final = 100  # BatchGetItem
_ITEMS_PER_PUT: Final = 25  # BatchWriteItem
_PASSING: Final[Mapping[str, str]] = {
    "ProvisionedThroughputExceeded": "is throttling",
    "ThrottlingError": "is throttling",
    "TransactionConflict": "transactions collide",
}
"""Transient cancellation reasons (TransactWriteItems API reference)."""

Item = dict[str, Any]
Condition = tuple[str, Mapping[str, Any]]
"""Expression with attributes `#name` and values `:name`, and those values.

Every attribute is written through a placeholder, because DynamoDB reserves over 500 words.
"""
ABSENT: Final[Condition] = ("attribute_not_exists(#pk)", {})
PRESENT: Final[Condition] = ("attribute_exists(#pk)", {})


@dataclass(frozen=True)
class Standing:
    """The item that made a write's condition fail; {} if there is none."""

    item: Item


class ConditionFailed(Exception):
    """Raised when a condition refused a transaction; no item was written."""

    def __init__(self, standing: Mapping[int, Item]) -> None:
        super().__init__(f"conditions failed at {sorted(standing)}")
        self.standing = standing
        """Current item, or {}, by position of the write whose condition failed."""


def transact(
    client: DynamoDBClient, writes: Sequence[TransactWriteItemTypeDef], tries_max: int = TRIES_MAX
) -> None:
    """Write all or nothing. Raises ConditionFailed and DependencyUnavailable.

    The SDK sends one client token with all its tries, so a retry after a success returns success
    (TransactWriteItems API reference, ClientRequestToken). It doesn't retry if another transaction
    wrote one of the items at the same time, or if an item's partition was throttled. This function
    does, with full jitter.
    """
    for tries in range(1, tries_max + 1):
        try:
            with translate_aws_errors("dynamodb"):
                client.transact_write_items(TransactItems=writes)
        except ClientError as error:
            if error_code(error) != "TransactionCanceledException":
                raise
            why = _passing_reason(error)
            if tries == tries_max:
                raise DependencyUnavailable("dynamodb", why) from error
            _pause(tries)
        else:
            return


def transact_if(
    client: DynamoDBClient, writes: Sequence[TransactWriteItemTypeDef], tries_max: int = TRIES_MAX
) -> bool:
    """Write all if every condition holds; return whether they did. See `transact`."""
    try:
        transact(client, writes, tries_max)
    except ConditionFailed:
        return False
    return True


def write_if(write: Callable[..., Any], **request: Any) -> Mapping[str, Any] | None:
    """Return the response to a conditional PutItem, UpdateItem or DeleteItem.

    Return None if its condition failed. Raises DependencyUnavailable.
    """
    answer = write_or_standing(write, **request)
    return None if isinstance(answer, Standing) else answer


def write_or_standing(write: Callable[..., Any], **request: Any) -> Mapping[str, Any] | Standing:
    """Return the response to a conditional PutItem, UpdateItem or DeleteItem.

    Return the current item if its condition failed. Raises DependencyUnavailable.

    The SDK doesn't repeat a write whose item a transaction holds; this function does, as
    `transact`.
    """
    request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    try:
        with translate_aws_errors("dynamodb"):
            answer = _uncollided(write, request)
    except ClientError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
        return Standing(deserialize_item(error.response.get("Item")))
    return answer


def put_item(client: DynamoDBClient, table: str, item: Item) -> None:
    """Write the item over any existing one. Raises DependencyUnavailable."""
    with translate_aws_errors("dynamodb"):
        client.put_item(TableName=table, Item=item)


def delete_item(client: DynamoDBClient, table: str, key: Item) -> Item:
    """Delete the item; return it, or {} if it is missing. Raises DependencyUnavailable."""
    with translate_aws_errors("dynamodb"):
        answer = client.delete_item(TableName=table, Key=key, ReturnValues="ALL_OLD")
    return dict(answer.get("Attributes", {}))


def update_item(
    client: DynamoDBClient, table: str, key: Item, update: str, values: Mapping[str, Any]
) -> Item:
    """Update the item, or create it; return the new one. See `update_or_standing`."""
    answer = update_or_standing(client, table, key, update, values, condition="")
    assert not isinstance(answer, Standing)  # there is no condition to fail
    return answer


def update_if(
    client: DynamoDBClient,
    table: str,
    key: Item,
    update: str,
    values: Mapping[str, Any],
    condition: str,
) -> Item | None:
    """Return the new item, or None if the condition failed. See `update_or_standing`."""
    answer = update_or_standing(client, table, key, update, values, condition)
    return None if isinstance(answer, Standing) else answer


def update_or_standing(
    client: DynamoDBClient,
    table: str,
    key: Item,
    update: str,
    values: Mapping[str, Any],
    condition: str,
) -> Item | Standing:
    """Return the new item, or the current one if the condition failed.

    Both expressions write attributes as `#name` and share `values`. As `write_or_standing`.
    """
    request: dict[str, Any] = {"TableName": table, "Key": key, "UpdateExpression": update}
    if condition:
        request["ConditionExpression"] = condition
    if names := names_in(f"{update} {condition}"):
        request["ExpressionAttributeNames"] = names
    if values:
        request["ExpressionAttributeValues"] = values
    answer = write_or_standing(client.update_item, **request, ReturnValues="ALL_NEW")
    return answer if isinstance(answer, Standing) else dict(answer["Attributes"])


def _uncollided(write: Callable[..., Any], request: Mapping[str, Any]) -> Mapping[str, Any]:
    for tries in range(1, TRIES_MAX):
        try:
            answer: Mapping[str, Any] = write(**request)
        except ClientError as error:
            if error_code(error) != "TransactionConflictException":
                raise
            _pause(tries)
        else:
            return answer
    last: Mapping[str, Any] = write(**request)
    return last


def _passing_reason(error: ClientError) -> str:
    """Return why a retry may succeed. Raises ConditionFailed, or the error itself, if it can't."""
    reasons: Any = error.response.get("CancellationReasons") or []
    failed = {
        number: deserialize_item(reason.get("Item"))
        for number, reason in enumerate(reasons)
        if reason.get("Code") == "ConditionalCheckFailed"
    }
    if failed:
        raise ConditionFailed(failed) from error
    codes = {reason.get("Code", "None") for reason in reasons} - {"None"}
    if codes - _PASSING.keys():
        raise error
    return _PASSING.get(min(codes, default=""), "cancels transactions")


def get(client: DynamoDBClient, table: str, key: Item) -> Item:
    """Read the item consistently; return {} if missing. Raises DependencyUnavailable."""
    with translate_aws_errors("dynamodb"):
        answer = client.get_item(TableName=table, Key=key, ConsistentRead=True)
    return dict(answer.get("Item", {}))


def batch_get(
    client: DynamoDBClient,
    table: str,
    keys: Sequence[Item],
    attributes: Sequence[str] = (),
    *,
    consistent: bool = True,
) -> list[Item]:
    """Return the existing items, unordered; one call per 100 keys. Raises DependencyUnavailable.

    `attributes` limits the attributes that are read; by default all are.
    """
    found: list[Item] = []
    for start in range(0, len(keys), _KEYS_PER_GET):
        request: KeysAndAttributesTypeDef = {
            "Keys": keys[start : start + _KEYS_PER_GET],
            "ConsistentRead": consistent,
        }
        if attributes:
            request["ProjectionExpression"] = ", ".join(f"#{name}" for name in attributes)
            request["ExpressionAttributeNames"] = {f"#{name}": name for name in attributes}
        found += _get_all(client, table, request)
    return found


def _get_all(client: DynamoDBClient, table: str, request: KeysAndAttributesTypeDef) -> list[Item]:
    """Read all items. Retry keys that a response omits: it holds at most 16 MB, or the table is
    busy.
    """
    found: list[Item] = []
    in_vain = 0
    while request["Keys"]:
        with translate_aws_errors("dynamodb"):
            answer = client.batch_get_item(RequestItems={table: request})
        found += answer["Responses"].get(table, [])
        rest = answer.get("UnprocessedKeys", {}).get(table)
        left = rest["Keys"] if rest else []
        in_vain = _wait_if_in_vain(in_vain, len(request["Keys"]), len(left))
        request["Keys"] = left
    return found


def batch_put(client: DynamoDBClient, table: str, items: Sequence[Item]) -> None:
    """Write the items over any existing ones, unordered; one call per 25 items.

    Unprocessed items are sent again, with full jitter. Raises DependencyUnavailable, after which
    some items may be written.
    """
    for start in range(0, len(items), _ITEMS_PER_PUT):
        some = items[start : start + _ITEMS_PER_PUT]
        _write_all(client, table, [{"PutRequest": {"Item": item}} for item in some])


def batch_delete(client: DynamoDBClient, table: str, keys: Sequence[Item]) -> None:
    """Delete the items, unordered; as `batch_put`."""
    for start in range(0, len(keys), _ITEMS_PER_PUT):
        some = keys[start : start + _ITEMS_PER_PUT]
        _write_all(client, table, [{"DeleteRequest": {"Key": key}} for key in some])


def _write_all(client: DynamoDBClient, table: str, rest: Any) -> None:
    in_vain = 0
    while rest:
        with translate_aws_errors("dynamodb"):
            answer: Any = client.batch_write_item(RequestItems={table: rest})
        unprocessed = answer.get("UnprocessedItems", {}).get(table, [])
        in_vain = _wait_if_in_vain(in_vain, len(rest), len(unprocessed))
        rest = unprocessed


def _wait_if_in_vain(in_vain: int, asked: int, unprocessed: int) -> int:
    """Return the number of consecutive calls without progress, after a pause if there is any.

    Raises DependencyUnavailable after TRIES_MAX.
    """
    if unprocessed < asked:
        return 0
    in_vain += 1
    if in_vain == TRIES_MAX:
        raise DependencyUnavailable("dynamodb", "is throttling")
    _pause(in_vain)
    return in_vain


def _pause(tries: int) -> None:
    time.sleep(random.uniform(0, _WAIT_SECONDS * 2 ** (tries - 1)))  # noqa: S311 - jitter


def equals(**attributes: Any) -> Condition:
    """Require that all attributes have these values; None means that the attribute is absent."""
    terms, values = [], {}
    for name, value in attributes.items():
        if value is None:
            terms.append(f"attribute_not_exists(#{name})")
        else:
            terms.append(f"#{name} = :is_{name}")
            values[f":is_{name}"] = value
    return " AND ".join(terms), values


def put(table: str, item: Item, condition: Condition | None = None) -> TransactWriteItemTypeDef:
    """Return a Put for a transaction."""
    action: PutTypeDef = {"TableName": table, "Item": item}
    if condition is not None:
        _require(action, condition)
    return {"Put": action}


def check(table: str, key: Item, condition: Condition) -> TransactWriteItemTypeDef:
    """Return a ConditionCheck for a transaction."""
    action: ConditionCheckTypeDef = {
        "TableName": table,
        "Key": key,
        "ConditionExpression": condition[0],
    }
    _require(action, condition)
    return {"ConditionCheck": action}


def update(
    table: str, key: Item, changes: Mapping[str, Any], condition: Condition
) -> TransactWriteItemTypeDef:
    """Return an Update for a transaction: set each attribute, or remove it if the value is None."""
    sets = [f"#{name} = :to_{name}" for name, to in changes.items() if to is not None]
    removes = [f"#{name}" for name, to in changes.items() if to is None]
    parts = []
    if sets:
        parts.append("SET " + ", ".join(sets))
    if removes:
        parts.append("REMOVE " + ", ".join(removes))
    new = {f":to_{name}": to for name, to in changes.items() if to is not None}
    return change(table, key, (" ".join(parts), new), condition)


def change(
    table: str, key: Item, update_expression: Condition, condition: Condition | None = None
) -> TransactWriteItemTypeDef:
    """Return an Update for a transaction from an update expression and its values."""
    update_text, new = update_expression
    action: UpdateTypeDef = {"TableName": table, "Key": key, "UpdateExpression": update_text}
    action["ExpressionAttributeNames"] = names_in(update_text)
    if new:
        action["ExpressionAttributeValues"] = new
    if condition is not None:
        _require(action, condition, update_text, new)
    return {"Update": action}


def delete(table: str, key: Item, condition: Condition | None = None) -> TransactWriteItemTypeDef:
    """Return a Delete for a transaction."""
    action: DeleteTypeDef = {"TableName": table, "Key": key}
    if condition is not None:
        _require(action, condition)
    return {"Delete": action}


def deserialize_item(item: Any) -> Item:
    """Convert the typed attribute map of an error response to Python values; {} for None."""
    return {name: TypeDeserializer().deserialize(value) for name, value in (item or {}).items()}


def names_in(expression: str) -> dict[str, str]:
    """Return ExpressionAttributeNames for the placeholders in an expression."""
    return {f"#{name}": name for name in re.findall(r"#(\w+)", expression)}


def _require(
    action: Any,
    condition: Condition | None,
    update_text: str = "",
    new: Mapping[str, Any] | None = None,
) -> None:
    """Add a condition to a write; names and values also cover its update expression."""
    expression, values = condition or ("", {})
    if expression:
        action["ConditionExpression"] = expression
        action["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    action["ExpressionAttributeNames"] = names_in(f"{update_text} {expression}")
    if values or new:
        action["ExpressionAttributeValues"] = {**values, **(new or {})}
