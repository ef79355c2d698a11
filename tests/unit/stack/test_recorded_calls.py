"""The local stack's record of a function's AWS calls, and the permissions that they need."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.permissions.reading import CONDITIONED
from tests.architecture.permissions.recorded import Names, missing, needs, read, suffices, unused
from tests.conftest import ROOT
from tests.rows import each_row

PLUGIN = ROOT / "infra" / "local" / "localstack_plugin" / "spinneret_localstack"
NAMES = Names(
    {
        "spinneret-Jobs-1a2b": "Jobs",
        "http://sqs/000000000000/spinneret-local-checks": "ChecksQueue",
        "spinneret-content-9f": "Content",
        "1234-abcd": "SecretsKey",
        "arn:aws:states:us-east-1:000000000000:stateMachine:Deep": "DeepCrawlMachine",
    },
    "local",
)
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import recorded_calls
recorded_calls.install(sys.argv[2])
import boto3
from botocore.stub import ANY, Stubber
sqs = boto3.client("sqs", region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b")
with Stubber(sqs) as answers:
    for body in ("first", "second"):
        answers.add_response("send_message", {}, {"QueueUrl": "https://sqs/q", "MessageBody": body})
        sqs.send_message(QueueUrl="https://sqs/q", MessageBody=body)
"""


@pytest.mark.heavy
def test_each_different_call_of_a_function_is_one_line_without_its_data(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", PROGRAM, str(PLUGIN / "process_executor"), str(tmp_path)],
        env={**os.environ, "AWS_LAMBDA_FUNCTION_NAME": "sender"},
        check=True,
        timeout=60,
    )
    [line] = (tmp_path / "sender.jsonl").read_text().splitlines()
    assert json.loads(line) == ["sqs", "SendMessage", {"QueueUrl": "https://sqs/q"}]
    names = Names({"https://sqs/q": "Queue"}, "local")
    assert read(tmp_path, {"sender": "Sender"}, names) == {
        "Sender": {("sqs:SendMessage", ("Queue", "q"))}
    }


JOBS = ("Jobs", "spinneret-Jobs-1a2b")
CONTENT = ("Content", "spinneret-content-9f")
CALLS: list[tuple[str, tuple[str, str, Mapping[str, Any], set[Any]]]] = [
    (
        "a transaction needs the actions of its parts",
        (
            *("dynamodb", "TransactWriteItems"),
            {"parts": ["Put spinneret-Jobs-1a2b", "ConditionCheck spinneret-Jobs-1a2b"]},
            {("dynamodb:PutItem", JOBS), ("dynamodb:ConditionCheckItem", JOBS)},
        ),
    ),
    (
        "a batch is an action of its own",
        (
            *("dynamodb", "BatchGetItem", {"tables": ["spinneret-Jobs-1a2b"]}),
            {("dynamodb:BatchGetItem", JOBS)},
        ),
    ),
    (
        "a query of an index",
        (
            *("dynamodb", "Query", {"TableName": "spinneret-Jobs-1a2b", "IndexName": "wake"}),
            {("dynamodb:Query", tuple(f"{each}/index/wake" for each in JOBS))},
        ),
    ),
    (
        "an object's version",
        (
            *("s3", "HeadObject"),
            {"Bucket": "spinneret-content-9f", "Key": "T/*", "VersionId": True},
            {("s3:GetObjectVersion", tuple(f"{each}/T/*" for each in CONTENT))},
        ),
    ),
    (
        "versions and newest objects, deleted in one call",
        (
            *("s3", "DeleteObjects"),
            {"Bucket": "spinneret-content-9f", "Key": "*/*", "VersionId": True, "Newest": True},
            {
                ("s3:DeleteObject", tuple(f"{each}/*/*" for each in CONTENT)),
                ("s3:DeleteObjectVersion", tuple(f"{each}/*/*" for each in CONTENT)),
            },
        ),
    ),
    (
        "a list of a bucket",
        (
            *("s3", "ListObjectsV2", {"Bucket": "spinneret-content-9f"}),
            {("s3:ListBucket", CONTENT)},
        ),
    ),
    (
        "a queue, by its resource or its name",
        (
            *("sqs", "SendMessageBatch"),
            {"QueueUrl": "http://sqs/000000000000/spinneret-local-checks"},
            {("sqs:SendMessage", ("ChecksQueue", "spinneret-${Stage}-checks"))},
        ),
    ),
    (
        "a key, and the tags of a new one",
        (
            *("kms", "CreateKey", {"Tags": True}),
            {("kms:CreateKey", ("*",)), ("kms:TagResource", ("*",))},
        ),
    ),
    (
        "OpenSearch, by method and path",
        (
            *("opensearch", "POST", {"path": "/chunks-1/_search"}),
            {("es:ESHttpPost", ("Domain/chunks-1/_search",))},
        ),
    ),
    (
        "a connection",
        (
            *("apigatewaymanagementapi", "PostToConnection", {"ConnectionId": True}),
            {("execute-api:ManageConnections", ("Api/ws/*/@connections/*",))},
        ),
    ),
]


@each_row(CALLS)
def test_a_call_needs_the_permissions_that_aws_asks_for(
    row: tuple[str, str, Mapping[str, Any], set[Any]],
) -> None:
    service, operation, named, needed = row
    assert set(needs(service, operation, named, NAMES)) == needed


def test_grants_are_compared_with_calls_by_pattern_and_on_conditions() -> None:
    allowed = {
        "Jobs": {"dynamodb:GetItem", "dynamodb:Scan"},
        "spinneret-${Stage}-*": {"sqs:SendMessage"},
        f"Documents{CONDITIONED}": {"dynamodb:GetItem"},
        "Domain/chunks-*": {"es:ESHttpPut"},
    }
    needed = [
        ("dynamodb:GetItem", ("Jobs",)),
        ("dynamodb:GetItem", ("Documents",)),
        ("sqs:SendMessage", ("ChecksQueue", "spinneret-${Stage}-checks")),
        ("es:ESHttpPut", ("Domain/chunks-e5-384-1",)),
        ("dynamodb:PutItem", ("Jobs",)),
    ]
    assert missing(needed, allowed) == ["dynamodb:PutItem on Jobs"]
    assert unused(needed, allowed) == {"Jobs": {"dynamodb:Scan"}}


@pytest.mark.parametrize(
    ("recorded", "functions", "enough"),
    [(0, 0, False), (0, 40, False), (19, 40, False), (20, 40, True)],
)
def test_records_of_too_few_functions_prove_nothing(
    recorded: int, functions: int, enough: bool
) -> None:
    assert suffices(recorded, functions) is enough


@pytest.mark.parametrize("service", ["dynamodb", "s3"])
def test_an_unknown_call_needs_its_own_name(service: str) -> None:
    named = {"TableName": "spinneret-Jobs-1a2b", "Bucket": "spinneret-content-9f"}
    [(action, _)] = needs(service, "Unheard", named, NAMES)
    assert action == f"{service}:Unheard"
