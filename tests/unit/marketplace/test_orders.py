"""A sale on one marketplace takes the stock, and the others are told."""

from __future__ import annotations

from spinneret.jobs.models import Job, Move
from spinneret.marketplace.orders.models import SaleOutcome
from tests.markets.bench import Bench


def _waiting(bench: Bench) -> dict[str, Job]:
    jobs, _ = bench.publishing.page(bench.tenant, None, None, None, None, 50)
    return {
        f"{each.job.payload['action_code']} {each.job.domain}": each.job
        for each in jobs
        if each.job.status == "pending"
    }


def test_a_sale_ends_the_listing_on_the_other_marketplace(bench: Bench) -> None:
    product = bench.product()
    for marketplace in ("ebay", "etsy", "vinted"):
        bench.done("publish", marketplace, product)
    bench.ebay.sell(product.sku, "o-1")
    assert bench.done("orders", "ebay").result == {"orders": 1, "looked_again": 0}
    waiting = _waiting(bench)
    assert set(waiting) == {"delete etsy", "delete vinted"}
    assert {job.priority for job in waiting.values()} == {"critical"}
    for job in waiting.values():
        bench.finish(job.ref)
    assert (bench.etsy.listings, bench.plugin.items) == ({}, {})
    [sale] = bench.sales.page(bench.tenant, None, 10).sales
    assert (sale.outcome, sale.order_id, sale.product_id) == ("reserved", "o-1", product.id)


def test_what_is_left_goes_to_the_other_marketplace(bench: Bench) -> None:
    product = bench.product(quantity=5)
    bench.done("publish", "ebay", product)
    bench.done("publish", "etsy", product)
    bench.etsy.sell(product.sku, 900, quantity=2)
    bench.done("orders", "etsy")
    job = _waiting(bench)["update ebay"]
    bench.finish(job.ref)
    item = bench.ebay.items[product.sku]
    assert item["availability"]["shipToLocationAvailability"]["quantity"] == 3


def test_two_sales_of_one_piece_are_a_conflict_with_both_orders(bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", "ebay", product)
    bench.done("publish", "etsy", product)
    bench.ebay.sell(product.sku, "o-1")
    bench.etsy.sell(product.sku, 900)
    bench.done("orders", "ebay")
    bench.done("orders", "etsy")
    sales = {each.marketplace: each for each in bench.sales.page(bench.tenant, None, 10).sales}
    assert sales["ebay"].outcome is SaleOutcome.RESERVED
    assert sales["etsy"].outcome is SaleOutcome.CONFLICT
    assert sales["etsy"].conflicts_with == ("ebay:o-1",)


def test_an_order_that_is_read_again_counts_once(bench: Bench) -> None:
    product = bench.product(quantity=3)
    bench.done("publish", "ebay", product)
    bench.ebay.sell(product.sku, "o-1")
    for _ in range(3):
        bench.done("orders", "ebay")
    found = bench.products.get(bench.tenant, product.id)
    assert found is not None
    assert found.content.quantity == 2


def test_an_order_of_something_else_is_recorded_without_a_product(bench: Bench) -> None:
    bench.ebay.sell("unknown-sku", "o-1")
    bench.done("orders", "ebay")
    [sale] = bench.sales.page(bench.tenant, None, 10).sales
    assert (sale.outcome, sale.product_id) == (SaleOutcome.UNKNOWN_PRODUCT, None)


def test_reading_orders_finds_what_a_cancelled_job_has_made(bench: Bench) -> None:
    product = bench.product()
    bench.etsy.visible_after = 0
    bench.web.lost.add(4)  # shop, profiles, states, draft
    ref = bench.submit("publish", "etsy", product)
    bench.once(ref)
    bench.control.move(ref, Move.CANCEL)
    assert bench.done("orders", "etsy").result == {"orders": 0, "looked_again": 0}
    bench.clock.advance(900)
    assert bench.done("orders", "etsy").result == {"orders": 0, "looked_again": 1}
    bench.finish(_waiting(bench)["sync etsy"].ref)
    found = bench.listings.get(bench.tenant, product.id, "etsy")
    assert found is not None
    assert [found.reference] == list(bench.etsy.listings)


def test_a_listing_is_looked_at_once_a_day(bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", "ebay", product)
    bench.clock.advance(24 * 3600)
    bench.done("orders", "ebay")
    bench.finish(_waiting(bench)["sync ebay"].ref)
    assert bench.done("orders", "ebay").result == {"orders": 0, "looked_again": 0}
