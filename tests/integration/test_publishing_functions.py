"""The wired functions of the marketplace area, on moto and with marketplaces on loopback."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest
from moto import mock_aws

from spinneret.access.keys.api_models import KeyRequest
from spinneret.access.keys.bootstrap import issue
from spinneret.access.keys.models import Scope
from spinneret.jobs.sqs import ref_of
from spinneret.kernel.bounds import KEY_REQUESTS_PER_MINUTE_MAX
from spinneret.kernel.clock import utc_now
from spinneret.marketplace.driving_wiring import next_jobs_step, publish_dispatcher
from spinneret.marketplace.wiring import marketplace_api
from spinneret.marketplace.worker_wiring import publish_step
from spinneret.runtime.http.entrypoint import Api
from spinneret.runtime.queue import message_entrypoint
from spinneret.runtime.steps import step_entrypoint
from stack.deployment.settings import market_hosts
from tests.fakes.state_machine import FakeCallbacks, StateMachine
from tests.fakes.time import HandClock
from tests.markets.ebay import KEYS as EBAY_KEYS
from tests.markets.etsy import KEYS as ETSY_KEYS
from tests.markets.etsy import SHOP
from tests.markets.server import MarketServer
from tests.tables import create_tables
from tests.unit.runtime.api import Invocation

REGION = "us-east-1"
LANES = ("marketplace-high", "marketplace")


class _WallClock(HandClock):
    """The wall clock; the test fails if something waits for it."""

    def __call__(self) -> datetime:
        self.now = utc_now()
        return self.now

    def advance(self, seconds: float) -> datetime:
        raise AssertionError(f"a function failed, or nothing came for {seconds} s")


class Deployed:
    """The area's functions in one environment."""

    def __init__(self, markets: MarketServer, monkeypatch: pytest.MonkeyPatch) -> None:
        from marketplace import api as area  # noqa: PLC0415 - reads no environment before it is set

        client: Any = boto3.resource("dynamodb", region_name=REGION).meta.client
        names = create_tables(client)
        sqs = boto3.client("sqs", region_name=REGION)
        urls = {
            lane: sqs.create_queue(QueueName=f"spinneret-test-{lane}")["QueueUrl"] for lane in LANES
        }
        self._sqs, self._urls = sqs, urls
        self._workflows = boto3.client("stepfunctions", region_name=REGION)
        self._arn = self._workflows.create_state_machine(
            name="publish",
            definition=json.dumps({"StartAt": "Take", "States": {"Take": {"Type": "Succeed"}}}),
            roleArn="arn:aws:iam::123456789012:role/publish",
        )["stateMachineArn"]
        secrets = boto3.client("secretsmanager", region_name=REGION)
        value = json.dumps({"ebay": EBAY_KEYS, "etsy": ETSY_KEYS})
        arn = secrets.create_secret(Name="marketplaces", SecretString=value)["ARN"]
        key = boto3.client("kms", region_name=REGION).create_key()["KeyMetadata"]["KeyId"]
        endpoint = markets.url.removeprefix("http://")
        for name, text in {
            "TENANCY_TABLE": names["Tenancy"],
            "JOBS_TABLE": names["Jobs"],
            "IDEMPOTENCY_TABLE": names["Idempotency"],
            "MARKETPLACE_TABLE": names["Marketplace"],
            "MARKETPLACE_SECRET": arn,
            "PUBLISH_MACHINE": self._arn,
            "MARKETPLACE_HOSTS": market_hosts(markets.url),
            "MARKETPLACE_RETURN_URL": "https://shop.example/back",
            "SECRETS_KEY_ID": key,
            "UPLOADS_BUCKET": "uploads",
            "LANES_URL": urls["marketplace"].removesuffix("marketplace"),
            "WEBSOCKET_URL": "http://127.0.0.1:9",
            "FETCH_ALLOWED_ENDPOINTS": endpoint,
            "USER_AGENT": "Spinneret/0.1 (+https://spinneret.example/bot)",
        }.items():
            monkeypatch.setenv(name, text)
        self._api = Api("marketplace-api", *area.api.routes)
        self._work = message_entrypoint(
            ref_of, publish_dispatcher.then(lambda it: it.run), "publish-worker"
        )
        take = step_entrypoint(next_jobs_step.then(lambda step: step.take), "publish-take")
        step = step_entrypoint(publish_step.then(lambda job: job.step), "publish-step")
        functions = {
            "Take": lambda state: take(state, Invocation(55.0)),  # type: ignore[arg-type]  # see below
            "Step": lambda state: step(state, Invocation(115.0)),  # type: ignore[arg-type]  # see below
        }
        self._machine = StateMachine("publish_batch", functions, _WallClock(), FakeCallbacks())
        self._ran = set[str]()
        assert marketplace_api is area.api.routes[0].build
        wanted = KeyRequest(
            name="tests",
            scopes=frozenset({Scope.ADMIN}),
            rate_limit_rpm=KEY_REQUESTS_PER_MINUTE_MAX,
        )
        self._key = issue(client, names["Tenancy"], "acme", wanted)

    def __call__(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[int, Any, dict[str, str]]:
        """Send a request in the form of API Gateway; return status, body and headers."""
        parts = urlsplit(path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        answer = self._api.handler(
            {
                "httpMethod": method,
                "path": parts.path,
                "headers": {"X-API-Key": self._key, "Content-Type": "application/json", **headers},
                "multiValueHeaders": None,
                "queryStringParameters": query or None,
                "multiValueQueryStringParameters": {n: [t] for n, t in query.items()} or None,
                "requestContext": {"requestId": "r", "identity": {}},
                "body": body if body is None or isinstance(body, str) else json.dumps(body),
                "isBase64Encoded": False,
            },
            Invocation(),  # type: ignore[arg-type]  # stands for LambdaContext
        )
        shown = {k: v[-1] for k, v in answer.get("multiValueHeaders", {}).items()}
        text = answer["body"] or "null"
        return answer["statusCode"], json.loads(text), {**shown, **answer.get("headers", {})}

    def work(self, most: int = 60) -> None:
        """Deliver messages and run started executions until there are none left."""
        for _ in range(most):
            got = self._execute()
            for url in self._urls.values():
                found = self._sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)
                for each in found.get("Messages", []):
                    got += 1
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
                    self._work({"Records": [record]}, Invocation(115.0))  # type: ignore[arg-type]  # see above
            if not got:
                return

    def _execute(self) -> int:
        """Run the executions that started since the last call, and return their number."""
        found = self._workflows.list_executions(stateMachineArn=self._arn)["executions"]
        new = [each["executionArn"] for each in found if each["executionArn"] not in self._ran]
        for arn in new:
            self._ran.add(arn)
            state = self._workflows.describe_execution(executionArn=arn)["input"]
            self._machine.run(json.loads(state))
        return len(new)


@pytest.fixture
def markets() -> Iterator[MarketServer]:
    with MarketServer(0) as server:
        server.etsy.visible_after = 0
        yield server


@pytest.fixture
def deployed(markets: MarketServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        yield Deployed(markets, monkeypatch)


# covers T-05
@pytest.mark.proof  # e2e/test_publishing.py tests this on the stack
def test_a_seller_connects_publishes_a_batch_and_is_told_of_orders(
    deployed: Deployed, markets: MarketServer
) -> None:
    _connect(deployed)
    made = [_product(deployed, markets, f"Coat {number}") for number in range(3)]
    ids = [each["product_id"] for each in made]
    markets.etsy.refused_titles.add("Coat 1")
    wanted = {"marketplace": "etsy", "action_code": "publish", "product_ids": ids}
    status, batch, _ = deployed("POST", "/api/batch-jobs", wanted)
    assert status == 201, batch
    deployed.work()
    _, batch, _ = deployed("GET", f"/api/batch-jobs/{batch['batch_id']}")
    assert (batch["status"], batch["completed_count"], batch["failed_count"]) == (
        "partially_failed",
        2,
        1,
    )
    assert len(markets.etsy.listings) == 2
    _report(deployed)
    _, jobs, _ = deployed("GET", "/api/marketplace/jobs?marketplace=etsy&limit=1")
    assert jobs["items"][0]["action_code"] == "orders"
    deployed.work()
    _, day, _ = deployed("GET", "/api/marketplace/statistics")
    counts = {each["action_code"]: each["completed_count"] for each in day["items"]}
    assert counts == {"orders": 1, "publish": 2}


def test_a_cancelled_order_gives_the_stock_back_and_asks_about_the_ended_listing(
    deployed: Deployed, markets: MarketServer
) -> None:
    _connect(deployed)
    product = _product(deployed, markets)
    _job(deployed, "publish", "etsy", product["product_id"])
    fields = {name: product[name] for name in ("title", "description", "price", "attributes")}
    fields |= {"overrides": product["overrides"], "images": ["https://images.example/front.jpg"]}
    status, answer, _ = deployed("PUT", f"/api/products/{product['product_id']}", fields)
    assert status == 200, answer
    _job(deployed, "publish", "ebay", product["product_id"])
    assert len(markets.etsy.listings) == 1

    markets.ebay.sell(product["sku"], "o-1")
    _job(deployed, "orders", "ebay")
    [order] = deployed("GET", "/api/marketplace/orders")[1]["items"]
    assert (order["state"], order["outcome"]) == ("paid", "reserved")
    assert (_quantity(deployed, product), markets.etsy.listings) == (0, {})

    paid = {"cancelStatus": {"cancelState": "CANCELED"}, "orderPaymentStatus": "FULLY_REFUNDED"}
    markets.ebay.orders[0].update(paid)
    _job(deployed, "orders", "ebay")
    [order] = deployed("GET", "/api/marketplace/orders")[1]["items"]
    assert (order["state"], order["outcome"]) == ("cancelled", "returned")
    [question] = [each for each in order["adjustments"] if each["marketplace"] == "etsy"]
    assert question["state"] == "needs_input"
    _, job, _ = deployed("GET", f"/api/marketplace/jobs/{question['job_id']}")
    assert "List the product on etsy again?" in job["error"]["error"]
    assert (_quantity(deployed, product), markets.etsy.listings) == (1, {})


def test_another_products_listing_is_refused_and_its_holder_named(
    deployed: Deployed, markets: MarketServer
) -> None:
    _connect(deployed)
    theirs, mine = (_product(deployed, markets, title) for title in ("Coat", "Scarf"))
    _job(deployed, "publish", "etsy", theirs["product_id"])
    [external_id] = markets.etsy.listings
    wanted = {
        "marketplace": "etsy",
        "action_code": "link_product",
        "product_id": mine["product_id"],
        "input_data": {"external_id": external_id},
    }
    status, answer, _ = deployed("POST", "/api/marketplace/jobs", wanted)
    assert status == 409, answer
    assert answer["details"]["product_id"] == theirs["product_id"]
    _, found, _ = deployed("GET", "/api/marketplace/listings")
    assert [each["product_id"] for each in found["items"]] == [theirs["product_id"]]


def _connect(deployed: Deployed) -> None:
    """Connect the seller to each marketplace as a browser does."""
    for marketplace in ("ebay", "etsy"):
        _, begun, _ = deployed("POST", f"/api/marketplace/{marketplace}/connect")
        state = parse_qs(urlsplit(begun["authorization_url"]).query)["state"][0]
        callback = f"/api/marketplace/{marketplace}/callback?state={state}&code=c"
        status, _, headers = deployed("GET", callback)
        assert status == 302
        assert headers["Location"].endswith("connected=true"), headers


def _product(deployed: Deployed, markets: MarketServer, title: str = "Coat") -> dict[str, Any]:
    content = {
        "title": title,
        "description": "Worn twice.",
        "price": 8900,
        "images": [f"{markets.url}/image/front.jpg"],
        "attributes": {"brand": "barbour", "condition": "good"},
        "overrides": {"etsy": {"category_id": "1837"}},
    }
    status, made, _ = deployed("POST", "/api/products", content)
    assert status == 201, made
    product: dict[str, Any] = made
    return product


def _job(deployed: Deployed, action: str, marketplace: str, product_id: str | None = None) -> None:
    """Submit a job, run it and the jobs that follow from it, and check that it is completed."""
    wanted = {"marketplace": marketplace, "action_code": action, "product_id": product_id}
    status, made, _ = deployed("POST", "/api/marketplace/jobs", wanted)
    assert status == 201, made
    deployed.work()
    _, job, _ = deployed("GET", f"/api/marketplace/jobs/{made['job_id']}")
    assert job["status"] == "completed", job


def _quantity(deployed: Deployed, product: dict[str, Any]) -> int:
    quantity: int = deployed("GET", f"/api/products/{product['product_id']}")[1]["quantity"]
    return quantity


def _report(deployed: Deployed) -> None:
    """Report a paid order as Etsy does, with a valid and with an invalid signature."""
    body, at = json.dumps({"event_type": "order.paid", "shop_id": int(SHOP)}), int(time.time())
    key = base64.b64decode(ETSY_KEYS["webhook_secret"].removeprefix("whsec_"))
    digest = hmac.new(key, f"wh_1.{at}.{body}".encode(), hashlib.sha256).digest()
    signature = f"v1,{base64.b64encode(digest).decode()}"
    for signed, expected in ((signature, 204), (f"v1,{'A' * 44}", 401)):
        headers = {
            "webhook-id": "wh_1",
            "webhook-timestamp": str(at),
            "webhook-signature": signed,
        }
        status, answer, _ = deployed("POST", "/api/marketplace/webhooks/etsy", body, **headers)
        assert status == expected, answer
