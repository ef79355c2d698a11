"""Contract tests of the marketplace area's stores: in memory, and on DynamoDB."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.jobs import rules
from spinneret.jobs.models import JobRef, Lease
from spinneret.kernel.errors import Conflict, LeaseLost
from spinneret.marketplace.calls.dynamo import BURST
from spinneret.marketplace.connections.models import (
    ConnectionStatus,
    PendingConsent,
    Seller,
    SellerConnection,
)
from spinneret.marketplace.imports.models import FoundListing, ImportedListing, ImportOutcome
from spinneret.marketplace.listings.models import Drift, Listing, ListingState
from spinneret.marketplace.orders.models import Adjustment, OrderState, Sale, SaleOutcome
from spinneret.marketplace.plugins.models import CallbackWait, Plugin, PluginAnswer
from spinneret.marketplace.products.models import Product, ProductContent, ProductOverride
from spinneret.marketplace.tasks.models import Reason, Task, TaskStatus, TaskType
from tests import factories
from tests.contract.backends import OF_AWS, Tables
from tests.contract.stored_jobs import SECOND, claimed, new_job
from tests.fakes.time import START
from tests.markets.stores import Stores, in_memory, on_tables

pytestmark = OF_AWS


@pytest.fixture
def stores(tables: Tables | None) -> Stores:
    return in_memory() if tables is None else on_tables(tables)


@pytest.fixture
def lease(stores: Stores, tenant: str) -> Lease:
    """Provide the lease of a current claim."""
    return factories.lease(claimed(stores.jobs, tenant))


@pytest.fixture
def lost(stores: Stores, tenant: str) -> Lease:
    """Provide the lease of a claim that has ended."""
    job = claimed(stores.jobs, tenant)
    stores.jobs.transition(job, rules.hand_back(job, START))
    return factories.lease(job)


@pytest.fixture
def product(tenant: str) -> Callable[..., Product]:
    def make(number: int = 1, quantity: int = 2, **given: Any) -> Product:
        content = ProductContent(
            title="Coat",
            description="Worn",
            price=8900,
            currency="EUR",
            quantity=quantity,
            images=("https://x.example/a.jpg",),
            attributes={"brand": "barbour"},
        )
        named = {"id": f"prd_{number:04}", "sku": f"sku-{number}", **given}
        return Product(
            tenant=tenant,
            content=content,
            overrides={"etsy": ProductOverride(category_id="1837", price=9900)},
            created_at=START,
            updated_at=START,
            **named,
        )

    return make


# ------------------------------------------------------------------ Products


def test_a_product_is_read_back_by_id_and_by_sku(
    stores: Stores, product: Callable[..., Product], tenant: str
) -> None:
    made = product()
    stores.products.add(made)
    assert stores.products.get(tenant, made.id) == made
    assert stores.products.find(tenant, made.sku) == made
    assert stores.products.existing(tenant, [made.id, "prd_none"]) == {made.id}
    assert stores.products.get("other", made.id) is None
    assert stores.products.find(tenant, "sku-none") is None


def test_a_sku_is_given_once(stores: Stores, product: Callable[..., Product]) -> None:
    first, second = product(1), product(2)
    stores.products.add(first)
    stores.products.add(second)
    with pytest.raises(Conflict) as taken:
        stores.products.add(product(3, sku=first.sku))
    assert [each["path"] for each in taken.value.details["fields"]] == ["sku"]
    with pytest.raises(Conflict):
        stores.products.replace(second, replace(second, sku=first.sku, version=2))


def test_a_product_changes_from_the_version_that_was_read(
    stores: Stores, product: Callable[..., Product], tenant: str
) -> None:
    first = product()
    stores.products.add(first)
    second = replace(first, sku="sku-new", version=2)
    assert stores.products.replace(first, second)
    assert not stores.products.replace(first, replace(first, version=2))
    assert not stores.products.remove(first)
    assert stores.products.get(tenant, first.id) == second
    assert stores.products.remove(second)
    assert stores.products.existing(tenant, [first.id]) == frozenset()
    stores.products.add(product())  # the name is free again


def test_products_are_paged_newest_first(stores: Stores, product: Any, tenant: str) -> None:
    made = [product(number) for number in range(5)]
    for each in made:
        stores.products.add(each)
    first = stores.products.page(tenant, None, 3)
    assert [each.id for each in first.items] == [each.id for each in made[:1:-1]]
    second = stores.products.page(tenant, first.after, 3)
    assert ([each.id for each in second.items], second.after) == (
        [made[1].id, made[0].id],
        None,
    )


# ------------------------------------------------------------------ Listings


def _listing(tenant: str, product_id: str = "prd_0001", marketplace: str = "ebay") -> Listing:
    """Return a listing of the product that the fixture creates with this id."""
    return Listing(
        tenant=tenant,
        product_id=product_id,
        marketplace=marketplace,
        sku=f"sku-{int(product_id[4:])}",
        state=ListingState.ACTIVE,
        external_id="110",
        attempted_titles=("Wool coat", "Warm coat"),
        images={"https://x.example/a.jpg": "img1"},
        drift=(Drift(field="price", ours="1", theirs="2"),),
        intent_at=START,
        revised_on="2026-01-31",
        revisions=3,
        version=1,
    )


def test_a_listing_is_written_over_the_version_before_it(
    stores: Stores, product: Callable[..., Product], tenant: str, lease: Lease
) -> None:
    stores.products.add(product(1))
    first = _listing(tenant)
    assert stores.listings.save(None, first, lease)
    assert stores.listings.get(tenant, "prd_0001", "ebay") == first
    assert stores.listings.save(None, first, lease)  # a retry after a lost response
    second = replace(first, external_id=None, version=2)
    assert stores.listings.save(first, second)
    assert not stores.listings.save(first, replace(first, revisions=9, version=2), lease)
    assert not stores.listings.save(first, replace(first, version=4))
    assert stores.listings.get(tenant, "prd_0001", "ebay") == second


def test_a_lost_claim_writes_no_listing(
    stores: Stores, product: Callable[..., Product], tenant: str, lost: Lease
) -> None:
    stores.products.add(product(1))
    with pytest.raises(LeaseLost):
        stores.listings.save(None, _listing(tenant), lost)
    assert stores.listings.get(tenant, "prd_0001", "ebay") is None


def test_listings_are_found_by_product_and_paged(
    stores: Stores, product: Callable[..., Product], tenant: str
) -> None:
    for number in (1, 2):
        stores.products.add(product(number))
    places = [("prd_0001", "ebay"), ("prd_0001", "etsy"), ("prd_0002", "ebay")]
    for place in reversed(places):
        own = replace(_listing(tenant, *place), external_id=place[0])
        assert stores.listings.save(None, own)
    found = stores.listings.of_product(tenant, "prd_0001")
    assert sorted(each.marketplace for each in found) == ["ebay", "etsy"]
    first = stores.listings.page(tenant, None, 2)
    assert [(each.product_id, each.marketplace) for each in first.items] == places[:2]
    second = stores.listings.page(tenant, first.after, 2)
    assert ([each.product_id for each in second.items], second.after) == (["prd_0002"], None)


def test_a_listing_is_one_products(
    stores: Stores, product: Callable[..., Product], tenant: str, lease: Lease
) -> None:
    first, second = product(1), product(2)
    stores.products.add(first)
    stores.products.add(second)
    theirs = replace(_listing(tenant, first.id), reference="7")
    assert stores.listings.save(None, theirs, lease)
    for ids in ({"external_id": "110"}, {"external_id": "7"}, {"reference": "110"}):
        wanted = replace(_listing(tenant, second.id), **{"external_id": None, **ids})
        with pytest.raises(Conflict) as taken:
            stores.listings.save(None, wanted, lease)
        [external_id] = ids.values()
        assert taken.value.details == {
            "product_id": first.id,
            "marketplace": "ebay",
            "external_id": external_id,
        }
    assert stores.listings.get(tenant, second.id, "ebay") is None
    assert stores.listings.holder(tenant, "ebay", "110") == first.id
    assert stores.listings.holder(tenant, "etsy", "110") is None
    assert stores.listings.save(None, _listing(tenant, second.id, "etsy"))  # another marketplace
    assert stores.listings.save(theirs, replace(theirs, revisions=4, version=2))  # its own


@pytest.mark.parametrize("state", [ListingState.CREATING, ListingState.ACTIVE])
def test_a_listing_is_begun_only_under_the_sku_of_its_product(
    state: ListingState,
    stores: Stores,
    product: Callable[..., Product],
    tenant: str,
    lease: Lease,
) -> None:
    first = product(1)
    begun = replace(_listing(tenant, first.id), state=state)
    assert not stores.listings.save(None, begun, lease)
    stores.products.add(first)
    assert not stores.listings.save(None, replace(begun, sku="OTHER"), lease)
    assert stores.listings.get(tenant, first.id, "ebay") is None
    assert stores.listings.save(None, begun, lease)
    ended = replace(begun, sku="OTHER", state=ListingState.ENDED, version=2)
    assert stores.listings.save(begun, ended, lease)
    assert not stores.listings.save(ended, replace(ended, state=state, version=3), lease)
    assert stores.listings.save(ended, replace(begun, version=3), lease)


def test_a_product_is_not_changed_from_before_its_listing_began(
    stores: Stores, product: Callable[..., Product], tenant: str, lease: Lease
) -> None:
    first = product(1)
    stores.products.add(first)
    begun = _listing(tenant)
    assert stores.listings.save(None, begun, lease)
    assert not stores.products.replace(first, replace(first, sku="sku-new", version=2))
    assert not stores.products.remove(first)
    standing = replace(first, version=2)
    assert stores.products.get(tenant, first.id) == standing
    assert stores.listings.save(begun, replace(begun, revisions=4, version=2), lease)
    # The listing began before this version of the product.
    assert stores.products.replace(standing, replace(standing, version=3))


def test_a_product_is_added_with_its_listing_or_not_at_all(
    stores: Stores, product: Callable[..., Product], tenant: str, lease: Lease, lost: Lease
) -> None:
    first, second = product(1), product(2)
    twin = replace(product(3), sku=first.sku)
    mine = _listing(tenant, first.id)
    with pytest.raises(LeaseLost):
        stores.listings.add(first, mine, lost)
    assert stores.products.get(tenant, first.id) is None
    stores.listings.add(first, mine, lease)
    assert stores.products.get(tenant, first.id) == first
    assert stores.listings.get(tenant, first.id, "ebay") == mine
    assert stores.listings.holder(tenant, "ebay", "110") == first.id
    for other, external_id in ((second, "110"), (twin, "111")):
        wanted = replace(_listing(tenant, other.id), external_id=external_id)
        with pytest.raises(Conflict):
            stores.listings.add(other, wanted, lease)
        assert stores.products.get(tenant, other.id) is None
        assert stores.listings.get(tenant, other.id, "ebay") is None
    assert stores.products.remove(first)
    stores.listings.add(second, _listing(tenant, second.id), lease)
    assert stores.listings.holder(tenant, "ebay", "110") == second.id


@pytest.mark.parametrize("ends", ["it ends", "it gets another id", "its product is removed"])
def test_an_id_that_is_released_can_be_taken(
    ends: str, stores: Stores, product: Callable[..., Product], tenant: str
) -> None:
    first, second = product(1), product(2)
    stores.products.add(first)
    stores.products.add(second)
    theirs = _listing(tenant, first.id)
    assert stores.listings.save(None, theirs)
    match ends:
        case "it ends":
            over = replace(theirs, state=ListingState.ENDED, version=2)
            assert stores.listings.save(theirs, over)
            assert stores.listings.holder(tenant, "ebay", "110") is None
        case "it gets another id":
            assert stores.listings.save(theirs, replace(theirs, external_id="111", version=2))
        case _:
            assert stores.products.remove(replace(first, version=2))
    mine = _listing(tenant, second.id)
    assert stores.listings.save(None, mine)
    assert stores.listings.holder(tenant, "ebay", "110") == second.id


def test_a_late_end_of_a_listing_keeps_the_next_holders_id(
    stores: Stores, product: Callable[..., Product], tenant: str
) -> None:
    """The job of a removed product is still running."""
    first, second = product(1), product(2)
    stores.products.add(first)
    stores.products.add(second)
    theirs = _listing(tenant, first.id)
    assert stores.listings.save(None, theirs)
    assert stores.products.remove(replace(first, version=2))
    assert stores.listings.save(None, _listing(tenant, second.id))
    assert stores.listings.save(theirs, replace(theirs, state=ListingState.ENDED, version=2))
    assert stores.listings.holder(tenant, "ebay", "110") == second.id


# ------------------------------------------------------------------ Tasks


def _task(tenant: str, job_id: str, position: int, **given: Any) -> Task:
    return Task(
        tenant=tenant,
        job_id=job_id,
        position=position,
        key=f"step-{position}",
        task_type=TaskType.DIRECT_HTTP,
        description="Create offer",
        platform="ebay",
        product_id="prd_1",
        payload={"n": 1},
        digest="d",
        created_at=START,
        **given,
    )


def test_tasks_are_written_under_their_claim_and_read_by_position(
    stores: Stores, tenant: str, lease: Lease
) -> None:
    done = {"status": TaskStatus.SUCCESS, "result": {"id": "1"}, "completed_at": START}
    failed = {"status": TaskStatus.FAILED, "reason": Reason.NEEDS_INPUT, "error_message": "no"}
    tasks = [_task(tenant, lease.job_id, 2, **failed), _task(tenant, lease.job_id, 1, **done)]
    stores.tasks.save(lease, tasks)
    assert stores.tasks.of_job(tenant, lease.job_id) == tasks[::-1]
    stores.tasks.drop(lease, tasks[:1])
    assert stores.tasks.of_job(tenant, lease.job_id) == tasks[1:]


def test_a_lost_claim_writes_no_task(stores: Stores, tenant: str, lost: Lease) -> None:
    task = _task(tenant, lost.job_id, 1)
    for write in (stores.tasks.save, stores.tasks.drop):
        with pytest.raises(LeaseLost):
            write(lost, [task])
    assert stores.tasks.of_job(tenant, lost.job_id) == []


# ------------------------------------------------------------------ Imports


def _imported(lease: Lease, external_id: str, **given: Any) -> ImportedListing:
    found = FoundListing(external_id=external_id, title="Coat", images={"https://b": "1"})
    made: dict[str, Any] = {"sku": "sku-1", "url": None, "at": START, "found": found, **given}
    return ImportedListing(
        tenant=lease.tenant, job_id=lease.job_id, external_id=external_id, title="Coat", **made
    )


def test_an_import_keeps_its_listings_and_the_next_page(
    stores: Stores, tenant: str, lease: Lease
) -> None:
    ref = JobRef(tenant=tenant, job_id=lease.job_id)
    assert stores.imports.position(ref) is None
    rows = [_imported(lease, each) for each in ("b", "a", "c")]
    stores.imports.keep(lease, rows, "page-2", START)
    stores.imports.keep(lease, [], None, START)
    assert stores.imports.position(ref) == "page-2"
    decided = replace(
        rows[1], outcome=ImportOutcome.CONFLICT, found=None, rivals=("prd_1", "prd_2"), reason="two"
    )
    stores.imports.decide(lease, decided)
    first = stores.imports.page(ref, None, 2)
    assert list(first.items) == [decided, rows[0]]
    assert list(stores.imports.page(ref, first.after, 2).items) == [rows[2]]
    assert list(stores.imports.page(replace(ref, tenant="other"), None, 2).items) == []


def test_a_lost_claim_imports_nothing(stores: Stores, tenant: str, lost: Lease) -> None:
    row = _imported(lost, "a")
    with pytest.raises(LeaseLost):
        stores.imports.keep(lost, [row], "page-2", START)
    with pytest.raises(LeaseLost):
        stores.imports.decide(lost, row)
    ref = JobRef(tenant=tenant, job_id=lost.job_id)
    assert (stores.imports.position(ref), stores.imports.page(ref, None, 9).items) == (None, ())


# ------------------------------------------------------------------ Sellers


def _connection(tenant: str, **given: Any) -> SellerConnection:
    made: dict[str, Any] = {
        "status": ConnectionStatus.ACTIVE,
        "sealed_access": (b"a", b"b"),
        "sealed_refresh": (b"c",),
        "scopes": ("read",),
        "account": None,
        "expires_at": START,
        "refresh_expires_at": None,
        "connected_at": START,
        "settings": {"EBAY_DE": {"location_key": "store-1"}},
        **given,
    }
    return SellerConnection(tenant=tenant, marketplace="ebay", **made)


def test_a_connection_is_put_replaced_by_version_and_removed(stores: Stores, tenant: str) -> None:
    account = f"seller-{tenant}"
    stores.connections.put(_connection(tenant, account=account))
    first = stores.connections.get(tenant, "ebay")
    assert first is not None
    assert first == _connection(tenant, account=account, version=first.version)
    assert stores.connections.owner("ebay", account) == tenant
    assert stores.connections.owner("ebay", "nobody") is None
    second = replace(first, status=ConnectionStatus.NEEDS_REAUTH, version=first.version + 1)
    assert stores.connections.replace(second)
    assert not stores.connections.replace(second)
    stores.connections.put(first)
    assert stores.connections.get(tenant, "ebay") == replace(first, version=first.version + 2)
    stores.connections.remove(tenant, "ebay")
    stores.connections.remove(tenant, "ebay")
    assert stores.connections.get(tenant, "ebay") is None
    assert not stores.connections.replace(second)


def test_a_consent_is_taken_once(stores: Stores, tenant: str) -> None:
    consent = PendingConsent(
        tenant=tenant,
        state_hash="h",
        marketplace="etsy",
        sealed_verifier=(b"v",),
        expires_at=START,
    )
    stores.connections.begin(consent)
    assert stores.connections.take("other", "h") is None
    assert stores.connections.take(tenant, "h") == consent
    assert stores.connections.take(tenant, "h") is None


def test_a_seller_calls_in_bursts_and_then_at_the_pace(stores: Stores, tenant: str) -> None:
    waits = []
    now = START
    for _ in range(BURST + 4):
        at = stores.rate_limiter.take(tenant, "ebay", now)
        while at > now:
            waits.append((at - now).total_seconds())
            now = at
            at = stores.rate_limiter.take(tenant, "ebay", now)
    assert waits == [0.2] * 3
    assert stores.rate_limiter.take(tenant, "etsy", START) == START


def test_a_held_seller_waits_for_the_longest_hold(stores: Stores, tenant: str) -> None:
    stores.rate_limiter.hold(tenant, "ebay", START + 60 * SECOND)
    stores.rate_limiter.hold(tenant, "ebay", START + 30 * SECOND)
    assert stores.rate_limiter.take(tenant, "ebay", START) == START + 60 * SECOND
    later = START + 60 * SECOND
    assert stores.rate_limiter.take(tenant, "ebay", later) == later


# ------------------------------------------------------------------ Sales and statistics


def test_a_sale_takes_stock_once_or_not_at_all(
    stores: Stores, product: Callable[..., Product], tenant: str
) -> None:
    made = product(quantity=2)
    stores.products.add(made)

    def sale(order: str, quantity: int, product_id: str = made.id) -> Sale:
        return Sale(
            tenant=tenant,
            marketplace="ebay",
            order_id=order,
            line_id="1",
            sku=made.sku,
            quantity=quantity,
            sold_at="2026-01-01",
            product_id=product_id,
            outcome=SaleOutcome.RESERVED,
            version=1,
        )

    assert stores.sales.reserve(sale("a", 2))
    assert not stores.sales.reserve(sale("a", 0))
    assert not stores.sales.reserve(sale("b", 1))
    assert not stores.sales.reserve(sale("c", 1, "prd_none"))
    left = stores.products.get(tenant, made.id)
    assert left is not None
    assert (left.content.quantity, left.version) == (0, 2)
    assert stores.sales.get(tenant, sale("a", 2).key) == sale("a", 2)
    assert stores.sales.get(tenant, sale("b", 1).key) is None
    lost = replace(sale("b", 1), outcome=SaleOutcome.CONFLICT, conflicts_with=("ebay:a",))
    after = replace(lost, handled=True, version=2)
    assert [stores.sales.put(each) for each in (lost, after)] == [True, True]
    assert stores.sales.of_product(tenant, made.id) == [sale("a", 2), after]
    first = stores.sales.page(tenant, None, 1)
    second = stores.sales.page(tenant, first.after, 1)
    assert [each.order_id for each in (*first.items, *second.items)] == ["a", "b"]
    assert second.after is None


def test_a_sale_gives_its_stock_back_once_and_may_take_it_again(
    stores: Stores, product: Callable[..., Product], tenant: str
) -> None:
    made = product(quantity=2)
    stores.products.add(made)
    given = {"product_id": made.id, "quantity": 2, "outcome": SaleOutcome.RESERVED}
    sold = _sale(tenant, "a", **given)
    assert stores.sales.reserve(sold)
    back = replace(
        sold,
        state=OrderState.CANCELLED,
        outcome=SaleOutcome.RETURNED,
        ended=("etsy",),
        turn=1,
        version=2,
    )
    assert [stores.sales.give_back(back) for _ in range(2)] == [True, False]
    assert _left(stores, made) == 2
    assert stores.sales.get(tenant, sold.key) == back
    assert (tenant, sold.key) in stores.sales.open(None, 1000).items
    again = replace(back, outcome=SaleOutcome.RESERVED, version=3)
    assert [stores.sales.reserve(again) for _ in range(2)] == [True, False]
    assert _left(stores, made) == 0
    found = stores.products.get(tenant, made.id)
    assert found is not None
    assert stores.products.remove(found)
    assert not stores.sales.give_back(replace(back, version=4))
    assert stores.sales.get(tenant, sold.key) == again


def _left(stores: Stores, product: Product) -> int:
    found = stores.products.get(product.tenant, product.id)
    assert found is not None
    return found.content.quantity


def _sale(tenant: str, order: str, **given: Any) -> Sale:
    made: dict[str, Any] = {
        "sku": "sku-1",
        "quantity": 1,
        "sold_at": "2026-01-01",
        "version": 1,
        **given,
    }
    return Sale(tenant=tenant, marketplace="ebay", order_id=order, line_id="1", **made)


def test_a_sale_is_written_over_the_version_that_was_read(stores: Stores, tenant: str) -> None:
    first = _sale(tenant, "a")
    assert stores.sales.put(first)
    assert not stores.sales.put(replace(first, quantity=2))
    assert not stores.sales.put(replace(first, quantity=2, version=3))
    second = replace(first, quantity=2, version=2, handled=True)
    assert stores.sales.put(second)
    assert not stores.sales.put(second)
    assert not stores.sales.put(replace(second, handled=False))
    assert stores.sales.get(tenant, first.key) == second
    start = f"{tenant}#"
    assert (tenant, first.key) not in stores.sales.open(start, 10).items


def test_a_products_sales_are_found_behind_many_of_others(stores: Stores, tenant: str) -> None:
    for number in range(24):  # more than DynamoDB reads for one page before filtering
        other = _sale(tenant, f"a{number:02}", sku="x" * 60_000, product_id="prd_other")
        stores.sales.put(other)
    wanted = _sale(tenant, "z", product_id="prd_1")
    stores.sales.put(wanted)
    assert stores.sales.of_product(tenant, "prd_1") == [wanted]


def test_sales_are_open_until_they_are_handled(stores: Stores, tenant: str) -> None:
    adjustment = Adjustment(marketplace="etsy", job_id="job_1", asked_at=START, times=2)
    first, second = _sale(tenant, "a", adjustments=(adjustment,)), _sale(tenant, "b")
    stores.sales.put(first)
    stores.sales.put(second)
    assert stores.sales.get(tenant, first.key) == first
    start = f"{tenant}#"
    page = stores.sales.open(start, 1)
    assert page.items == ((tenant, first.key),)
    assert stores.sales.open(page.after, 1).items == ((tenant, second.key),)
    stores.sales.put(replace(first, handled=True, version=2))
    assert stores.sales.open(start, 1).items == ((tenant, second.key),)
    stores.sales.put(replace(second, handled=True, version=2))
    assert (tenant, second.key) not in stores.sales.open(start, 10).items


def test_the_position_of_a_walk_is_kept(stores: Stores, tenant: str) -> None:
    assert stores.sales.position(tenant) is None
    stores.sales.keep_position(tenant, "a#1")
    assert stores.sales.position(tenant) == "a#1"
    stores.sales.keep_position(tenant, None)
    assert stores.sales.position(tenant) is None


def _sellers(stores: Stores, tenant: str) -> list[Seller]:
    """Return the tenant's sellers from all pages."""
    found, after = [], None
    while True:
        page = stores.connections.sellers(after, 1)
        found += [each for each in page.items if each.tenant == tenant]
        after = page.after
        if after is None:
            return found


