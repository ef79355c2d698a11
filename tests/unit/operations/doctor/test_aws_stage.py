"""Facts of a stage, read from emulated AWS."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import boto3
import pytest
from moto import mock_aws

from spinneret.access.tokens.dynamo import DynamoKeySetStore
from spinneret.access.tokens.models import KeySet, SigningKey
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.operations.doctor.bootstrap import AwsStage
from spinneret.operations.doctor.models import RuleFacts
from tests.fakes.time import START

pytestmark = pytest.mark.heavy

NOBODY: Final = "http://127.0.0.1:9"  # a port on which hardly any service runs
TABLE: Final = {
    "Type": "AWS::DynamoDB::Table",
    "Properties": {
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
        ],
        "KeySchema": [
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
    },
}
RULE: Final = {
    "Type": "AWS::Events::Rule",
    "Properties": {"ScheduleExpression": "rate(1 minute)", "State": "ENABLED"},
}
TEMPLATE: Final[dict[str, Any]] = {
    "Resources": {
        "Lane": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "stage-lane"}},
        "LaneDlq": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "stage-lane-dead"}},
        "SweeperEveryMinute": RULE,
        "ReconcileDaily": RULE,
        "Tenancy": TABLE,
    },
    "Outputs": {"TenancyTable": {"Value": {"Ref": "Tenancy"}}, "Release": {"Value": "1.2.3"}},
}


class Account:
    """A Lambda client that returns the account's settings."""

    def get_account_settings(self) -> dict[str, Any]:
        return {"AccountLimit": {"ConcurrentExecutions": 1000}}


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    with mock_aws():
        made = boto3.Session(region_name="us-east-1")
        made.client("cloudformation").create_stack(
            StackName="spinneret-test", TemplateBody=json.dumps(TEMPLATE)
        )
        yield made


@pytest.fixture
def stage(session: Any) -> AwsStage:
    tables = session.resource("dynamodb").meta.client
    return AwsStage("spinneret-test", session.client, tables, NOBODY, NOBODY)


# covers P-13
def test_queues_are_read_with_their_messages(session: Any, stage: AwsStage) -> None:
    sqs = session.client("sqs")
    url = sqs.get_queue_url(QueueName="stage-lane-dead")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="{}")
    found = {each.name: (each.dead, each.waiting) for each in stage.queues()}
    assert found == {"stage-lane": (False, 0), "stage-lane-dead": (True, 1)}


# covers P-13
def test_rules_are_read_with_their_state(session: Any, stage: AwsStage) -> None:
    events = session.client("events")
    names = {each["Name"]: each for each in events.list_rules()["Rules"]}
    [sweeper] = [name for name in names if "SweeperEveryMinute" in name]
    [reconcile] = [name for name in names if "ReconcileDaily" in name]
    events.disable_rule(Name=sweeper)
    events.delete_rule(Name=reconcile)
    assert set(stage.schedules()) == {
        RuleFacts(name="SweeperEveryMinute", enabled=False),
        RuleFacts(name="ReconcileDaily", enabled=None),
    }


# covers P-13
def test_stacks_and_signing_keys_are_read(session: Any, stage: AwsStage) -> None:
    [root] = stage.stacks()
    assert (root.name, root.status, root.resources) == ("spinneret-test", "CREATE_COMPLETE", 5)
    assert root.release == "1.2.3"
    assert stage.keys() == KeySet()
    outputs = session.client("cloudformation").describe_stacks()["Stacks"][0]["Outputs"]
    [table] = [each["OutputValue"] for each in outputs if each["OutputKey"] == "TenancyTable"]
    key = SigningKey(kid="kid_1", key_id="key", public_key="pem", active_from=START)
    store = DynamoKeySetStore(session.resource("dynamodb").meta.client, table)
    assert store.replace(KeySet(), KeySet(version=1, keys=(key,)))
    assert stage.keys().keys == (key,)


# covers P-13
def test_the_most_executions_of_the_last_day_are_read(session: Any) -> None:
    now = datetime.now(UTC)
    data = [
        {
            "MetricName": "ConcurrentExecutions",
            "Timestamp": now - timedelta(hours=ago),
            "Value": value,
        }
        for ago, value in ((1, 40.0), (20, 70.0), (30, 900.0))
    ]
    session.client("cloudwatch").put_metric_data(Namespace="AWS/Lambda", MetricData=data)
    clients = {"lambda": Account()}  # moto has no account settings
    found = AwsStage("spinneret-test", lambda of: clients.get(of) or session.client(of), None)
    quotas = found.quotas()
    assert (quotas.concurrency, quotas.concurrency_used) == (1000, 70)


# covers P-13
def test_what_does_not_answer_is_unavailable(session: Any, stage: AwsStage) -> None:
    for read in (stage.readiness, stage.index):
        with pytest.raises(DependencyUnavailable):
            read()
    unknown = AwsStage("spinneret-other", session.client, None)
    with pytest.raises(DependencyUnavailable):
        unknown.queues()
