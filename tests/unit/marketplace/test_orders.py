"""A sale on one marketplace takes the stock, and the others follow."""

from collections.abc import Callable
from typing import Any

import pytest

from spinneret.jobs.models import Transition
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.marketplace import limits
from spinneret.marketplace.connections.models import SellerConnection
from spinneret.marketplace.orders.models import OrderLine, Sale, SaleOutcome
from spinneret.marketplace.products.models import Product
from tests.markets.bench import Bench
from tests.markets.web import StubResponse


def test_a_sale_ends_the_listing_on_the_other_marketplace(bench: Bench) -> None:
    product = bench.product()
    for marketplace in ("ebay", "etsy", "vinted"):
        bench.done("publish", marketplace, product)
    bench.ebay.sell(product.sku, "o-1")
    assert bench.done("orders", "ebay").result == {"orders": 1, "looked_again": 0}
    waiting = bench.waiting()
    assert set(waiting) == {"delete etsy", "delete vinted"}
    assert {job.priority for job in waiting.values()} == {"critical"}
    for job in waiting.values():
        bench.finish(job.ref)
    assert (bench.etsy.listings, bench.plugin.items) == ({}, {})
    [sale] = bench.sales.page(bench.tenant, None, 10).items
    assert (sale.outcome, sale.order_id, sale.product_id) == ("reserved", "o-1", product.id)


def _sold_on_ebay(bench: Bench, *others: str) -> Sale:
    product = bench.product()
    for marketplace in ("ebay", *others):
        bench.done("publish", marketplace, product)
    bench.ebay.sell(product.sku, "o-1")
    bench.done("orders", "ebay")
    return _sale(bench)


def _sale(bench: Bench) -> Sale:
    [sale] = bench.sales.page(bench.tenant, None, 10).items
    return sale


def _later(bench: Bench, seconds: float = 300) -> None:
    """A pass, and what it asked for."""
    bench.clock.advance(seconds)
    bench.polling.run()
    for job in bench.waiting().values():
        bench.finish(job.ref)


def test_a_sale_stays_open_until_the_other_listing_has_ended(bench: Bench) -> None:
    sale = _sold_on_ebay(bench, "etsy")
    assert (sale.handled, [each.state for each in sale.adjustments]) == (False, ["open"])
    serve = bench.etsy.serve
    bench.etsy.serve = lambda _: StubResponse(503)  # type: ignore[method-assign]
    bench.finish(bench.waiting()["delete etsy"].ref)
    _later(bench)
    assert not _sale(bench).handled
    bench.etsy.serve = serve  # type: ignore[method-assign]
    for _ in range(4):  # it asks less and less often
        _later(bench)
    sale = _sale(bench)
    assert (sale.handled, sale.adjustments[0].state, sale.adjustments[0].times) == (True, "done", 3)
    assert bench.etsy.listings == {}
    assert bench.sales.open(None, 10).items == ()
    assert bench.polling.run().adjusted == 0


def test_a_listing_that_a_publish_job_makes_meanwhile_is_ended_all_the_same(bench: Bench) -> None:
    """The first `delete` finds nothing published."""
    product = bench.product()
    bench.done("publish", "etsy", product)
    direct = bench.web.around

    def late(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        if name.endswith("/publish"):
            bench.web.around = direct
            bench.etsy.sell(product.sku, 900)
            bench.done("orders", "etsy")
            assert bench.finish(bench.waiting()["delete ebay"].ref).status == "completed"
        return serve()

    bench.web.around = late
    bench.done("publish", "ebay", product)
    assert bench.ebay.live(product.sku)
    _later(bench)
    _later(bench)
    sale = _sale(bench)
    assert bench.ebay.live(product.sku) == []
    assert (sale.handled, sale.adjustments[0].state, sale.adjustments[0].times) == (True, "done", 2)


@pytest.mark.heavy
def test_a_browser_that_was_away_ends_its_listing_when_it_is_back(
    memory: Bench,
) -> None:
    bench = memory
    product = bench.product()
    for marketplace in ("ebay", "vinted"):
        bench.done("publish", marketplace, product)
    bench.plugin.away = True
    bench.ebay.sell(product.sku, "o-1")
    bench.done("orders", "ebay")
    expired = bench.finish(bench.waiting()["delete vinted"].ref)
    assert expired.status == "expired"
    bench.plugin.away = False
    bench.plugin.open()
    _later(bench)
    _later(bench)
    assert bench.plugin.items == {}
    assert _sale(bench).handled


def _wants_an_aspect(bench: Bench, _: Product) -> None:
    bench.ebay.required_aspects = ["Vintage"]


def _titles_it_too_long(bench: Bench, product: Product) -> None:
    bench.edit(product, title="x" * 500)


def _has_a_price_that_is_refused(bench: Bench, _: Product) -> None:
    refusal = StubResponse(400, {"errors": [{"errorId": 25003, "message": "Invalid price"}]})
    bench.web.around = lambda name, serve: refusal if "price_quantity" in name else serve()


def _disconnects(bench: Bench, _: Product) -> None:
    bench.connecting.end(bench.tenant, "ebay")


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
    happens: Callable[[Bench, Product], None], code: str, bench: Bench
) -> None:
    product = bench.product(quantity=5)
    for marketplace in ("ebay", "etsy"):
        bench.done("publish", marketplace, product)
    happens(bench, product)
    bench.etsy.sell(product.sku, 900, quantity=2)
    bench.done("orders", "etsy")
    ended = bench.finish(bench.waiting()["update ebay"].ref)
    assert ended.last_error is not None
    assert ended.last_error.code == code
    _later(bench)
    sale = _sale(bench)
    [made] = sale.adjustments
    assert (sale.handled, made.state, made.times) == (True, "needs_input", 1)
    assert made.job_id == ended.id