def test_connected_sellers_are_found_and_remember_their_last_job(
    stores: Stores, tenant: str
) -> None:
    stores.connections.put(_connection(tenant))
    seller = Seller(tenant=tenant, marketplace="ebay")
    assert _sellers(stores, tenant) == [seller]
    stores.connections.polled(replace(seller, job_id="job_1"))
    assert _sellers(stores, tenant) == [replace(seller, job_id="job_1")]
    stores.connections.remove(tenant, "ebay")
    stores.connections.polled(replace(seller, job_id="job_2"))
    assert _sellers(stores, tenant) == []


def test_a_seller_is_forgotten_only_without_a_connection(stores: Stores, tenant: str) -> None:
    seller = Seller(tenant=tenant, marketplace="ebay")
    stores.connections.forget(seller)
    stores.connections.put(_connection(tenant))
    stores.connections.forget(seller)
    assert _sellers(stores, tenant) == [seller]
    assert stores.connections.get(tenant, "ebay") is not None


def test_a_new_token_gives_a_seller_a_row_and_leaves_the_job_of_one(
    stores: Stores, tables: Tables | None, tenant: str
) -> None:
    stores.connections.put(_connection(tenant))
    standing = stores.connections.get(tenant, "ebay")
    assert standing is not None
    if tables is not None:  # a seller connected before such rows existed
        row = {"pk": "SELLERS", "sk": f"ebay#{tenant}"}
        tables.client.delete_item(TableName=tables.names["Marketplace"], Key=row)
    assert stores.connections.replace(replace(standing, version=standing.version + 1))
    seller = Seller(tenant=tenant, marketplace="ebay")
    assert _sellers(stores, tenant) == [seller]
    busy = replace(seller, job_id="job_1")
    stores.connections.polled(busy)
    assert stores.connections.replace(replace(standing, version=standing.version + 2))
    assert _sellers(stores, tenant) == [busy]


