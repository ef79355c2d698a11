"""Use cases of a tenant's products, behind the routes."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Conflict, existing
from spinneret.kernel.ids import NewId
from spinneret.kernel.paging import Page
from spinneret.kernel.races import changing, until_written
from spinneret.kernel.service import service
from spinneret.marketplace.listings.models import ENDED
from spinneret.marketplace.listings.ports import ListingStore
from spinneret.marketplace.products import rules
from spinneret.marketplace.products.models import Product, ProductContent, ProductOverride
from spinneret.marketplace.products.ports import ProductStore


@service
class ProductService:
    """Use cases of products. An unknown id and another tenant's id raise the same NotFound.

    All methods raise DependencyUnavailable.
    """

    store: ProductStore
    listings: ListingStore
    marketplaces: Mapping[str, Collection[str]]
    """Marketplaces, each with the names of its choices."""
    clock: Clock
    new_id: NewId

    def create(
        self,
        tenant: str,
        sku: str | None,
        content: ProductContent,
        overrides: Mapping[str, ProductOverride],
    ) -> Product:
        """Store a new product. Raises ValidationFailed, and Conflict for a taken SKU."""
        product = self.made(tenant, sku, content, overrides)
        self.store.add(product)
        return product

    def made(
        self,
        tenant: str,
        sku: str | None,
        content: ProductContent,
        overrides: Mapping[str, ProductOverride],
    ) -> Product:
        """Return a new product that isn't stored yet; without a SKU, one is made from the id.

        Raises ValidationFailed.
        """
        rules.check(content, overrides, self.marketplaces)
        now, product_id = self.clock(), self.new_id("prd")
        return Product(
            tenant=tenant,
            id=product_id,
            sku=sku or rules.made_sku(product_id),
            content=content,
            overrides=overrides,
            created_at=now,
            updated_at=now,
        )

    def get(self, tenant: str, product_id: str) -> Product:
        """Return the product. Raises NotFound."""
        return existing(self.store.get(tenant, product_id), "product")

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Product]:
        """See ProductStore.page."""
        return self.store.page(tenant, after, limit)

    def update(
        self,
        tenant: str,
        product_id: str,
        sku: str | None,
        content: ProductContent,
        overrides: Mapping[str, ProductOverride],
    ) -> Product:
        """Replace all but the SKU, which stays unless another is given.

        Raises NotFound, ValidationFailed, and Conflict for a taken SKU or for another SKU of a
        listed product.
        """
        rules.check(content, overrides, self.marketplaces)
        return self._changed(tenant, product_id, sku, content=content, overrides=overrides)

    def change_sku(self, tenant: str, product_id: str, sku: str) -> Product:
        """Give the product another SKU. Raises NotFound, and Conflict as `update`."""
        return self._changed(tenant, product_id, sku)

    def _changed(self, tenant: str, product_id: str, sku: str | None, **changes: Any) -> Product:
        def changed() -> Product | None:
            former = self.get(tenant, product_id)
            if sku not in (None, former.sku) and self._live(tenant, product_id):
                raise Conflict.of_field(
                    "sku", "marketplaces identify the product by its SKU: end its listings first"
                )
            product = replace(
                former,
                **changes,
                sku=sku or former.sku,
                updated_at=self.clock(),
                version=former.version + 1,
            )
            return product if self.store.replace(former, product) else None

        return until_written(changed, changing("the product"))

    def remove(self, tenant: str, product_id: str) -> None:
        """Remove the product. Its jobs remain, but its tasks are hidden.

        Raises NotFound, and Conflict while the product is listed somewhere.
        """

        def removed() -> bool:
            product = self.get(tenant, product_id)
            if listed := self._live(tenant, product_id):
                raise Conflict(
                    "the product is listed: delete its listings first",
                    details={"marketplaces": listed},
                )
            return self.store.remove(product)

        until_written(removed, changing("the product"))

    def _live(self, tenant: str, product_id: str) -> list[str]:
        listings = self.listings.of_product(tenant, product_id)
        return [each.marketplace for each in listings if each.state not in ENDED]
