"""Contract tests of callback tokens: the fake, and Step Functions of the stack."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest

from spinneret.jobs.driven.ports import CallbackTokens
from spinneret.jobs.driven.stepfunctions import StepFunctionsTokens
from tests.contract.backends import OF_OTHERS
from tests.fakes.state_machine import FakeCallbacks

pytestmark = OF_OTHERS  # moto doesn't run state machines

Waits = Callable[[], str]
"""Function that starts a waiting state and returns its task token."""


@pytest.fixture
def kept(backend: str, request: pytest.FixtureRequest) -> Iterator[tuple[CallbackTokens, Waits]]:
    if backend == "fake":
        fake = FakeCallbacks()
        yield fake, fake.new
        return
    aws = request.getfixturevalue("aws")
    workflows, queues = aws("stepfunctions"), aws("sqs")
    queue = queues.create_queue(QueueName=f"tokens-{uuid4().hex}")["QueueUrl"]
    machine = _machine(workflows, queue)

    def waits() -> str:
        workflows.start_execution(stateMachineArn=machine)
        got = queues.receive_message(QueueUrl=queue, WaitTimeSeconds=20)["Messages"][0]
        queues.delete_message(QueueUrl=queue, ReceiptHandle=got["ReceiptHandle"])
        return str(got["Body"])

    try:
        yield StepFunctionsTokens(workflows), waits
    finally:
        workflows.delete_state_machine(stateMachineArn=machine)
        queues.delete_queue(QueueUrl=queue)


def _machine(workflows: Any, queue: str) -> str:
    task = {
        "Type": "Task",
        "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
        "Parameters": {"QueueUrl": queue, "MessageBody.$": "$$.Task.Token"},
        "TimeoutSeconds": 60,
        "HeartbeatSeconds": 50,
        "End": True,
    }
    made = workflows.create_state_machine(
        name=f"tokens-{uuid4().hex}",
        roleArn="arn:aws:iam::000000000000:role/tokens",
        definition=json.dumps({"StartAt": "Task", "States": {"Task": task}}),
    )
    return str(made["stateMachineArn"])


def test_a_state_waits_until_its_token_is_completed_once(
    kept: tuple[CallbackTokens, Waits],
) -> None:
    tokens, waits = kept
    token, other = waits(), waits()
    assert tokens.heartbeat(token)
    assert tokens.complete(token)
    deadline = time.monotonic() + 10  # time for the state to end
    while tokens.heartbeat(token):
        assert time.monotonic() < deadline
    assert not tokens.complete(token)
    assert tokens.complete(other)


def test_a_token_of_no_state_is_harmless(kept: tuple[CallbackTokens, Waits]) -> None:
    tokens, _ = kept
    assert not tokens.complete("nobody's")
    assert not tokens.heartbeat("nobody's")
