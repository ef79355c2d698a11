"""Adoption of a table: its indexes and its TTL attribute follow the template, its keys can't."""

import time
from typing import Any

Model = dict[str, Any]

INDEX_SECONDS = 120.0
_POLL_SECONDS = 0.1


def adopt(aws: Any, wanted: Model, former: Model) -> Model:
    """Return the properties of the adopted table. Raises ClientError if it doesn't exist.

    Raises ValueError if its keys differ.
    """
    name = former["TableName"]
    found = aws.dynamodb.describe_table(TableName=name)["Table"]
    for part in ("KeySchema", "LocalSecondaryIndexes"):
        if _keys(wanted.get(part)) != _keys(found.get(part)):
            raise ValueError(f"table {name} holds data and can't get another {part}")
    _change_indexes(aws.dynamodb, name, wanted, found)
    _change_ttl(aws.dynamodb, name, wanted.get("TimeToLiveSpecification"))
    return {**wanted, "TableName": name, "Arn": found["TableArn"]}


def _keys(part: Any) -> Any:
    """Return the keys of a schema, or of each index."""
    return [
        (each.get("IndexName"), each.get("KeySchema"), each.get("AttributeName"))
        for each in part or []
    ]


def _change_indexes(dynamodb: Any, name: str, wanted: Model, found: Model) -> None:
    """Add missing indexes and remove others; a changed one is replaced, as on AWS."""
    now, then = _indexes(found), _indexes(wanted)
    before, attributes = _types(found), wanted["AttributeDefinitions"]
    after = _types(wanted)
    changed = {
        name
        for name in now.keys() & then.keys()
        if now[name] != then[name]
        or any(
            before[key["AttributeName"]] != after[key["AttributeName"]]
            for key in then[name]["KeySchema"]
        )
    }
    removed = [index for index in now if index in changed or index not in then]
    added = [index for index in then if index in changed or index not in now]
    changes = [{"Delete": {"IndexName": index}} for index in removed]
    changes += [{"Create": then[index]} for index in added]
    for change in changes:  # one at a time
        dynamodb.update_table(
            TableName=name, AttributeDefinitions=attributes, GlobalSecondaryIndexUpdates=[change]
        )
        _await_indexes(dynamodb, name)


def _types(table: Model) -> dict[str, str]:
    return {each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]}


def _indexes(table: Model) -> dict[str, Model]:
    indexes = table.get("GlobalSecondaryIndexes") or []
    return {each["IndexName"]: _index(each) for each in indexes}


def _index(index: Model) -> Model:
    projection = dict(index["Projection"])
    if "NonKeyAttributes" in projection:
        projection["NonKeyAttributes"] = sorted(projection["NonKeyAttributes"])
    return {
        "IndexName": index["IndexName"],
        "KeySchema": index["KeySchema"],
        "Projection": projection,
    }


def _await_indexes(dynamodb: Any, name: str) -> None:
    deadline = time.monotonic() + INDEX_SECONDS
    while True:
        table = dynamodb.describe_table(TableName=name)["Table"]
        indexes = table.get("GlobalSecondaryIndexes") or []
        if all(each["IndexStatus"] == "ACTIVE" for each in indexes):
            return
        if time.monotonic() > deadline:
            raise TimeoutError(f"the indexes of table {name} aren't ready")
        time.sleep(_POLL_SECONDS)


def _change_ttl(dynamodb: Any, name: str, wanted: Model | None) -> None:
    found = dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    attribute = (wanted or {}).get("AttributeName")
    if wanted and attribute != found.get("AttributeName"):
        dynamodb.update_time_to_live(TableName=name, TimeToLiveSpecification=wanted)
