"""Products that want one listing at the same time."""

import pytest

from spinneret.kernel.errors import Conflict
from spinneret.marketplace.listings.models import Listing, ListingState
from spinneret.marketplace.products.models import Product, ProductContent
from tests.contract.backends import OF_REAL_AWS, Tables
from tests.contract.interleaved import interrupted
from tests.contract.races import racing
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
    """The product that gets the listing."""
    try:
        assert stores.listings.save(None, listing)
    except Conflict as taken:
        return str(taken.details["product_id"])
    return listing.product_id


def _holds(stores: Stores, tenant: str, products: int, winner: str) -> None:
    ids = [_product(tenant, number).id for number in range(products)]
    assert [each for each in ids if stores.listings.get(tenant, each, "etsy")] == [winner]
    assert stores.listings.holder(tenant, "etsy", "110") == winner


@pytest.mark.stack  # moto shows threads what a transaction has not committed
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