@pytest.mark.parametrize("when", ["before the sale", "after it"])
def test_a_listing_that_nobody_can_buy_needs_no_update(when: str, bench: Bench) -> None:
    product = bench.product(quantity=5)
    for marketplace in ("ebay", "etsy"):
        bench.done("publish", marketplace, product)
    bench.ebay.sell(product.sku, "o-1")
    if when == "after it":
        bench.done("orders", "ebay")
        bench.control.move(bench.waiting()["update etsy"].ref, Transition.CANCEL)
    [listing] = bench.etsy.listings.values()
    listing["state"] = "inactive"
    bench.done("sync", "etsy", product)
    bench.done("orders", "ebay")
    _later(bench)
    sale = _sale(bench)
    asked = {"before the sale": [], "after it": ["done"]}[when]
    assert (sale.handled, [each.state for each in sale.adjustments]) == (True, asked)


def test_orders_are_read_without_anybody_asking(bench: Bench) -> None:
    product = bench.product()
    for marketplace in ("ebay", "etsy"):
        bench.done("publish", marketplace, product)
    bench.ebay.sell(product.sku, "o-1")
    assert bench.polling.run().read == 2
    waiting = bench.waiting()
    assert set(waiting) == {"orders ebay", "orders etsy"}
    assert bench.polling.run().read == 0  # both are being read
    for job in waiting.values():
        bench.finish(job.ref)
    bench.deliver()
    assert bench.etsy.listings == {}
    assert bench.polling.run().read == 2


def test_a_seller_who_has_to_connect_again_is_not_polled(bench: Bench) -> None:
    bench.etsy.refresh_token, bench.etsy.tokens = "77.other", set()
    bench.done("publish", "etsy", bench.product())
    bench.connecting.end(bench.tenant, "ebay")
    assert bench.polling.run().read == 0


def test_a_seller_who_connects_again_while_a_pass_looks_stays_connected(bench: Bench) -> None:
    get = bench.connections.get
    standing = get(bench.tenant, "ebay")
    assert standing is not None

    def before_the_consent(tenant: str, marketplace: str) -> SellerConnection | None:
        return None if marketplace == "ebay" else get(tenant, marketplace)

    bench.connections.get = before_the_consent  # type: ignore[method-assign]
    assert bench.polling.run().read == 1
    bench.connections.get = get  # type: ignore[method-assign]
    assert get(bench.tenant, "ebay") == standing
    assert bench.polling.run().read == 1  # Etsy's are being read


@pytest.mark.parametrize("error", [DependencyUnavailable("dynamodb"), KeyError("unreadable")])
def test_one_seller_who_fails_keeps_nobody_from_being_polled(
    bench: Bench, error: Exception
) -> None:
    get = bench.connections.get

    def failing(tenant: str, marketplace: str) -> Any:
        if marketplace == "ebay":
            raise error
        return get(tenant, marketplace)

    bench.connections.get = failing  # type: ignore[method-assign]
    done = bench.polling.run()
    assert (done.read, done.failed) == (1, 1)


