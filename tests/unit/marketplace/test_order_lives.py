"""Paid, cancelled and refunded orders: stock is restored, ended listings aren't."""

from collections.abc import Callable
from typing import Any

import pytest

from spinneret.jobs.models import Transition
from spinneret.marketplace.orders.models import OrderLine, Sale
from spinneret.marketplace.products.models import Product
from spinneret.marketplace.tasks.models import Reason, TaskStatus
from tests.markets.world import MarketWorld

CANCELLED = {"cancelStatus": {"cancelState": "CANCELED"}, "orderPaymentStatus": "FULLY_REFUNDED"}
PAYMENTS = {
    status: {"cancelStatus": {"cancelState": "NONE_REQUESTED"}, "orderPaymentStatus": status}
    for status in ("FAILED", "FULLY_REFUNDED", "PAID", "PARTIALLY_REFUNDED", "PENDING")
}


def _sold(world: MarketWorld, quantity: int = 1, sold: int = 1, **fields: Any) -> Product:
    """Publish a product on eBay and Etsy, and sell it on eBay."""
    product = world.product(quantity=quantity)
    for marketplace in ("ebay", "etsy"):
        world.done("publish", marketplace, product)
    world.ebay.sell(product.sku, "o-1", quantity=sold)
    _becomes(world, fields)
    return product


def _becomes(world: MarketWorld, fields: dict[str, Any]) -> None:
    """Set fields of the order and read the orders."""
    [order] = world.ebay.orders
    order.update(fields)
    world.done("orders", "ebay")


def _sale(world: MarketWorld, marketplace: str = "ebay") -> Sale:
    sales = world.sales.page(world.tenant, None, 10).items
    return next(each for each in sales if each.marketplace == marketplace)


def _stock(world: MarketWorld, product: Product) -> int:
    found = world.products.get(world.tenant, product.id)
    assert found is not None
    return found.content.quantity


def _carry_out(world: MarketWorld) -> None:
    """Run the submitted jobs and a pass over open sales, three times."""
    for _ in range(3):
        for job in world.waiting().values():
            world.finish(job.ref)
        world.clock.advance(300)
        for tenant, key in world.sales.open(None, 10).items:
            world.book.adjust_again(tenant, key)


def _ebay_quantity(world: MarketWorld, sku: str) -> int:
    quantity: int = world.ebay.items[sku]["availability"]["shipToLocationAvailability"]["quantity"]
    return quantity


@pytest.mark.parametrize("fields", [CANCELLED, PAYMENTS["FAILED"], PAYMENTS["FULLY_REFUNDED"]])
def test_an_ebay_order_that_is_no_sale_is_recorded_only(
    fields: dict[str, Any], world: MarketWorld
) -> None:
    product = _sold(world, **fields)
    assert world.waiting() == {}
    assert (_sale(world).outcome, _sale(world).handled) == ("recorded", True)
    assert (_stock(world, product), len(world.etsy.listings)) == (1, 1)


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
    fields: dict[str, Any], state: str, outcome: str, world: MarketWorld
) -> None:
    product = world.product()
    world.done("publish", "etsy", product)
    world.etsy.sell(product.sku, 900)
    world.etsy.receipts[0].update(fields)
    world.done("orders", "etsy")
    sale = _sale(world, "etsy")
    assert (sale.state, sale.outcome) == (state, outcome)
    assert _stock(world, product) == (outcome == "recorded")


@pytest.mark.parametrize("marketplace", ["ebay", "etsy"])
def test_an_order_older_than_its_listing_is_recorded_only(
    marketplace: str, world: MarketWorld
) -> None:
    product = world.product()
    world.ebay.sell(product.sku, "o-1")
    world.etsy.sell(product.sku, 900)
    world.clock.advance(3600)
    for each in ("ebay", "etsy"):
        world.done("publish", each, product)
    world.done("orders", marketplace)
    assert _sale(world, marketplace).outcome == "recorded"
    assert (world.waiting(), _stock(world, product)) == ({}, 1)


