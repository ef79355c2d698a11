"""Data that a deployment would lose, and their removal if the user agrees.

A new stack takes over the tables, buckets, keys and secrets of the former one by their logical ids
(see the plug-in's `durable.adoption`). A resource that the templates no longer have, a table whose
keys differ and a KMS key of another form would be lost.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from stack import aws
from stack.deployment import templates
from stack.deployment.record import STACK_NAME
from stack.files import write_json
from stack.instance import Instance
from stack.parts import localstack

# An alias has no data.
KINDS: Final = {
    "AWS::DynamoDB::Table": "table",
    "AWS::S3::Bucket": "bucket",
    "AWS::KMS::Key": "key",
    "AWS::SecretsManager::Secret": "secret",
}


@dataclass(frozen=True)
class Loss:
    """A resource that the next deployment can't keep."""

    name: str
    """Stack and logical id, such as `spinneret-Core/Jobs`."""
    kind: str
    properties: Mapping[str, Any]
    reason: str

    def __str__(self) -> str:
        return f"{KINDS[self.kind]} {self.name.removeprefix(f'{STACK_NAME}-')} ({self.reason})"


def losses(instance: Instance, root: Path) -> list[Loss]:
    """Return what a deployment of the repository's templates would lose."""
    wanted = dict(_durable(root / "template.yaml", STACK_NAME))
    found = []
    for name, entry in _known(instance).items():
        kind, properties = entry["type"], entry["properties"]
        if kind not in KINDS or name.partition("/")[0].partition("-")[0] != STACK_NAME:
            continue
        if name not in wanted:
            found.append(Loss(name, kind, properties, "no template has it"))
        elif kind == "AWS::DynamoDB::Table" and _keys(properties) != _keys(wanted[name]):
            found.append(Loss(name, kind, properties, "its keys change"))
        elif kind == "AWS::KMS::Key" and _form(properties) != _form(wanted[name]):
            found.append(Loss(name, kind, properties, "its form changes"))
    return found


def kept_values(instance: Instance, root: Path) -> list[str]:
    """Return the secrets that keep their value although the one in their template changed."""
    known = _known(instance)
    return [
        name.removeprefix(f"{STACK_NAME}-")
        for name, properties in _durable(root / "template.yaml", STACK_NAME)
        if name in known
        and known[name]["type"] == "AWS::SecretsManager::Secret"
        and known[name]["properties"].get("SecretString") != properties.get("SecretString")
    ]


def lifecycle_rules(instance: Instance, root: Path) -> dict[str, Sequence[Mapping[str, Any]]]:
    """Return the lifecycle rules that templates give the instance's buckets, by bucket."""
    known = _known(instance)
    return {
        known[name]["properties"]["BucketName"]: properties["LifecycleConfiguration"]["Rules"]
        for name, properties in _durable(root / "template.yaml", STACK_NAME)
        if name in known and "LifecycleConfiguration" in properties
    }


def _durable(template: Path, stack: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield name and properties of the durable resources of a template and its nested ones."""
    for logical, resource in templates.load(template)["Resources"].items():
        properties = resource.get("Properties", {})
        if resource.get("Condition") == "OnAws":
            continue
        if resource["Type"] == "AWS::CloudFormation::Stack":
            nested = template.parent / properties["TemplateURL"]
            yield from _durable(nested, f"{stack}-{logical}")
        elif resource["Type"] in KINDS:
            yield f"{stack}/{logical}", properties


def _keys(table: Mapping[str, Any]) -> Any:
    local = {
        each["IndexName"]: each["KeySchema"] for each in table.get("LocalSecondaryIndexes", [])
    }
    attributes = [each["AttributeName"] for each in table["KeySchema"]]
    attributes += [each["AttributeName"] for keys in local.values() for each in keys]
    types = {each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]}
    return table["KeySchema"], local, {name: types[name] for name in attributes}


def _form(key: Mapping[str, Any]) -> tuple[str, str]:
    return key.get("KeySpec", "SYMMETRIC_DEFAULT"), key.get("KeyUsage", "ENCRYPT_DECRYPT")


def give_up(instance: Instance, gateway: str, lost: list[Loss]) -> None:
    """Delete the resources with their data."""
    for loss in lost:
        service, delete = _DELETIONS[loss.kind]
        delete(aws.client(service, gateway), loss.properties)
    gone = {loss.name for loss in lost}
    kept = {name: entry for name, entry in _known(instance).items() if name not in gone}
    write_json(_file(instance), kept)


def _table(client: Any, properties: Mapping[str, Any]) -> None:
    client.delete_table(TableName=properties["TableName"])


def _bucket(client: Any, properties: Mapping[str, Any]) -> None:
    bucket = properties["BucketName"]
    for page in client.get_paginator("list_object_versions").paginate(Bucket=bucket):
        each = [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
        objects = [{"Key": one["Key"], "VersionId": one["VersionId"]} for one in each]
        if objects:
            client.delete_objects(Bucket=bucket, Delete={"Objects": objects})
    client.delete_bucket(Bucket=bucket)


def _key(client: Any, properties: Mapping[str, Any]) -> None:
    client.schedule_key_deletion(KeyId=properties["KeyId"], PendingWindowInDays=7)


def _secret(client: Any, properties: Mapping[str, Any]) -> None:
    client.delete_secret(SecretId=properties["Id"], ForceDeleteWithoutRecovery=True)


_DELETIONS: Final[Mapping[str, tuple[str, Callable[[Any, Mapping[str, Any]], None]]]] = {
    "AWS::DynamoDB::Table": ("dynamodb", _table),
    "AWS::S3::Bucket": ("s3", _bucket),
    "AWS::KMS::Key": ("kms", _key),
    "AWS::SecretsManager::Secret": ("secretsmanager", _secret),
}


def summary(instance: Instance) -> str | None:
    """Return what the instance holds, with its size on disk; None if it holds no data."""
    kinds = Counter(entry["type"] for entry in _known(instance).values())
    counts = [
        f"{kinds[kind]} {word}{'' if kinds[kind] == 1 else 's'}"
        for kind, word in KINDS.items()
        if kinds[kind]
    ]
    folder = instance.folder / "kept"
    if not folder.exists():
        return None
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    held = ", ".join([*counts, "index"])
    return f"the data of instance {instance.name}: {held} ({size / 1e6:.0f} MB)"


def _known(instance: Instance) -> dict[str, Any]:
    try:
        known: dict[str, Any] = json.loads(_file(instance).read_text())
    except FileNotFoundError:
        return {}
    return known


def _file(instance: Instance) -> Path:
    return instance.kept(localstack.NAME) / "resources.json"
