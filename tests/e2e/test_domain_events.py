"""The end of one crawl, as a rule on the bus, a webhook and a WebSocket client get it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.sync.client import connect

from tests.conftest import Aws
from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.website import Website

pytestmark = pytest.mark.stack

SECONDS = 60.0
CALM_SECONDS = 2.0  # in which nothing more may come


@pytest.fixture
def heard(deployed: Deployed, aws: Aws, tenant: Tenant) -> Iterator[str]:
    """The URL of a queue that gets this tenant's events by a rule on the bus."""
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
    """What comes to the queue until it is calm."""
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


def test_the_end_of_a_crawl_comes_once_to_bus_webhook_and_socket(
    deployed: Deployed, aws: Aws, tenant: Tenant, website: Website, heard: str
) -> None:
    hook = {"name": "ours", "url": f"{website.url}/hook?name={tenant.name}", "events": ["crawl.*"]}
    assert tenant("POST", "/api/v1/webhooks", hook).status_code == 201
    website.hold()
    job_id = tenant.crawl(f"{website.url}/held?text=told")
    address = deployed.outputs["WebSocketUrl"].replace("http://", "ws://")
    with connect(address, additional_headers={"X-API-Key": tenant.key}) as socket:
        socket.send(json.dumps({"action": "subscribe", "job_id": job_id}))
        while json.loads(socket.recv(timeout=SECONDS))["type"] != "caught_up":
            pass
        website.release()
        [on_bus] = received(aws, heard)
        pushed: list[dict[str, Any]] = []
        try:
            while True:
                pushed.append(json.loads(socket.recv(timeout=CALM_SECONDS)))
        except TimeoutError:
            pass
    [on_socket] = [message["event"] for message in pushed if message["type"] == "event"]
    deadline = time.monotonic() + SECONDS
    while not website.hooks[tenant.name] and time.monotonic() < deadline:
        time.sleep(0.1)
    [delivered] = website.hooks[tenant.name]
    by_webhook = json.loads(delivered.body)

    detail = on_bus["detail"]
    assert (on_bus["source"], on_bus["detail-type"]) == ("spinneret", "crawl.completed")
    assert (detail["tenant"], detail["subject"]) == (tenant.name, job_id)
    assert detail["data"]["result"] == tenant.job(job_id)["result"]
    assert on_socket == {
        name: detail[name] for name in ("id", "type", "sequence", "occurred_at", "data")
    }
    assert by_webhook == {
        "type": "crawl.completed",
        "timestamp": detail["occurred_at"],
        "data": detail["data"],
        "event_id": detail["id"],
        "sequence": detail["sequence"],
    }
