"""Revisions of a listing on eBay: one call for price and quantity, and so many a day."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.jobs.models import Transition
from spinneret.marketplace import limits
from spinneret.marketplace.listings.models import Listing
from spinneret.marketplace.products.models import Product
from tests.markets.bench import Bench
from tests.markets.web import StubResponse


@pytest.fixture
def listed(bench: Bench) -> Product:
    product = bench.product()
    assert bench.done("publish", "ebay", product).status == "completed"
    return product


def _record(bench: Bench, product: Product) -> Listing:
    found = bench.listings.get(bench.tenant, product.id, "ebay")
    assert found is not None
    return found


def _offer(bench: Bench) -> dict[str, Any]:
    [offer] = bench.ebay.offers.values()
    return offer


def _writes(bench: Bench) -> tuple[int, int, int]:
    calls = bench.ebay.calls
    return calls["_update_stock"], calls["_put_item"], calls["_put_offer"]


def test_price_and_quantity_are_one_call_and_one_revision(bench: Bench, listed: Product) -> None:
    bench.ebay.items[listed.sku]["availability"]["shipToLocationAvailability"] |= {
        "availabilityDistributions": [{"merchantLocationKey": "store-1", "quantity": 1}]
    }
    job = bench.done("update", "ebay", bench.edit(listed, price=7500, quantity=4))
    assert job.status == "completed", job.last_error
    assert _writes(bench) == (1, 1, 0)  # the item of the publishing
    assert _offer(bench)["pricingSummary"]["price"] == {"value": "75.00", "currency": "EUR"}
    assert _offer(bench)["availableQuantity"] == 4
    stock = bench.ebay.items[listed.sku]["availability"]["shipToLocationAvailability"]
    assert stock["quantity"] == 4
    assert stock["availabilityDistributions"]  # a PUT without them would have lost them
    assert list(bench.ebay.revisions.values()) == [1]
    assert _record(bench, listed).revisions == 1


def test_another_change_takes_item_and_offer(bench: Bench, listed: Product) -> None:
    wanted = bench.edit(listed, price=7500, description="Worn thrice.")
    assert bench.done("update", "ebay", wanted).status == "completed"
    assert _writes(bench) == (0, 2, 1)
    assert _record(bench, listed).revisions == 2 == sum(bench.ebay.revisions.values())


def test_publishing_what_is_listed_counts_as_a_revision_too(bench: Bench, listed: Product) -> None:
    bench.done("publish", "ebay", bench.edit(listed, price=7500))
    assert _record(bench, listed).revisions == 1 == sum(bench.ebay.revisions.values())


def test_a_part_that_fails_fails_its_product_only_and_is_explained(
    bench: Bench, listed: Product
) -> None:
    other = bench.product("Other")
    bench.done("publish", "ebay", other)
    bench.ebay.refused_prices = {"0.01"}
    refs = [
        bench.submit("update", "ebay", bench.edit(listed, price=1, quantity=5)),
        bench.submit("update", "ebay", bench.edit(other, price=7500)),
    ]
    job, fine = [bench.finish(ref) for ref in refs]
    assert (job.status, fine.status) == ("failed", "completed")
    assert job.last_error is not None
    assert job.last_error.code == "MARKETPLACE_REFUSED"
    [field] = job.last_error.details["fields"]
    assert (field["id"], field["path"]) == ("25003", "price")
    # The other part of the call, the quantity, is done: the retry sends the price alone anew.
    stock = bench.ebay.items[listed.sku]["availability"]["shipToLocationAvailability"]
    assert stock["quantity"] == 5
    bench.ebay.refused_prices = set()
    bench.publishing.move(bench.tenant, job.id, Transition.RETRY)
    assert bench.finish(job.ref).status == "completed"


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
    parts: list[Any], bench: Bench, listed: Product
) -> None:
    ref = bench.submit("update", "ebay", bench.edit(listed, price=7500))
    at = len(bench.web.seen) + 6  # tree, category, aspects, item, offer, and the update
    own = _offer(bench)["offerId"]
    answered = [
        {**part, "offerId": own} if part.get("offerId") == "own" else part for part in parts
    ]
    bench.web.instead[at] = StubResponse(207, {"responses": answered})
    assert bench.once(ref).status == "pending"
    assert bench.web.seen[-1].path.endswith("/bulk_update_price_quantity")
    assert bench.finish(ref).status == "completed"
    assert _offer(bench)["pricingSummary"]["price"]["value"] == "75.00"


def test_updates_that_wait_become_one_revision(bench: Bench, listed: Product) -> None:
    prices = (7000, 7100, 7200)
    refs = [bench.submit("update", "ebay", bench.edit(listed, price=price)) for price in prices]
    assert {bench.finish(ref).status for ref in refs} == {"completed"}
    assert _writes(bench) == (1, 1, 0)
    assert _offer(bench)["pricingSummary"]["price"]["value"] == "72.00"
    assert _record(bench, listed).revisions == 1


def _spent(bench: Bench, product: Product, revisions: int) -> None:
    before = _record(bench, product)
    today = bench.clock().date().isoformat()
    after = replace(before, revised_on=today, revisions=revisions, version=before.version + 1)
    assert bench.listings.save(before, after)


def test_the_last_revision_of_a_day_is_used_and_the_next_waits_with_its_reason(
    bench: Bench, listed: Product
) -> None:
    _spent(bench, listed, limits.LISTING_REVISIONS_PER_DAY - 1)
    assert bench.done("update", "ebay", bench.edit(listed, price=7500)).status == "completed"
    ref = bench.submit("update", "ebay", bench.edit(listed, price=7600))
    today = bench.clock().date()
    waiting = bench.once(ref)
    assert (waiting.status, waiting.attempts) == ("pending", 0)
    assert waiting.waiting_for == "eBay's revision limit of the next day"
    assert waiting.due_at.isoformat()[:19] == f"{today + timedelta(days=1)}T00:00:00"
    bench.clock.advance(2 * limits.MARKETPLACE_PENDING_SECONDS)
    bench.sweep()
    assert bench.job(ref).status == "pending"
    assert bench.finish(ref).status == "completed"
    assert _offer(bench)["pricingSummary"]["price"]["value"] == "76.00"
    after = _record(bench, listed)
    assert (after.revised_on, after.revisions) == (f"{today + timedelta(days=1)}", 1)


def test_an_update_without_a_change_needs_no_revision(bench: Bench, listed: Product) -> None:
    _spent(bench, listed, limits.LISTING_REVISIONS_PER_DAY)
    assert bench.done("update", "ebay", listed).status == "completed"
