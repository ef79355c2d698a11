"""`demo-publish`: a seller's batches through the API: connect, publish, read a refusal, fix it.

The marketplaces are the tests' own, served from this process; they behave like the real ones.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import httpx

from spinneret.access.keys.models import Scope
from stack import aws, deploy
from stack.deployment import record
from stack.deployment.settings import MARKET_PORT
from stack.errors import StackError
from stack.instance import Instance
from stack.key import issue
from stack.workspace import Workspace

TENANT: Final = "demo-seller"
REQUEST_SECONDS: Final = 30.0
BATCH_SECONDS: Final = 240.0
PRODUCTS: Final = 10
REFUSED: Final = 7  # number of the product whose category eBay rejects
_CATEGORY_REFUSED: Final = 25005  # eBay's error id for that


def configure(_: argparse.ArgumentParser) -> None:
    """Add no arguments."""


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Start everything, publish, fix, publish again; return 1 if a product isn't listed once."""
    # Imported here, because the marketplaces are not part of the command line.
    from tests.markets.ebay import KEYS as EBAY  # noqa: PLC0415 - see above
    from tests.markets.etsy import KEYS as ETSY  # noqa: PLC0415 - see above
    from tests.markets.server import MarketServer  # noqa: PLC0415 - see above

    instance = Instance.named(arguments.instance, workspace)
    deployment = deploy.ensure(instance, workspace)
    gateway = record.endpoints(instance)["gateway"]
    api = deployment.api_url(gateway)
    keys = json.dumps({"ebay": EBAY, "etsy": ETSY})
    secrets = aws.client(aws.session(), "secretsmanager", gateway)
    secrets.put_secret_value(SecretId=deployment.outputs["MarketplaceSecret"], SecretString=keys)
    secret = issue(instance, TENANT, Scope.ADMIN)
    with (
        MarketServer(MARKET_PORT) as markets,
        httpx.Client(
            base_url=api, headers={"X-API-Key": secret}, timeout=REQUEST_SECONDS, trust_env=False
        ) as client,
    ):
        markets.etsy.visible_after = 0
        seller = _Seller(client)
        seller.connect("ebay")
        # eBay fetches images itself, over https; for Etsy the application uploads them.
        ids = seller.make("Coat", "https://images.example")
        markets.ebay.refused_titles[f"Coat {REFUSED}"] = _CATEGORY_REFUSED
        batch = seller.publish("ebay", ids)
        seller.explain(batch)
        markets.ebay.refused_titles.clear()
        print("\nThe category is corrected; only failed jobs run again")
        done = seller.follow(seller.ask("POST", f"/api/batch-jobs/{batch['batch_id']}/retry"))
        on_ebay = len(markets.ebay.listings)
        print(f"  {done['status']}: {on_ebay} listings of {PRODUCTS} products\n")
        seller.connect("etsy")
        batch = seller.publish("etsy", seller.make("Scarf", f"{markets.url}/image"))
        on_etsy = len(markets.etsy.listings)
        print(f"  {batch['status']}: {on_etsy} listings of {PRODUCTS} products")
    return 0 if on_ebay == on_etsy == PRODUCTS else 1


class _Seller:
    """The steps, each with its lines on the terminal."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def connect(self, marketplace: str) -> None:
        """Connect like a browser: go to the marketplace, and return with state and code."""
        path = f"/api/marketplace/{marketplace}"
        begun = self.ask("POST", f"{path}/connect")
        state = parse_qs(urlsplit(begun["authorization_url"]).query)["state"][0]
        self._client.get(f"{path}/callback", params={"state": state, "code": "demo"})
        print(f"Connected {marketplace}: {self.ask('GET', f'{path}/connection')['status']}")

    def make(self, what: str, images: str) -> list[str]:
        """Create ten products and return their ids."""
        made = [
            self.ask(
                "POST",
                "/api/products",
                {
                    "title": f"{what} {number}",
                    "description": "Worn twice.",
                    "price": 1000 * number,
                    "images": [f"{images}/{number}.jpg"],
                    "attributes": {"brand": "barbour", "condition": "good"},
                    "overrides": {"etsy": {"category_id": "1837"}},
                },
            )["product_id"]
            for number in range(1, PRODUCTS + 1)
        ]
        print(f"Made {len(made)} products")
        return made

    def publish(self, marketplace: str, ids: list[str]) -> dict[str, Any]:
        """Plan, then publish and wait for the end."""
        wanted = {"marketplace": marketplace, "action_code": "publish", "product_ids": ids}
        plan = self.ask("POST", "/api/batch-jobs/plan", wanted)
        print(f"Planned: {plan['total_count']} to list, {plan['refused_count']} refused")
        return self.follow(self.ask("POST", "/api/batch-jobs", wanted))

    def follow(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Poll until the batch has ended; return it."""
        deadline, shown = time.monotonic() + BATCH_SECONDS, ""
        while not batch["is_terminal"]:
            if time.monotonic() > deadline:
                raise StackError(f"the batch wasn't finished in {BATCH_SECONDS:.0f} s")
            time.sleep(0.5)
            batch = self.ask("GET", f"/api/batch-jobs/{batch['batch_id']}")
            line = (
                f"  {batch['progress_percent']:>3} %  {batch['completed_count']} done,"
                f" {batch['failed_count']} failed, {batch['pending_count']} to go"
            )
            if line != shown:
                print(line)
                shown = line
        return batch

    def explain(self, batch: dict[str, Any]) -> None:
        """Print what failed, why, and the remedy."""
        print(f"\n{batch['status']}: {batch['completed_count']} of {batch['total_count']} listed")
        for job in batch["jobs"]:
            if job["status"] == "failed":
                for field in job["error"]["details"]["fields"]:
                    print(f"  {field['path']}: {field['cause']} (eBay {field['id']})")
                    print(f"  what to do: {field['fix']}")

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send one request. Raises StackError for an error response."""
        response = self._client.request(method, path, json=body)
        answer = response.json()
        if response.is_error:
            raise StackError(f"{answer.get('code')}: {answer.get('error')}")
        return answer