def test_a_new_consent_is_no_version_that_was_read_before_the_old_one_ended(
    stores: Stores, tenant: str
) -> None:
    stores.connections.put(_connection(tenant))
    old = stores.connections.get(tenant, "ebay")
    assert old is not None
    stores.connections.remove(tenant, "ebay")
    stores.connections.put(_connection(tenant, connected_at=START + SECOND))
    assert not stores.connections.replace(replace(old, version=old.version + 1))


def test_the_last_reading_of_orders_is_remembered(stores: Stores, tenant: str) -> None:
    assert stores.sales.since(tenant, "ebay") is None
    stores.sales.remember(tenant, "ebay", START)
    stores.sales.remember(tenant, "ebay", START + SECOND)
    assert stores.sales.since(tenant, "ebay") == START + SECOND
    assert stores.sales.since(tenant, "etsy") is None


def test_the_end_of_a_run_counts_once(stores: Stores, tenant: str) -> None:
    payload = {"marketplace": "ebay", "action_code": "publish"}
    job = new_job(tenant, payload=payload, finished_at=START + timedelta(minutes=1))
    for run, outcome in ((1, "failed"), (1, "failed"), (2, "completed")):
        stores.statistics.count(replace(job, run=run), outcome, 30)
    [day] = stores.statistics.of_day(tenant, START.date().isoformat())
    assert (day.marketplace, day.action_code) == ("ebay", "publish")
    assert (day.failed, day.completed, day.expired, day.seconds) == (1, 1, 0, 60)
    assert stores.statistics.of_day(tenant, "2020-01-01") == []


