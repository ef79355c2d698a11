"""The patches correct LocalStack's defects, and every patch is still needed."""

import json
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.stack.lambda_probe import ROLE, Laboratory, wait_for

pytestmark = pytest.mark.stack

UPSTREAM_POLL_SECONDS = 5
LISTENING = "0A"  # in /proc/net/tcp
LOOPBACK = "0100007F"  # 127.0.0.1 in that file


@pytest.fixture
def laboratory(aws: Callable[[str], Any]) -> Iterator[Laboratory]:
    laboratory = Laboratory(aws)
    yield laboratory
    laboratory.close()


def test_every_patch_is_still_needed(stack: Any) -> None:
    answer = subprocess.run(
        [stack.localstack_python, "-W", "ignore", "-m", "spinneret_localstack.upstream"],
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert json.loads(answer.stdout) == {
        "cloudformation-deletion": True,
        "cloudformation-polling": True,
        "code-urls": True,
        "form-bodies": True,
        "gateway-address": True,
        "gateway-responses": True,
        "sqs-concurrency": True,
        "task-token": True,
    }


# Gateway


def test_the_gateway_listens_on_loopback_only(stack: Any) -> None:
    port = urlsplit(stack.gateway_url).port
    assert port
    _, *sockets = Path("/proc/net/tcp").read_text().splitlines()
    addresses = {row.split()[1] for row in sockets if row.split()[3] == LISTENING}
    of_port = {address for address in addresses if address.endswith(f":{port:04X}")}
    assert of_port == {f"{LOOPBACK}:{port:04X}"}


def test_the_gateway_refuses_other_addresses_of_the_machine(stack: Any) -> None:
    # All of 127.0.0.0/8 is this machine; the gateway must not listen on 127.0.0.2.
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", urlsplit(stack.gateway_url).port), timeout=2)


# Code of functions


def test_each_function_has_the_url_of_its_own_code(
    laboratory: Laboratory, aws: Callable[[str], Any]
) -> None:
    for name in (laboratory.function("probe.describe") for _ in range(2)):
        found = aws("lambda").get_function(FunctionName=name)
        assert f"-{name}-" in urlsplit(found["Code"]["Location"]).path.replace("/", "-")


# CloudFormation


def test_a_stack_with_a_function_is_created_without_upstreams_pauses(
    aws: Callable[[str], Any],
) -> None:
    # Take the fastest of three: a busy machine may delay one, but upstream's pause delays all.
    durations = [_time_of_stack(aws("cloudformation"), f"probe-{n}", _FUNCTION) for n in range(3)]
    assert min(durations) < UPSTREAM_POLL_SECONDS


def test_a_resource_type_that_is_not_supported_fails_its_stack(aws: Callable[[str], Any]) -> None:
    cloudformation = aws("cloudformation")
    resource = {"Type": "AWS::AppSync::GraphQLApi", "Properties": {"Name": "probe"}}
    cloudformation.create_stack(StackName="probe-unsupported", TemplateBody=_template(resource))
    try:
        assert _wait_for_stack(cloudformation, "probe-unsupported") == "CREATE_FAILED"
    finally:
        cloudformation.delete_stack(StackName="probe-unsupported")


def test_a_stack_is_deleted_only_when_its_nested_stack_is(aws: Callable[[str], Any]) -> None:
    cloudformation, s3 = aws("cloudformation"), aws("s3")
    s3.create_bucket(Bucket="probe-nested")
    s3.put_object(Bucket="probe-nested", Key="inner.json", Body=_template(_FUNCTION))
    url = s3.meta.endpoint_url + "/probe-nested/inner.json"
    nested = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": url}}
    outer = cloudformation.create_stack(StackName="probe-outer", TemplateBody=_template(nested))
    assert _wait_for_stack(cloudformation, "probe-outer") == "CREATE_COMPLETE"
    [inner] = cloudformation.describe_stack_resources(StackName="probe-outer")["StackResources"]

    cloudformation.delete_stack(StackName="probe-outer")
    assert _wait_for_stack(cloudformation, outer["StackId"]) == "DELETE_COMPLETE"
    for stack in (outer["StackId"], inner["PhysicalResourceId"]):
        events = cloudformation.describe_stack_events(StackName=stack)["StackEvents"]
        statuses = {each["ResourceStatus"] for each in events}
        assert statuses == {
            *("CREATE_IN_PROGRESS", "CREATE_COMPLETE"),
            *("DELETE_IN_PROGRESS", "DELETE_COMPLETE"),
        }


# Step Functions


def test_a_task_token_returned_by_the_called_function_ends_its_task(
    laboratory: Laboratory,
) -> None:
    function = laboratory.function("probe.return_token")
    task = {
        "Type": "Task",
        "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
        "Parameters": {"FunctionName": function, "Payload": {"token.$": "$$.Task.Token"}},
        "HeartbeatSeconds": 3,
        "End": True,
    }
    workflows = laboratory.aws("stepfunctions")
    machine = workflows.create_state_machine(
        name="probe-token",
        roleArn=ROLE,
        definition=json.dumps({"StartAt": "Task", "States": {"Task": task}}),
    )["stateMachineArn"]
    try:
        execution = workflows.start_execution(stateMachineArn=machine)["executionArn"]

        def ended() -> str | None:
            status = workflows.describe_execution(executionArn=execution)["status"]
            return None if status == "RUNNING" else str(status)

        assert wait_for(ended, "the execution has ended") == "SUCCEEDED"
    finally:
        workflows.delete_state_machine(stateMachineArn=machine)


# Queues


@pytest.mark.parametrize(
    ("settings", "concurrency"),
    [({"ScalingConfig": {"MaximumConcurrency": 5}}, 5), ({}, 2)],
)
def test_a_mapping_invokes_up_to_its_maximum_concurrency(
    laboratory: Laboratory, settings: dict[str, Any], concurrency: int
) -> None:
    function = laboratory.function("probe.sleep")
    with ThreadPoolExecutor(concurrency) as callers:  # warm up: cold starts would blur overlaps
        list(
            callers.map(lambda _: laboratory.invoke(function, {"seconds": 0.5}), range(concurrency))
        )
    queue = laboratory.queue()
    laboratory.map_queue(queue, function, BatchSize=1, **settings)
    messages = 2 * concurrency
    for _ in range(messages):
        laboratory.aws("sqs").send_message(QueueUrl=queue, MessageBody="1.5")
    slept = laboratory.logged(function, r"SLEPT (\S+) (\S+)", count=concurrency + messages)
    spans = [(float(match[1]), float(match[2])) for match in slept]
    of_messages = [(start, end) for start, end in spans if end - start > 1]
    assert max(_running_at(start, of_messages) for start, _ in of_messages) == concurrency


def test_an_idle_queue_wakes_its_function(laboratory: Laboratory) -> None:
    function = laboratory.function("probe.note_arrival")
    queue = laboratory.queue()
    laboratory.map_queue(queue, function, BatchSize=1)
    count = 8
    for sent in range(1, count + 1):
        laboratory.aws("sqs").send_message(QueueUrl=queue, MessageBody=str(time.time()))
        arrivals = laboratory.logged(function, r"LATENCY (\S+)", count=sent)
    _, *warm = sorted(float(match[1]) for match in arrivals)
    print(f"queue to function, milliseconds: {[round(1000 * seconds) for seconds in warm]}")  # noqa: T201  # shown, not judged: it depends on the machine
    assert len(warm) == count - 1


@pytest.mark.parametrize("how", ["disable", "delete"])
def test_a_mapping_stops_receiving_within_seconds(laboratory: Laboratory, how: str) -> None:
    queue = laboratory.queue()
    mapping = laboratory.map_queue(queue, laboratory.function("probe.note_arrival"))
    functions, sqs = laboratory.aws("lambda"), laboratory.aws("sqs")
    if how == "disable":
        functions.update_event_source_mapping(UUID=mapping, Enabled=False)
        wait_for(lambda: laboratory.mapping_state(mapping) == "Disabled", "disabled")
    else:
        functions.delete_event_source_mapping(UUID=mapping)
        wait_for(lambda: laboratory.mapping_state(mapping) == "Deleted", "deleted")

    def gets_own_message() -> bool:
        # A poller that still waits began earlier, so it would get the message.
        sqs.send_message(QueueUrl=queue, MessageBody=str(time.time()))
        return "Messages" in sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=0)

    wait_for(gets_own_message, "nobody else receives", seconds=10)


