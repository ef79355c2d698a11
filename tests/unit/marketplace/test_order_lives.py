"""Orders are paid, cancelled and refunded: stock goes and comes back, listings don't."""

from collections.abc import Callable
from typing import Any

import pytest

from spinneret.jobs.models import Transition
from spinneret.marketplace.orders.models import OrderLine, Sale
from spinneret.marketplace.products.models import Product
from spinneret.marketplace.tasks.models import Reason, TaskStatus
from tests.markets.bench import Bench

CANCELLED = {"cancelStatus": {"cancelState": "CANCELED"}, "orderPaymentStatus": "FULLY_REFUNDED"}
PAYMENTS = {
    status: {"cancelStatus": {"cancelState": "NONE_REQUESTED"}, "orderPaymentStatus": status}
    for status in ("FAILED", "FULLY_REFUNDED", "PAID", "PARTIALLY_REFUNDED", "PENDING")
}


def _sold(bench: Bench, quantity: int = 1, sold: int = 1, **fields: Any) -> Product:
    """A product on eBay and Etsy, sold on eBay."""
    product = bench.product(quantity=quantity)
    for marketplace in ("ebay", "etsy"):
        bench.done("publish", marketplace, product)
    bench.ebay.sell(product.sku, "o-1", quantity=sold)
    _becomes(bench, fields)
    return product


def _becomes(bench: Bench, fields: dict[str, Any]) -> None:
    """The order is in this state, and is read."""
    [order] = bench.ebay.orders
    order.update(fields)
    bench.done("orders", "ebay")


def _sale(bench: Bench, marketplace: str = "ebay") -> Sale:
    sales = bench.sales.page(bench.tenant, None, 10).items
    return next(each for each in sales if each.marketplace == marketplace)


def _stock(bench: Bench, product: Product) -> int:
    found = bench.products.get(bench.tenant, product.id)
    assert found is not None
    return found.content.quantity


def _carry_out(bench: Bench) -> None:
    """What was submitted, and a pass over open sales."""
    for _ in range(3):
        for job in bench.waiting().values():
            bench.finish(job.ref)
        bench.clock.advance(300)
        for tenant, key in bench.sales.open(None, 10).items:
            bench.book.adjust_again(tenant, key)


def _ebay_quantity(bench: Bench, sku: str) -> int:
    quantity: int = bench.ebay.items[sku]["availability"]["shipToLocationAvailability"]["quantity"]
    return quantity


@pytest.mark.parametrize("fields", [CANCELLED, PAYMENTS["FAILED"], PAYMENTS["FULLY_REFUNDED"]])
def test_an_ebay_order_that_is_no_sale_is_recorded_only(
    fields: dict[str, Any], bench: Bench
) -> None:
    product = _sold(bench, **fields)
    assert bench.waiting() == {}
    assert (_sale(bench).outcome, _sale(bench).handled) == ("recorded", True)
    assert (_stock(bench, product), len(bench.etsy.listings)) == (1, 1)


@pytest.mark.parametrize(
    ("fields", "state", "outcome"),
    [
        ({"status": "Paid", "is_paid": True}, "paid", "reserved"),
        ({"status": "partially refunded", "is_paid": True}, "paid", "reserved"),
        ({"status": "payment processing", "is_paid": False}, "pending", "reserved"),
        ({"status": "Canceled", "is_paid": True}, "cancelled", "recorded"),
        ({"status": "fully refunded", "is_paid": True}, "refunded", "recorded"),
    ],
)
def test_an_etsy_order_counts_by_its_state(
    fields: dict[str, Any], state: str, outcome: str, bench: Bench
) -> None:
    product = bench.product()
    bench.done("publish", "etsy", product)
    bench.etsy.sell(product.sku, 900)
    bench.etsy.receipts[0].update(fields)
    bench.done("orders", "etsy")
    sale = _sale(bench, "etsy")
    assert (sale.state, sale.outcome) == (state, outcome)
    assert _stock(bench, product) == (outcome == "recorded")


