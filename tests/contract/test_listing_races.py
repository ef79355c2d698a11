"""Products that want one listing at the same time."""

import pytest

from spinneret.kernel.errors import Conflict
from spinneret.marketplace.listings.models import Listing, ListingState
from spinneret.marketplace.products.models import Content, Product
from tests.contract.backends import OF_REAL_AWS, Tables
from tests.contract.races import racing
from tests.fakes.time import START
from tests.markets.stores import Stores, on_tables

pytestmark = OF_REAL_AWS

THREADS = 6


@pytest.fixture
def stores(tables: Tables) -> Stores:
    return on_tables(tables)


def _product(tenant: str, number: int) -> Product:
    content = Content(
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


def test_of_products_that_take_one_listing_at_once_one_gets_it(stores: Stores, tenant: str) -> None:
    products = [_product(tenant, number) for number in range(THREADS)]
    for each in products:
        stores.products.add(each)

    def take(number: int) -> str:
        product = products[number]
        listing = Listing(
            tenant=tenant,
            product_id=product.id,
            marketplace="etsy",
            sku=product.sku,
            state=ListingState.CREATING,
            reference="110",
            version=1,
        )
        try:
            assert stores.listings.save(None, listing)
        except Conflict as taken:
            return str(taken.details["product_id"])
        return product.id

    with racing(THREADS) as together:
        [winner] = set(together(take))
    recorded = [each.id for each in products if stores.listings.get(tenant, each.id, "etsy")]
    assert recorded == [winner]
    assert stores.listings.holder(tenant, "etsy", "110") == winner
