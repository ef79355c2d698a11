"""Revisions of a listing on eBay: one call for price and quantity, and a daily limit."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.jobs.models import Transition
from spinneret.marketplace import limits
from spinneret.marketplace.listings.models import Listing
from spinneret.marketplace.products.models import Product
from tests.markets.web import StubResponse
from tests.markets.world import MarketWorld


@pytest.fixture
def listed(world: MarketWorld) -> Product:
    product = world.product()
    assert world.done("publish", "ebay", product).status == "completed"
    return product


def _record(world: MarketWorld, product: Product) -> Listing:
    found = world.listings.get(world.tenant, product.id, "ebay")
    assert found is not None
    return found


def _offer(world: MarketWorld) -> dict[str, Any]:
    [offer] = world.ebay.offers.values()
    return offer


def _writes(world: MarketWorld) -> tuple[int, int, int]:
    calls = world.ebay.calls
    return calls["_update_stock"], calls["_put_item"], calls["_put_offer"]


def test_price_and_quantity_are_one_call_and_one_revision(
    world: MarketWorld, listed: Product
) -> None:
    world.ebay.items[listed.sku]["availability"]["shipToLocationAvailability"] |= {
        "availabilityDistributions": [{"merchantLocationKey": "store-1", "quantity": 1}]
    }
    job = world.done("update", "ebay", world.edit(listed, price=7500, quantity=4))
    assert job.status == "completed", job.last_error
    assert _writes(world) == (1, 1, 0)  # publishing wrote the item
    assert _offer(world)["pricingSummary"]["price"] == {"value": "75.00", "currency": "EUR"}
    assert _offer(world)["availableQuantity"] == 4
    stock = world.ebay.items[listed.sku]["availability"]["shipToLocationAvailability"]
    assert stock["quantity"] == 4
    assert stock["availabilityDistributions"]  # a PUT without them would have lost them
    assert list(world.ebay.revisions.values()) == [1]
    assert _record(world, listed).revisions == 1


def test_another_change_takes_item_and_offer(world: MarketWorld, listed: Product) -> None:
    wanted = world.edit(listed, price=7500, description="Worn thrice.")
    assert world.done("update", "ebay", wanted).status == "completed"
    assert _writes(world) == (0, 2, 1)
    assert _record(world, listed).revisions == 2 == sum(world.ebay.revisions.values())


def test_publishing_what_is_listed_counts_as_a_revision_too(
    world: MarketWorld, listed: Product
) -> None:
    world.done("publish", "ebay", world.edit(listed, price=7500))
    assert _record(world, listed).revisions == 1 == sum(world.ebay.revisions.values())


def test_a_part_that_fails_fails_its_product_only_and_is_explained(
    world: MarketWorld, listed: Product
) -> None:
    other = world.product("Other")
    world.done("publish", "ebay", other)
    world.ebay.refused_prices = {"0.01"}
    refs = [
        world.submit("update", "ebay", world.edit(listed, price=1, quantity=5)),
        world.submit("update", "ebay", world.edit(other, price=7500)),
    ]
    job, fine = [world.finish(ref) for ref in refs]
    assert (job.status, fine.status) == ("failed", "completed")
    assert job.last_error is not None
    assert job.last_error.code == "MARKETPLACE_REFUSED"
    [field] = job.last_error.details["fields"]
    assert (field["id"], field["path"]) == ("25003", "price")
    # The other part of the call, the quantity, succeeded: the retry sends only the price again.
    stock = world.ebay.items[listed.sku]["availability"]["shipToLocationAvailability"]
    assert stock["quantity"] == 5
    world.ebay.refused_prices = set()
    world.publishing.move(world.tenant, job.id, Transition.RETRY)
    assert world.finish(job.ref).status == "completed"


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [{"sku": "other", "offerId": "off-other", "statusCode": 200}],
        [{"sku": "x", "offerId": "own", "statusCode": 503}],
        [{"sku": "x", "offerId": "own", "statusCode": 429}],
    ],
)
def test_an_offer_without_its_part_is_looked_at_again(
    parts: list[Any], world: MarketWorld, listed: Product
) -> None:
    ref = world.submit("update", "ebay", world.edit(listed, price=7500))
    at = len(world.web.seen) + 6  # tree, category, aspects, item, offer, and the update
    own = _offer(world)["offerId"]
    answered = [
        {**part, "offerId": own} if part.get("offerId") == "own" else part for part in parts
    ]
    world.web.instead[at] = StubResponse(207, {"responses": answered})
    assert world.once(ref).status == "pending"
    assert world.web.seen[-1].path.endswith("/bulk_update_price_quantity")
    assert world.finish(ref).status == "completed"
    assert _offer(world)["pricingSummary"]["price"]["value"] == "75.00"


def test_updates_that_wait_become_one_revision(world: MarketWorld, listed: Product) -> None:
    prices = (7000, 7100, 7200)
    refs = [world.submit("update", "ebay", world.edit(listed, price=price)) for price in prices]
    assert {world.finish(ref).status for ref in refs} == {"completed"}
    assert _writes(world) == (1, 1, 0)
    assert _offer(world)["pricingSummary"]["price"]["value"] == "72.00"
    assert _record(world, listed).revisions == 1


def _spent(world: MarketWorld, product: Product, revisions: int) -> None:
    before = _record(world, product)
    today = world.clock().date().isoformat()
    after = replace(before, revised_on=today, revisions=revisions, version=before.version + 1)
    assert world.listings.save(before, after)


def test_the_last_revision_of_a_day_is_used_and_the_next_waits_with_its_reason(
    world: MarketWorld, listed: Product
) -> None:
    _spent(world, listed, limits.LISTING_REVISIONS_PER_DAY - 1)
    assert world.done("update", "ebay", world.edit(listed, price=7500)).status == "completed"
    ref = world.submit("update", "ebay", world.edit(listed, price=7600))
    today = world.clock().date()
    waiting = world.once(ref)
    assert (waiting.status, waiting.attempts) == ("pending", 0)
    assert waiting.waiting_for == "eBay's revision limit of the next day"
    assert waiting.due_at.isoformat()[:19] == f"{today + timedelta(days=1)}T00:00:00"
    world.clock.advance(2 * limits.MARKETPLACE_PENDING_SECONDS)
    world.sweep()
    assert world.job(ref).status == "pending"
    assert world.finish(ref).status == "completed"
    assert _offer(world)["pricingSummary"]["price"]["value"] == "76.00"
    after = _record(world, listed)
    assert (after.revised_on, after.revisions) == (f"{today + timedelta(days=1)}", 1)


def test_an_update_without_a_change_needs_no_revision(world: MarketWorld, listed: Product) -> None:
    _spent(world, listed, limits.LISTING_REVISIONS_PER_DAY)
    assert world.done("update", "ebay", listed).status == "completed"
