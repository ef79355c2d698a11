"""Executions and callbacks on Step Functions, and the handling of its responses."""

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from spinneret.jobs.driven.stepfunctions import StepFunctionsExecutions, StepFunctionsTokens
from spinneret.kernel.errors import DependencyUnavailable
from tests.metrics import recorded

TRACE = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
MACHINE = "arn:aws:states:us-east-1:000000000000:stateMachine:publish"
CALLS = {"complete": "send_task_success", "heartbeat": "send_task_heartbeat"}


@pytest.fixture
def client() -> Any:
    return boto3.client(
        "stepfunctions",
        region_name="us-east-1",
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
        config=Config(retries={"total_max_attempts": 1}),
    )


@pytest.fixture
def answers(client: Any) -> Iterator[Stubber]:
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


def test_running_executions_are_counted(client: Any, answers: Stubber) -> None:
    one = {
        "executionArn": f"{MACHINE}:one",
        "stateMachineArn": MACHINE,
        "name": "one",
        "status": "RUNNING",
        "startDate": 0,
    }
    asked = {"stateMachineArn": MACHINE, "statusFilter": "RUNNING", "maxResults": 1000}
    answers.add_response("list_executions", {"executions": [one, one]}, asked)
    assert StepFunctionsExecutions(client, MACHINE).running() == 2


def test_a_state_that_waits_goes_on(client: Any, answers: Stubber) -> None:
    answers.add_response("send_task_success", {}, {"taskToken": "token-1", "output": "{}"})
    answers.add_response("send_task_heartbeat", {}, {"taskToken": "token-1"})
    tokens = StepFunctionsTokens(client)
    assert (tokens.complete("token-1"), tokens.heartbeat("token-1")) == (True, True)


@pytest.mark.parametrize("method", CALLS)
@pytest.mark.parametrize("code", ["TaskTimedOut", "TaskDoesNotExist", "InvalidToken"])
def test_a_token_that_nobody_waits_for_is_no_error(
    code: str, method: str, client: Any, answers: Stubber
) -> None:
    answers.add_client_error(CALLS[method], code)
    assert getattr(StepFunctionsTokens(client), method)("token-1") is False


@pytest.mark.parametrize("method", CALLS)
def test_an_outage_is_told_from_a_wrong_call(method: str, client: Any, answers: Stubber) -> None:
    answers.add_client_error(CALLS[method], "ThrottlingException")
    answers.add_client_error(CALLS[method], "AccessDeniedException")
    call = getattr(StepFunctionsTokens(client), method)
    with pytest.raises(DependencyUnavailable):
        call("token-1")
    recorded()
    with pytest.raises(ClientError):
        call("token-1")
    assert recorded() == {"access_denied": [1]}


@pytest.mark.parametrize(
    ("variable", "header"),
    [(f"{TRACE};Lineage=1:a87bd80c:0", {"traceHeader": TRACE}), ("", {})],
)
def test_an_execution_continues_the_trace_of_the_invocation(
    variable: str,
    header: dict[str, str],
    client: Any,
    answers: Stubber,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("_X_AMZN_TRACE_ID", variable)
    state = {"job_id": "job_1", "trace": header.get("traceHeader", "")}
    asked = {"stateMachineArn": MACHINE, "name": "job_1-1", "input": json.dumps(state), **header}
    begun = {"executionArn": f"{MACHINE}:job_1-1", "startDate": 0}
    answers.add_response("start_execution", begun, asked)
    StepFunctionsExecutions(client, MACHINE).start("job_1-1", {"job_id": "job_1"})


def test_an_execution_of_a_name_that_exists_counts_as_started(
    client: Any, answers: Stubber
) -> None:
    answers.add_client_error("start_execution", "ExecutionAlreadyExists")
    StepFunctionsExecutions(client, MACHINE).start("job_1-1", {})
