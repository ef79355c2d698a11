"""Races between products that take the same listing."""

from dataclasses import replace

import pytest

from spinneret.jobs.ports import JobStore
from spinneret.kernel.errors import Conflict
from spinneret.marketplace.listings.models import Listing, ListingState
from spinneret.marketplace.products.models import Product, ProductContent
from tests import factories
from tests.contract.backends import OF_REAL_AWS, Tables
from tests.contract.interleaved import interrupted
from tests.contract.races import racing
from tests.contract.stored_jobs import claimed
from tests.fakes.time import START
from tests.markets.stores import Stores, on_tables

THREADS = 6


def _product(tenant: str, number: int) -> Product:
    content = ProductContent(
        title="Coat",
        description="Worn",
        price=8900,
        currency="EUR",
        quantity=1,
        images=(),
        attributes={},
    )
    return Product(
        tenant=tenant,
        id=f"prd_{number:04}",
        sku=f"sku-{number}",
        content=content,
        overrides={},
        created_at=START,
        updated_at=START,
    )


def _wish(tenant: str, number: int) -> Listing:
    product = _product(tenant, number)
    return Listing(
        tenant=tenant,
        product_id=product.id,
        marketplace="etsy",
        sku=product.sku,
        state=ListingState.CREATING,
        reference="110",
        version=1,
    )


def _take(stores: Stores, listing: Listing) -> str:
    """Try to save the listing; return the id of the product that holds it."""
    try:
        assert stores.listings.save(None, listing)
    except Conflict as taken:
        return str(taken.details["product_id"])
    return listing.product_id


def _holds(stores: Stores, tenant: str, products: int, winner: str) -> None:
    ids = [_product(tenant, number).id for number in range(products)]
    assert [each for each in ids if stores.listings.get(tenant, each, "etsy")] == [winner]
    assert stores.listings.holder(tenant, "etsy", "110") == winner


@pytest.mark.stack  # moto shows threads uncommitted writes of a transaction
def test_of_products_that_take_one_listing_at_once_one_gets_it(
    stack_tables: Tables, tenant: str
) -> None:
    stores = on_tables(stack_tables)
    for number in range(THREADS):
        stores.products.add(_product(tenant, number))
    with racing(THREADS) as together:
        [winner] = set(together(lambda number: _take(stores, _wish(tenant, number))))
    _holds(stores, tenant, THREADS, winner)


@OF_REAL_AWS
def test_a_listing_that_is_taken_just_before_the_write_stays_taken(
    tables: Tables, tenant: str
) -> None:
    stores = on_tables(tables)
    for number in range(2):
        stores.products.add(_product(tenant, number))
    overtaken = on_tables(
        interrupted(tables, "transact_write_items", lambda: _take(stores, _wish(tenant, 0)))
    )
    assert _take(overtaken, _wish(tenant, 1)) == _product(tenant, 0).id
    _holds(stores, tenant, 2, _product(tenant, 0).id)


@OF_REAL_AWS
def test_a_product_is_not_added_with_a_listing_that_another_has_just_taken(
    tables: Tables, store: JobStore, tenant: str
) -> None:
    stores, lease = on_tables(tables), factories.lease(claimed(store, tenant))
    stores.products.add(_product(tenant, 1))
    taken = replace(_wish(tenant, 1), state=ListingState.ACTIVE)
    late = on_tables(
        interrupted(tables, "transact_write_items", lambda: stores.listings.save(None, taken))
    )
    wish = replace(_wish(tenant, 2), state=ListingState.ACTIVE)
    with pytest.raises(Conflict):
        late.listings.add(_product(tenant, 2), wish, lease)
    assert stores.products.get(tenant, "prd_0002") is None
    assert stores.listings.holder(tenant, "etsy", "110") == "prd_0001"


@OF_REAL_AWS
@pytest.mark.parametrize("change", ["another SKU", "removal"])
def test_a_product_changes_its_sku_or_goes_only_without_a_listing_that_just_began(
    change: str, tables: Tables, tenant: str
) -> None:
    stores, product = on_tables(tables), _product(tenant, 0)
    stores.products.add(product)
    late = on_tables(
        interrupted(
            tables, "transact_write_items", lambda: stores.listings.save(None, _wish(tenant, 0))
        )
    )
    if change == "removal":
        assert not late.products.remove(product)
    else:
        assert not late.products.replace(product, replace(product, sku="new", version=2))
    assert stores.products.get(tenant, product.id) == replace(product, version=2)


@OF_REAL_AWS
def test_a_listing_of_an_sku_that_has_just_changed_does_not_begin(
    tables: Tables, tenant: str
) -> None:
    stores, product = on_tables(tables), _product(tenant, 0)
    stores.products.add(product)
    after = replace(product, sku="new", version=2)
    late = on_tables(
        interrupted(tables, "transact_write_items", lambda: stores.products.replace(product, after))
    )
    assert not late.listings.save(None, _wish(tenant, 0))
    assert stores.listings.get(tenant, product.id, "etsy") is None
    assert stores.products.get(tenant, product.id) == after
