"""Data persist after a stop, a crash of all parts, and the deletion of their CloudFormation stack.

The tests of this file run in order, on a separate instance.
"""

import json
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from stack import aws
from stack.instance import Instance
from stack.lifecycle import GRACE_SECONDS
from stack.process import is_alive
from stack.workspace import Workspace
from tests.conftest import run_stack
from tests.waiting import waited

pytestmark = [pytest.mark.stack, pytest.mark.timeout(400)]

NAME = "durable"
COMMAND_SECONDS = 200
PARTS = ("localstack", "opensearch")
CLAIMS = {"Message": b"claims", "SigningAlgorithm": "RSASSA_PKCS1_V1_5_SHA_256"}
TABLE = {
    "Type": "AWS::DynamoDB::Table",
    "Properties": {
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "TimeToLiveSpecification": {"AttributeName": "purge_at", "Enabled": True},
    },
}
RESOURCES = {
    "Rows": TABLE,
    "Files": {
        "Type": "AWS::S3::Bucket",
        "Properties": {"VersioningConfiguration": {"Status": "Enabled"}},
    },
    "Key": {
        "Type": "AWS::KMS::Key",
        "Properties": {
            "KeyPolicy": {"Version": "2012-10-17", "Statement": []},
            "EnableKeyRotation": True,
        },
    },
    "Name": {
        "Type": "AWS::KMS::Alias",
        "Properties": {"AliasName": "alias/durable", "TargetKeyId": {"Ref": "Key"}},
    },
    "Secret": {
        "Type": "AWS::SecretsManager::Secret",
        "Properties": {"SecretString": "first", "Description": "before"},
    },
    "Api": {"Type": "AWS::ApiGateway::RestApi", "Properties": {"Name": "durable"}},
}


