"""The wired functions of media and rendered crawls, on moto and with the real browser."""

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import boto3
import pytest
from moto import mock_aws

from spinneret.access.keys.api_models import KeyRequest
from spinneret.access.keys.bootstrap import issue
from spinneret.access.keys.models import Scope
from spinneret.crawl import worker_wiring
from spinneret.crawl.rendering_wiring import rendered_crawl_worker
from spinneret.jobs.kinds import all_lanes
from spinneret.media.worker_wiring import media_worker
from spinneret.runtime.http.entrypoint import Api
from spinneret.runtime.queue import worker_entrypoint
from tests.fakes.scripted_server import ScriptedServer, answer
from tests.fakes.search import FakeChunkIndex, FakeEmbedder
from tests.integration.browsers import program
from tests.tables import create_tables
from tests.unit.runtime.api import Invocation

REGION = "us-east-1"
SHELL = answer(
    b"<!doctype html><title>Loading</title><div id=app></div><script>"
    b"document.title = 'Silk'; app.innerHTML = '<p>Orb weavers rebuild their webs every night.'"
    b".repeat(9)</script>"
)


class Deployed:
    """The API and two workers that share one environment."""

    def __init__(self, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
        from crawl import api as area  # noqa: PLC0415 - reads no environment before it is set

        client: Any = boto3.resource("dynamodb").meta.client
        names = create_tables(client)
        for bucket in ("content", "media", "inbox", "uploads"):
            boto3.client("s3").create_bucket(Bucket=bucket)
        boto3.client("events").create_event_bus(Name="bus")
        self._sqs = boto3.client("sqs")
        urls = [self._sqs.create_queue(QueueName=each)["QueueUrl"] for each in all_lanes()]
        self._lanes = urls[0].removesuffix(all_lanes()[0])
        for name, text in {
            **{f"{name.upper()}_TABLE": table for name, table in names.items()},
            "LABELS_TABLE": names["TagsAndCollections"],
            "PLANS_TABLE": names["CrawlDefinitions"],
            **{f"{each.upper()}_BUCKET": each for each in ("content", "media", "inbox", "uploads")},
            "BROWSER_FOLDER": str(program()),
            "LANES_URL": self._lanes,
            "EVENT_BUS": "bus",
            "SECRETS_KEY_ID": boto3.client("kms").create_key()["KeyMetadata"]["KeyId"],
            "WEBSOCKET_URL": "http://127.0.0.1:9",
            "OPENSEARCH_URL": "http://127.0.0.1:9",
            "OPENSEARCH_AUTH": "none",
            "EMBEDDER_URL": "http://127.0.0.1:9",
            "FETCH_ALLOWED_ENDPOINTS": server.pair,
            "USER_AGENT": "Spinneret/0.1 (+https://spinneret.example/bot)",
        }.items():
            monkeypatch.setenv(name, text)
        embedder, self.index = FakeEmbedder(max_input_tokens=202, max_batch=2), FakeChunkIndex()
        monkeypatch.setattr(worker_wiring, "embedder", lambda _: embedder)
        monkeypatch.setattr(worker_wiring, "written_index", lambda *_: self.index)
        self._api = Api("crawl-api", *area.api.routes)
        self._workers = {
            "media": worker_entrypoint(media_worker, "media-worker"),
            "crawl-rendered": worker_entrypoint(rendered_crawl_worker, "rendered-crawl-worker"),
        }
        wanted = KeyRequest(name="tests", scopes=frozenset({Scope.WRITE}))
        self._key = issue(client, names["Tenancy"], "acme", wanted)

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request in the form of API Gateway, and return the body of the response."""
        event = {
            "httpMethod": method,
            "path": path,
            "headers": {"X-API-Key": self._key, "Content-Type": "application/json"},
            "multiValueHeaders": None,
            "queryStringParameters": None,
            "multiValueQueryStringParameters": None,
            "requestContext": {"requestId": "r", "identity": {}},
            "body": None if body is None else json.dumps(body),
            "isBase64Encoded": False,
        }
        answer = self._api.handler(event, Invocation())  # type: ignore[arg-type]  # stands for LambdaContext
        return json.loads(answer["body"])

    def work(self, lane: str) -> None:
        """Deliver the lane's messages to its worker."""
        url = f"{self._lanes}{lane}"
        for each in self._sqs.receive_message(QueueUrl=url).get("Messages", []):
            self._sqs.delete_message(QueueUrl=url, ReceiptHandle=each["ReceiptHandle"])
            record = {
                "messageId": each["MessageId"],
                "body": each["Body"],
                "eventSource": "aws:sqs",
                "receiptHandle": "r",
                "attributes": {},
                "messageAttributes": {},
                "md5OfBody": "",
                "eventSourceARN": "arn:aws:sqs:us-east-1:1:x",
                "awsRegion": REGION,
            }
            done = self._workers[lane]({"Records": [record]}, Invocation(115.0))  # type: ignore[arg-type]  # see above
            assert done == {"batchItemFailures": []}

    def media(self, path: str, **body: Any) -> dict[str, Any]:
        """Submit a request, run its job, and return the job."""
        made = self("POST", f"/api/v1/{path}", body)
        self.work("media")
        return dict(self("GET", f"/api/v1/media/{made['job_id']}"))


@pytest.fixture
def deployed(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    server.fallback, server.behaviours["/robots.txt"] = SHELL, answer(b"")
    with mock_aws():
        yield Deployed(server, monkeypatch)


# covers C-11
def test_media_are_taken_stored_and_shown(deployed: Deployed, server: ScriptedServer) -> None:
    take = partial(deployed.media, url=server.url("/"), wait_for="p")
    shown = [
        take("screenshot", wait_seconds=0.0),
        take("pdf", wait_seconds=0.0),
        take("execute-js", scripts=["document.title", "missing()"]),
    ]
    assert [each["status"] for each in shown] == ["completed"] * 3, shown
    found = boto3.client("s3").list_objects_v2(Bucket="media")["Contents"]
    stored = {each["Key"]: each["Size"] for each in found if "/scripts/" not in each["Key"]}
    suffixes = (".png", ".pdf", ".json")
    assert stored == {
        f"T/acme/{each['job_id']}{suffix}": each["bytes"]
        for each, suffix in zip(shown, suffixes, strict=True)
    }
    for each in shown:
        assert each["job_id"] in each["download_url"]
    value, error = shown[2]["scripts"]
    assert (value["value"], error["error"]["code"]) == ("Silk", "SCRIPT_ERROR")


# covers C-11
@pytest.mark.parametrize("render", [True, "auto"])
def test_a_page_that_is_nothing_without_scripts_is_indexed(
    deployed: Deployed, server: ScriptedServer, render: bool | str
) -> None:
    body = {"url": server.url("/"), "render": render, "wait_for": "#app p"}
    made = deployed("POST", "/api/v1/crawl", body)
    deployed.work("crawl-rendered")
    job = deployed("GET", f"/api/v1/crawl/{made['job_id']}")
    assert job["status"] == "completed", job
    assert "Orb weavers rebuild their webs" in job["markdown"]
    assert job["title"] == "Silk"
    assert len(server.requests) == 2 + (render == "auto")  # robots.txt and the page
