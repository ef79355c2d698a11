"""Receivers of domain events: a queue of a rule on the bus, and a WebSocket client."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.conftest import Aws
from tests.e2e.conftest import Deployed, Tenant

SECONDS = 60.0
CALM_SECONDS = 2.0  # no message in this time means that none will come


@contextmanager
def bus_queue(deployed: Deployed, aws: Aws, tenant: Tenant) -> Iterator[str]:
    """Yield the URL of a queue that receives this tenant's events by a rule on the bus."""
    events, sqs = aws("events"), aws("sqs")
    bus, name = deployed.outputs["EventBus"], f"heard-{tenant.name}"
    url = sqs.create_queue(QueueName=name)["QueueUrl"]
    answer = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    pattern = {"source": ["spinneret"], "detail": {"tenant": [tenant.name]}}
    events.put_rule(Name=name, EventBusName=bus, EventPattern=json.dumps(pattern))
    target = {"Id": "queue", "Arn": answer["Attributes"]["QueueArn"]}
    events.put_targets(Rule=name, EventBusName=bus, Targets=[target])
    yield url
    events.remove_targets(Rule=name, EventBusName=bus, Ids=["queue"])
    events.delete_rule(Name=name, EventBusName=bus)
    sqs.delete_queue(QueueUrl=url)


def received(aws: Aws, url: str) -> list[dict[str, Any]]:
    """Return the messages of the queue until none comes for CALM_SECONDS."""
    sqs = aws("sqs")
    found: list[dict[str, Any]] = []
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        wait = int(CALM_SECONDS) if found else 10
        answer = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=wait, MaxNumberOfMessages=10)
        messages = answer.get("Messages", [])
        if found and not messages:
            break
        for message in messages:
            found.append(json.loads(message["Body"]))
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    return found


@contextmanager
def subscribed(deployed: Deployed, tenant: Tenant, job_id: str) -> Iterator[ClientConnection]:
    """Yield a WebSocket client that has received the job's timeline so far."""
    address = deployed.outputs["WebSocketUrl"].replace("http://", "ws://")
    key = {"X-API-Key": tenant.key}
    with connect(address, additional_headers=key, open_timeout=SECONDS) as socket:
        socket.send(json.dumps({"action": "subscribe", "job_id": job_id}))
        while json.loads(socket.recv(timeout=SECONDS))["type"] != "caught_up":
            pass
        yield socket


def pushed_events(socket: ClientConnection) -> list[dict[str, Any]]:
    """Return the pushed domain events until none comes for CALM_SECONDS."""
    found: list[dict[str, Any]] = []
    try:
        while True:
            message = json.loads(socket.recv(timeout=CALM_SECONDS))
            if message["type"] == "event":
                found.append(message["event"])
    except TimeoutError:
        return found
