"""A new CloudFormation stack adopts the durable resources of the former one.

LocalStack can't update a stack, so a deployment deletes and creates it. Tables, buckets, keys,
aliases and secrets outlive that: their deletion is skipped, and a new stack takes over the resource
that has the same logical id. Their physical ids are in `resources.json`. A table whose keys differ
isn't taken over: the creation fails until its entry is removed.
"""

import json
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from botocore.exceptions import ClientError
from localstack.services.cloudformation.resource_provider import (
    OperationStatus,
    ProgressEvent,
    ResourceProviderExecutor,
    convert_payload,
)
from localstack.utils.patch import patch

from spinneret_localstack.durable import tables
from spinneret_localstack.durable.snapshots import replace

_NESTED: Final = re.compile(r"-[0-9a-f]{8}$")  # ends the generated name of a nested stack
_CUSTOM_ID: Final = "_custom_id_"  # LocalStack's tag for the id of a REST API

Model = dict[str, Any]


class Resources:
    """Durable resources by stack and logical id, in a file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()

    def find(self, name: str) -> Model | None:
        """Return a resource's properties; None if there is no such resource."""
        with self._lock:
            entry = self._all().get(name)
        return None if entry is None else entry["properties"]

    def put(self, name: str, kind: str, model: Model) -> None:
        """Store a resource's type and properties."""
        with self._lock:
            known = {**self._all(), name: {"type": kind, "properties": model}}
            replace(self._file, json.dumps(known, indent=1, default=str).encode())

    def _all(self) -> dict[str, Model]:
        # Read each time: `make deploy` removes entries that the user gave up.
        try:
            known: dict[str, Model] = json.loads(self._file.read_text())
        except FileNotFoundError:
            return {}
        return known


def resource_name(stack: str, logical: str) -> str:
    """Return a name that is the same in every deployment."""
    return f"{_NESTED.sub('', stack)}/{logical}"


def apply(resources: Resources) -> None:
    """Let all stacks adopt durable resources."""

    @patch(ResourceProviderExecutor.execute_action)
    def execute_action(
        original: Any, executor: ResourceProviderExecutor, provider: Any, payload: Any
    ) -> ProgressEvent[Any]:
        kind, action = payload["resourceType"], payload["action"]
        if kind == "AWS::ApiGateway::RestApi" and action == "Add":
            _fix_id(executor.stack_name, payload["requestData"]["resourceProperties"])
        if kind not in _ADOPTIONS:
            return original(executor, provider, payload)  # type: ignore[no-any-return]
        if action == "Remove":
            return ProgressEvent(OperationStatus.SUCCESS, resource_model={})
        name = resource_name(executor.stack_name, payload["requestData"]["logicalResourceId"])
        if action == "Add" and not payload["callbackContext"]:
            former = resources.find(name)
            adopted = None if former is None else _adopt(executor, kind, payload, former)
            if adopted is not None and kind == "AWS::S3::Bucket":
                # It doesn't create a bucket that exists, and sets all that the template has.
                payload["requestData"]["resourceProperties"]["BucketName"] = adopted["BucketName"]
            elif adopted is not None:
                resources.put(name, kind, adopted)
                return ProgressEvent(OperationStatus.SUCCESS, resource_model=adopted)
        event: ProgressEvent[Any] = original(executor, provider, payload)
        if event.status is OperationStatus.SUCCESS and event.resource_model:
            resources.put(name, kind, event.resource_model)
        return event


def _fix_id(stack: str, properties: Model) -> None:
    """Give a REST API the id of its stack, so that its address stays."""
    tags = [tag for tag in properties.get("Tags") or [] if tag["Key"] != _CUSTOM_ID]
    properties["Tags"] = [*tags, {"Key": _CUSTOM_ID, "Value": stack}]