# ------------------------------------------------------------------ Plug-ins


def _plugin(tenant: str, connection_id: str) -> Plugin:
    return Plugin(
        tenant=tenant,
        connection_id=connection_id,
        marketplace="vinted",
        connected_at=START,
        browser="laptop",
    )


def test_plug_ins_are_listed_newest_first_until_they_are_gone(stores: Stores, tenant: str) -> None:
    plugins = [
        Plugin(
            tenant=tenant,
            connection_id=f"browser-{number}",
            marketplace="vinted",
            connected_at=START + number * SECOND,
            browser="laptop",
            only_job=None if number else "job_1",
        )
        for number in range(2)
    ]
    for each in plugins:
        stores.plugins.connect(each)
    assert stores.plugins.newest(tenant, "vinted") == plugins[::-1]
    stores.plugins.gone(plugins[1])
    assert stores.plugins.newest(tenant, "vinted") == plugins[:1]
    assert stores.plugins.newest("other", "vinted") == []


def test_the_first_answer_of_a_plug_in_that_was_asked_counts(stores: Stores, tenant: str) -> None:
    plugin = _plugin(tenant, "b")
    answer = PluginAnswer(status=200, body={"id": 1})
    assert not stores.plugins.accept(tenant, "k", 0, "b", "laptop", START)
    assert stores.plugins.send(plugin, "k", "d1", START) == 0
    stores.plugins.send(plugin, "k", "d2", START + SECOND)
    assert not stores.plugins.answer(tenant, "k", 0, "another", "b", answer)
    for later in (1, 2):  # the time of the first call stays
        now = START + later * SECOND
        assert stores.plugins.accept(tenant, "k", 0, "b", "laptop", now)
    assert stores.plugins.answer(tenant, "k", 0, "b", "b", answer)
    assert stores.plugins.answer(tenant, "k", 0, "b", "b", PluginAnswer(status=500, body={}))
    sent = stores.plugins.sent(tenant, "k")
    assert sent is not None
    assert (sent.sent_at, sent.accepted_by, sent.answer) == (START, "laptop", answer)
    assert (sent.contents, sent.accepted_at) == ({"d1", "d2"}, START + SECOND)


