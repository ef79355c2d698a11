"""Routes: collections of documents."""

from aws_lambda_powertools.event_handler import Response

from search.collections_examples import COLLECTION
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.content.collections.api_models import (
    CollectionList,
    CollectionRequest,
    CollectionView,
    collection_list,
    collection_view,
)
from spinneret.content.collections.models import Collection
from spinneret.content.wiring import collection_service
from spinneret.kernel import bounds
from spinneret.kernel.errors import Conflict
from spinneret.kernel.paging import position_of
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.responses import created
from spinneret.runtime.http.routes import Limit, Routes

routes = Routes(collection_service)
router = routes.router


@router.get("/api/v1/collections", **declared(Scope.READ, Permission.VIEW_DOCUMENTS))
def list_collections(
    limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None
) -> CollectionList:
    """List collections, newest first."""
    page = routes.services.page(routes.tenant, position_of(cursor), limit)
    return collection_list(page, routes.services.counts(routes.tenant, page.items))


@router.post(
    "/api/v1/collections",
    **declared(
        Scope.WRITE, Permission.EDIT_DOCUMENTS, {201: CollectionView}, Conflict, examples=COLLECTION
    ),
)
def create_collection(request: CollectionRequest) -> Response[CollectionView]:
    """Create a collection. Its name must be unique within the tenant."""
    made = routes.services.create(routes.tenant, request.name, request.description)
    return created(_view(made))


@router.get(
    "/api/v1/collections/<collection_id>", **declared(Scope.READ, Permission.VIEW_DOCUMENTS)
)
def get_collection(collection_id: str) -> CollectionView:
    """Return one collection."""
    return _view(routes.services.get(routes.tenant, collection_id))


@router.put(
    "/api/v1/collections/<collection_id>",
    **declared(
        Scope.WRITE, Permission.EDIT_DOCUMENTS, {200: CollectionView}, Conflict, examples=COLLECTION
    ),
)
def replace_collection(collection_id: str, request: CollectionRequest) -> CollectionView:
    """Replace a collection's name and description."""
    changed = routes.services.update(
        routes.tenant, collection_id, request.name, request.description
    )
    return _view(changed)


@router.delete(
    "/api/v1/collections/<collection_id>",
    **declared(Scope.WRITE, Permission.EDIT_DOCUMENTS, {204: None}, Conflict),
)
def delete_collection(collection_id: str) -> Response[None]:
    """Delete a collection that holds no documents."""
    routes.services.remove(routes.tenant, collection_id)
    return Response(status_code=204)


def _view(collection: Collection) -> CollectionView:
    counts = routes.services.counts(routes.tenant, [collection])
    return collection_view(collection, counts[collection.id])
