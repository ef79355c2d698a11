"""Decisions over 1,000 rows, which exceed the 1 MB limit of a DynamoDB response, are right.

The tests run in memory and with moto's tables, which end a response at 1 MB as DynamoDB does.
"""

# covers B-04

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest

from spinneret.jobs.models import Job, Transition
from spinneret.kernel.clock import to_iso
from spinneret.kernel.paging import Page
from spinneret.marketplace.connections.dynamo import CONNECTIONS
from spinneret.marketplace.connections.models import SellerConnection
from spinneret.marketplace.listings.dynamo import LISTINGS
from spinneret.marketplace.listings.models import Listing, ListingState
from spinneret.marketplace.orders.dynamo import SALES
from spinneret.marketplace.orders.models import OrderLine, Sale, SaleOutcome
from spinneret.marketplace.orders.service import OrderBook
from spinneret.marketplace.products.models import Product
from spinneret.marketplace.tasks.models import TaskStatus
from tests.contract.backends import Tables
from tests.fakes.marketplace import FakeListingStore
from tests.markets.crashing import fresh
from tests.markets.web import StubResponse
from tests.markets.world import MarketWorld

ROWS: Final = 1000
_PAD: Final = "x" * 12_000  # a page of 100 such rows exceeds 1 MB, too
_MOTO: Final = (pytest.mark.heavy, pytest.mark.moto, pytest.mark.timeout(600))
"""moto is slow here, because it copies all tables for each transaction."""


class World:
    """A seller's world that can store many rows at once."""

    def __init__(self, tables: Tables | None) -> None:
        self.market = fresh(tables)
        self._tables = tables

    def put_listings(self, listings: Sequence[Listing]) -> None:
        if self._tables is None:
            assert isinstance(self.market.listings, FakeListingStore)
            for each in listings:
                self.market.listings.put(None, each)
        else:
            self._put([LISTINGS.encode(each) for each in listings])

    def put_sales(self, sales: Sequence[Sale]) -> None:
        if self._tables is None:
            for each in sales:
                assert self.market.sales.put(each)
        else:
            self._put([SALES.encode(each) for each in sales])
            opened = [{"pk": "OPENSALES", "sk": f"{each.tenant}#{each.key}"} for each in sales]
            self._put([row for row, each in zip(opened, sales, strict=True) if not each.handled])

    def put_connections(self, connections: Sequence[SellerConnection]) -> None:
        if self._tables is None:
            for each in connections:
                self.market.connections.put(each)
        else:
            self._put([CONNECTIONS.encode(each) for each in connections])
            rows = [(each.marketplace, each.tenant) for each in connections]
            self._put([{"pk": "SELLERS", "sk": f"{place}#{who}"} for place, who in rows])

    def _put(self, items: Sequence[dict[str, Any]]) -> None:
        assert self._tables is not None
        for start in range(0, len(items), 25):
            puts = [{"PutRequest": {"Item": each}} for each in items[start : start + 25]]
            table = self._tables.names["Marketplace"]
            self._tables.client.batch_write_item(RequestItems={table: puts})


@pytest.fixture(params=["memory", pytest.param("moto", marks=_MOTO)])
def world(request: pytest.FixtureRequest) -> World:
    is_memory = request.param == "memory"
    return World(None if is_memory else request.getfixturevalue("moto_tables"))


def _listings(market: MarketWorld, marketplace: str, **last: Any) -> list[Listing]:
    """Return listings of other products; `last` replaces fields of the last one."""
    made = [
        Listing(
            tenant=market.tenant,
            product_id=market.new_id("prd"),
            marketplace=marketplace,
            sku=f"sku-{number}",
            state=ListingState.ACTIVE,
            external_id=f"{number + 900_000}",
            images={f"https://images.example/{_PAD}.jpg": "1"},
            last_sync_at=market.clock(),
            version=1,
        )
        for number in range(ROWS)
    ]
    made[-1] = replace(made[-1], **last)
    return made


