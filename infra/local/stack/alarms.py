"""`alarms`: drive alarms of infra/observability.yaml into ALARM and back, through their topic.

LocalStack evaluates an alarm only if it has one metric and a plain statistic. This command drives
the causes among them; each must send both changes to its topic. The command writes the metrics,
because LocalStack takes none out of log lines.
"""

import argparse
import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import uuid4

from stack import aws
from stack.deployment import record
from stack.deployment.templates import load
from stack.instance import Instance
from stack.workspace import ACCOUNT, Workspace

_TEMPLATE: Final = "infra/observability.yaml"
_KIND: Final = "AWS::CloudWatch::Alarm"
_DRIVEN: Final = {"MetricName", "Statistic", "AlarmActions"}
_LEFT_SECONDS: Final = 6.0  # until the oldest value is too old to count
_WAIT_SECONDS: Final = 60.0
_ALARM: Final = "ALARM"
_OK: Final = "OK"


@dataclass(frozen=True)
class TopicQueue:
    """A queue that gets the topic's messages."""

    topic: str
    queue: str
    sqs: Any

    def changes(self) -> Iterator[tuple[str, str]]:
        """Yield name and new state of alarms that have changed; wait a second for the first."""
        answer = self.sqs.receive_message(
            QueueUrl=self.queue, MaxNumberOfMessages=10, WaitTimeSeconds=1
        )
        for each in answer.get("Messages", ()):
            message = json.loads(json.loads(each["Body"])["Message"])
            yield message["AlarmName"], message["NewStateValue"]
            self.sqs.delete_message(QueueUrl=self.queue, ReceiptHandle=each["ReceiptHandle"])


def configure(_parser: argparse.ArgumentParser) -> None:
    """Add no arguments except the instance."""


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Print each alarm with its states; return 1 unless the topic got both of each."""
    instance = Instance.named(arguments.instance, workspace)
    gateway = record.endpoints(instance)["gateway"]
    cloudwatch = aws.client("cloudwatch", gateway)
    # No real metric of the stage takes part, nor does an earlier run.
    stage = f"{record.STAGE}-{uuid4().hex[:8]}"
    with _topic(gateway, stage) as messages:
        given = {"Stage": stage, "TopicArn": messages.topic, "AWS::AccountId": ACCOUNT}
        template = load(workspace.root / _TEMPLATE)
        alarms = {each["AlarmName"]: each for each in driven(template, given)}
        try:
            seen = _driven(cloudwatch, alarms, messages)
        finally:
            cloudwatch.delete_alarms(AlarmNames=list(alarms))
    for name, states in seen.items():
        workspace.progress.say(f"{name.rpartition('-')[2]}: {' → '.join(states)}")
    return 0 if all(states == [_ALARM, _OK] for states in seen.values()) else 1


def driven(template: Mapping[str, Any], given: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the alarms to drive, as CloudWatch's API takes them.

    An alarm's properties have the same names there.
    """
    for each in template["Resources"].values():
        if each["Type"] == _KIND and each["Properties"].keys() >= _DRIVEN:
            named = {"DomainName": f"domain-{given['Stage']}", **given}
            yield _resolved(each["Properties"], named)


def breaching(alarm: Mapping[str, Any], now: datetime) -> list[tuple[datetime, float]]:
    """Return the values that break an alarm's threshold until `_LEFT_SECONDS` later.

    LocalStack evaluates more periods than the alarm has, like CloudWatch. The oldest of the values
    is in the first of them.
    """
    periods = alarm["EvaluationPeriods"]
    first = now - timedelta(seconds=(periods + max(periods // 3, 2)) * alarm["Period"])
    value = alarm["Threshold"] + (-1 if alarm["ComparisonOperator"].startswith("Less") else 1)
    step = timedelta(seconds=alarm["Period"])
    left = timedelta(seconds=_LEFT_SECONDS)
    return [(first + left + number * step, float(value)) for number in range(periods)]


def _driven(
    cloudwatch: Any, alarms: Mapping[str, Mapping[str, Any]], messages: TopicQueue
) -> dict[str, list[str]]:
    """Return the states that the topic got, by alarm."""
    seen: dict[str, list[str]] = {name: [] for name in alarms}
    now = datetime.now(UTC)
    silent = {name for name, each in alarms.items() if each["TreatMissingData"] == "breaching"}
    for name in alarms.keys() - silent:
        _put(cloudwatch, alarms[name], breaching(alarms[name], now))
    _follow(cloudwatch, alarms, messages, seen, _ALARM)
    for name in silent:
        _put(cloudwatch, alarms[name], [(datetime.now(UTC), 0.0)])
    _follow(cloudwatch, alarms, messages, seen, _OK)
    return seen


def _put(
    cloudwatch: Any, alarm: Mapping[str, Any], values: Iterable[tuple[datetime, float]]
) -> None:
    named = {"MetricName": alarm["MetricName"], "Dimensions": alarm.get("Dimensions", [])}
    cloudwatch.put_metric_data(
        Namespace=alarm["Namespace"],
        MetricData=[{**named, "Timestamp": at, "Value": value} for at, value in values],
    )


def _follow(
    cloudwatch: Any,
    alarms: Mapping[str, Mapping[str, Any]],
    messages: TopicQueue,
    seen: Mapping[str, list[str]],
    state: str,
) -> None:
    """Note changes until all alarms have sent the state, for `_WAIT_SECONDS` at most."""
    until = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < until:
        waiting = [name for name, states in seen.items() if states[-1:] != [state]]
        if not waiting:
            return
        for name in waiting:  # LocalStack evaluates an alarm at once when it is written
            cloudwatch.put_metric_alarm(**alarms[name])
        for name, new in messages.changes():
            if seen[name][-1:] != [new]:
                seen[name].append(new)


@contextmanager
def _topic(gateway: str, name: str) -> Iterator[TopicQueue]:
    """A topic with a queue of its own, both removed at the end."""
    sns, sqs = aws.client("sns", gateway), aws.client("sqs", gateway)
    topic = sns.create_topic(Name=f"alarms-{name}")["TopicArn"]
    queue = sqs.create_queue(QueueName=f"alarms-{name}")["QueueUrl"]
    try:
        asked = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])
        sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=asked["Attributes"]["QueueArn"])
        yield TopicQueue(topic, queue, sqs)
    finally:
        sns.delete_topic(TopicArn=topic)
        sqs.delete_queue(QueueUrl=queue)


def _resolved(value: Any, given: Mapping[str, str]) -> Any:
    """Return the value without CloudFormation's functions; the stage has a topic."""
    match value:
        case {"Ref": str(name)}:
            return given[name]
        case {"Fn::Sub": str(text)}:
            return re.sub(r"\$\{([\w:]+)\}", lambda found: given[found[1]], text)
        case {"Fn::If": ["HasTopic", yes, _]}:
            return _resolved(yes, given)
        case dict():
            return {name: _resolved(each, given) for name, each in value.items()}
        case list():
            return [_resolved(each, given) for each in value]
    return value
