"""Data that a deployment would delete: it does so only if the user agrees."""

import json
from pathlib import Path
from typing import Any

import pytest

from stack import deploy
from stack.deployment import durable
from stack.deployment.durable import Loss
from stack.errors import UsageError
from stack.files import write_json
from stack.instance import Instance
from stack.progress import Progress
from stack.workspace import Workspace

TABLE = "AWS::DynamoDB::Table"
ROOT_TEMPLATE = """
Resources:
  Core:
    Type: AWS::CloudFormation::Stack
    Properties: {TemplateURL: infra/core.yaml}
  OnlyThere:
    Type: AWS::CloudFormation::Stack
    Condition: OnAws
    Properties: {TemplateURL: infra/missing.yaml}
"""
CORE_TEMPLATE = """
Resources:
  Jobs:
    Type: AWS::DynamoDB::Table
    Properties:
      AttributeDefinitions:
        - {AttributeName: pk, AttributeType: S}
        - {AttributeName: sk, AttributeType: S}
        - {AttributeName: state, AttributeType: S}
      KeySchema:
        - {AttributeName: pk, KeyType: HASH}
        - {AttributeName: sk, KeyType: RANGE}
      GlobalSecondaryIndexes:
        - IndexName: states
          KeySchema: [{AttributeName: state, KeyType: HASH}]
          Projection: {ProjectionType: ALL}
  Uploads:
    Type: AWS::S3::Bucket
  Seal:
    Type: AWS::KMS::Key
    Properties: {EnableKeyRotation: true}
  Clients:
    Type: AWS::SecretsManager::Secret
    Properties: {SecretString: first}
  Lane:
    Type: AWS::SQS::Queue
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "template.yaml").write_text(ROOT_TEMPLATE)
    (tmp_path / "infra").mkdir()
    (tmp_path / "infra" / "core.yaml").write_text(CORE_TEMPLATE)
    return Workspace(tmp_path, tmp_path / "local", {}, Progress())


@pytest.fixture
def instance(workspace: Workspace) -> Instance:
    """Provide an instance that holds the resources of the templates."""
    made = Instance.named("dev", workspace)
    [table] = [
        properties
        for name, properties in durable._durable(workspace.root / "template.yaml", "spinneret")
        if name.endswith("Jobs")
    ]
    held = {
        "spinneret-Core/Jobs": {"type": TABLE, "properties": {**table, "TableName": "jobs-1"}},
        "spinneret-Core/Uploads": {
            "type": "AWS::S3::Bucket",
            "properties": {"BucketName": "uploads-1"},
        },
        "spinneret-Core/Seal": {
            "type": "AWS::KMS::Key",
            "properties": {"EnableKeyRotation": True, "KeyId": "key-1"},
        },
        "spinneret-Core/Clients": {
            "type": "AWS::SecretsManager::Secret",
            "properties": {"SecretString": "first", "Id": "secret-1"},
        },
        "spinneret-Core/Alias": {"type": "AWS::KMS::Alias", "properties": {}},
        "other/Rows": {"type": TABLE, "properties": {"TableName": "rows-1"}},
    }
    write_json(made.kept("localstack") / "resources.json", held)
    return made


def _change(workspace: Workspace, old: str, new: str) -> None:
    file = workspace.root / "infra" / "core.yaml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        ("Lane:", "OtherLane:", []),
        (
            "  Uploads:\n    Type: AWS::S3::Bucket\n",
            "",
            ["bucket Core/Uploads (no template has it)"],
        ),
        ("Uploads:", "Files:", ["bucket Core/Uploads (no template has it)"]),
        ("Jobs:", "Works:", ["table Core/Jobs (no template has it)"]),
        (
            "        - {AttributeName: sk, KeyType: RANGE}\n",
            "",
            ["table Core/Jobs (its keys change)"],
        ),
        ("sk, AttributeType: S", "sk, AttributeType: N", ["table Core/Jobs (its keys change)"]),
        ("state, KeyType: HASH", "pk, KeyType: HASH", []),
        ("state, AttributeType: S", "state, AttributeType: N", []),
        ("EnableKeyRotation: true", "EnableKeyRotation: false", []),
        ("EnableKeyRotation: true", "KeySpec: HMAC_256", ["key Core/Seal (its form changes)"]),
        ("SecretString: first", "SecretString: second", []),
    ],
    ids=[
        "a queue changes",
        "a bucket goes",
        "a bucket gets another name",
        "a table gets another name",
        "a table loses a key",
        "a key gets another type",
        "a global index changes",
        "the key of a global index changes",
        "the rotation of a key changes",
        "a key gets another form",
        "the value of a secret changes",
    ],
)
def test_what_a_new_stack_cannot_take_over_is_lost(
    old: str, new: str, lost: list[str], workspace: Workspace, instance: Instance
) -> None:
    _change(workspace, old, new)
    assert [str(each) for each in durable.losses(instance, workspace.root)] == lost


def test_a_secret_that_keeps_its_value_is_named(workspace: Workspace, instance: Instance) -> None:
    assert durable.kept_values(instance, workspace.root) == []
    _change(workspace, "SecretString: first", "SecretString: second")
    assert durable.kept_values(instance, workspace.root) == ["Core/Clients"]


def test_an_instance_without_data_loses_nothing(workspace: Workspace) -> None:
    assert durable.losses(Instance.named("new", workspace), workspace.root) == []


def _settle(instance: Instance, workspace: Workspace, **environ: str) -> list[Loss]:
    given = Workspace(workspace.root, workspace.local, environ, workspace.progress)
    deploy._settle_losses(instance, given, "http://127.0.0.1:9")
    return durable.losses(instance, workspace.root)


def test_data_go_only_if_the_user_agrees(
    workspace: Workspace, instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    deleted: list[tuple[str, Any]] = []

    class Client:
        def __init__(self, service: str) -> None:
            self.service = service

        def delete_table(self, **named: str) -> None:
            deleted.append((self.service, named))

    monkeypatch.setattr("stack.aws.client", lambda service, _url: Client(service))
    _change(workspace, "Jobs:", "Works:")
    before = (instance.kept("localstack") / "resources.json").read_text()
    with pytest.raises(UsageError, match=r"would delete table Core/Jobs .*FORCE=1 make deploy"):
        _settle(instance, workspace)
    assert deleted == []
    assert (instance.kept("localstack") / "resources.json").read_text() == before

    assert _settle(instance, workspace, FORCE="1") == []
    assert deleted == [("dynamodb", {"TableName": "jobs-1"})]
    left = json.loads((instance.kept("localstack") / "resources.json").read_text())
    assert "spinneret-Core/Jobs" not in left
    assert "spinneret-Core/Uploads" in left


def test_clean_names_what_it_deletes(instance: Instance, workspace: Workspace) -> None:
    assert durable.summary(Instance.named("new", workspace)) is None
    (instance.kept("opensearch")).mkdir()
    (instance.kept("opensearch") / "segment").write_bytes(bytes(3_000_000))
    held = durable.summary(instance)
    assert held == "the data of instance dev: 2 tables, 1 bucket, 1 key, 1 secret, index (3 MB)"


def test_an_instance_for_one_command_keeps_nothing(workspace: Workspace) -> None:
    instance = Instance.named("brief", workspace)
    assert instance.is_durable
    instance.make_fleeting()
    assert not instance.is_durable
    assert instance.data in instance.kept("opensearch").parents


def test_buckets_have_the_lifecycle_rules_of_their_template(
    workspace: Workspace, instance: Instance
) -> None:
    assert durable.lifecycle_rules(instance, workspace.root) == {}
    rules = "{LifecycleConfiguration: {Rules: [{Status: Enabled, ExpirationInDays: 7}]}}"
    bucket = "Type: AWS::S3::Bucket\n"
    _change(workspace, bucket, f"{bucket}    Properties: {rules}\n")
    expected = {"uploads-1": [{"Status": "Enabled", "ExpirationInDays": 7}]}
    assert durable.lifecycle_rules(instance, workspace.root) == expected