def _lose_draft(market: MarketWorld, product: Product, *, is_served: bool) -> Job:
    """Publish on Etsy; lose the first call that creates the draft, or only its answer.

    `is_served`: the call is served, and its answer is lost.
    """
    lost = []

    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        if name.startswith("POST") and name.endswith("/listings") and not lost:
            lost.append(serve() if is_served else None)
            return StubResponse(502)
        return serve()

    market.web.around = around
    return market.done("publish", "etsy", product)


@pytest.mark.parametrize(
    "last",
    [
        {"external_id": "7"},
        {"external_id": None, "reference": "7", "state": ListingState.CREATING},
    ],
    ids=["listing", "draft"],
)
def test_a_draft_of_another_product_isnt_adopted(world: World, last: dict[str, Any]) -> None:
    market = world.market
    product = market.product()
    world.put_listings(_listings(market, "etsy", **last))
    content = product.content
    alike = {"title": content.title, "description": content.description}
    market.etsy.list_by_hand("7", state="draft", **alike)
    job = _lose_draft(market, product, is_served=True)
    assert job.status == "completed", job.last_error
    [ours] = market.listings.of_product(market.tenant, product.id)
    assert ours.external_id != "7"
    assert sorted(market.etsy.listings) == sorted(["7", str(ours.external_id)])


def test_a_draft_that_another_product_explains_asks_no_seller(world: World) -> None:
    market = world.market
    product = market.product()
    last = {"external_id": None, "state": ListingState.CREATING, "attempted_titles": ("Hat",)}
    world.put_listings(_listings(market, "etsy", **last))
    market.etsy.list_by_hand("7", title="Hat", state="draft")
    job = _lose_draft(market, product, is_served=False)
    assert job.status == "completed", job.last_error
    assert len(market.etsy.live(product.content.title)) == 1


def test_caches_of_images_and_account_are_used_among_many_listings(world: World) -> None:
    market = world.market
    world.put_listings(_listings(market, "ebay"))
    product = market.product()
    assert market.done("publish", "ebay", product).status == "completed"
    world.market.ebay.calls.clear()
    edited = market.edit(product, title="Warm coat")
    assert market.done("update", "ebay", edited).status == "completed"
    assert market.ebay.calls["_make_image"] == market.ebay.calls["_policies"] == 0
    assert len(market.ebay.listings) == 1


class Asked:
    """Implements SellerJobs; records the products and sellers for which jobs were requested."""

    def __init__(self) -> None:
        self.products: list[str] = []
        self.sellers: list[str] = []

    def find(self, _: str, __: str) -> Job | None:
        return None

    def ask(self, _: str, __: str, ___: str, product_id: str, ____: str, once: str) -> str:
        del once
        self.products.append(product_id)
        return "job_1"

    def read_orders(self, tenant: str, _: str, __: str, *, urgent: bool = True) -> str:
        del urgent
        self.sellers.append(tenant)
        return "job_1"


def _book(market: MarketWorld, asked: Asked) -> OrderBook:
    return OrderBook(
        sales=market.sales,
        products=market.products,
        listings=market.listings,
        preferences=market.stores.preferences,
        jobs=asked,
        clock=market.clock,
    )


def test_every_stale_listing_is_looked_at_once_a_walk(world: World) -> None:
    market, asked = world.market, Asked()
    listings = _listings(market, "ebay")
    world.put_listings(listings)
    market.clock.advance(2 * 24 * 3600)
    rounds = 0
    while len(asked.products) < ROWS:
        rounds += 1
        assert _book(market, asked).sync_stale_listings(market.tenant, "ebay") > 0
    assert Counter(asked.products) == Counter(each.product_id for each in listings)
    assert rounds <= ROWS // 25


def _sales(market: MarketWorld, product: Product, **changes: Any) -> list[Sale]:
    """Return sales of other products, followed by one sale of the product."""
    made = [
        Sale(
            tenant=market.tenant,
            marketplace="ebay",
            order_id=f"a-{number:04}",
            line_id="1",
            sku=_PAD,
            quantity=1,
            sold_at=to_iso(market.clock()),
            product_id="prd_other",
            version=1,
            handled=True,
        )
        for number in range(ROWS)
    ]
    mine = {"order_id": "z", "product_id": product.id, "outcome": SaleOutcome.RESERVED}
    return [*(replace(each, **changes) for each in made), replace(made[0], **mine, **changes)]


