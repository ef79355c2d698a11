"""A sale on one marketplace reserves the stock and adjusts the listings on the others."""

from collections.abc import Callable
from typing import Any

import pytest

from spinneret.jobs.models import Transition
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.marketplace import limits
from spinneret.marketplace.connections.models import SellerConnection
from spinneret.marketplace.orders.models import OrderLine, Sale, SaleOutcome
from spinneret.marketplace.products.models import Product
from tests.markets.web import StubResponse
from tests.markets.world import MarketWorld


def test_a_sale_ends_the_listing_on_the_other_marketplace(world: MarketWorld) -> None:
    product = world.product()
    for marketplace in ("ebay", "etsy", "vinted"):
        world.done("publish", marketplace, product)
    world.ebay.sell(product.sku, "o-1")
    assert world.done("orders", "ebay").result == {"orders": 1, "looked_again": 0}
    waiting = world.waiting()
    assert set(waiting) == {"delete etsy", "delete vinted"}
    assert {job.priority for job in waiting.values()} == {"critical"}
    for job in waiting.values():
        world.finish(job.ref)
    assert (world.etsy.listings, world.plugin.items) == ({}, {})
    [sale] = world.sales.page(world.tenant, None, 10).items
    assert (sale.outcome, sale.order_id, sale.product_id) == ("reserved", "o-1", product.id)


def _sold_on_ebay(world: MarketWorld, *others: str) -> Sale:
    product = world.product()
    for marketplace in ("ebay", *others):
        world.done("publish", marketplace, product)
    world.ebay.sell(product.sku, "o-1")
    world.done("orders", "ebay")
    return _sale(world)


def _sale(world: MarketWorld) -> Sale:
    [sale] = world.sales.page(world.tenant, None, 10).items
    return sale


def _later(world: MarketWorld, seconds: float = 300) -> None:
    """Advance the clock; run a polling pass and the jobs that it submitted."""
    world.clock.advance(seconds)
    world.polling.run()
    for job in world.waiting().values():
        world.finish(job.ref)


def test_a_sale_stays_open_until_the_other_listing_has_ended(world: MarketWorld) -> None:
    sale = _sold_on_ebay(world, "etsy")
    assert (sale.handled, [each.state for each in sale.adjustments]) == (False, ["open"])
    serve = world.etsy.serve
    world.etsy.serve = lambda _: StubResponse(503)  # type: ignore[method-assign]
    world.finish(world.waiting()["delete etsy"].ref)
    _later(world)
    assert not _sale(world).handled
    world.etsy.serve = serve  # type: ignore[method-assign]
    for _ in range(4):  # the interval between adjustments grows
        _later(world)
    sale = _sale(world)
    assert (sale.handled, sale.adjustments[0].state, sale.adjustments[0].times) == (True, "done", 3)
    assert world.etsy.listings == {}
    assert world.sales.open(None, 10).items == ()
    assert world.polling.run().adjusted == 0