@pytest.mark.parametrize("marketplace", ["ebay", "etsy"])
def test_an_order_older_than_its_listing_is_recorded_only(marketplace: str, bench: Bench) -> None:
    product = bench.product()
    bench.ebay.sell(product.sku, "o-1")
    bench.etsy.sell(product.sku, 900)
    bench.clock.advance(3600)
    for each in ("ebay", "etsy"):
        bench.done("publish", each, product)
    bench.done("orders", marketplace)
    assert _sale(bench, marketplace).outcome == "recorded"
    assert (bench.waiting(), _stock(bench, product)) == ({}, 1)


def test_an_order_without_a_time_counts(bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", "etsy", product)
    sale = bench.book.record_sale(
        bench.tenant,
        "etsy",
        OrderLine(
            order_id="900",
            line_id="9000",
            sku=product.sku,
            quantity=1,
            sold_at="",
        ),
    )
    assert sale.outcome == "reserved"


def test_an_order_of_the_listing_before_the_present_one_counts(bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", "ebay", product)
    bench.ebay.sell(product.sku, "o-1")
    bench.clock.advance(3600)
    bench.done("delete", "ebay", product)
    bench.done("publish", "ebay", product)
    bench.done("orders", "ebay")
    assert (_sale(bench).outcome, _stock(bench, product)) == ("reserved", 0)


@pytest.mark.parametrize("fields", [CANCELLED, PAYMENTS["FULLY_REFUNDED"]])
def test_an_order_that_is_undone_gives_its_stock_back_and_lists_nothing_again(
    fields: dict[str, Any], bench: Bench
) -> None:
    product = _sold(bench)
    _carry_out(bench)
    assert bench.etsy.listings == {}
    _becomes(bench, fields)
    assert (_sale(bench).outcome, _stock(bench, product)) == ("returned", 1)
    _carry_out(bench)
    assert bench.etsy.listings == {}
    sale = _sale(bench)
    states = {each.marketplace: each.state.value for each in sale.adjustments}
    assert (sale.handled, states["etsy"]) == (True, "needs_input")
    question = next(each for each in sale.adjustments if each.marketplace == "etsy").job_id
    [asked, *_] = bench.publishing.get(bench.tenant, question).tasks
    assert (asked.status, asked.reason) == (TaskStatus.FAILED, Reason.NEEDS_INPUT)
    assert asked.error_message is not None
    assert "o-1 on ebay was undone" in asked.error_message
    _becomes(bench, fields)  # read again
    assert (_stock(bench, product), bench.waiting()) == (1, {})
    bench.publishing.move(bench.tenant, question, Transition.RETRY)
    for job in bench.waiting().values():
        assert bench.finish(job.ref).status == "completed"
    assert len(bench.etsy.listings) == 1


def test_an_order_that_is_undone_keeps_no_other_from_being_read_if_its_product_became_unfit(
    bench: Bench,
) -> None:
    """Etsy would refuse it now: the question is asked all the same, and checked when answered."""
    product, other = _sold(bench), bench.product("Scarf")
    _carry_out(bench)
    standing = bench.products.get(bench.tenant, product.id)
    assert standing is not None
    bench.edit(standing, title="x" * 200)
    bench.ebay.orders[0].update(CANCELLED)
    bench.ebay.sell(other.sku, "o-2")
    assert bench.done("orders", "ebay").status == "completed"
    sales = bench.sales.page(bench.tenant, None, 10).items
    assert [each.outcome for each in sales] == ["returned", "reserved"]
    _carry_out(bench)
    [question] = [each for each in _sale(bench).adjustments if each.marketplace == "etsy"]
    bench.publishing.move(bench.tenant, question.job_id, Transition.RETRY)
    for job in bench.waiting().values():
        failure = bench.finish(job.ref).last_error
        assert failure is not None
        assert [each["path"] for each in failure.details["fields"]] == ["title"]


def test_stock_that_is_back_is_shown_by_the_listings_that_remain(bench: Bench) -> None:
    product = _sold(bench, quantity=5, sold=2)
    _carry_out(bench)
    [listing] = bench.etsy.listings.values()
    assert listing["quantity"] == 3
    _becomes(bench, CANCELLED)
    _carry_out(bench)
    [listing] = bench.etsy.listings.values()
    assert (_stock(bench, product), listing["quantity"], _ebay_quantity(bench, product.sku)) == (
        5,
        5,
        5,
    )
    assert {each.state.value for each in _sale(bench).adjustments} == {"done"}


@pytest.mark.parametrize("status", ["PARTIALLY_REFUNDED", "PENDING", "FAILED"])
def test_a_part_of_the_money_or_a_refund_that_fails_gives_no_stock_back(
    status: str, bench: Bench
) -> None:
    product = _sold(bench, **PAYMENTS["PAID"])
    _becomes(bench, PAYMENTS[status])
    assert (_sale(bench).state, _sale(bench).outcome) == ("paid", "reserved")
    assert _stock(bench, product) == 0


def test_a_payment_that_fails_and_then_comes_takes_the_stock_again(bench: Bench) -> None:
    product = _sold(bench, **PAYMENTS["PENDING"])
    assert (_sale(bench).outcome, _stock(bench, product)) == ("reserved", 0)
    _becomes(bench, PAYMENTS["FAILED"])
    assert (_sale(bench).outcome, _stock(bench, product)) == ("returned", 1)
    _becomes(bench, PAYMENTS["PAID"])
    assert (_sale(bench).outcome, _stock(bench, product)) == ("reserved", 0)
    _carry_out(bench)
    assert bench.etsy.listings == {}
    assert _sale(bench).handled


def test_an_end_that_is_under_way_when_the_order_is_undone_becomes_a_question(
    bench: Bench,
) -> None:
    _sold(bench)
    assert set(bench.waiting()) == {"delete etsy"}
    _becomes(bench, CANCELLED)
    _carry_out(bench)
    assert bench.etsy.listings == {}
    sale = _sale(bench)
    states = {each.marketplace: each.state.value for each in sale.adjustments}
    assert (sale.handled, states["etsy"]) == (True, "needs_input")


def test_returned_stock_goes_to_the_order_that_lacks_it(bench: Bench) -> None:
    product = _sold(bench)
    bench.etsy.sell(product.sku, 900)
    bench.done("orders", "etsy")
    assert _sale(bench, "etsy").outcome == "conflict"
    _carry_out(bench)
    _becomes(bench, CANCELLED)
    _carry_out(bench)
    assert (_sale(bench, "etsy").outcome, _stock(bench, product)) == ("reserved", 0)
    assert (_sale(bench).outcome, _sale(bench).handled) == ("returned", True)
    assert bench.etsy.listings == {}


def test_a_conflict_that_is_undone_gives_nothing_back(bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", "ebay", product)
    for order in ("o-1", "o-2"):
        bench.ebay.sell(product.sku, order)
    bench.done("orders", "ebay")
    bench.ebay.orders[1].update(CANCELLED)
    bench.done("orders", "ebay")
    outcomes = {each.order_id: each.outcome for each in bench.sales.page("acme", None, 9).items}
    assert (outcomes, _stock(bench, product)) == ({"o-1": "reserved", "o-2": "conflict"}, 0)


def test_a_reading_that_dies_after_the_stock_is_back_is_completed_by_the_pass(
    bench: Bench,
) -> None:
    product = _sold(bench)
    _carry_out(bench)
    give_back = bench.sales.give_back

    def dying(sale: Sale) -> bool:
        bench.sales.give_back = give_back  # type: ignore[method-assign]
        assert give_back(sale)
        raise KeyboardInterrupt

    bench.sales.give_back = dying  # type: ignore[method-assign]
    bench.ebay.orders[0].update(CANCELLED)
    ref = bench.submit("orders", "ebay")
    with pytest.raises(KeyboardInterrupt):
        bench.once(ref)
    assert not _sale(bench).handled
    bench.polling.run()
    _carry_out(bench)
    assert bench.finish(ref).status == "completed"
    sale = _sale(bench)
    states = {each.marketplace: each.state.value for each in sale.adjustments}
    assert (_stock(bench, product), sale.handled, states["etsy"]) == (1, True, "needs_input")


def _racing(bench: Bench, act: Callable[[], object]) -> None:
    give_back = bench.sales.give_back

    def late(sale: Sale) -> bool:
        bench.sales.give_back = give_back  # type: ignore[method-assign]
        act()
        return give_back(sale)

    bench.sales.give_back = late  # type: ignore[method-assign]


def test_two_readings_at_once_give_the_stock_back_once(bench: Bench) -> None:
    product = _sold(bench)
    _racing(bench, lambda: bench.done("orders", "ebay"))
    _becomes(bench, CANCELLED)
    assert _stock(bench, product) == 1
