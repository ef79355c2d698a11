"""One trace from a request to the work that it causes, in log lines and in messages."""

import logging
import os
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.stub import ANY, Stubber

from spinneret.aws.stage import Builder
from spinneret.aws.tracing import VARIABLE, follow, header_of, trace_header
from spinneret.jobs.models import JobRef
from spinneret.jobs.sqs import SqsJobQueue
from spinneret.runtime.queue import message_entrypoint
from spinneret.runtime.steps import step_entrypoint
from tests.kinds import CRAWL_HIGH
from tests.metrics import lines_of
from tests.unit.runtime.api import Invocation
from tests.unit.runtime.test_queue_entrypoint import record

logger = logging.getLogger("spinneret.tests")

# covers P-12


def trace(number: int) -> str:
    """Return a trace header as X-Ray writes it."""
    return f"Root=1-5759e988-{number:024d};Parent=53995c3f42cd8ad8;Sampled=1"


OWN, OTHER, THIRD = trace(1), trace(2), trace(3)


@pytest.fixture(autouse=True)
def _invoked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the variable, as Lambda does before it invokes a handler."""
    monkeypatch.setenv(VARIABLE, f"{OWN};Lineage=1:a87bd80c:0")


def ids(text: str) -> list[str]:
    return [line["xray_trace_id"] for line in lines_of(text) if line["message"] == "seen"]


def root(header: str) -> str:
    return header.partition(";")[0].removeprefix("Root=")


def test_each_message_of_a_batch_has_its_own_trace(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[str] = []

    def handle(_message: str, _remaining: Any) -> None:
        seen.append(trace_header())
        logger.info("seen")

    handler = message_entrypoint(str, Builder(lambda _: handle), "worker")
    records = [record(number, str(number)) for number in range(3)]
    records[0]["attributes"]["AWSTraceHeader"] = OTHER
    records[2]["attributes"]["AWSTraceHeader"] = THIRD
    handler({"Records": records}, Invocation(60.0))  # type: ignore[arg-type]  # stands for LambdaContext
    assert seen == [OTHER, OWN, THIRD]
    assert ids(capsys.readouterr().out) == [root(OTHER), root(OWN), root(THIRD)]


@pytest.mark.parametrize(
    ("state", "followed", "answer"),
    [
        ({"number": 1, "trace": OTHER}, OTHER, {"number": 2, "trace": OTHER}),
        ({"number": 1, "trace": ""}, OWN, {"number": 2, "trace": ""}),
        ({"number": 1}, OWN, {"number": 2}),  # of an execution that an earlier release started
    ],
)
def test_an_execution_s_steps_continue_its_trace(
    state: dict[str, Any], followed: str, answer: dict[str, Any]
) -> None:
    seen: list[str] = []

    def step(given: Any, _remaining: Any) -> dict[str, Any]:
        seen.append(trace_header())
        return {"number": given["number"] + 1}

    handler = step_entrypoint(Builder(lambda _: step), "step")
    assert handler(state, Invocation(60.0)) == answer  # type: ignore[arg-type]  # as above
    assert seen == [followed]


@pytest.fixture
def sent() -> Iterator[SimpleNamespace]:
    client = boto3.client(
        "sqs",
        region_name="us-east-1",
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
    )
    with Stubber(client) as answers:
        yield SimpleNamespace(queue=SqsJobQueue(client, "https://sqs/"), answers=answers)
        answers.assert_no_pending_responses()


@pytest.mark.parametrize(
    ("variable", "attributes"),
    [
        (f"{OWN};Lineage=a", {"AWSTraceHeader": {"DataType": "String", "StringValue": OWN}}),
        ("", {}),  # outside of Lambda
    ],
)
def test_a_job_s_message_has_the_trace_of_what_sends_it(
    variable: str, attributes: Any, sent: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, variable)
    entry = {
        "Id": "0",
        "MessageBody": ANY,
        "MessageGroupId": "acme",
        "DelaySeconds": 0,
        "MessageSystemAttributes": attributes,
    }
    sent.answers.add_response(
        "send_message_batch",
        {"Successful": [], "Failed": []},
        {"QueueUrl": f"https://sqs/{CRAWL_HIGH}", "Entries": [entry]},
    )
    sent.queue.send(CRAWL_HIGH, [JobRef(tenant="acme", job_id="job_1")])


@pytest.mark.parametrize(
    ("text", "header"),
    [
        (OWN, OWN),
        (f"{OWN};Lineage=1:a87bd80c:0", OWN),
        (f"Self=1-67891234-12456789abcdef012345678;{OWN}", OWN),
        ("Root=1-5759e988-bd862e3fe1be46a994272793", "Root=1-5759e988-bd862e3fe1be46a994272793"),
        ("Parent=53995c3f42cd8ad8;Sampled=1", ""),
        ("", ""),
        ("nonsense", ""),
    ],
)
def test_a_header_keeps_only_its_trace(text: str, header: str) -> None:
    assert header_of(text) == header


@pytest.mark.parametrize("header", [None, "", "nonsense"])
def test_a_message_without_a_trace_continues_none(header: str | None) -> None:
    follow(header)
    assert trace_header() == OWN
    assert os.environ[VARIABLE].endswith("Lineage=1:a87bd80c:0")
