"""A seller's rules for a marketplace: plans show them, listings and sales follow them."""

from types import SimpleNamespace
from typing import Any

import pytest

from marketplace.connections_routes import router as connections
from spinneret.marketplace.preferences.models import Preferences
from spinneret.marketplace.preferences.rules import price_by
from tests.markets.world import MarketWorld
from tests.unit.served import Answer, Served


def _prefer(world: MarketWorld, **changes: Any) -> Answer:
    api = Served(connections, SimpleNamespace(preferences=world.preferring))
    path = "/api/marketplace/ebay/preferences"
    return api.send("PATCH", path, changes, tenant=world.tenant)


# covers B-11
@pytest.mark.parametrize(
    ("price", "rules", "shown"),
    [
        (1000, {}, 1000),
        (1000, {"price_factor": "1.15"}, 1150),
        (333, {"price_factor": "1.5"}, 500),  # 499.5, rounded
        (1, {"price_factor": "0.1"}, 1),
        (90_071_992_547_409_93, {"price_factor": "1"}, 90_071_992_547_409_93),
        (1000, {"minimum_price": 1200}, 1200),
        (1000, {"price_ending": 99}, 1099),
        (1099, {"price_ending": 99}, 1099),
        (1100, {"price_ending": 0}, 1100),
        (1101, {"price_ending": 0}, 1200),
        (1000, {"price_factor": "0.5", "minimum_price": 700, "price_ending": 95}, 795),
    ],
)
def test_a_price_is_multiplied_then_raised_to_minimum_and_ending(
    price: int, rules: dict[str, Any], shown: int
) -> None:
    assert price_by(Preferences(tenant="acme", marketplace="ebay", **rules), price) == shown


# covers B-11
def test_rules_are_shown_in_the_plan_and_then_in_the_listing(world: MarketWorld) -> None:
    product = world.product(quantity=3)
    changed = _prefer(world, price_factor="1.1", price_ending=99, quantity_buffer=1)
    assert (changed.body["price_factor"], changed.body["title_suffix"]) == ("1.1", None)
    _prefer(world, title_suffix=" by hand ")
    [planned] = world.planner.plan(world.tenant, "ebay", "publish", [product.id])
    assert [(each["field"], each["product"], each["shown"]) for each in planned.ruled] == [
        ("title", "Wool coat", "Wool coat by hand"),
        ("price", 8900, 9799),
        ("quantity", 3, 2),
    ]
    assert world.planner.plan(world.tenant, "etsy", "publish", [product.id])[0].ruled == ()
    assert world.done("publish", "ebay", product, custom_title="Coat").status == "completed"
    [offer] = world.ebay.offers.values()
    assert offer["pricingSummary"]["price"]["value"] == "97.99"
    assert offer["availableQuantity"] == 2
    assert world.ebay.items[product.sku]["product"]["title"] == "Coat"
    _prefer(world, price_factor=None, price_ending=None, quantity_buffer=None, title_suffix=None)
    assert world.done("publish", "ebay", product).status == "completed"
    [offer] = world.ebay.offers.values()
    assert offer["pricingSummary"]["price"]["value"] == "89.00"
    assert len(world.ebay.listings) == 1


# covers B-11
def test_a_listing_ends_when_a_sale_leaves_no_more_than_the_buffer(world: MarketWorld) -> None:
    _prefer(world, quantity_buffer=1)
    product = world.product(quantity=2)
    world.done("publish", "ebay", product)
    world.done("publish", "etsy", product)
    world.etsy.sell(product.sku, 1)
    world.done("orders", "etsy")
    world.deliver()
    assert world.ebay.listings == {}
    assert world.products.get(world.tenant, product.id) is not None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("price_factor", "0.00"),
        ("price_factor", 1.15),
        ("price_factor", "-1"),
        ("price_ending", 100),
        ("minimum_price", 0),
        ("quantity_buffer", -1),
        ("title_suffix", " "),
    ],
)
def test_a_wrong_rule_is_refused_by_its_field(name: str, value: Any, world: MarketWorld) -> None:
    refused = _prefer(world, **{name: value})
    assert refused.status == 422
    assert [each["path"] for each in refused.body["details"]["fields"]] == [name]
