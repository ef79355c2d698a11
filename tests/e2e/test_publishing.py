"""Products on marketplaces through the deployed API; the marketplaces are fakes on loopback."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.conftest import ROOT, Aws
from tests.documented import Page, section
from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.selling import IMAGE, connected_seller, made_product
from tests.markets.etsy import KEYS as ETSY_KEYS
from tests.markets.etsy import SHOP
from tests.markets.headless_plugin import HeadlessPlugin
from tests.markets.server import MarketServer
from tests.site.demonstration import CATEGORY_ERROR, REFUSED_CATEGORY
from tests.waiting import waited

pytestmark = pytest.mark.stack

SECONDS = 90.0
TERMINAL = {"completed", "partially_failed", "failed", "cancelled", "expired"}


@pytest.fixture(scope="module")
def markets(deployed: Deployed) -> Iterator[MarketServer]:
    with deployed.only("markets"), MarketServer(deployed.market_port) as server:
        server.etsy.visible_after = 0
        yield server


@pytest.fixture(scope="module")
def seller(deployed: Deployed, markets: MarketServer) -> Iterator[Tenant]:
    """See `connected_seller`."""
    tenant = connected_seller(deployed)
    yield tenant
    tenant.close()


def _product(seller: Tenant, markets: MarketServer, title: str = "Wool coat") -> dict[str, Any]:
    return made_product(seller, title, f"{markets.url}/image/front.jpg")


def _https(seller: Tenant, product: dict[str, Any]) -> None:
    body = {
        name: product[name] for name in ("title", "description", "price", "attributes", "overrides")
    }
    body["images"] = [IMAGE]
    answer = seller("PUT", f"/api/products/{product['product_id']}", body)
    assert answer.status_code == 200, answer.text


def _done(seller: Tenant, path: str) -> dict[str, Any]:
    return waited(
        lambda: seller.read(path), lambda seen: seen["status"] in TERMINAL, seconds=SECONDS
    )


def _job(seller: Tenant, action: str, marketplace: str, product_id: str | None) -> dict[str, Any]:
    wanted = {"marketplace": marketplace, "action_code": action, "product_id": product_id}
    answer = seller("POST", "/api/marketplace/jobs", wanted)
    assert answer.status_code == 201, answer.text
    return _done(seller, f"/api/marketplace/jobs/{answer.json()['job_id']}")


def test_a_product_is_listed_on_etsy_and_ebay_and_ended(
    seller: Tenant, markets: MarketServer
) -> None:
    product = _product(seller, markets)
    etsy = _job(seller, "publish", "etsy", product["product_id"])
    assert etsy["status"] == "completed", etsy
    assert [task["status"] for task in etsy["tasks"]] == ["success"] * len(etsy["tasks"])
    _https(seller, product)
    ebay = _job(seller, "publish", "ebay", product["product_id"])
    assert ebay["status"] == "completed", ebay
    assert ebay["result_data"]["ebay_id"] in markets.ebay.listings
    listings = seller("GET", "/api/marketplace/listings").json()["items"]
    mine = [each for each in listings if each["product_id"] == product["product_id"]]
    assert {each["marketplace"]: each["state"] for each in mine} == {
        "ebay": "active",
        "etsy": "active",
    }
    assert seller("DELETE", f"/api/products/{product['product_id']}").status_code == 409
    for marketplace in ("ebay", "etsy"):
        ended = _job(seller, "delete", marketplace, product["product_id"])
        assert ended["status"] == "completed", ended
    assert markets.ebay.live(product["sku"]) == []
    assert seller("DELETE", f"/api/products/{product['product_id']}").status_code == 204
    after = seller("GET", f"/api/marketplace/jobs/{ebay['job_id']}").json()
    assert (after["product_id"], after["tasks"]) == (None, [])


def test_a_batch_counts_exactly_and_explains_its_failure(
    seller: Tenant, markets: MarketServer
) -> None:
    products = [_product(seller, markets, f"Coat {number}") for number in range(5)]
    for product in products:
        _https(seller, product)
    markets.ebay.refused_titles["Coat 3"] = 25005
    ids = [each["product_id"] for each in products]
    wanted = {"marketplace": "ebay", "action_code": "publish", "product_ids": ids}
    plan = seller("POST", "/api/batch-jobs/plan", wanted).json()
    assert [each["outcome"] for each in plan["items"]] == ["create"] * 5
    begun = seller("POST", "/api/batch-jobs", wanted)
    assert begun.status_code == 201, begun.text
    path = f"/api/batch-jobs/{begun.json()['batch_id']}"
    batch = _done(seller, path)
    assert batch["status"] == "partially_failed"
    assert (batch["total_count"], batch["completed_count"], batch["failed_count"]) == (5, 4, 1)
    [failed] = [job for job in batch["jobs"] if job["status"] == "failed"]
    [field] = failed["error"]["details"]["fields"]
    assert (field["path"], field["hint"]) == ("category_id", "choose a leaf category")
    markets.ebay.refused_titles.clear()
    assert seller("POST", f"{path}/retry").status_code == 200
    batch = _done(seller, path)
    assert (batch["status"], batch["completed_count"]) == ("completed", 5)
    assert all(len(markets.ebay.live(each["sku"])) == 1 for each in products)


def test_a_product_is_listed_by_the_plug_in(
    seller: Tenant, markets: MarketServer, deployed: Deployed
) -> None:
    product = _product(seller, markets, "Plugged coat")
    address = deployed.outputs["WebSocketUrl"].replace("http://", "ws://")
    with HeadlessPlugin(address, seller.key) as plugin:
        job = _job(seller, "publish", "vinted", product["product_id"])
        assert job["status"] == "completed", job
        assert [job["result_data"]["vinted_id"]] == plugin.items


@pytest.mark.parametrize("read_by", ["the rule", pytest.param("a job", marks=pytest.mark.proof)])
def test_a_sale_ends_the_other_listing(
    read_by: str, seller: Tenant, markets: MarketServer, deployed: Deployed, aws: Aws
) -> None:
    title = f"Single coat, read by {read_by}"
    product = _product(seller, markets, title)
    assert _job(seller, "publish", "etsy", product["product_id"])["status"] == "completed"
    _https(seller, product)
    assert _job(seller, "publish", "ebay", product["product_id"])["status"] == "completed"
    with markets.lock:
        markets.ebay.sell(product["sku"], f"order of {title}")
    if read_by == "a job":
        assert _job(seller, "orders", "ebay", None)["status"] == "completed"
    deadline = time.monotonic() + SECONDS
    while markets.etsy.live(title):
        assert time.monotonic() < deadline
        if read_by == "the rule":  # it does nothing while its last reading runs
            function = deployed.resources["OrderPolling"]
            polled = aws("lambda").invoke(FunctionName=function, Payload=b"{}")
            assert json.load(polled["Payload"])["enabled"]
        time.sleep(0.3)
    sales = seller("GET", "/api/marketplace/orders").json()["items"]
    assert [each["outcome"] for each in sales if each["sku"] == product["sku"]] == ["reserved"]


def test_a_signed_report_has_the_orders_read(seller: Tenant, deployed: Deployed) -> None:
    body, at = json.dumps({"event_type": "order.paid", "shop_id": int(SHOP)}), int(time.time())
    key = base64.b64decode(ETSY_KEYS["webhook_secret"].removeprefix("whsec_"))
    digest = hmac.new(key, f"wh_1.{at}.{body}".encode(), hashlib.sha256).digest()
    signature = f"v1,{base64.b64encode(digest).decode()}"
    url = f"{deployed.api_url}/api/marketplace/webhooks/etsy"
    headers = {"webhook-id": "wh_1", "webhook-timestamp": str(at)}
    for signed, status in ((signature, 204), (f"v1,{'A' * 44}", 401)):
        answer = httpx.post(
            url,
            content=body,
            headers={**headers, "webhook-signature": signed, "content-type": "application/json"},
            trust_env=False,
            timeout=40,
        )
        assert answer.status_code == status, answer.text
    jobs = seller("GET", "/api/marketplace/jobs?marketplace=etsy").json()["items"]
    assert "orders" in {job["action_code"] for job in jobs}


@pytest.mark.parametrize(
    ("name", "heading"),
    [("README.md", "### Publish a product"), ("docs/tutorials/publish-to-a-sandbox.md", None)],
)
def test_documented_commands_publish_as_shown(
    markets: MarketServer, page: Page, name: str, heading: str | None
) -> None:
    markets.ebay.refused_categories[REFUSED_CATEGORY] = CATEGORY_ERROR
    text = (ROOT / name).read_text()
    assert page.run(section(text, heading) if heading else text) > 3
    if heading is not None:
        # The tasks of the how-to continue with the same product and connection.
        assert page.run((ROOT / "docs" / "how-to" / "marketplaces.md").read_text()) > 3
