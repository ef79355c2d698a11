"""Measure a listing's calls of AWS and of the marketplace, and the price of 1,000 listings.

    python benchmarks/publishing.py [--products 20] [--stack]

* without `--stack`: publishes in this process, with moto's tables and the tests' marketplaces, and
  counts calls and state transitions of single jobs and of a batch; the price follows from them and
  from AWS's list prices;
* with `--stack`: measures jobs per second on the deployed benchmark instance
  (`benchmarks/instance.py`).
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "layers" / "common"), str(ROOT / "infra" / "local")]

# Prices of us-east-1, on demand, November 2026.
WRITE_UNIT: Final = 0.625 / 1_000_000  # DynamoDB, 1 KB; a transaction takes two
READ_UNIT: Final = 0.125 / 1_000_000  # DynamoDB, 4 KB, consistent
SQS: Final = 0.40 / 1_000_000
LAMBDA_GB_SECOND: Final = 0.0000166667
LAMBDA_REQUEST: Final = 0.20 / 1_000_000
TRANSITION: Final = 25.0 / 1_000_000  # Step Functions, standard workflows
MEMORY_GB: Final = 0.5
CALL_SECONDS: Final = 0.35  # of a call of a marketplace's API, by experience
AWS_SECONDS: Final = 0.008  # of a DynamoDB transaction
ITEMS_PER_TRANSACTION: Final = 2.5  # a fence and one or two rows


@dataclass(frozen=True, kw_only=True)
class Counted:
    """Mean figures of one listing."""

    market_calls: float
    dynamo: Mapping[str, float]
    transitions: float
    lambdas: float
    messages: float


def count(marketplace: str, products: int, *, is_batch: bool) -> None:
    """Publish in this process, and print calls and price."""
    import boto3  # noqa: PLC0415 - only this mode needs moto
    from moto import mock_aws  # noqa: PLC0415 - see above

    from tests.contract.backends import Tables  # noqa: PLC0415 - see above
    from tests.markets.world import MarketWorld  # noqa: PLC0415 - see above
    from tests.tables import create_tables  # noqa: PLC0415 - see above

    with mock_aws():
        client: Any = boto3.resource("dynamodb", region_name="us-east-1").meta.client
        world = MarketWorld(Tables(client, create_tables(client)))
        for each in ("ebay", "etsy"):
            world.connect(each)
        world.plugin.open()
        calls: Counter[str] = Counter()
        made = [world.product(f"Coat {number}") for number in range(products)]
        client.meta.events.register(
            "before-call.dynamodb", lambda model, **_: calls.update([model.name])
        )
        begin = time.perf_counter()
        if is_batch:
            refs = [world.submit_batch("publish", marketplace, [each.id for each in made])]
        else:
            refs = [world.submit("publish", marketplace, each) for each in made]
        for ref in refs:
            job = world.finish(ref)
            assert job.status == "completed", job.last_error
        seconds = time.perf_counter() - begin
    entered = world.machine.entered
    executions = len(world.executions.started)
    tasks = sum(entered[name] for name in ("Take", "Step", "Callback"))
    # Requests: one per submission, one per message of an execution, one per task of the machine.
    # A plug-in sends two per task: it accepts the task, and it returns the result.
    requests = len(refs) + executions + tasks + 2 * len(world.plugin.tasks)
    per = Counted(
        market_calls=(len(world.web.seen) + len(world.plugin.tasks)) / products,
        dynamo={name: number / products for name, number in sorted(calls.items())},
        transitions=entered.total() / products,
        lambdas=requests / products,
        messages=executions / products,
    )
    way = f"in a batch of {products}" if is_batch else "one by one"
    print(
        f"| {marketplace}, {way} | {products / seconds:.1f} | {per.market_calls:.1f}"
        f" | {sum(per.dynamo.values()):.0f} | {per.transitions:.1f} | {per.lambdas:.1f}"
        f" | ${1000 * price(per, with_machine=False):.2f} | ${1000 * price(per):.2f} |"
    )


def price(per: Counted, *, with_machine: bool = True) -> float:
    """Return the price of one listing in dollars."""
    calls = per.dynamo
    transactions = calls.get("TransactWriteItems", 0.0)
    writes = 2 * ITEMS_PER_TRANSACTION * transactions + calls.get("UpdateItem", 0.0)
    reads = sum(calls.get(name, 0.0) for name in ("GetItem", "Query", "BatchGetItem"))
    seconds = per.market_calls * CALL_SECONDS + sum(calls.values()) * AWS_SECONDS
    return (
        writes * WRITE_UNIT
        + reads * READ_UNIT
        + 3 * per.messages * SQS  # send, receive, delete
        + per.lambdas * LAMBDA_REQUEST
        + seconds * MEMORY_GB * LAMBDA_GB_SECOND
        + (per.transitions * TRANSITION if with_machine else 0.0)
    )


def on_stack(products: int) -> None:
    """Publish a batch on the benchmark instance, and print jobs a second."""
    import httpx  # noqa: PLC0415 - only this mode needs it
    from instance import (  # noqa: PLC0415 - see above
        MARKETS_PORT,
        api_url,
        endpoints,
        outputs,
        run_stack,
    )

    from stack import aws  # noqa: PLC0415 - see above
    from tests.markets.ebay import KEYS  # noqa: PLC0415 - see above
    from tests.markets.server import MarketServer  # noqa: PLC0415 - see above

    secrets = aws.client("secretsmanager", endpoints()["gateway"])
    secrets.put_secret_value(
        SecretId=outputs()["MarketplaceSecret"], SecretString=json.dumps({"ebay": KEYS})
    )
    key = run_stack("key", "world", "--scope", "admin", "--requests-per-minute", "6000").strip()
    with (
        MarketServer(MARKETS_PORT),
        httpx.Client(
            base_url=api_url(), headers={"X-API-Key": key}, timeout=60, trust_env=False
        ) as client,
    ):
        begun = client.post("/api/marketplace/ebay/connect").json()
        state = parse_qs(urlsplit(begun["authorization_url"]).query)["state"][0]
        client.get("/api/marketplace/ebay/callback", params={"state": state, "code": "world"})
        ids = [_product(client, number) for number in range(products)]
        wanted = {"marketplace": "ebay", "action_code": "publish", "product_ids": ids}
        begin = time.perf_counter()
        batch = client.post("/api/batch-jobs", json=wanted).json()
        while not batch["is_terminal"]:
            time.sleep(0.5)
            batch = client.get(f"/api/batch-jobs/{batch['batch_id']}").json()
        seconds = time.perf_counter() - begin
    done = batch["completed_count"]
    print(f"stack: {done} of {products} in {seconds:.1f} s, {done / seconds:.2f} jobs/s")


def _product(client: Any, number: int) -> str:
    made = client.post(
        "/api/products",
        json={
            "title": f"Coat {number}",
            "description": "Worn twice.",
            "price": 8900,
            "images": ["https://images.example/front.jpg"],
            "attributes": {"brand": "barbour", "condition": "good"},
        },
    )
    return str(made.json()["product_id"])


def main() -> None:
    """Print the table, or publish on the stack."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--products", type=int, default=20)
    parser.add_argument("--stack", action="store_true")
    given = parser.parse_args()
    if given.stack:
        on_stack(given.products)
        return
    print(
        "| per listing | jobs/s in one process | calls of the marketplace | DynamoDB calls"
        " | state transitions | Lambda requests | $ per 1,000 without transitions | with them |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for marketplace in ("ebay", "etsy", "vinted"):
        for is_batch in (False, True):
            count(marketplace, given.products, is_batch=is_batch)


if __name__ == "__main__":
    main()