def _adopt(
    executor: ResourceProviderExecutor, kind: str, payload: Any, former: Model
) -> Model | None:
    """Return the adopted resource's properties; None if it no longer exists."""
    request: Any = convert_payload(executor.stack_name, executor.stack_id, payload)
    try:
        return _ADOPTIONS[kind](request.aws_client_factory, request.desired_state, former)
    except ClientError as error:
        if error.response["Error"]["Code"] in _MISSING:
            return None
        raise


def _bucket(aws: Any, wanted: Model, former: Model) -> Model | None:
    """Remove settings that the template no longer has. LocalStack's creation sets the others."""
    name = former["BucketName"]
    aws.s3.head_bucket(Bucket=name)
    removed = former.keys() - wanted.keys()
    if "VersioningConfiguration" in removed:
        suspended = {"Status": "Suspended"}
        aws.s3.put_bucket_versioning(Bucket=name, VersioningConfiguration=suspended)
    if "NotificationConfiguration" in removed:
        aws.s3.put_bucket_notification_configuration(Bucket=name, NotificationConfiguration={})
    if "CorsConfiguration" in removed:
        aws.s3.delete_bucket_cors(Bucket=name)
    if "Tags" in removed:
        aws.s3.delete_bucket_tagging(Bucket=name)
    return {**wanted, "BucketName": name}


def _key(aws: Any, wanted: Model, former: Model) -> Model | None:
    key = former["KeyId"]
    aws.kms.describe_key(KeyId=key)
    changed = _changed(wanted, former)
    if "Description" in changed:
        aws.kms.update_key_description(KeyId=key, Description=wanted.get("Description", ""))
    if "EnableKeyRotation" in changed:
        rotates = wanted.get("EnableKeyRotation")
        (aws.kms.enable_key_rotation if rotates else aws.kms.disable_key_rotation)(KeyId=key)
    if "Tags" in changed:
        _remove_tags(former, aws.kms.untag_resource, KeyId=key)
        named = [{"TagKey": tag["Key"], "TagValue": tag["Value"]} for tag in wanted.get("Tags", [])]
        aws.kms.tag_resource(KeyId=key, Tags=named)
    return {**wanted, "KeyId": key, "Arn": former["Arn"]}


def _alias(aws: Any, wanted: Model, former: Model) -> Model | None:
    del former
    aws.kms.update_alias(AliasName=wanted["AliasName"], TargetKeyId=wanted["TargetKeyId"])
    return wanted


def _secret(aws: Any, wanted: Model, former: Model) -> Model | None:
    """Keep the value even if the template's changed, because users set it."""
    identity = former["Id"]
    aws.secretsmanager.describe_secret(SecretId=identity)
    changed = _changed(wanted, former)
    given = {name: wanted.get(name, "") for name in ("Description", "KmsKeyId") if name in changed}
    if given:
        aws.secretsmanager.update_secret(SecretId=identity, **given)
    if "Tags" in changed:
        _remove_tags(former, aws.secretsmanager.untag_resource, SecretId=identity)
        aws.secretsmanager.tag_resource(SecretId=identity, Tags=wanted.get("Tags", []))
    return {**wanted, "Id": identity, "Name": former["Name"]}


def _changed(wanted: Model, former: Model) -> set[str]:
    """Return the names of properties that differ."""
    return {name for name in wanted.keys() | former.keys() if wanted.get(name) != former.get(name)}


def _remove_tags(former: Model, untag: Callable[..., Any], **resource: str) -> None:
    """Remove the former tags."""
    names = [tag["Key"] for tag in former.get("Tags", [])]
    if names:
        untag(**resource, TagKeys=names)


_ADOPTIONS: Final[dict[str, Callable[[Any, Model, Model], Model | None]]] = {
    "AWS::DynamoDB::Table": tables.adopt,
    "AWS::S3::Bucket": _bucket,
    "AWS::KMS::Key": _key,
    "AWS::KMS::Alias": _alias,
    "AWS::SecretsManager::Secret": _secret,
}
_MISSING: Final = frozenset(
    {"404", "NoSuchBucket", "NotFoundException", "ResourceNotFoundException"}
)
