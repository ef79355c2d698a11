"""`demo-publish`: a seller's batches through the API: connect, publish, read a refusal, fix it.

The marketplaces are the tests' own, a part of the stack; they behave like the real ones.
"""

import argparse
import json
import time
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import httpx

from spinneret.access.keys.models import Scope
from stack import aws, deploy
from stack.deployment import record
from stack.deployment.record import Deployment
from stack.errors import StackError
from stack.instance import Instance
from stack.key import issue
from stack.workspace import Workspace

TENANT: Final = "demo-seller"
REQUEST_SECONDS: Final = 30.0
BATCH_SECONDS: Final = 240.0
PRODUCTS: Final = 10
NUMBERS: Final = range(1, PRODUCTS + 1)
REFUSED: Final = 7  # number of the product whose category eBay rejects


def configure(_: argparse.ArgumentParser) -> None:
    """Add no arguments."""


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Start everything, publish, fix, publish again; return 1 if a product isn't listed once."""
    # Imported here, because the marketplaces are not part of the command line.
    from tests.site.demonstration import REFUSED_CATEGORY  # noqa: PLC0415 - see above

    instance = Instance.named(arguments.instance, workspace)
    deployment = deploy.ensure(instance, workspace)
    endpoints = record.endpoints(instance)
    give_client_keys(deployment, endpoints["gateway"])
    secret = issue(instance, TENANT, Scope.ADMIN)
    with httpx.Client(
        base_url=deployment.api_url(endpoints["gateway"]),
        headers={"X-API-Key": secret},
        timeout=REQUEST_SECONDS,
        trust_env=False,
    ) as client:
        seller = _Seller(client, endpoints["markets"])
        before = seller.live()
        seller.connect("ebay")
        # eBay fetches images itself, over https; for Etsy the application uploads them.
        coats = [product("Coat", number, "https://images.example") for number in NUMBERS]
        coats[REFUSED - 1]["overrides"]["ebay"] = {"category_id": REFUSED_CATEGORY}
        ids = seller.make(coats)
        batch = seller.publish("ebay", ids)
        seller.explain(batch)
        del coats[REFUSED - 1]["overrides"]["ebay"]
        seller.ask("PUT", f"/api/products/{ids[REFUSED - 1]}", coats[REFUSED - 1])
        print("\nThe category is corrected; only failed jobs run again")
        done = seller.follow(seller.ask("POST", f"/api/batch-jobs/{batch['batch_id']}/retry"))
        on_ebay = seller.live()["ebay"] - before["ebay"]
        print(f"  {done['status']}: {on_ebay} listings of {PRODUCTS} products\n")
        seller.connect("etsy")
        images = f"{endpoints['markets']}/image"
        batch = seller.publish(
            "etsy", seller.make([product("Scarf", number, images) for number in NUMBERS])
        )
        on_etsy = seller.live()["etsy"] - before["etsy"]
        print(f"  {batch['status']}: {on_etsy} listings of {PRODUCTS} products")
    return 0 if on_ebay == on_etsy == PRODUCTS else 1


def give_client_keys(deployment: Deployment, gateway: str) -> None:
    """Store the application's client keys of the local marketplaces."""
    # Imported here, because the marketplaces are not part of the command line.
    from tests.markets.ebay import KEYS as EBAY  # noqa: PLC0415 - see above
    from tests.markets.etsy import KEYS as ETSY  # noqa: PLC0415 - see above

    keys = json.dumps({"ebay": EBAY, "etsy": ETSY})
    secrets = aws.client("secretsmanager", gateway)
    secrets.put_secret_value(SecretId=deployment.outputs["MarketplaceSecret"], SecretString=keys)


def product(what: str, number: int, images: str) -> dict[str, Any]:
    """Return the body of a product."""
    return {
        "title": f"{what} {number}",
        "description": "Worn twice.",
        "price": 1000 * number,
        "images": [f"{images}/{number}.jpg"],
        "attributes": {"brand": "barbour", "condition": "good"},
        "overrides": {"etsy": {"category_id": "1837"}},
    }


class _Seller:
    """The steps, each with its lines on the terminal."""

    def __init__(self, client: httpx.Client, markets: str) -> None:
        self._client = client
        self._markets = markets

    def live(self) -> dict[str, int]:
        """Return how many listings each marketplace has."""
        answer = httpx.get(f"{self._markets}/live", timeout=REQUEST_SECONDS, trust_env=False)
        counts: dict[str, int] = answer.raise_for_status().json()
        return counts

    def connect(self, marketplace: str) -> None:
        """Connect like a browser: go to the marketplace, and return with state and code."""
        path = f"/api/marketplace/{marketplace}"
        begun = self.ask("POST", f"{path}/connect")
        state = parse_qs(urlsplit(begun["authorization_url"]).query)["state"][0]
        self._client.get(f"{path}/callback", params={"state": state, "code": "demo"})
        print(f"Connected {marketplace}: {self.ask('GET', f'{path}/connection')['status']}")

    def make(self, products: list[dict[str, Any]]) -> list[str]:
        """Create products and return their ids."""
        made = [self.ask("POST", "/api/products", each)["product_id"] for each in products]
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
                    print(f"  what to do: {field['hint']}")

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send one request. Raises StackError for an error response."""
        response = self._client.request(method, path, json=body)
        answer = response.json()
        if response.is_error:
            raise StackError(f"{answer.get('code')}: {answer.get('error')}")
        return answer