def test_a_request_is_accepted_by_one_browser_over_all_its_connections(
    stores: Stores, tenant: str
) -> None:
    for connection in ("b", "c", "d"):
        stores.plugins.send(_plugin(tenant, connection), "k", "d1", START)
    accepted = [
        stores.plugins.accept(tenant, "k", 0, connection, browser, START)
        for connection, browser in (("b", "laptop"), ("c", "desktop"), ("d", "laptop"))
    ]
    assert accepted == [True, False, True]
    assert stores.plugins.answer(tenant, "k", 0, "b", "b", PluginAnswer(status=200, body={"id": 1}))
    assert not stores.plugins.accept(tenant, "k", 0, "b", "laptop", START)  # already answered
    stores.plugins.begin_again(tenant, "k", 0)
    stores.plugins.send(_plugin(tenant, "c"), "k", "d1", START)
    assert not stores.plugins.accept(tenant, "k", 0, "c", "desktop", START)
    assert stores.plugins.accept(tenant, "k", 1, "c", "desktop", START)


def test_a_browser_answers_by_another_connection_what_it_accepted(
    stores: Stores, tenant: str
) -> None:
    stores.plugins.send(_plugin(tenant, "b"), "k", "d1", START)
    answer = PluginAnswer(status=200, body={"id": 1})
    assert not stores.plugins.answer(tenant, "k", 0, "c", "laptop", answer)
    assert stores.plugins.accept(tenant, "k", 0, "b", "laptop", START)
    assert not stores.plugins.answer(tenant, "k", 0, "c", "desktop", answer)
    assert not stores.plugins.answer(tenant, "k", 1, "c", "laptop", answer)
    assert stores.plugins.answer(tenant, "k", 0, "c", "laptop", answer)
    sent = stores.plugins.sent(tenant, "k")
    assert sent is not None
    assert sent.answer == answer


