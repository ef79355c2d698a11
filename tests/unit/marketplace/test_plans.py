"""Plans for eBay, before anything is written: preconditions, fees, compliance."""

import pytest

from spinneret.marketplace.publishing.planning import PlannedOutcome
from tests.markets.stores import Stores, in_memory
from tests.markets.web import StubResponse
from tests.markets.world import MarketWorld


@pytest.fixture
def stores() -> Stores:
    """Provide stores in memory: a plan stores nothing."""
    return in_memory()


def _plan(
    world: MarketWorld, *ids: str, action: str = "publish", on: str = "ebay"
) -> list[PlannedOutcome]:
    return world.planner.plan(world.tenant, on, action, ids)


def test_the_fees_of_an_offer_that_is_made_are_told(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "ebay", product)
    world.done("delete", "ebay", product)
    [planned] = _plan(world, product.id)
    assert planned.outcome == "create"
    assert planned.preflight.fees[0]["fees"][0]["amount"]["value"] == "0.35"


def test_what_would_fail_at_the_last_step_is_refused_before_the_first(world: MarketWorld) -> None:
    world.ebay.policies["return"] = []
    world.ebay.required_aspects = ["Brand", "Vintage"]
    [planned] = _plan(world, world.product().id)
    assert planned.outcome == "refused"
    assert [each["path"] for each in planned.fields] == ["policy", "attributes.Vintage"]
    assert all(each["message"] for each in planned.fields)


def test_what_products_share_is_asked_for_once(world: MarketWorld) -> None:
    ids = [world.product(title).id for title in ("One", "Two", "Three")]
    assert [each.outcome for each in _plan(world, *ids)] == ["create"] * 3
    calls = world.ebay.calls
    assert (calls["_programs"], calls["_locations"], calls["_tree"], calls["_aspects"]) == (
        *(1, 1),
        *(1, 1),
    )


def test_a_listing_that_breaks_a_policy_says_which_field_and_what_to_do(world: MarketWorld) -> None:
    good, bad = world.product(), world.product("Two", description="see http://shop.example")
    for each in (good, bad):
        world.done("publish", "ebay", each)
    first, second = _plan(world, good.id, bad.id, action="update")
    assert (first.outcome, first.preflight.violations) == ("update", ())
    [violation] = second.preflight.violations
    assert second.outcome == "update"  # an update can correct the violation
    assert (violation["type"], violation["state"]) == ("HTTPS", "OUT_OF_COMPLIANCE")
    assert (violation["field"], violation["fix"]) == ("description", "use its https address")


def test_a_missing_aspect_comes_with_the_values_that_ebay_suggests(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "ebay", product)
    world.ebay.preferred_aspects = {"Fit": ["Slim", "Regular"]}
    [violation] = _plan(world, product.id, action="update")[0].preflight.violations
    assert violation["state"] == "AT_RISK"
    assert violation["aspects"] == ["Fit"]
    assert violation["suggested"] == {"Fit": ["Slim", "Regular"]}


def test_violations_are_read_to_the_last_page(world: MarketWorld) -> None:
    product = world.product(description="see http://shop.example")
    world.done("publish", "ebay", product)
    [(listing, offer)] = world.ebay.listings.items()
    others = {f"22{number:010}": offer for number in range(200)}
    world.ebay.listings = {**others, listing: offer}
    [planned] = _plan(world, product.id, action="update")
    assert [each["type"] for each in planned.preflight.violations] == ["HTTPS"]
    assert world.ebay.calls["_violations"] == 2


def test_a_marketplace_without_compliance_isnt_asked_for_it(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "ebay", product)
    poland = {**product.content.attributes, "marketplace_id": "EBAY_PL"}
    world.edit(product, attributes=poland)
    [planned] = _plan(world, product.id, action="update")
    assert (planned.outcome, world.ebay.calls["_violated"]) == ("update", 0)


def test_a_silent_marketplace_leaves_the_plan_unchecked(world: MarketWorld) -> None:
    ids = [world.product(title).id for title in ("One", "Two")]
    world.web.instead = {number: StubResponse(503) for number in range(10, 99)}
    first, second = _plan(world, *ids)
    assert (first.outcome, first.preflight.unchecked) == ("create", None)
    assert (second.outcome, second.preflight.unchecked) == ("create", "ebay answered 503")


def test_a_plan_asks_about_so_many_products_as_a_request_can(world: MarketWorld) -> None:
    found = _plan(world, *(world.product(f"Coat {number}").id for number in range(11)))
    assert [each.preflight.unchecked for each in found[:10]] == [None] * 10
    assert found[10].preflight.unchecked == "only the first 10 products of a plan are asked about"


def test_a_seller_who_isnt_connected_is_told_so(world: MarketWorld) -> None:
    other = MarketWorld(world.stores, tenant="other")
    [planned] = _plan(other, other.product().id)
    assert (planned.outcome, planned.fields[0]["path"]) == ("refused", "connection")


def test_a_secret_in_the_words_of_a_marketplace_is_told_to_nobody(world: MarketWorld) -> None:
    said = {"errors": [{"errorId": 1100, "message": "no leave for Bearer v^1.1#i^1#p^3#hidden"}]}
    world.web.instead = {number: StubResponse(403, said) for number in range(1, 9)}
    [planned] = _plan(world, world.product().id)
    assert planned.outcome == "refused"
    assert "no leave for" in str(planned.fields)
    assert "hidden" not in str(planned.fields)


def test_a_marketplace_that_tells_nothing_before_isnt_asked(world: MarketWorld) -> None:
    [planned] = _plan(world, world.product().id, on="etsy")
    assert (planned.outcome, planned.preflight.unchecked) == ("create", None)
    assert world.web.seen == []