def test_a_listing_that_a_publish_job_makes_meanwhile_is_ended_all_the_same(
    world: MarketWorld,
) -> None:
    """The first `delete` finds no published listing."""
    product = world.product()
    world.done("publish", "etsy", product)
    direct = world.web.around

    def late(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        if name.endswith("/publish"):
            world.web.around = direct
            world.etsy.sell(product.sku, 900)
            world.done("orders", "etsy")
            assert world.finish(world.waiting()["delete ebay"].ref).status == "completed"
        return serve()

    world.web.around = late
    world.done("publish", "ebay", product)
    assert world.ebay.live(product.sku)
    _later(world)
    _later(world)
    sale = _sale(world)
    assert world.ebay.live(product.sku) == []
    assert (sale.handled, sale.adjustments[0].state, sale.adjustments[0].times) == (True, "done", 2)


@pytest.mark.heavy
def test_a_browser_that_was_away_ends_its_listing_when_it_is_back(
    memory: MarketWorld,
) -> None:
    world = memory
    product = world.product()
    for marketplace in ("ebay", "vinted"):
        world.done("publish", marketplace, product)
    world.plugin.away = True
    world.ebay.sell(product.sku, "o-1")
    world.done("orders", "ebay")
    expired = world.finish(world.waiting()["delete vinted"].ref)
    assert expired.status == "expired"
    world.plugin.away = False
    world.plugin.open()
    _later(world)
    _later(world)
    assert world.plugin.items == {}
    assert _sale(world).handled


def _wants_an_aspect(world: MarketWorld, _: Product) -> None:
    world.ebay.required_aspects = ["Vintage"]


def _titles_it_too_long(world: MarketWorld, product: Product) -> None:
    world.edit(product, title="x" * 500)


def _has_a_price_that_is_refused(world: MarketWorld, _: Product) -> None:
    refusal = StubResponse(400, {"errors": [{"errorId": 25003, "message": "Invalid price"}]})
    world.web.around = lambda name, serve: refusal if "price_quantity" in name else serve()


def _disconnects(world: MarketWorld, _: Product) -> None:
    world.connecting.end(world.tenant, "ebay")


@pytest.mark.parametrize(
    ("happens", "code"),
    [
        (_wants_an_aspect, "NEEDS_INPUT"),
        (_titles_it_too_long, "VALIDATION_ERROR"),
        (_has_a_price_that_is_refused, "MARKETPLACE_REFUSED"),
        (_disconnects, "NEEDS_REAUTH"),
    ],
)
def test_what_only_the_seller_can_do_is_reported_and_not_asked_for_again(
    happens: Callable[[MarketWorld, Product], None], code: str, world: MarketWorld
) -> None:
    product = world.product(quantity=5)
    for marketplace in ("ebay", "etsy"):
        world.done("publish", marketplace, product)
    happens(world, product)
    world.etsy.sell(product.sku, 900, quantity=2)
    world.done("orders", "etsy")
    ended = world.finish(world.waiting()["update ebay"].ref)
    assert ended.last_error is not None
    assert ended.last_error.code == code
    _later(world)
    sale = _sale(world)
    [made] = sale.adjustments
    assert (sale.handled, made.state, made.times) == (True, "needs_input", 1)
    assert made.job_id == ended.id


@pytest.mark.parametrize("when", ["before the sale", "after it"])
def test_a_listing_that_nobody_can_buy_needs_no_update(when: str, world: MarketWorld) -> None:
    product = world.product(quantity=5)
    for marketplace in ("ebay", "etsy"):
        world.done("publish", marketplace, product)
    world.ebay.sell(product.sku, "o-1")
    if when == "after it":
        world.done("orders", "ebay")
        world.control.move(world.waiting()["update etsy"].ref, Transition.CANCEL)
    [listing] = world.etsy.listings.values()
    listing["state"] = "inactive"
    world.done("sync", "etsy", product)
    world.done("orders", "ebay")
    _later(world)
    sale = _sale(world)
    asked = {"before the sale": [], "after it": ["done"]}[when]
    assert (sale.handled, [each.state for each in sale.adjustments]) == (True, asked)


def test_orders_are_read_without_anybody_asking(world: MarketWorld) -> None:
    product = world.product()
    for marketplace in ("ebay", "etsy"):
        world.done("publish", marketplace, product)
    world.ebay.sell(product.sku, "o-1")
    assert world.polling.run().read == 2
    waiting = world.waiting()
    assert set(waiting) == {"orders ebay", "orders etsy"}
    assert world.polling.run().read == 0  # both have an unfinished `orders` job
    for job in waiting.values():
        world.finish(job.ref)
    world.deliver()
    assert world.etsy.listings == {}
    assert world.polling.run().read == 2


def test_a_seller_who_has_to_connect_again_is_not_polled(world: MarketWorld) -> None:
    world.etsy.refresh_token, world.etsy.tokens = "77.other", set()
    world.done("publish", "etsy", world.product())
    world.connecting.end(world.tenant, "ebay")
    assert world.polling.run().read == 0


def test_a_seller_who_connects_again_while_a_pass_looks_stays_connected(world: MarketWorld) -> None:
    get = world.connections.get
    standing = get(world.tenant, "ebay")
    assert standing is not None

    def before_the_consent(tenant: str, marketplace: str) -> SellerConnection | None:
        return None if marketplace == "ebay" else get(tenant, marketplace)

    world.connections.get = before_the_consent  # type: ignore[method-assign]
    assert world.polling.run().read == 1
    world.connections.get = get  # type: ignore[method-assign]
    assert get(world.tenant, "ebay") == standing
    assert world.polling.run().read == 1  # Etsy has an unfinished `orders` job


@pytest.mark.parametrize("error", [DependencyUnavailable("dynamodb"), KeyError("unreadable")])
def test_one_seller_who_fails_keeps_nobody_from_being_polled(
    world: MarketWorld, error: Exception
) -> None:
    get = world.connections.get

    def failing(tenant: str, marketplace: str) -> Any:
        if marketplace == "ebay":
            raise error
        return get(tenant, marketplace)

    world.connections.get = failing  # type: ignore[method-assign]
    done = world.polling.run()
    assert (done.read, done.failed) == (1, 1)


def test_a_pass_goes_on_where_the_one_before_ended(
    world: MarketWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SELLERS_POLLED_PER_PASS", 1)
    monkeypatch.setattr(limits, "SALES_ADJUSTED_PER_PASS", 1)
    assert [world.polling.run().read for _ in range(2)] == [1, 1]
    assert set(world.waiting()) == {"orders ebay", "orders etsy"}


@pytest.mark.heavy
def test_listings_in_the_browsers_market_are_looked_at_with_the_others(
    memory: MarketWorld,
) -> None:
    world = memory
    product = world.product()
    for marketplace in ("ebay", "vinted"):
        world.done("publish", marketplace, product)
    world.clock.advance(24 * 3600)
    world.plugin.away = True
    assert world.done("orders", "ebay").result == {"orders": 0, "looked_again": 2}
    waiting = world.waiting()
    assert set(waiting) == {"sync ebay", "sync vinted"}
    assert world.finish(waiting["sync ebay"].ref).status == "completed"
    assert world.finish(waiting["sync vinted"].ref).status == "expired"
    world.done("orders", "ebay")
    assert world.waiting() == {}  # synced once a day, even while the browser is away


def test_two_sales_that_are_read_at_once_leave_one_conflict(world: MarketWorld) -> None:
    """Each sale reads the product before the other reserves its stock."""
    product = world.product()
    for marketplace in ("ebay", "etsy"):
        world.done("publish", marketplace, product)
    reserve = world.sales.reserve

    def sold(marketplace: str) -> Sale:
        return world.book.record_sale(
            world.tenant,
            marketplace,
            OrderLine(
                order_id=f"o-{marketplace}",
                line_id="1",
                sku=product.sku,
                quantity=1,
                sold_at="2026-01-02T12:00:00Z",
            ),
        )

    def meeting(sale: Sale) -> bool:
        world.sales.reserve = reserve  # type: ignore[method-assign]
        sold("etsy")
        return reserve(sale)

    world.sales.reserve = meeting  # type: ignore[method-assign]
    late = sold("ebay")
    assert (late.outcome, late.conflicts_with) == (SaleOutcome.CONFLICT, ("etsy:o-etsy",))
    first = world.sales.get(world.tenant, "etsy#o-etsy#1")
    assert first is not None
    assert first.outcome is SaleOutcome.RESERVED
    found = world.products.get(world.tenant, product.id)
    assert found is not None
    assert found.content.quantity == 0


def test_a_reading_and_a_pass_at_once_lose_nothing_of_a_sale(world: MarketWorld) -> None:
    """An adjustment reads the sale before two passes and writes it after them."""
    _sold_on_ebay(world, "etsy")
    sale, put = _sale(world), world.sales.put

    def fails() -> None:
        world.control.move(world.waiting()["delete etsy"].ref, Transition.CANCEL)
        world.clock.advance(600)

    def meeting(late: Sale) -> bool:
        world.sales.put = put  # type: ignore[method-assign]
        world.polling.run()
        fails()
        world.polling.run()
        return put(late)

    fails()

    world.sales.put = meeting  # type: ignore[method-assign]
    after = world.book.adjust_again(world.tenant, sale.key)
    assert after == _sale(world)
    assert (after.adjustments[0].times, after.version) == (3, sale.version + 2)
    assert after.adjustments[0].job_id == world.waiting()["delete etsy"].id


def test_what_is_left_goes_to_the_other_marketplace(world: MarketWorld) -> None:
    product = world.product(quantity=5)
    world.done("publish", "ebay", product)
    world.done("publish", "etsy", product)
    world.etsy.sell(product.sku, 900, quantity=2)
    world.done("orders", "etsy")
    job = world.waiting()["update ebay"]
    world.finish(job.ref)
    item = world.ebay.items[product.sku]
    assert item["availability"]["shipToLocationAvailability"]["quantity"] == 3


@pytest.mark.parametrize(("marketplace", "call"), [("ebay", "/offer/"), ("etsy", "/inventory")])
def test_an_update_that_a_newer_one_overtakes_leaves_the_newer_stock(
    marketplace: str, call: str, world: MarketWorld
) -> None:
    product = world.product(quantity=5)
    world.done("publish", marketplace, product)
    product = world.edit(product, title="Warm coat", quantity=4)
    ref = world.submit("update", marketplace, product)

    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        if name.startswith("PUT ") and call in name:
            world.web.around = lambda _, answer: answer()
            changed = world.edit(product, title="Warmer coat", quantity=1)
            newer = world.once(world.submit("update", marketplace, changed))
            assert newer.status == "completed"
        return serve()

    world.web.around = around
    assert world.finish(ref).status == "completed"
    assert world.web.around is not around
    if marketplace == "ebay":
        [shown] = [each["availableQuantity"] for each in world.ebay.offers.values()]
    else:
        [shown] = [each["quantity"] for each in world.etsy.listings.values()]
    assert shown == 1


def test_two_sales_of_one_piece_are_a_conflict_with_both_orders(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "ebay", product)
    world.done("publish", "etsy", product)
    world.ebay.sell(product.sku, "o-1")
    world.etsy.sell(product.sku, 900)
    world.done("orders", "ebay")
    world.done("orders", "etsy")
    sales = {each.marketplace: each for each in world.sales.page(world.tenant, None, 10).items}
    assert sales["ebay"].outcome is SaleOutcome.RESERVED
    assert sales["etsy"].outcome is SaleOutcome.CONFLICT
    assert sales["etsy"].conflicts_with == ("ebay:o-1",)


def test_an_order_that_is_read_again_counts_once(world: MarketWorld) -> None:
    product = world.product(quantity=3)
    world.done("publish", "ebay", product)
    world.ebay.sell(product.sku, "o-1")
    for _ in range(3):
        world.done("orders", "ebay")
    found = world.products.get(world.tenant, product.id)
    assert found is not None
    assert found.content.quantity == 2


@pytest.mark.parametrize("marketplace", ["ebay", "etsy"])
def test_a_sale_counts_by_its_listing_whatever_sku_that_has(
    marketplace: str, world: MarketWorld
) -> None:
    """An imported or linked listing may have another SKU on the marketplace, or none."""
    product, other = world.product(quantity=3), world.product(quantity=3)
    for each in (product, other):
        world.done("publish", marketplace, each)
    [listing] = world.listings.of_product(world.tenant, product.id)
    if marketplace == "ebay":
        world.ebay.sell(other.sku, "o-1")
        world.ebay.orders[0]["lineItems"][0]["legacyItemId"] = listing.external_id
    else:
        world.etsy.sell("", 1)
        world.etsy.receipts[0]["transactions"][0]["listing_id"] = int(str(listing.external_id))
    world.done("orders", marketplace)
    stock = [world.cataloguing.get(world.tenant, each.id) for each in (product, other)]
    assert [each.content.quantity for each in stock] == [2, 3]


def test_an_order_of_something_else_is_recorded_without_a_product(world: MarketWorld) -> None:
    world.ebay.sell("unknown-sku", "o-1")
    world.done("orders", "ebay")
    [sale] = world.sales.page(world.tenant, None, 10).items
    assert (sale.outcome, sale.product_id) == (SaleOutcome.UNKNOWN_PRODUCT, None)
    _later(world)
    assert _sale(world) == sale  # a product with this SKU may still be created
    _later(world, 3 * 3600)
    assert world.sales.open(None, 10).items == ()


def test_an_order_that_moves_between_two_pages_hides_no_other(world: MarketWorld) -> None:
    for number in range(52):
        world.ebay.sell("not-ours", f"order-{number}")

    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        said = serve()
        if name.endswith("/order"):  # eBay moves a changed order to the end of its list
            world.web.around = lambda _, serve: serve()
            world.ebay.orders.append(world.ebay.orders.pop(0))
        return said

    world.web.around = around
    job = world.done("orders", "ebay")
    assert (job.status, job.result and job.result["orders"]) == ("completed", 52)
    assert len(world.sales.page(world.tenant, None, 100).items) == 52


def test_a_page_without_its_orders_is_read_again(world: MarketWorld) -> None:
    world.ebay.sell("not-ours", "order-1")
    world.web.instead[1] = StubResponse(200, {"orders": [], "total": 1})
    assert world.done("orders", "ebay").status == "completed"
    assert len(world.sales.page(world.tenant, None, 100).items) == 1


def test_reading_orders_finds_what_a_cancelled_job_has_made(world: MarketWorld) -> None:
    product = world.product()
    world.etsy.visible_after = 0
    world.web.lost.add(4)  # creation of the draft, after shop, profiles, states
    ref = world.submit("publish", "etsy", product)
    world.once(ref)
    world.control.move(ref, Transition.CANCEL)
    assert world.done("orders", "etsy").result == {"orders": 0, "looked_again": 0}
    world.clock.advance(900)
    assert world.done("orders", "etsy").result == {"orders": 0, "looked_again": 1}
    world.finish(world.waiting()["sync etsy"].ref)
    found = world.listings.get(world.tenant, product.id, "etsy")
    assert found is not None
    assert [found.reference] == list(world.etsy.listings)


def test_a_listing_is_looked_at_once_a_day(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "ebay", product)
    world.clock.advance(24 * 3600)
    world.done("orders", "ebay")
    world.finish(world.waiting()["sync ebay"].ref)
    assert world.done("orders", "ebay").result == {"orders": 0, "looked_again": 0}


def test_a_look_that_found_nothing_out_is_repeated_after_an_hour(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "ebay", product)
    world.clock.advance(24 * 3600)
    world.done("orders", "ebay")
    world.control.move(world.waiting()["sync ebay"].ref, Transition.CANCEL)
    world.done("orders", "ebay")
    assert world.waiting() == {}
    world.clock.advance(3600)
    world.done("orders", "ebay")
    assert set(world.waiting()) == {"sync ebay"}


@pytest.mark.heavy
def test_listings_that_nobody_can_look_at_keep_no_others_from_it(
    memory: MarketWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "RECONCILED_PER_READ", 2)
    world = memory
    for marketplace in ("vinted", "vinted", "ebay"):
        world.done("publish", marketplace, world.product())
    world.clock.advance(24 * 3600)
    world.plugin.away = True
    world.done("orders", "ebay")
    while waiting := world.waiting():
        assert set(waiting) == {"sync vinted"}
        assert world.finish(waiting["sync vinted"].ref).status == "expired"
    world.done("orders", "ebay")
    assert set(world.waiting()) == {"sync ebay"}