def test_what_no_browser_has_is_withdrawn_and_accepted_by_none_any_more(
    stores: Stores, tenant: str
) -> None:
    plugin, answer = _plugin(tenant, "b"), PluginAnswer(status=200, body={"id": 1})
    for key in ("nobody's", "accepted", "answered"):
        stores.plugins.send(plugin, key, "d1", START)
    assert stores.plugins.accept(tenant, "accepted", 0, "b", "laptop", START)
    assert stores.plugins.answer(tenant, "answered", 0, "b", "b", answer)
    found = [
        stores.plugins.withdraw(tenant, key, 0) for key in ("nobody's", "accepted", "answered")
    ]
    assert found == [True, False, False]
    assert stores.plugins.sent(tenant, "nobody's") is None
    assert not stores.plugins.accept(tenant, "nobody's", 0, "b", "laptop", START)
    assert stores.plugins.sent(tenant, "accepted") is not None


def test_a_request_that_is_begun_again_takes_no_answer_to_its_former_round(
    stores: Stores, tenant: str
) -> None:
    plugin = _plugin(tenant, "b")
    answer = PluginAnswer(status=200, body={"id": 1})
    stores.plugins.send(plugin, "k", "d1", START)
    stores.plugins.begin_again(tenant, "k", 0)
    assert stores.plugins.sent(tenant, "k") is None
    assert stores.plugins.send(plugin, "k", "d1", START) == 1
    assert not stores.plugins.answer(tenant, "k", 0, "b", "b", answer)
    assert stores.plugins.answer(tenant, "k", 1, "b", "b", answer)