@dataclass
class Durable:
    """An instance with a small stack, and the values stored in it."""

    stored: dict[str, Any] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)

    @property
    def instance(self) -> Instance:
        return Instance.named(NAME, Workspace.from_environment(os.environ))

    def command(self, *words: str) -> None:
        done = run_stack(*words, "--instance", NAME, seconds=COMMAND_SECONDS)
        assert done.returncode == 0, done.stdout + done.stderr

    def endpoint(self, part: str) -> str:
        return str(json.loads(self.instance.endpoints_file.read_text())[part])

    def client(self, service: str) -> Any:
        return aws.client(service, self.endpoint("gateway"))

    def create(self, resources: dict[str, Any]) -> None:
        """Create the stack, and store the ids of its resources."""
        client = self.client("cloudformation")
        body = json.dumps({"Resources": resources})
        client.create_stack(StackName=NAME, TemplateBody=body)
        self._await(client, "CREATE_COMPLETE")
        pages = client.get_paginator("list_stack_resources").paginate(StackName=NAME)
        self.ids = {
            each["LogicalResourceId"]: each["PhysicalResourceId"]
            for page in pages
            for each in page["StackResourceSummaries"]
        }

    def delete(self) -> None:
        """Delete the stack."""
        client = self.client("cloudformation")
        identity = client.describe_stacks(StackName=NAME)["Stacks"][0]["StackId"]
        client.delete_stack(StackName=NAME)
        self._await(client, "DELETE_COMPLETE", identity)

    def _await(self, client: Any, status: str, name: str = NAME) -> None:
        def found() -> str:
            return str(client.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"])

        waited(lambda: not found().endswith("IN_PROGRESS"), seconds=60)
        assert found() == status

    def store(self) -> None:
        """Write data to every service that persists data."""
        self.client("dynamodb").put_item(
            TableName=self.ids["Rows"], Item={"pk": {"S": "row"}, "label": {"S": "text"}}
        )
        s3, bucket = self.client("s3"), self.ids["Files"]
        large = b"x" * 600_000  # LocalStack stores large bodies differently
        versions = [
            s3.put_object(Bucket=bucket, Key="file", Body=body, Metadata={"n": str(n)})["VersionId"]
            for n, body in enumerate([b"old", large])
        ]
        s3.put_object(Bucket=bucket, Key="gone", Body=b"deleted")
        s3.delete_object(Bucket=bucket, Key="gone")
        kms = self.client("kms")
        sealed = kms.encrypt(KeyId="alias/durable", Plaintext=b"token")["CiphertextBlob"]
        signer = kms.create_key(KeyUsage="SIGN_VERIFY", KeySpec="RSA_2048")["KeyMetadata"]["KeyId"]
        signed = kms.sign(KeyId=signer, **CLAIMS)["Signature"]
        secret = self.client("secretsmanager").put_secret_value(
            SecretId=self.ids["Secret"], SecretString="second"
        )
        index = f"{self.endpoint('opensearch')}/durable"
        httpx.put(f"{index}?wait_for_active_shards=1", timeout=30).raise_for_status()
        httpx.put(f"{index}/_doc/1", json={"n": 1}, timeout=30).raise_for_status()
        self.stored = {
            "versions": versions,
            "sealed": sealed,
            "signer": signer,
            "signed": signed,
            "secret": secret["VersionId"],
        }

    def read(self) -> dict[str, Any]:
        """Return the data that all services return now."""
        s3, bucket = self.client("s3"), self.ids["Files"]
        old, new = (
            s3.get_object(Bucket=bucket, Key="file", VersionId=version)
            for version in self.stored["versions"]
        )
        listed = s3.list_object_versions(Bucket=bucket)
        dynamodb, table = self.client("dynamodb"), self.ids["Rows"]
        secrets = self.client("secretsmanager")
        secret = secrets.get_secret_value(SecretId=self.ids["Secret"])
        document = httpx.get(f"{self.endpoint('opensearch')}/durable/_doc/1", timeout=30)
        ttl = dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
        kms = self.client("kms")
        return {
            "row": dynamodb.get_item(TableName=table, Key={"pk": {"S": "row"}})["Item"],
            "ttl": ttl,
            "old": (old["Body"].read(), old["Metadata"]),
            "new": (len(new["Body"].read()), new["Metadata"], new["ETag"], new["LastModified"]),
            "current": s3.get_object(Bucket=bucket, Key="file")["VersionId"],
            "marked": [each["Key"] for each in listed["DeleteMarkers"]],
            "unsealed": kms.decrypt(CiphertextBlob=self.stored["sealed"])["Plaintext"],
            "verified": kms.verify(
                KeyId=self.stored["signer"], Signature=self.stored["signed"], **CLAIMS
            )["SignatureValid"],
            "key": kms.describe_key(KeyId="alias/durable")["KeyMetadata"]["KeyId"],
            "secret": (secret["SecretString"], secret["VersionId"], secret["Name"]),
            "document": document.json()["_source"],
            "address": self.endpoint("gateway"),
        }


@pytest.fixture(scope="module")
def durable() -> Iterator[Durable]:
    instance = Durable()
    instance.command("clean")
    instance.command("up", *PARTS, "--free-ports")
    instance.create(RESOURCES)
    instance.store()
    yield instance
    instance.command("clean")
    assert not instance.instance.folder.exists()


def test_a_new_stack_takes_over_the_data_of_the_former_one(durable: Durable) -> None:
    before, ids = durable.read(), durable.ids
    durable.delete()
    indexed = {
        **TABLE["Properties"],  # type: ignore[dict-item]
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "label")
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "labels",
                "KeySchema": [{"AttributeName": "label", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    }
    tags = [{"Key": "stage", "Value": "local"}]
    described = {"SecretString": "third", "Description": "after", "Tags": tags}
    announcing = {
        "VersioningConfiguration": {"Status": "Enabled"},
        "NotificationConfiguration": {"EventBridgeConfiguration": {"EventBridgeEnabled": True}},
    }
    key = {"KeyPolicy": {"Version": "2012-10-17", "Statement": []}, "Description": "after"}
    durable.create(
        {
            **RESOURCES,
            "Rows": {**TABLE, "Properties": indexed},
            "Files": {**RESOURCES["Files"], "Properties": announcing},
            "Key": {**RESOURCES["Key"], "Properties": key},
            "Secret": {**RESOURCES["Secret"], "Properties": described},
            "Queue": {"Type": "AWS::SQS::Queue"},
        }
    )
    queue = durable.ids.pop("Queue")
    assert queue
    assert (durable.read(), durable.ids) == (before, ids)
    found = durable.client("dynamodb").query(
        TableName=ids["Rows"],
        IndexName="labels",
        KeyConditionExpression="label = :label",
        ExpressionAttributeValues={":label": {"S": "text"}},
    )
    assert [item["pk"]["S"] for item in found["Items"]] == ["row"]
    secret = durable.client("secretsmanager").describe_secret(SecretId=ids["Secret"])
    assert (secret["Description"], secret["Tags"]) == ("after", tags)
    assert "EventBridgeConfiguration" in _notifications(durable)
    kms = durable.client("kms")
    assert kms.describe_key(KeyId=ids["Key"])["KeyMetadata"]["Description"] == "after"
    assert not kms.get_key_rotation_status(KeyId=ids["Key"])["KeyRotationEnabled"]


def _notifications(durable: Durable) -> dict[str, Any]:
    found: dict[str, Any] = durable.client("s3").get_bucket_notification_configuration(
        Bucket=durable.ids["Files"]
    )
    return found


def test_a_table_does_not_take_over_rows_with_other_keys(durable: Durable) -> None:
    durable.delete()
    keyed = {
        **TABLE["Properties"],  # type: ignore[dict-item]
        "AttributeDefinitions": [{"AttributeName": "label", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "label", "KeyType": "HASH"}],
    }
    with pytest.raises(AssertionError, match="CREATE_FAILED"):
        durable.create({"Rows": {**TABLE, "Properties": keyed}})
    durable.delete()
    durable.create(RESOURCES)
    assert "EventBridgeConfiguration" not in _notifications(durable)


def test_data_outlive_a_kill_of_every_process(durable: Durable) -> None:
    before, ids = durable.read(), durable.ids
    begin = time.time()
    written = durable.client("s3").put_object(Bucket=ids["Files"], Key="late", Body=b"late")
    snapshot = durable.instance.kept("localstack") / "s3.pickle"
    waited(lambda: snapshot.stat().st_mtime > begin, seconds=60)
    processes = [each for part in PARTS for each in durable.instance.processes(part)]
    for process in processes:
        os.kill(process.pid, signal.SIGKILL)
    waited(lambda: not any(is_alive(process) for process in processes), seconds=60)
    durable.command("up", *PARTS, "--free-ports")
    late = durable.client("s3").get_object(Bucket=ids["Files"], Key="late")
    assert (late["Body"].read(), late["VersionId"]) == (b"late", written["VersionId"])
    durable.create(RESOURCES)
    assert (durable.read(), durable.ids) == (before, ids)


def test_data_outlive_a_stop_even_those_written_just_before(durable: Durable) -> None:
    before, ids = durable.read(), durable.ids
    durable.client("s3").put_object(Bucket=ids["Files"], Key="last", Body=b"last")
    begin = time.monotonic()
    durable.command("down")
    # Without the plug-in's hook, LocalStack took longer and was then killed.
    assert time.monotonic() - begin < GRACE_SECONDS - 2
    durable.command("up", *PARTS, "--free-ports")
    last = durable.client("s3").get_object(Bucket=ids["Files"], Key="last")
    assert last["Body"].read() == b"last"
    durable.create(RESOURCES)
    assert (durable.read(), durable.ids) == (before, ids)