def test_a_disabled_mapping_can_be_enabled_again(laboratory: Laboratory) -> None:
    function = laboratory.function("probe.note_arrival")
    queue = laboratory.queue()
    mapping = laboratory.map_queue(queue, function)
    functions = laboratory.aws("lambda")
    functions.update_event_source_mapping(UUID=mapping, Enabled=False)
    wait_for(lambda: laboratory.mapping_state(mapping) == "Disabled", "disabled")
    functions.update_event_source_mapping(UUID=mapping, Enabled=True)
    wait_for(lambda: laboratory.mapping_state(mapping) == "Enabled", "enabled")
    laboratory.aws("sqs").send_message(QueueUrl=queue, MessageBody=str(time.time()))
    assert len(laboratory.logged(function, r"LATENCY")) == 1


_FUNCTION = {
    "Type": "AWS::Lambda::Function",
    "Properties": {
        "Runtime": "python3.12",
        "Handler": "index.handler",
        "Role": ROLE,
        "Code": {"ZipFile": "def handler(event, context): pass"},
    },
}


def _template(resource: dict[str, Any]) -> str:
    return json.dumps({"Resources": {"Probe": resource}})


def _time_of_stack(cloudformation: Any, name: str, resource: dict[str, Any]) -> float:
    started = time.monotonic()
    cloudformation.create_stack(StackName=name, TemplateBody=_template(resource))
    try:
        assert _wait_for_stack(cloudformation, name) == "CREATE_COMPLETE"
        return time.monotonic() - started
    finally:
        cloudformation.delete_stack(StackName=name)


def _wait_for_stack(cloudformation: Any, name: str) -> str:
    def ended() -> str | None:
        status = str(cloudformation.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"])
        return None if status.endswith("IN_PROGRESS") else status

    return wait_for(ended, f"stack {name} is ready")


def _running_at(moment: float, spans: list[tuple[float, float]]) -> int:
    return sum(start <= moment < end for start, end in spans)