def test_a_round_that_another_followed_is_neither_begun_again_nor_withdrawn(
    stores: Stores, tenant: str
) -> None:
    """A slow claim tries both, after another claim has begun the next round."""
    plugin, answer = _plugin(tenant, "b"), PluginAnswer(status=200, body={"id": 1})
    stores.plugins.send(plugin, "k", "d1", START)
    stores.plugins.begin_again(tenant, "k", 0)
    assert stores.plugins.send(plugin, "k", "d1", START) == 1
    assert not stores.plugins.withdraw(tenant, "k", 0)
    assert stores.plugins.accept(tenant, "k", 1, "b", "laptop", START)
    stores.plugins.begin_again(tenant, "k", 0)
    assert stores.plugins.answer(tenant, "k", 1, "b", "laptop", answer)
    sent = stores.plugins.sent(tenant, "k")
    assert sent is not None
    assert (sent.number, sent.answer) == (1, answer)


def test_a_token_is_kept_while_its_job_waits_and_taken_once(stores: Stores, tenant: str) -> None:
    job = claimed(stores.jobs, tenant)
    wait = CallbackWait(ref=job.ref, fence=job.fence, key="k", token="secret")
    assert not stores.plugins.wait(wait, START)  # the job is running
    stores.jobs.transition(job, rules.hand_back(job, START))
    assert not stores.plugins.wait(replace(wait, fence=job.fence + 1), START)
    assert stores.plugins.wait(wait, START)
    assert (stores.plugins.waiting(tenant), stores.plugins.token(tenant, "k")) == (["k"], "secret")
    assert [stores.plugins.take_token(tenant, "k") for _ in range(2)] == ["secret", None]
    assert stores.plugins.waiting(tenant) == []


def test_preferences_are_replaced_version_by_version(stores: Stores, tenant: str) -> None:
    unset = stores.preferences.get(tenant, "ebay")
    rules = {"price_factor": "1.15", "price_ending": 0, "title_suffix": "é"}
    first = replace(unset, paused_at=START, version=1, **rules)
    assert stores.preferences.replace(first)
    assert stores.preferences.get(tenant, "ebay") == first
    assert stores.preferences.replace(first)  # the same write, sent again
    assert not stores.preferences.replace(replace(first, paused_at=None))
    assert stores.preferences.get(tenant, "etsy") == replace(unset, marketplace="etsy")
