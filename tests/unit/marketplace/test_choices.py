"""A seller's choice of policies, locations, profiles and sections.

The options are read live; a choice is applied, and refused if the option no longer exists.
"""

from types import SimpleNamespace
from typing import Any

import pytest

from marketplace.connections_routes import router as connections
from spinneret.marketplace.products.models import Product, ProductOverride
from tests.markets.world import CATEGORIES, MarketWorld
from tests.unit.served import Answer, Served


def _send(world: MarketWorld, method: str, path: str, body: Any = None, **query: Any) -> Answer:
    services = SimpleNamespace(preferences=world.preferring, choices=world.choosing)
    return Served(connections, services).send(
        method, f"/api/marketplace/{path}", body, tenant=world.tenant, **query
    )


def _choose(world: MarketWorld, marketplace: str, **choices: str | None) -> Answer:
    return _send(world, "PATCH", f"{marketplace}/preferences", {"choices": choices})


def _with_choices(world: MarketWorld, product: Product, marketplace: str, **choices: str) -> None:
    override = ProductOverride(category_id=CATEGORIES.get(marketplace), choices=choices)
    world.cataloguing.update(
        world.tenant, product.id, None, product.content, {marketplace: override}
    )


def _second_options(world: MarketWorld) -> None:
    world.ebay.policies |= {"payment": ["pay-1", "pay-2"], "return": ["back-1", "back-2"]}
    world.ebay.locations.append("store-2")
    world.etsy.profiles.append(32)


# covers B-12
def test_choices_are_read_from_the_account_now(world: MarketWorld) -> None:
    _second_options(world)
    found = _send(world, "GET", "ebay/choices").body
    assert found["site"] == "EBAY_DE"
    assert {each["name"]: [one["id"] for one in each["options"]] for each in found["items"]} == {
        "payment_policy": ["pay-1", "pay-2"],
        "fulfillment_policy": ["ship-1"],
        "return_policy": ["back-1", "back-2"],
        "location": ["store-1", "store-2"],
    }
    assert found["items"][0]["options"][0]["title"] == "my pay-1"
    found = _send(world, "GET", "etsy/choices").body
    assert [(each["name"], each["options"][-1]) for each in found["items"]] == [
        ("shipping_profile", {"id": "32", "title": "32"}),
        ("return_policy", {"id": "51", "title": "returns"}),
        ("shop_section", {"id": "61", "title": "Coats"}),
    ]


# covers B-12
def test_the_sellers_default_is_used_and_a_product_overrides_it(world: MarketWorld) -> None:
    _second_options(world)
    first, other = world.product(), world.product(title="Silk coat")
    assert world.done("publish", "ebay", first).status == "completed"
    chosen = _choose(world, "ebay", payment_policy="pay-2", location="store-2")
    assert chosen.body["choices"] == {"payment_policy": "pay-2", "location": "store-2"}
    _with_choices(world, other, "ebay", location="store-1", return_policy="back-2")
    for each in (first, other):
        assert world.done("publish", "ebay", each).status == "completed"
    offers = {each["sku"]: each for each in world.ebay.offers.values()}
    assert [
        (offer["merchantLocationKey"], *sorted(offer["listingPolicies"].values()))
        for offer in (offers[first.sku], offers[other.sku])
    ] == [("store-2", "back-1", "pay-2", "ship-1"), ("store-1", "back-2", "pay-2", "ship-1")]
    assert len(world.ebay.listings) == 2


# covers B-12
def test_choices_on_etsy_are_those_of_the_draft_and_of_the_listing(world: MarketWorld) -> None:
    _second_options(world)
    _choose(world, "etsy", shipping_profile="32", shop_section="61")
    product = world.product()
    assert world.done("publish", "etsy", product).status == "completed"
    [listing] = world.etsy.listings.values()
    assert (listing["shipping_profile_id"], listing["shop_section_id"]) == (32, 61)
    assert "return_policy_id" not in listing
    _choose(world, "etsy", shipping_profile=None, return_policy="51")
    assert world.done("update", "etsy", product).status == "completed"
    assert (listing["shipping_profile_id"], listing["return_policy_id"]) == (32, 51)


# covers B-12
@pytest.mark.parametrize(
    ("marketplace", "name", "chosen", "said"),
    [
        ("ebay", "return_policy", "back-9", "the return policy back-9 isn't there on EBAY_DE"),
        ("ebay", "location", "gone", "the enabled inventory location gone isn't there on EBAY_DE"),
        ("etsy", "shop_section", "99", "the shop section 99 isn't there"),
    ],
)
def test_a_choice_that_is_gone_is_refused_before_anything_is_made(
    marketplace: str, name: str, chosen: str, said: str, world: MarketWorld
) -> None:
    _choose(world, marketplace, **{name: chosen})
    product = world.product()
    [planned] = world.planner.plan(world.tenant, marketplace, "publish", [product.id])
    assert planned.outcome == "refused"
    [field] = planned.fields
    assert (field["path"], field["message"]) == (f"choices.{name}", said)
    assert "choices lists" in field["hint"]
    job = world.done("publish", marketplace, product)
    assert job.last_error is not None
    assert (job.status, job.last_error.code, job.last_error.message) == (
        "failed",
        "NEEDS_INPUT",
        said,
    )
    assert not world.ebay.items
    assert not world.etsy.listings
    _choose(world, marketplace, **{name: None})
    assert world.done("publish", marketplace, product).status == "completed"


# covers B-12
def test_unknown_choices_are_refused_by_their_field(world: MarketWorld) -> None:
    def refusal(answer: Answer) -> tuple[int, str, str]:
        [field] = answer.body["details"]["fields"]
        return answer.status, field["path"], field["message"]

    assert refusal(_choose(world, "ebay", shop_section="1")) == (
        422,
        "choices.shop_section",
        "must be one of payment_policy, fulfillment_policy, return_policy, location",
    )
    nothing = "vinted has no policies, locations or profiles to choose from"
    assert refusal(_choose(world, "vinted", location="1")) == (422, "choices.location", nothing)
    unknown = _send(world, "GET", "ebay/choices", site="EBAY_XX")
    assert refusal(unknown)[1] == "site"
    assert unknown.body["error"].startswith("site must be one of EBAY_DE, ")
    sited = _send(world, "GET", "etsy/choices", site="EBAY_DE")
    assert refusal(sited)[1] == "site"
    assert sited.body["error"] == "site must be left out: etsy has none"
    unlisted = _send(world, "GET", "vinted/choices")
    assert (unlisted.status, unlisted.body["error"]) == (422, nothing)
    assert _send(world, "GET", "bazaar/choices").status == 404
