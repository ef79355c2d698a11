"""Calls that functions made on the local stack (its `recorded_calls.py`), as permissions.

The actions of a call may differ from its name: a transaction needs those of its parts, a call that
names an object version those of the version (Service Authorization Reference; DynamoDB Developer
Guide, "Using IAM with DynamoDB transactions").
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from tests.architecture.permissions.reading import CONDITIONED, Permissions

Need = tuple[str, tuple[str, ...]]
"""An action and the names of its resource, of which one must be allowed."""

SHARE: Final = 0.5
"""Minimum share of functions with recorded calls; the end-to-end tests call nearly all."""
_PREFIXES: Final = {
    "apigatewaymanagementapi": "execute-api",
    "stepfunctions": "states",
}
_ACTIONS: Final = {
    "lambda:Invoke": "lambda:InvokeFunction",
    "s3:CompleteMultipartUpload": "s3:PutObject",
    "s3:CreateMultipartUpload": "s3:PutObject",
    "s3:DeleteObjects": "s3:DeleteObject",
    "s3:HeadBucket": "s3:ListBucket",
    "s3:HeadObject": "s3:GetObject",
    "s3:ListObjectVersions": "s3:ListBucketVersions",
    "s3:ListObjectsV2": "s3:ListBucket",
    "s3:UploadPart": "s3:PutObject",
    "sqs:SendMessageBatch": "sqs:SendMessage",
}
_PARTS: Final = {
    **{each: f"dynamodb:{each}Item" for each in ("Put", "Update", "Delete")},
    "ConditionCheck": "dynamodb:ConditionCheckItem",
}
_OF_OBJECTS: Final = ("s3:GetObject", "s3:PutObject", "s3:DeleteObject")


@dataclass(frozen=True)
class Names:
    """Logical ids of a deployed stack's resources."""

    logical: Mapping[str, str]
    """Physical id → logical id."""
    stage: str

    def of(self, physical: str) -> tuple[str, ...]:
        """Return all names by which a policy may allow the resource."""
        last = _last(physical)
        found = [name for each, name in self.logical.items() if _last(each) == last]
        return (*found, last.replace(f"-{self.stage}", "-${Stage}"))


def _last(physical: str) -> str:
    """Return the part of an id that its ARN, its URL and its name share."""
    return physical.rpartition(":")[2].rpartition("/")[2]


def needs(service: str, operation: str, named: Mapping[str, Any], names: Names) -> Iterator[Need]:
    """Yield the permissions that a recorded call needs."""
    action = f"{_PREFIXES.get(service, service)}:{operation}"
    match service:
        case "opensearch":
            yield f"es:ESHttp{operation.capitalize()}", (f"Domain{named['path']}",)
        case "apigatewaymanagementapi":
            yield "execute-api:ManageConnections", ("Api/ws/*/@connections/*",)
        case "dynamodb":
            yield from _of_dynamodb(action, named, names)
        case "s3":
            yield from _of_s3(_ACTIONS.get(action, action), named, names)
        case "kms":
            key = named.get("KeyId")
            yield action, (*names.of(key), f"key/{key}") if key else ("*",)
            if "Tags" in named:
                yield "kms:TagResource", ("*",)
        case "events":
            yield from ((action, names.of(bus)) for bus in named["buses"])
        case _:
            given = [each for name, each in named.items() if isinstance(each, str)]
            yield _ACTIONS.get(action, action), names.of(given[0]) if given else ("*",)


def _of_dynamodb(action: str, named: Mapping[str, Any], names: Names) -> Iterator[Need]:
    for part in named.get("parts", ()):
        kind, _, table = part.partition(" ")
        yield _PARTS[kind], names.of(table)
    for table in named.get("tables", ()):
        yield action, names.of(table)
    if table := named.get("TableName"):
        index = f"/index/{named['IndexName']}" if "IndexName" in named else ""
        yield action, tuple(f"{each}{index}" for each in names.of(table))


def _of_s3(action: str, named: Mapping[str, Any], names: Names) -> Iterator[Need]:
    key = f"/{named.get('Key', '')}" if action in _OF_OBJECTS else ""
    at = tuple(f"{each}{key}" for each in names.of(named["Bucket"]))
    versioned = named.get("VersionId") and action in ("s3:GetObject", "s3:DeleteObject")
    if versioned:
        yield f"{action}Version", at
    if not versioned or named.get("Newest"):
        yield action, at


def allows(allowed: Permissions, need: Need) -> Iterator[tuple[str, str]]:
    """Yield each grant (resource, action) that allows the need, with or without a condition."""
    action, resources = need
    for resource, actions in allowed.items():
        pattern = resource.removesuffix(CONDITIONED)
        if action in actions and any(_matches(each, pattern) for each in resources):
            yield resource, action


def _matches(resource: str, pattern: str) -> bool:
    return resource == pattern or fnmatchcase(resource, pattern)


def read(folder: Path, functions: Mapping[str, str], names: Names) -> dict[str, set[Need]]:
    """Return the needs of each function, by its logical id; `functions` are by physical id."""
    found: dict[str, set[Need]] = {}
    for file in folder.glob("*.jsonl"):
        if file.stem in functions:
            calls = [json.loads(line) for line in file.read_text().splitlines()]
            found[functions[file.stem]] = {need for each in calls for need in needs(*each, names)}
    return found


def suffices(recorded: int, functions: int) -> bool:
    """Return whether enough functions recorded calls; fewer mean that recording failed."""
    return 0 < SHARE * functions <= recorded


def missing(needed: Iterable[Need], allowed: Permissions) -> list[str]:
    """Return the needs that aren't allowed."""
    return sorted(
        f"{action} on {' or '.join(resources)}"
        for action, resources in needed
        if not any(allows(allowed, (action, resources)))
    )


def unused(needed: Iterable[Need], allowed: Permissions) -> Permissions:
    """Return the grants that no call needed."""
    used = {grant for need in needed for grant in allows(allowed, need)}
    left = {
        resource: {each for each in actions if (resource, each) not in used}
        for resource, actions in allowed.items()
    }
    return {resource: actions for resource, actions in left.items() if actions}