def test_an_oversold_order_names_the_order_that_took_the_stock(world: World) -> None:
    market = world.market
    product = market.product()
    world.put_sales(_sales(market, product))
    sold = market.edit(product, quantity=0)
    sale = _book(market, Asked()).record_sale(
        market.tenant,
        "etsy",
        OrderLine(
            order_id="new",
            line_id="1",
            sku=sold.sku,
            quantity=1,
            sold_at=to_iso(market.clock()),
        ),
    )
    assert (sale.outcome, sale.conflicts_with) == ("conflict", ("ebay:z",))


def test_every_page_of_open_sales_and_sellers_is_found(world: World) -> None:
    market = world.market
    sales = _sales(market, market.product(), handled=False)
    world.put_sales(sales)
    assert _walk(market.sales.open) == sorted((each.tenant, each.key) for each in sales)
    names = _connect_many(world)
    assert {each.tenant for each in _walk(market.connections.sellers)} == {market.tenant, *names}


def _walk[T](page: Callable[[str | None, int], Page[T]]) -> list[T]:
    found, after = list[T](), None
    while True:
        each = page(after, 200)
        found += each.items
        after = each.after
        if after is None:
            return found


def _connect_many(world: World) -> list[str]:
    mine = world.market.connections.get(world.market.tenant, "ebay")
    assert mine is not None
    names = [f"{number:04}{'s' * 60}" for number in range(ROWS)]
    settings = {"EBAY_DE": {"padding": _PAD}}
    world.put_connections([replace(mine, tenant=each, settings=settings) for each in names])
    return names


def test_every_open_sale_is_processed_once_a_walk() -> None:
    world = World(None)
    market = world.market
    product = market.product()
    world.put_sales(_sales(market, product, handled=False))
    market.connections.remove(market.tenant, "ebay")
    market.connections.remove(market.tenant, "etsy")
    passes = 0
    while market.sales.open(None, 1).items:
        passes += 1
        assert market.polling.run().failed == 0
        assert passes <= 7
    sale = market.sales.get(market.tenant, "ebay#z#1")
    assert sale is not None
    assert sale.handled


def test_every_sellers_orders_are_read_once_a_walk() -> None:
    world, asked = World(None), Asked()
    market = world.market
    market.connections.remove(market.tenant, "etsy")
    names = _connect_many(world)
    polling = replace(market.polling, jobs=asked, book=_book(market, asked))
    for _ in range(6):
        assert polling.run().failed == 0
    assert set(asked.sellers) == {market.tenant, *names}
    assert Counter(asked.sellers).most_common(1)[0][1] <= 2  # a second walk may have begun
    assert {each.job_id for each in _walk(market.connections.sellers)} == {"job_1"}


def test_tasks_that_are_done_arent_done_again(world: World) -> None:
    market = world.market
    images = tuple(f"https://images.example/{number}.jpg" for number in range(24))
    ref = market.submit("publish", "ebay", market.product(images=images))
    market.ebay.refused_titles["Wool coat"] = 25005
    assert market.finish(ref).status == "failed"
    market.publishing.move(market.tenant, ref.job_id, Transition.RETRY)
    claim = market.store.claim(ref, "test", market.clock(), market.clock() + timedelta(seconds=60))
    tasks = market.tasks.of_job(market.tenant, ref.job_id)
    done = [each for each in tasks if each.status is TaskStatus.SUCCESS]
    assert len(done) > 25
    padded = [
        replace(each, result={**(each.result or {}), "padding": "x" * 60_000}) for each in done
    ]
    for each in padded:
        market.tasks.save(claim.lease, [each])  # type: ignore[union-attr]  # a pending job can be claimed
    market.ebay.refused_titles.clear()
    market.ebay.calls.clear()
    assert market.finish(ref).status == "completed"
    assert market.ebay.calls["_make_image"] == market.ebay.calls["_put_item"] == 0
    assert len(market.ebay.listings) == 1