def test_an_order_without_a_time_counts(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "etsy", product)
    sale = world.book.record_sale(
        world.tenant,
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


def test_an_order_of_the_listing_before_the_present_one_counts(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "ebay", product)
    world.ebay.sell(product.sku, "o-1")
    world.clock.advance(3600)
    world.done("delete", "ebay", product)
    world.done("publish", "ebay", product)
    world.done("orders", "ebay")
    assert (_sale(world).outcome, _stock(world, product)) == ("reserved", 0)


@pytest.mark.parametrize("fields", [CANCELLED, PAYMENTS["FULLY_REFUNDED"]])
def test_an_order_that_is_undone_gives_its_stock_back_and_lists_nothing_again(
    fields: dict[str, Any], world: MarketWorld
) -> None:
    product = _sold(world)
    _carry_out(world)
    assert world.etsy.listings == {}
    _becomes(world, fields)
    assert (_sale(world).outcome, _stock(world, product)) == ("returned", 1)
    _carry_out(world)
    assert world.etsy.listings == {}
    sale = _sale(world)
    states = {each.marketplace: each.state.value for each in sale.adjustments}
    assert (sale.handled, states["etsy"]) == (True, "needs_input")
    question = next(each for each in sale.adjustments if each.marketplace == "etsy").job_id
    [asked, *_] = world.publishing.get(world.tenant, question).tasks
    assert (asked.status, asked.reason) == (TaskStatus.FAILED, Reason.NEEDS_INPUT)
    assert asked.error_message is not None
    assert "o-1 on ebay was undone" in asked.error_message
    _becomes(world, fields)  # reads the same order again
    assert (_stock(world, product), world.waiting()) == (1, {})
    world.publishing.move(world.tenant, question, Transition.RETRY)
    for job in world.waiting().values():
        assert world.finish(job.ref).status == "completed"
    assert len(world.etsy.listings) == 1


def test_an_order_that_is_undone_keeps_no_other_from_being_read_if_its_product_became_unfit(
    world: MarketWorld,
) -> None:
    """Etsy would refuse the product now; the seller is asked anyway, and a retry checks it."""
    product, other = _sold(world), world.product("Scarf")
    _carry_out(world)
    standing = world.products.get(world.tenant, product.id)
    assert standing is not None
    world.edit(standing, title="x" * 200)
    world.ebay.orders[0].update(CANCELLED)
    world.ebay.sell(other.sku, "o-2")
    assert world.done("orders", "ebay").status == "completed"
    sales = world.sales.page(world.tenant, None, 10).items
    assert [each.outcome for each in sales] == ["returned", "reserved"]
    _carry_out(world)
    [question] = [each for each in _sale(world).adjustments if each.marketplace == "etsy"]
    world.publishing.move(world.tenant, question.job_id, Transition.RETRY)
    for job in world.waiting().values():
        failure = world.finish(job.ref).last_error
        assert failure is not None
        assert [each["path"] for each in failure.details["fields"]] == ["title"]


def test_stock_that_is_back_is_shown_by_the_listings_that_remain(world: MarketWorld) -> None:
    product = _sold(world, quantity=5, sold=2)
    _carry_out(world)
    [listing] = world.etsy.listings.values()
    assert listing["quantity"] == 3
    _becomes(world, CANCELLED)
    _carry_out(world)
    [listing] = world.etsy.listings.values()
    assert (_stock(world, product), listing["quantity"], _ebay_quantity(world, product.sku)) == (
        5,
        5,
        5,
    )
    assert {each.state.value for each in _sale(world).adjustments} == {"done"}


@pytest.mark.parametrize("status", ["PARTIALLY_REFUNDED", "PENDING", "FAILED"])
def test_a_part_of_the_money_or_a_refund_that_fails_gives_no_stock_back(
    status: str, world: MarketWorld
) -> None:
    product = _sold(world, **PAYMENTS["PAID"])
    _becomes(world, PAYMENTS[status])
    assert (_sale(world).state, _sale(world).outcome) == ("paid", "reserved")
    assert _stock(world, product) == 0


def test_a_payment_that_fails_and_then_comes_takes_the_stock_again(world: MarketWorld) -> None:
    product = _sold(world, **PAYMENTS["PENDING"])
    assert (_sale(world).outcome, _stock(world, product)) == ("reserved", 0)
    _becomes(world, PAYMENTS["FAILED"])
    assert (_sale(world).outcome, _stock(world, product)) == ("returned", 1)
    _becomes(world, PAYMENTS["PAID"])
    assert (_sale(world).outcome, _stock(world, product)) == ("reserved", 0)
    _carry_out(world)
    assert world.etsy.listings == {}
    assert _sale(world).handled


def test_an_end_that_is_under_way_when_the_order_is_undone_becomes_a_question(
    world: MarketWorld,
) -> None:
    _sold(world)
    assert set(world.waiting()) == {"delete etsy"}
    _becomes(world, CANCELLED)
    _carry_out(world)
    assert world.etsy.listings == {}
    sale = _sale(world)
    states = {each.marketplace: each.state.value for each in sale.adjustments}
    assert (sale.handled, states["etsy"]) == (True, "needs_input")


def test_returned_stock_goes_to_the_order_that_lacks_it(world: MarketWorld) -> None:
    product = _sold(world)
    world.etsy.sell(product.sku, 900)
    world.done("orders", "etsy")
    assert _sale(world, "etsy").outcome == "conflict"
    _carry_out(world)
    _becomes(world, CANCELLED)
    _carry_out(world)
    assert (_sale(world, "etsy").outcome, _stock(world, product)) == ("reserved", 0)
    assert (_sale(world).outcome, _sale(world).handled) == ("returned", True)
    assert world.etsy.listings == {}


def test_a_conflict_that_is_undone_gives_nothing_back(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "ebay", product)
    for order in ("o-1", "o-2"):
        world.ebay.sell(product.sku, order)
    world.done("orders", "ebay")
    world.ebay.orders[1].update(CANCELLED)
    world.done("orders", "ebay")
    outcomes = {each.order_id: each.outcome for each in world.sales.page("acme", None, 9).items}
    assert (outcomes, _stock(world, product)) == ({"o-1": "reserved", "o-2": "conflict"}, 0)


def test_a_reading_that_dies_after_the_stock_is_back_is_completed_by_the_pass(
    world: MarketWorld,
) -> None:
    product = _sold(world)
    _carry_out(world)
    give_back = world.sales.give_back

    def dying(sale: Sale) -> bool:
        world.sales.give_back = give_back  # type: ignore[method-assign]
        assert give_back(sale)
        raise KeyboardInterrupt

    world.sales.give_back = dying  # type: ignore[method-assign]
    world.ebay.orders[0].update(CANCELLED)
    ref = world.submit("orders", "ebay")
    with pytest.raises(KeyboardInterrupt):
        world.once(ref)
    assert not _sale(world).handled
    world.polling.run()
    _carry_out(world)
    assert world.finish(ref).status == "completed"
    sale = _sale(world)
    states = {each.marketplace: each.state.value for each in sale.adjustments}
    assert (_stock(world, product), sale.handled, states["etsy"]) == (1, True, "needs_input")


def _racing(world: MarketWorld, act: Callable[[], object]) -> None:
    give_back = world.sales.give_back

    def late(sale: Sale) -> bool:
        world.sales.give_back = give_back  # type: ignore[method-assign]
        act()
        return give_back(sale)

    world.sales.give_back = late  # type: ignore[method-assign]


def test_two_readings_at_once_give_the_stock_back_once(world: MarketWorld) -> None:
    product = _sold(world)
    _racing(world, lambda: world.done("orders", "ebay"))
    _becomes(world, CANCELLED)
    assert _stock(world, product) == 1