def test_a_pass_goes_on_where_the_one_before_ended(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SELLERS_POLLED_PER_PASS", 1)
    monkeypatch.setattr(limits, "SALES_ADJUSTED_PER_PASS", 1)
    assert [bench.polling.run().read for _ in range(2)] == [1, 1]
    assert set(bench.waiting()) == {"orders ebay", "orders etsy"}


@pytest.mark.heavy
def test_listings_in_the_browsers_market_are_looked_at_with_the_others(
    memory: Bench,
) -> None:
    bench = memory
    product = bench.product()
    for marketplace in ("ebay", "vinted"):
        bench.done("publish", marketplace, product)
    bench.clock.advance(24 * 3600)
    bench.plugin.away = True
    assert bench.done("orders", "ebay").result == {"orders": 0, "looked_again": 2}
    waiting = bench.waiting()
    assert set(waiting) == {"sync ebay", "sync vinted"}
    assert bench.finish(waiting["sync ebay"].ref).status == "completed"
    assert bench.finish(waiting["sync vinted"].ref).status == "expired"
    bench.done("orders", "ebay")
    assert bench.waiting() == {}  # once a day, also while the browser is away


def test_two_sales_that_are_read_at_once_leave_one_conflict(bench: Bench) -> None:
    """Each reads the product before the other one takes its stock."""
    product = bench.product()
    for marketplace in ("ebay", "etsy"):
        bench.done("publish", marketplace, product)
    reserve = bench.sales.reserve

    def sold(marketplace: str) -> Sale:
        return bench.book.record_sale(
            bench.tenant,
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
        bench.sales.reserve = reserve  # type: ignore[method-assign]
        sold("etsy")
        return reserve(sale)

    bench.sales.reserve = meeting  # type: ignore[method-assign]
    late = sold("ebay")
    assert (late.outcome, late.conflicts_with) == (SaleOutcome.CONFLICT, ("etsy:o-etsy",))
    first = bench.sales.get(bench.tenant, "etsy#o-etsy#1")
    assert first is not None
    assert first.outcome is SaleOutcome.RESERVED
    found = bench.products.get(bench.tenant, product.id)
    assert found is not None
    assert found.content.quantity == 0


def test_a_reading_and_a_pass_at_once_lose_nothing_of_a_sale(bench: Bench) -> None:
    """The reading has read the sale before two passes, and writes it after."""
    _sold_on_ebay(bench, "etsy")
    sale, put = _sale(bench), bench.sales.put

    def fails() -> None:
        bench.control.move(bench.waiting()["delete etsy"].ref, Transition.CANCEL)
        bench.clock.advance(600)

    def meeting(late: Sale) -> bool:
        bench.sales.put = put  # type: ignore[method-assign]
        bench.polling.run()
        fails()
        bench.polling.run()
        return put(late)

    fails()

    bench.sales.put = meeting  # type: ignore[method-assign]
    after = bench.book.adjust_again(bench.tenant, sale.key)
    assert after == _sale(bench)
    assert (after.adjustments[0].times, after.version) == (3, sale.version + 2)
    assert after.adjustments[0].job_id == bench.waiting()["delete etsy"].id


def test_what_is_left_goes_to_the_other_marketplace(bench: Bench) -> None:
    product = bench.product(quantity=5)
    bench.done("publish", "ebay", product)
    bench.done("publish", "etsy", product)
    bench.etsy.sell(product.sku, 900, quantity=2)
    bench.done("orders", "etsy")
    job = bench.waiting()["update ebay"]
    bench.finish(job.ref)
    item = bench.ebay.items[product.sku]
    assert item["availability"]["shipToLocationAvailability"]["quantity"] == 3


@pytest.mark.parametrize(("marketplace", "call"), [("ebay", "/offer/"), ("etsy", "/inventory")])
def test_an_update_that_a_newer_one_overtakes_leaves_the_newer_stock(
    marketplace: str, call: str, bench: Bench
) -> None:
    product = bench.product(quantity=5)
    bench.done("publish", marketplace, product)
    product = bench.edit(product, title="Warm coat", quantity=4)
    ref = bench.submit("update", marketplace, product)

    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        if name.startswith("PUT ") and call in name:
            bench.web.around = lambda _, answer: answer()
            changed = bench.edit(product, title="Warmer coat", quantity=1)
            newer = bench.once(bench.submit("update", marketplace, changed))
            assert newer.status == "completed"
        return serve()

    bench.web.around = around
    assert bench.finish(ref).status == "completed"
    assert bench.web.around is not around
    if marketplace == "ebay":
        [shown] = [each["availableQuantity"] for each in bench.ebay.offers.values()]
    else:
        [shown] = [each["quantity"] for each in bench.etsy.listings.values()]
    assert shown == 1


def test_two_sales_of_one_piece_are_a_conflict_with_both_orders(bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", "ebay", product)
    bench.done("publish", "etsy", product)
    bench.ebay.sell(product.sku, "o-1")
    bench.etsy.sell(product.sku, 900)
    bench.done("orders", "ebay")
    bench.done("orders", "etsy")
    sales = {each.marketplace: each for each in bench.sales.page(bench.tenant, None, 10).items}
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


@pytest.mark.parametrize("marketplace", ["ebay", "etsy"])
def test_a_sale_counts_by_its_listing_whatever_sku_that_has(marketplace: str, bench: Bench) -> None:
    """As of an imported or linked one: there it may have another SKU, or none."""
    product, other = bench.product(quantity=3), bench.product(quantity=3)
    for each in (product, other):
        bench.done("publish", marketplace, each)
    [listing] = bench.listings.of_product(bench.tenant, product.id)
    if marketplace == "ebay":
        bench.ebay.sell(other.sku, "o-1")
        bench.ebay.orders[0]["lineItems"][0]["legacyItemId"] = listing.external_id
    else:
        bench.etsy.sell("", 1)
        bench.etsy.receipts[0]["transactions"][0]["listing_id"] = int(str(listing.external_id))
    bench.done("orders", marketplace)
    stock = [bench.cataloguing.get(bench.tenant, each.id) for each in (product, other)]
    assert [each.content.quantity for each in stock] == [2, 3]


def test_an_order_of_something_else_is_recorded_without_a_product(bench: Bench) -> None:
    bench.ebay.sell("unknown-sku", "o-1")
    bench.done("orders", "ebay")
    [sale] = bench.sales.page(bench.tenant, None, 10).items
    assert (sale.outcome, sale.product_id) == (SaleOutcome.UNKNOWN_PRODUCT, None)
    _later(bench)
    assert _sale(bench) == sale  # a product of its SKU may be under way
    _later(bench, 3 * 3600)
    assert bench.sales.open(None, 10).items == ()


def test_an_order_that_moves_between_two_pages_hides_no_other(bench: Bench) -> None:
    for number in range(52):
        bench.ebay.sell("not-ours", f"order-{number}")

    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        said = serve()
        if name.endswith("/order"):  # changed ones come last
            bench.web.around = lambda _, serve: serve()
            bench.ebay.orders.append(bench.ebay.orders.pop(0))
        return said

    bench.web.around = around
    job = bench.done("orders", "ebay")
    assert (job.status, job.result and job.result["orders"]) == ("completed", 52)
    assert len(bench.sales.page(bench.tenant, None, 100).items) == 52


def test_a_page_without_its_orders_is_read_again(bench: Bench) -> None:
    bench.ebay.sell("not-ours", "order-1")
    bench.web.instead[1] = StubResponse(200, {"orders": [], "total": 1})
    assert bench.done("orders", "ebay").status == "completed"
    assert len(bench.sales.page(bench.tenant, None, 100).items) == 1


def test_reading_orders_finds_what_a_cancelled_job_has_made(bench: Bench) -> None:
    product = bench.product()
    bench.etsy.visible_after = 0
    bench.web.lost.add(4)  # shop, profiles, states, draft
    ref = bench.submit("publish", "etsy", product)
    bench.once(ref)
    bench.control.move(ref, Transition.CANCEL)
    assert bench.done("orders", "etsy").result == {"orders": 0, "looked_again": 0}
    bench.clock.advance(900)
    assert bench.done("orders", "etsy").result == {"orders": 0, "looked_again": 1}
    bench.finish(bench.waiting()["sync etsy"].ref)
    found = bench.listings.get(bench.tenant, product.id, "etsy")
    assert found is not None
    assert [found.reference] == list(bench.etsy.listings)


def test_a_listing_is_looked_at_once_a_day(bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", "ebay", product)
    bench.clock.advance(24 * 3600)
    bench.done("orders", "ebay")
    bench.finish(bench.waiting()["sync ebay"].ref)
    assert bench.done("orders", "ebay").result == {"orders": 0, "looked_again": 0}


def test_a_look_that_found_nothing_out_is_repeated_after_an_hour(bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", "ebay", product)
    bench.clock.advance(24 * 3600)
    bench.done("orders", "ebay")
    bench.control.move(bench.waiting()["sync ebay"].ref, Transition.CANCEL)
    bench.done("orders", "ebay")
    assert bench.waiting() == {}
    bench.clock.advance(3600)
    bench.done("orders", "ebay")
    assert set(bench.waiting()) == {"sync ebay"}


@pytest.mark.heavy
def test_listings_that_nobody_can_look_at_keep_no_others_from_it(
    memory: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "RECONCILED_PER_READ", 2)
    bench = memory
    for marketplace in ("vinted", "vinted", "ebay"):
        bench.done("publish", marketplace, bench.product())
    bench.clock.advance(24 * 3600)
    bench.plugin.away = True
    bench.done("orders", "ebay")
    while waiting := bench.waiting():
        assert set(waiting) == {"sync vinted"}
        assert bench.finish(waiting["sync vinted"].ref).status == "expired"
    bench.done("orders", "ebay")
    assert set(bench.waiting()) == {"sync ebay"}
