"""Routes: products, and the vocabularies that describe them."""

from aws_lambda_powertools.event_handler import Response

from marketplace.products_examples import PRODUCT
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.kernel import bounds
from spinneret.kernel.errors import Conflict
from spinneret.kernel.paging import position_of
from spinneret.marketplace.products.api_models import (
    ProductList,
    ProductRequest,
    ProductView,
    product_view,
)
from spinneret.marketplace.vocabularies.api_models import VocabularyView, vocabulary_view
from spinneret.marketplace.wiring import marketplace_api
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.responses import created
from spinneret.runtime.http.routes import Limit, Routes

routes = Routes(marketplace_api)
router = routes.router


@router.get("/api/products", **declared(Scope.READ, Permission.VIEW_PRODUCTS))
def list_products(
    limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None
) -> ProductList:
    """List products, newest first."""
    tenant = routes.tenant
    return ProductList.page(
        routes.services.products.page(tenant, position_of(cursor), limit), product_view
    )


@router.post(
    "/api/products",
    **declared(
        Scope.WRITE, Permission.CREATE_PRODUCT, {201: ProductView}, Conflict, examples=PRODUCT
    ),
)
def create_product(request: ProductRequest) -> Response[ProductView]:
    """Create a product. Its SKU must be unique within the tenant."""
    made = routes.services.products.create(
        routes.tenant, request.sku, request.content(), request.by_marketplace()
    )
    return created(product_view(made))


@router.get("/api/products/<product_id>", **declared(Scope.READ, Permission.VIEW_PRODUCTS))
def get_product(product_id: str) -> ProductView:
    """Return one product."""
    return product_view(routes.services.products.get(routes.tenant, product_id))


@router.put(
    "/api/products/<product_id>",
    **declared(
        Scope.WRITE, Permission.CREATE_PRODUCT, {200: ProductView}, Conflict, examples=PRODUCT
    ),
)
def replace_product(product_id: str, request: ProductRequest) -> ProductView:
    """Replace a product. The action `update` applies the change to its listings."""
    changed = routes.services.products.update(
        routes.tenant,
        product_id,
        request.sku,
        request.content(),
        request.by_marketplace(),
    )
    return product_view(changed)


@router.delete(
    "/api/products/<product_id>",
    **declared(Scope.WRITE, Permission.CREATE_PRODUCT, {204: None}, Conflict),
)
def delete_product(product_id: str) -> Response[None]:
    """Delete a product without listings; keep its jobs."""
    routes.services.products.remove(routes.tenant, product_id)
    return Response(status_code=204)


@router.get(
    "/api/product-attributes/<vocabulary>", **declared(Scope.READ, Permission.VIEW_PRODUCTS)
)
def get_vocabulary(vocabulary: str) -> VocabularyView:
    """Return one vocabulary.

    Vocabularies are `brands`, `colors`, `conditions`, `materials`, `sizes` and `categories`.
    """
    return vocabulary_view(vocabulary)
